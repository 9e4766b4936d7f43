//! One body of a version: the fragments in their original order, linked along the edited graph, advice woven in.
//!
//! ```text
//!   prologue    arguments or frame into place, shard, timers
//!   N3:         (resume, loop header)  if frame != null goto dispatch
//!   G3:         (point)                if cell moved on goto out
//!               advice before f3 … f3's instructions … advice after f3 … its last instruction
//!   ─────────── below: out of line, outside every range of the application
//!   E3→5:       advice on the edge, goto N5
//!   H7:         the host's frame gets its line, open timers stop, goto N7     (handlers enter here)
//!   O3:         live values into a frame, on to the executor loop              (stale activations leave here)
//!   C:          what happens when an exception leaves the activation
//! ```
//!
//! Locals of the method keep their slots; the version's own lie above them.

use super::gather::{self, Gathered};
use super::weave::{self, Count};
use super::{Bodies, Emitter, Plan, Span, Track};
use crate::advice::{Action, Read, Site};
use crate::arming::kind;
use crate::bytecode::opcode::*;
use crate::bytecode::{Assembled, Assembler, Instruction, Label};
use crate::classfile::{Code, ExceptionRange, encode_stack_map};
use crate::counting::Crossings;
use crate::flowgraph::FragmentId;
use crate::patch::Patched;
use crate::points::{Point, PointKind};
use crate::refusal::Refusal;
use crate::types::{State, Type};
use crate::{frames, runtime};
use indexmap::IndexMap;
use std::collections::HashMap;

/// Where the version's own locals lie.
pub(super) struct Slots {
    shard: Option<u16>,
    at: Option<u16>,
    /// The frame to resume from, null once that is done.
    pub frame: Option<u16>,
    timers: IndexMap<u32, u16>,
    /// The counter, as an offset, of departures from the fragment that runs, by the first counter of departures.
    within: IndexMap<u32, u16>,
    /// Loops whose counters are locals.
    pub gathered: Vec<Gathered>,
    /// First slot of nobody: for short-lived values.
    pub temp: u16,
}

impl Slots {
    fn new(plan: &Plan, patched: &Patched, bodies: Bodies, track: bool, throws: bool) -> Slots {
        let mut next = plan.method.code.max_locals;
        let mut take = |n: u16| {
            next += n;
            next - n
        };
        let writes = |a: &Action| !matches!(a, Action::Log { .. });
        let shard = plan
            .probes
            .iter()
            .any(|p| writes(&p.action))
            .then(|| take(2));
        let at = track.then(|| take(1));
        let frame = (bodies == Bodies::Resume).then(|| take(1));
        let mut timers = IndexMap::new();
        for t in plan.probes.iter().filter_map(|p| p.action.timer()) {
            timers.entry(t).or_insert_with(|| take(2));
        }
        let mut within = IndexMap::new();
        for (_, departures) in balances(plan).filter(|_| throws) {
            within.entry(departures).or_insert_with(|| take(1));
        }
        let gathered = gather::loops(plan, patched, &mut take);
        Slots {
            shard,
            at,
            frame,
            timers,
            within,
            gathered,
            temp: next,
        }
    }

    pub fn shard(&self) -> Result<u16, Refusal> {
        self.shard
            .ok_or_else(|| Refusal::Internal("a counter without a shard".into()))
    }

    /// The local of a counter that is one.
    pub fn gathered(&self, slot: u32) -> Option<u16> {
        let found = self.gathered.iter().find_map(|l| l.counters.get(&slot));
        found.copied()
    }

    pub fn timer(&self, slot: u32) -> Result<u16, Refusal> {
        self.timers
            .get(&slot)
            .copied()
            .ok_or_else(|| Refusal::Internal("a timer without a local".into()))
    }

    /// Adds the version's own locals to a state of the method.
    fn extend(&self, mut state: State) -> State {
        state.locals.resize(self.temp as usize, Type::Top);
        let mut set = |slot: u16, t: Type| state.locals[slot as usize] = t;
        if let Some(s) = self.shard {
            set(s, Type::Long);
        }
        if let Some(s) = self.at {
            set(s, Type::Int);
        }
        if let Some(s) = self.frame {
            set(s, Type::object(runtime::FRAME));
        }
        self.timers.values().for_each(|s| set(*s, Type::Long));
        self.within.values().for_each(|s| set(*s, Type::Int));
        for one in &self.gathered {
            let locals = one.counters.values().chain([&one.turns]);
            locals.for_each(|s| set(*s, Type::Int));
        }
        state
    }
}

/// The first counters of arrivals and of departures, of everything that counts by flow.
fn balances<'p>(plan: &'p Plan) -> impl Iterator<Item = (u32, u32)> + 'p {
    plan.probes.iter().filter_map(|p| match p.action {
        Action::Balance {
            arrivals,
            departures,
        } => Some((arrivals, departures)),
        _ => None,
    })
}

/// One instruction of the application in the emitted code.
struct Piece {
    pc: u16,
    /// Where it stands in the armed body, if an exception can come from it.
    place: Option<u16>,
    start: Label,
    end: Label,
}

/// A body, and where in the armed body its instructions stand.
pub(super) struct Emitted {
    pub code: Code<'static>,
    /// Rising pcs of instructions from which an exception can come, with those of the armed body.
    pub places: Vec<(u16, u16)>,
    /// See [`super::VersionClass::spans`].
    pub spans: Vec<Span>,
    /// Points whose packers the code calls.
    pub packed: Vec<usize>,
}

/// A body in the making.
pub(super) struct Body<'b, 'e> {
    pub e: &'b mut Emitter<'e>,
    pub plan: &'b Plan<'b>,
    pub patched: &'b Patched,
    pub bodies: Bodies,
    pub slots: Slots,
    pub a: Assembler,
    /// Where a fragment is entered.
    pub nodes: Vec<Label>,
    /// Behind the guard of a loop header.
    pub guards: IndexMap<FragmentId, Label>,
    /// Behind what a guard leads to.
    pub behind: HashMap<FragmentId, Label>,
    /// Exit points, by instruction.
    pub exits: HashMap<usize, Label>,
    /// Fragments that are emitted.
    pub reachable: Vec<bool>,
    frames: Vec<(Label, State)>,
    pieces: Vec<Piece>,
    news: HashMap<u16, Label>,
    outs: Vec<(usize, Label)>,
    tramps: IndexMap<(FragmentId, FragmentId), Label>,
    handlers: IndexMap<FragmentId, Label>,
    open: Vec<u32>,
    crossings: Crossings,
    spans: Vec<(Label, Option<FragmentId>, bool)>,
    packed: Vec<usize>,
    exact: bool,
}

/// Emits a body.
pub(super) fn emit(
    e: &mut Emitter,
    plan: &Plan,
    patched: &Patched,
    bodies: Bodies,
    track: Track,
) -> Result<Emitted, Refusal> {
    let throws = plan
        .method
        .instructions
        .iter()
        .any(|(_, i)| may_throw(i.op()));
    let slots = Slots::new(plan, patched, bodies, track != Track::No && throws, throws);
    if slots.temp as usize + 600 > u16::MAX as usize {
        return Err(Refusal::MethodTooLarge(
            "the method has too many local variables".into(),
        ));
    }
    let mut a = Assembler::new();
    let nodes = patched.nodes.iter().map(|_| a.fresh()).collect();
    let open = plan
        .probes
        .iter()
        .filter(|p| {
            matches!(
                (&p.site, &p.action),
                (Site::Before(_), Action::Start { .. })
            )
        })
        .filter_map(|p| p.action.timer())
        .collect();
    let crossings = match balances(plan).next() {
        Some(_) => Crossings::of(plan.method, &plan.armed.points),
        None => Crossings::default(),
    };
    let body = Body {
        e,
        plan,
        patched,
        bodies,
        slots,
        crossings,
        spans: Vec::new(),
        packed: Vec::new(),
        a,
        nodes,
        guards: IndexMap::new(),
        behind: HashMap::new(),
        exits: HashMap::new(),
        reachable: Vec::new(),
        frames: Vec::new(),
        pieces: Vec::new(),
        news: HashMap::new(),
        outs: Vec::new(),
        tramps: IndexMap::new(),
        handlers: IndexMap::new(),
        open,
        exact: track == Track::Instruction,
    };
    body.build()
}

impl Body<'_, '_> {
    fn build(mut self) -> Result<Emitted, Refusal> {
        let plan = self.plan;
        let entry = &plan.armed.points[0];
        let partial = plan
            .method
            .flow
            .get(entry.fragment)
            .is_some_and(|f| f.instructions.start != entry.instruction);
        let roots: Vec<FragmentId> = match self.bodies {
            Bodies::Enter if partial => self.patched.nodes[entry.fragment.index()]
                .out
                .iter()
                .map(|o| o.1)
                .chain(self.handler_fragments(entry.fragment))
                .collect(),
            Bodies::Enter => vec![self.patched.entry],
            Bodies::Resume => {
                let goes_on = |p: &Point| {
                    if self.is_tail(p) {
                        self.handler_fragments(p.fragment)
                    } else {
                        vec![self.patched.successor[p.fragment.index()]]
                    }
                };
                plan.armed.points[1..].iter().flat_map(goes_on).collect()
            }
        };
        self.reachable = self.reach(&roots);
        self.prologue()?;
        let (begin, end) = (self.a.fresh(), self.a.fresh());
        match self.bodies {
            Bodies::Enter => {
                self.a.place(begin);
                for probe in plan.probes.iter().filter(|p| p.site == Site::Entry) {
                    self.e.weave(&mut self.a, &self.slots, &probe.action)?;
                }
                if partial {
                    for probe in plan
                        .probes
                        .iter()
                        .filter(|p| p.site == Site::Before(entry.fragment))
                    {
                        self.e.weave(&mut self.a, &self.slots, &probe.action)?;
                    }
                    self.code_of(entry.fragment, entry.fragment, entry.instruction)?;
                } else {
                    let first = self.reachable.iter().position(|r| *r);
                    if first != Some(self.patched.entry.index()) {
                        self.a.branch(GOTO, self.nodes[self.patched.entry.index()]);
                    }
                }
            }
            Bodies::Resume => {
                self.dispatch()?;
                self.a.place(begin);
            }
        }
        for i in 0..self.patched.nodes.len() {
            if self.reachable[i] {
                self.node(FragmentId(i as u32))?;
            }
        }
        self.span(None);
        if self.bodies == Bodies::Resume {
            self.tails()?;
        }
        self.a.place(end);
        self.edge_advice()?;
        if self.bodies == Bodies::Resume {
            self.guard_dispatches()?;
        }
        self.handler_entries()?;
        self.leave_stubs()?;
        let catch = self.catch_all()?;
        self.finish(begin, end, catch)
    }

    /// Whether an activation at this point only has to return, wherever its fragment leads now.
    fn is_tail(&self, p: &Point) -> bool {
        p.kind == PointKind::Exit && self.patched.successor[p.fragment.index()] == p.fragment
    }

    /// Just the returns, for activations that stand before one. Such an activation brings what is live there and no more,
    /// so a log of other variables is passed over.
    fn tails(&mut self) -> Result<(), Refusal> {
        let plan = self.plan;
        for (i, p) in plan.armed.points.iter().enumerate() {
            if !self.is_tail(p) {
                continue;
            }
            let fresh = self.a.fresh();
            let label = *self.exits.entry(p.instruction).or_insert(fresh);
            self.a.place(label);
            let state = self.point_state(i);
            self.frame_at(label, state);
            self.check(i)?;
            let has = |slot: u16| p.locals.iter().any(|l| l.0 == slot);
            // It comes to the end of a fragment that it was not counted into here.
            self.departure(p.fragment, Count::Down)?;
            let at_exit = [Site::After(p.fragment), Site::Return, Site::At(p.pc)];
            for probe in plan.probes.iter().filter(|q| at_exit.contains(&q.site)) {
                match &probe.action {
                    Action::Log { values, .. } if !values.iter().all(|v| has(v.0)) => {}
                    Action::Run { reads, .. }
                        if !reads
                            .iter()
                            .all(|read| !matches!(read, Read::Slot(slot) if !has(*slot))) => {}
                    action => self.e.weave(&mut self.a, &self.slots, action)?,
                }
            }
            let (start, end) = (self.a.fresh(), self.a.fresh());
            self.e.boxed(&mut self.a, &plan.method.signature.result)?;
            self.a.place(start);
            self.a.plain(ARETURN);
            self.a.place(end);
            self.pieces.push(Piece {
                pc: p.pc,
                place: None,
                start,
                end,
            });
        }
        Ok(())
    }

    fn handler_fragments(&self, code: FragmentId) -> Vec<FragmentId> {
        let graph = &self.plan.method.flow.graph;
        let edges = graph
            .edges(code.node())
            .filter(|e| matches!(e.weight(), crate::flowgraph::EdgeKind::Handler(_)));
        edges
            .map(|e| FragmentId(petgraph::visit::EdgeRef::target(&e).index() as u32))
            .collect()
    }

    fn reach(&self, roots: &[FragmentId]) -> Vec<bool> {
        let mut seen = vec![false; self.patched.nodes.len()];
        let mut work = roots.to_vec();
        while let Some(n) = work.pop() {
            if std::mem::replace(&mut seen[n.index()], true) {
                continue;
            }
            let node = &self.patched.nodes[n.index()];
            work.extend(node.out.iter().map(|o| o.1));
            work.extend(self.handler_fragments(node.code));
        }
        seen
    }

    /// The frame at a fragment's start, the version's own locals included.
    pub fn state(&self, node: FragmentId) -> State {
        self.slots
            .extend(self.patched.state(self.plan.method, node))
    }

    /// Says which types hold at a label.
    pub fn frame_at(&mut self, label: Label, state: State) {
        self.frames.push((label, state));
    }

    /// A frame with nothing of the method's.
    pub fn bare(&self, stack: Vec<Type>) -> State {
        self.slots.extend(State {
            locals: Vec::new(),
            stack,
        })
    }

    fn prologue(&mut self) -> Result<(), Refusal> {
        let entry = &self.plan.armed.points[0];
        match self.bodies {
            Bodies::Enter => {
                if !entry.stack.is_empty() {
                    return Err(Refusal::UninitializedObject);
                }
                let mut incoming = 0;
                let carried: Vec<(u16, u16, Type)> = entry
                    .locals
                    .iter()
                    .filter(|l| l.1 != Type::Null)
                    .map(|(slot, t)| {
                        incoming += t.width();
                        (incoming - t.width(), *slot, t.clone())
                    })
                    .collect();
                if carried.iter().any(|(from, to, _)| from != to) {
                    for (from, _, t) in &carried {
                        self.a.local(ILOAD + kind(t), *from);
                    }
                    for (_, to, t) in carried.iter().rev() {
                        self.a.local(ISTORE + kind(t), *to);
                    }
                }
                for (slot, _) in entry.locals.iter().filter(|l| l.1 == Type::Null) {
                    self.a.plain(ACONST_NULL);
                    self.a.local(ASTORE, *slot);
                }
            }
            Bodies::Resume => {
                let frame = self.slots.frame.unwrap_or(0);
                self.a.local(ALOAD, 0);
                self.a.local(ASTORE, frame);
            }
        }
        if let Some(shard) = self.slots.shard {
            self.e.call(&mut self.a, "shard", "()J")?;
            self.a.local(LSTORE, shard);
        }
        if let Some(at) = self.slots.at {
            self.a.push(Instruction::Push(-1));
            self.a.local(ISTORE, at);
        }
        for (departures, local) in self.slots.within.clone() {
            self.e.push_int(&mut self.a, departures as i32 * 8)?;
            self.a.local(ISTORE, local);
        }
        for one in self.slots.gathered.clone() {
            for local in one.counters.values().chain([&one.turns]) {
                self.a.push(Instruction::Push(0));
                self.a.local(ISTORE, *local);
            }
        }
        for (slot, local) in self.slots.timers.clone() {
            match self.slots.frame {
                // State that travels: a transfer to a version that still has the instrument carries it over.
                Some(frame) => {
                    self.a.local(ALOAD, frame);
                    self.e.push_int(&mut self.a, slot as i32)?;
                    self.e.frame_call(&mut self.a, "kept", "(I)J")?;
                    if let Some(cell) = since(self.plan, slot) {
                        let index = self.e.pool.add_long(cell)?;
                        self.a.push(Instruction::Ldc { index, wide: true });
                        self.e.call(&mut self.a, "since", "(JJ)J")?;
                    }
                }
                None => self.a.plain(LCONST_0),
            }
            self.a.local(LSTORE, local);
        }
        Ok(())
    }

    fn node(&mut self, id: FragmentId) -> Result<(), Refusal> {
        let label = self.nodes[id.index()];
        self.a.place(label);
        let state = self.state(id);
        self.frame_at(label, state.clone());
        if let (Some(frame), Some(guard)) = (self.slots.frame, self.guards.get(&id).copied()) {
            self.a.local(ALOAD, frame);
            self.a.branch(IFNONNULL, guard);
            let behind = self.a.fresh();
            self.behind_guard(id, behind, state);
        }
        let point = self
            .plan
            .armed
            .points
            .iter()
            .position(|p| p.kind == PointKind::Fragment && p.fragment == id);
        if let Some(point) = point {
            self.check(point)?;
        }
        for probe in self
            .plan
            .probes
            .iter()
            .filter(|p| p.site == Site::Before(id))
        {
            self.e.weave(&mut self.a, &self.slots, &probe.action)?;
        }
        let code = self.patched.nodes[id.index()].code;
        let first = self
            .plan
            .method
            .flow
            .get(code)
            .map_or(0, |f| f.instructions.start);
        self.code_of(id, code, first)
    }

    fn behind_guard(&mut self, id: FragmentId, fresh: Label, state: State) {
        let label = *self.behind.entry(id).or_insert(fresh);
        self.a.place(label);
        self.frame_at(label, state);
    }

    /// `if (cell.stale(mine)) goto out`
    fn check(&mut self, point: usize) -> Result<(), Refusal> {
        let out = self.a.fresh();
        self.outs.push((point, out));
        self.e.push_cell(&mut self.a, self.plan.id)?;
        let token = if self.plan.clean {
            self.e
                .pool
                .add_field(runtime::CELL, "IDLE", runtime::HANDLE_DESCRIPTOR)?
        } else {
            let owner = self.e.self_name.clone();
            self.e.pool.add_field(
                &owner,
                &runtime::token_field(self.plan.id),
                runtime::HANDLE_DESCRIPTOR,
            )?
        };
        self.a.pool(GETSTATIC, token);
        let stale =
            self.e
                .pool
                .add_method(runtime::CELL, "stale", "(Ljava/lang/invoke/MethodHandle;)Z")?;
        self.a.pool(INVOKEVIRTUAL, stale);
        self.a.branch(IFNE, out);
        Ok(())
    }

    /// The instructions of `code` at place `id`, from instruction `first` on.
    fn code_of(&mut self, id: FragmentId, code: FragmentId, first: usize) -> Result<(), Refusal> {
        let method = self.plan.method;
        let Some(fragment) = method.flow.get(code) else {
            return Err(Refusal::Internal("a fragment was lost".into()));
        };
        let last = fragment.instructions.end - 1;
        let mut line = None;
        // The place that `at` names; known from here to the fragment's end.
        let mut known: Option<i32> = None;
        let mut within = false;
        self.span(Some(code));
        for i in first..=last {
            let (pc, instruction) = &method.instructions[i];
            let op = instruction.op();
            if is_return(op) {
                self.exit_point(i)?;
            }
            let leaves =
                i == last && (ends_flow(op) || matches!(instruction, Instruction::Branch { .. }));
            if leaves {
                self.after(id, op)?;
            }
            self.beside(Site::At(*pc))?;
            let (start, end) = (self.a.fresh(), self.a.fresh());
            if is_return(op) && self.bodies == Bodies::Resume {
                // An object for the result may want for memory; that is nothing for the application's handlers.
                self.e.boxed(&mut self.a, &method.signature.result)?;
            }
            self.a.place(start);
            if let Some(at) = self.slots.at
                && may_throw(op)
                && (self.exact || line != Some(method.line(*pc)))
            {
                line = Some(method.line(*pc));
                let place = self.plan.armed.pcs.get(i).copied().unwrap_or(0) as i32;
                match known.and_then(|k| i8::try_from(place - k).ok()) {
                    Some(delta) if at < 256 => self.a.push(Instruction::Iinc {
                        index: at,
                        delta: delta as i16,
                    }),
                    _ => {
                        self.e.push_int(&mut self.a, place)?;
                        self.a.local(ISTORE, at);
                    }
                }
                known = Some(place);
            }
            if may_throw(op) && !std::mem::replace(&mut within, true) {
                self.within(code)?;
            }
            if op == NEW {
                let label = self.a.fresh();
                self.a.place(label);
                self.news.insert(*pc, label);
            }
            match instruction {
                Instruction::Branch { .. }
                | Instruction::TableSwitch { .. }
                | Instruction::LookupSwitch { .. } => {
                    let mut targets = HashMap::new();
                    for t in instruction.targets() {
                        targets.insert(t, self.edge(id, t)?);
                    }
                    self.a
                        .push(instruction.retarget(&mut |t| targets.get(&t).copied().unwrap_or(t)));
                }
                _ if is_return(op) && self.bodies == Bodies::Resume => self.a.plain(ARETURN),
                _ => self.e.relocate(&mut self.a, method, instruction)?,
            }
            self.a.place(end);
            self.pieces.push(Piece {
                pc: *pc,
                place: may_throw(op)
                    .then(|| self.plan.armed.pcs.get(i).copied())
                    .flatten(),
                start,
                end,
            });
            if !ends_flow(op) && !matches!(instruction, Instruction::Branch { .. }) {
                self.beside(Site::Behind(*pc))?;
            }
            if i == last && !leaves {
                self.after(id, op)?;
            }
            if i == last && !ends_flow(op) {
                self.fall(id, Label(fragment.end))?;
            }
        }
        Ok(())
    }

    /// Advice at one instruction.
    fn beside(&mut self, site: Site) -> Result<(), Refusal> {
        for probe in self.plan.probes.iter().filter(|p| p.site == site) {
            self.e.weave(&mut self.a, &self.slots, &probe.action)?;
        }
        Ok(())
    }

    fn after(&mut self, id: FragmentId, op: u8) -> Result<(), Refusal> {
        for probe in self
            .plan
            .probes
            .iter()
            .filter(|p| p.site == Site::After(id) || (is_return(op) && p.site == Site::Return))
        {
            self.e.weave(&mut self.a, &self.slots, &probe.action)?;
        }
        Ok(())
    }

    /// The check of an exit's capture point, where the return has one.
    fn exit_point(&mut self, instruction: usize) -> Result<(), Refusal> {
        let is = |p: &Point| p.kind == PointKind::Exit && p.instruction == instruction;
        match self.plan.armed.points.iter().position(is) {
            Some(point) => self.check(point),
            None => Ok(()),
        }
    }

    /// The types at a capture point, with only what is live.
    pub fn point_state(&self, point: usize) -> State {
        let p = &self.plan.armed.points[point];
        self.slots.extend(crate::arming::frame_state(
            p,
            self.plan.method.code.max_locals,
        ))
    }

    /// Where place `from` goes for what its instructions call `to`.
    fn target(&self, from: FragmentId, to: Label) -> Result<FragmentId, Refusal> {
        let original = self
            .plan
            .method
            .flow
            .starting_at(to)
            .ok_or_else(|| Refusal::Internal("a target was lost".into()))?;
        let out = self.patched.nodes[from.index()]
            .out
            .iter()
            .find(|o| o.0 == original);
        out.map(|o| o.1)
            .ok_or_else(|| Refusal::Internal("an edge was lost".into()))
    }

    /// The label to jump to, by way of the advice on the edge where there is any.
    fn edge(&mut self, from: FragmentId, to: Label) -> Result<Label, Refusal> {
        let node = self.target(from, to)?;
        if !self.has_edge_advice(from, node) {
            return Ok(self.nodes[node.index()]);
        }
        let fresh = self.a.fresh();
        Ok(*self.tramps.entry((from, node)).or_insert(fresh))
    }

    fn has_edge_advice(&self, from: FragmentId, to: FragmentId) -> bool {
        let probes = &self.plan.probes;
        self.way(from, to).is_some() || probes.iter().any(|p| p.site == Site::Edge(from, to))
    }

    fn fall(&mut self, from: FragmentId, to: Label) -> Result<(), Refusal> {
        let node = self.target(from, to)?;
        for probe in self
            .plan
            .probes
            .iter()
            .filter(|p| p.site == Site::Edge(from, node))
        {
            self.e.weave(&mut self.a, &self.slots, &probe.action)?;
        }
        if let Some(way) = self.way(from, node) {
            self.on_way(way)?;
        }
        let next = (from.index() + 1..self.reachable.len()).find(|i| self.reachable[*i]);
        let entry = &self.plan.armed.points[0];
        let inline_entry =
            self.bodies == Bodies::Enter && from == entry.fragment && !self.reachable[from.index()];
        let next = if inline_entry {
            self.reachable.iter().position(|r| *r)
        } else {
            next
        };
        if next != Some(node.index()) || self.bodies == Bodies::Enter && from == entry.fragment {
            self.a.branch(GOTO, self.nodes[node.index()]);
        }
        Ok(())
    }

    fn edge_advice(&mut self) -> Result<(), Refusal> {
        for ((from, to), label) in self.tramps.clone() {
            self.a.place(label);
            let state = self.state(to);
            self.frame_at(label, state);
            for probe in self
                .plan
                .probes
                .iter()
                .filter(|p| p.site == Site::Edge(from, to))
            {
                self.e.weave(&mut self.a, &self.slots, &probe.action)?;
            }
            if let Some(way) = self.way(from, to) {
                self.on_way(way)?;
            }
            self.a.branch(GOTO, self.nodes[to.index()]);
        }
        Ok(())
    }

    /// Handlers of the application are entered by way of code that puts the host's frame right in the exception.
    fn handler_entries(&mut self) -> Result<(), Refusal> {
        for e in &self.plan.method.code.exceptions {
            let Some(h) = self.plan.method.flow.starting_at(Label::pc(e.handler)) else {
                continue;
            };
            if self.handlers.contains_key(&h) || !self.reachable[h.index()] {
                continue;
            }
            if self.slots.at.is_none()
                && self.open.is_empty()
                && balances(self.plan).next().is_none()
            {
                self.handlers.insert(h, self.nodes[h.index()]);
                continue;
            }
            let label = self.a.fresh();
            self.handlers.insert(h, label);
            self.a.place(label);
            let state = self.state(h);
            self.frame_at(label, state);
            for slot in self.open.clone() {
                self.e
                    .weave(&mut self.a, &self.slots, &Action::Stop { slot })?;
            }
            self.thrown()?;
            self.arrival(h, Count::Up)?;
            if let Some(at) = self.slots.at {
                self.a.plain(DUP);
                self.locate(at)?;
            }
            self.a.branch(GOTO, self.nodes[h.index()]);
        }
        Ok(())
    }

    /// Takes a throwable off the stack and puts the host's line in it.
    fn locate(&mut self, at: u16) -> Result<(), Refusal> {
        self.a.local(ILOAD, at);
        self.a.push(Instruction::Push(self.exact as i16));
        self.e.push_cell(&mut self.a, self.plan.id)?;
        self.e.call(
            &mut self.a,
            "locate",
            "(Ljava/lang/Throwable;IZLjava/lang/invoke/VeneerCell;)V",
        )
    }

    /// From here on an activation is in this fragment.
    fn span(&mut self, fragment: Option<FragmentId>) {
        if balances(self.plan).next().is_some() {
            let here = self.a.fresh();
            self.a.place(here);
            let gathers = fragment.is_some_and(|f| self.gathers(f));
            self.spans.push((here, fragment, gathers));
        }
    }

    /// Sets what an exception from fragment `f` will count.
    fn within(&mut self, f: FragmentId) -> Result<(), Refusal> {
        let place = self.crossings.departures.iter().position(|d| *d == f);
        for (departures, local) in self.slots.within.clone() {
            if let Some(place) = place {
                let offset = (departures as usize + place) * 8;
                self.e.push_int(&mut self.a, offset as i32)?;
                self.a.local(ISTORE, local);
            }
        }
        Ok(())
    }

    /// An exception leaves the fragment that runs.
    fn thrown(&mut self) -> Result<(), Refusal> {
        self.add_all()?;
        for local in self.slots.within.clone().into_values() {
            self.a.local(LLOAD, self.slots.shard()?);
            self.a.local(ILOAD, local);
            self.e.call(&mut self.a, "count", "(JI)V")?;
        }
        Ok(())
    }

    /// An activation comes into `f` otherwise than along an edge, or takes that back.
    pub fn arrival(&mut self, f: FragmentId, count: Count) -> Result<(), Refusal> {
        let place = self.crossings.arrivals.iter().position(|a| *a == f);
        for (arrivals, _) in balances(self.plan).filter(|_| place.is_some()) {
            let slot = arrivals + place.unwrap_or(0) as u32;
            self.e.count(&mut self.a, &self.slots, slot, count)?;
        }
        Ok(())
    }

    /// An activation goes out of `f` otherwise than along an edge, or takes that back.
    fn departure(&mut self, f: FragmentId, count: Count) -> Result<(), Refusal> {
        let place = self.crossings.departures.iter().position(|d| *d == f);
        for (_, departures) in balances(self.plan).filter(|_| place.is_some()) {
            let slot = departures + place.unwrap_or(0) as u32;
            self.e.count(&mut self.a, &self.slots, slot, count)?;
        }
        Ok(())
    }

    /// Stale activations: live values into a frame, then on.
    fn leave_stubs(&mut self) -> Result<(), Refusal> {
        let max_locals = self.plan.method.code.max_locals;
        for (point, label) in std::mem::take(&mut self.outs) {
            self.a.place(label);
            let state = self.point_state(point);
            self.frame_at(label, state);
            let p: &Point = &self.plan.armed.points[point];
            self.add_around(p.fragment)?;
            match p.kind {
                PointKind::Exit => self.departure(p.fragment, Count::Up)?,
                PointKind::Fragment | PointKind::Entry => self.arrival(p.fragment, Count::Down)?,
            }
            if self.bodies == Bodies::Enter && self.slots.timers.is_empty() {
                self.pack(point)?;
                continue;
            }
            let mut spill = self.slots.temp + 1;
            let mut spilled = Vec::new();
            for t in p.stack.iter().rev() {
                self.a.local(ISTORE + kind(t), spill);
                spilled.push(spill);
                spill += t.width();
            }
            let frame = self.slots.temp;
            self.e.push_int(&mut self.a, p.id.0 as i32)?;
            self.e.push_int(
                &mut self.a,
                (max_locals + self.plan.method.code.max_stack) as i32,
            )?;
            self.e
                .call(&mut self.a, "frame", "(II)Ljava/lang/invoke/VeneerFrame;")?;
            self.a.local(ASTORE, frame);
            for (i, (t, from)) in p.stack.iter().zip(spilled.iter().rev()).enumerate() {
                self.e
                    .save(&mut self.a, frame, max_locals + i as u16, *from, t)?;
            }
            for (slot, t) in &p.locals {
                self.e.save(&mut self.a, frame, *slot, *slot, t)?;
            }
            for (slot, local) in self.slots.timers.clone() {
                self.a.local(ALOAD, frame);
                self.e.push_int(&mut self.a, slot as i32)?;
                self.a.local(LLOAD, local);
                self.e.frame_call(&mut self.a, "keep", "(IJ)V")?;
            }
            self.a.local(ALOAD, frame);
            match self.bodies {
                // The executor loop that called takes the frame from here.
                Bodies::Resume => self.a.plain(ARETURN),
                Bodies::Enter => {
                    self.e.push_cell(&mut self.a, self.plan.id)?;
                    self.e.call(&mut self.a, "go", "(Ljava/lang/invoke/VeneerFrame;Ljava/lang/invoke/VeneerCell;)Ljava/lang/Object;")?;
                    self.e
                        .return_unboxed(&mut self.a, &self.plan.method.signature.result)?;
                }
            }
        }
        Ok(())
    }

    /// Hands the live values to the packer of the same class: that is short, and a short body is inlined.
    fn pack(&mut self, point: usize) -> Result<(), Refusal> {
        let plan = self.plan;
        let p = &plan.armed.points[point];
        for (slot, t) in p.locals.iter().filter(|l| l.1 != Type::Null) {
            self.a.local(ILOAD + kind(t), *slot);
        }
        let packer = self.e.pool.add_method(
            &self.e.self_name.clone(),
            &runtime::site(plan.id, p.id.0),
            &crate::arming::site_descriptor(p, plan.method)?,
        )?;
        self.a.pool(INVOKESTATIC, packer);
        self.a.plain(plan.method.signature.returns_by());
        // Under edits, an instruction may stand in two places.
        if !self.packed.contains(&point) {
            self.packed.push(point);
        }
        Ok(())
    }

    fn catch_all(&mut self) -> Result<Option<Label>, Refusal> {
        let throws: Vec<Action> = self
            .plan
            .probes
            .iter()
            .filter(|p| p.site == Site::Throw)
            .map(|p| p.action.clone())
            .collect();
        let counts = !self.slots.within.is_empty();
        if throws.is_empty() && self.open.is_empty() && self.slots.at.is_none() && !counts {
            return Ok(None);
        }
        let label = self.a.fresh();
        self.a.place(label);
        let state = self.bare(vec![Type::object("java/lang/Throwable")]);
        self.frame_at(label, state);
        let thrown = self.slots.temp;
        self.a.local(ASTORE, thrown);
        for slot in self.open.clone() {
            self.e
                .weave(&mut self.a, &self.slots, &Action::Stop { slot })?;
        }
        for action in &throws {
            self.e.weave(&mut self.a, &self.slots, action)?;
        }
        self.thrown()?;
        if let Some(at) = self.slots.at {
            self.a.local(ALOAD, thrown);
            self.locate(at)?;
        }
        self.a.local(ALOAD, thrown);
        self.a.plain(ATHROW);
        Ok(Some(label))
    }

    fn finish(self, begin: Label, end: Label, catch: Option<Label>) -> Result<Emitted, Refusal> {
        let Body {
            e,
            plan,
            slots,
            a,
            frames: wanted,
            pieces,
            news,
            handlers,
            bodies,
            spans,
            packed,
            ..
        } = self;
        let method = plan.method;
        let out = a.finish()?;
        let exceptions = table(plan, &out, &pieces, &handlers, e, (begin, end, catch))?;
        let new_pc = |pc: u16| news.get(&pc).and_then(|l| out.at(*l));
        let mut at: Vec<(u16, &State)> = wanted
            .iter()
            .filter_map(|(l, s)| Some((out.at(*l)?, s)))
            .collect();
        at.sort_by_key(|f| f.0);
        at.dedup_by(|b, a| a.0 == b.0 && a.1 == b.1);
        let framed = |pc: &u16| at.binary_search_by_key(pc, |f| f.0).is_ok();
        if !out.skips.iter().all(framed) {
            return Err(Refusal::MethodTooLarge(
                "a conditional branch would reach further than 32,767 bytes".into(),
            ));
        }
        let mut stack_map = Vec::with_capacity(at.len());
        for (pc, state) in at {
            stack_map.push(frames::frame(pc, state, &mut e.pool, &new_pc)?);
        }
        let initial: Vec<Type> = match bodies {
            Bodies::Resume => vec![Type::object(runtime::FRAME)],
            Bodies::Enter => {
                let widths = crate::arming::carried(&plan.armed.points[0]);
                widths
                    .flat_map(|t| {
                        if t.width() == 2 {
                            vec![t.clone(), Type::Top]
                        } else {
                            vec![t.clone()]
                        }
                    })
                    .collect()
            }
        };
        let initial = frames::locals(&initial, &mut e.pool, &new_pc)?;
        let info = encode_stack_map(&stack_map, &initial)?;
        let attribute = crate::classfile::Attribute {
            name: e.pool.add_utf8("StackMapTable")?,
            info: info.into(),
        };
        let spill: u16 = plan
            .armed
            .points
            .iter()
            .map(|p| p.stack.iter().map(Type::width).sum::<u16>())
            .max()
            .unwrap_or(0);
        let words = plan
            .armed
            .points
            .iter()
            .map(Point::words)
            .max()
            .unwrap_or(0);
        let places = pieces
            .iter()
            .filter_map(|p| Some((out.at(p.start)?, p.place?)));
        let mut places: Vec<(u16, u16)> = places.collect();
        places.sort_unstable();
        let span = |(label, fragment, gathers): &(Label, Option<FragmentId>, bool)| {
            Some(Span {
                pc: out.at(*label)?,
                fragment: *fragment,
                gathers: *gathers,
            })
        };
        let mut spans: Vec<Span> = spans.iter().filter_map(span).collect();
        spans.sort_unstable_by_key(|s| s.pc);
        let mut attributes = vec![attribute];
        attributes.extend(lines(plan, &out, &pieces, e)?);
        let code = Code {
            // One more than is needed: C2 looks at the first argument of what a body with `super::COMPILED` calls, and there
            // may be none.
            max_stack: (method.code.max_stack + weave::stack(plan.probes)).max(words + 2) + 1,
            max_locals: slots.temp + 2 + spill.max(weave::spilled(plan.probes)),
            code: out.code.into(),
            exceptions,
            attributes,
        };
        Ok(Emitted {
            code,
            places,
            spans,
            packed,
        })
    }
}

/// The lines of the application's instructions, for tools that show the frames of versions. What is woven between them counts
/// to the line before.
fn lines(
    plan: &Plan,
    out: &Assembled,
    pieces: &[Piece],
    e: &mut Emitter,
) -> Result<Option<crate::classfile::Attribute<'static>>, Refusal> {
    let found = pieces
        .iter()
        .filter_map(|p| Some((out.at(p.start)?, plan.method.line(p.pc)?)));
    let mut rows: Vec<(u16, u16)> = found.collect();
    rows.sort_unstable();
    rows.dedup_by_key(|row| row.0);
    rows.dedup_by_key(|row| row.1);
    if rows.is_empty() {
        return Ok(None);
    }
    let mut info = (rows.len() as u16).to_be_bytes().to_vec();
    for (pc, line) in rows {
        info.extend(pc.to_be_bytes());
        info.extend(line.to_be_bytes());
    }
    Ok(Some(crate::classfile::Attribute {
        name: e.pool.add_utf8("LineNumberTable")?,
        info: info.into(),
    }))
}

/// The application's ranges over what came of its instructions, then the version's own range over all.
fn table(
    plan: &Plan,
    out: &Assembled,
    pieces: &[Piece],
    handlers: &IndexMap<FragmentId, Label>,
    e: &mut Emitter,
    all: (Label, Label, Option<Label>),
) -> Result<Vec<ExceptionRange>, Refusal> {
    let mut rows: Vec<ExceptionRange> = Vec::new();
    let method = plan.method;
    for range in &method.code.exceptions {
        let Some(handler) = method
            .flow
            .starting_at(Label::pc(range.handler))
            .and_then(|h| handlers.get(&h))
            .and_then(|l| out.at(*l))
        else {
            continue;
        };
        let catch_type = if range.catch_type == 0 {
            0
        } else {
            e.pool
                .import(&method.file.pool, range.catch_type, &mut e.memo)?
        };
        let from = rows.len();
        for piece in pieces
            .iter()
            .filter(|p| (range.start..range.end).contains(&p.pc))
        {
            let (Some(start), Some(end)) = (out.at(piece.start), out.at(piece.end)) else {
                continue;
            };
            match rows[from..].last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ if start < end => rows.push(ExceptionRange {
                    start,
                    end,
                    handler,
                    catch_type,
                }),
                _ => {}
            }
        }
    }
    if let (Some(start), Some(end), Some(handler)) =
        (out.at(all.0), out.at(all.1), all.2.and_then(|l| out.at(l)))
        && start < end
    {
        rows.push(ExceptionRange {
            start,
            end,
            handler,
            catch_type: 0,
        });
    }
    Ok(rows)
}

/// The cell that says when activations began at the latest that come without a state of this timer.
fn since(plan: &Plan, timer: u32) -> Option<i64> {
    plan.probes.iter().find_map(|p| match p.action {
        Action::Since { slot, cell } if slot == timer => Some(cell),
        _ => None,
    })
}
