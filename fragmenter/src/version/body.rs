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

mod beside;
mod finish;
mod slots;

pub(super) use slots::Slots;

use super::weave::Count;
use super::{Bodies, Emitter, Plan, Span, Track};
use crate::advice::{Action, Site};
use crate::arming::kind;
use crate::bytecode::opcode::*;
use crate::bytecode::{Assembler, Instruction, Label};
use crate::classfile::Code;
use crate::counting::Crossings;
use crate::flowgraph::FragmentId;
use crate::patch::Patched;
use crate::points::{Point, PointKind};
use crate::refusal::Refusal;
use crate::runtime;
use crate::types::{State, Type};
use indexmap::IndexMap;
use slots::balances;
use std::collections::HashMap;

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
}

/// A body in the making.
pub(super) struct Body<'b, 'e> {
    pub e: &'b mut Emitter<'e>,
    pub plan: &'b Plan<'b>,
    pub patched: &'b Patched,
    pub bodies: Bodies,
    pub slots: Slots,
    pub a: Assembler,
    /// Capture points: those of the armed body, then those that only versions have.
    pub points: Vec<Point>,
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
    let mut points = plan.armed.points.clone();
    points.extend(patched.edit_points.iter().cloned());
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
        points,
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
                self.points[1..].iter().flat_map(goes_on).collect()
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
                let class = self.e.pool.add_class(runtime::FRAME)?;
                self.a.pool(CHECKCAST, class);
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
        match self.points.iter().position(is) {
            Some(point) => self.check(point),
            None => Ok(()),
        }
    }

    /// The types at a capture point, with only what is live.
    pub fn point_state(&self, point: usize) -> State {
        let p = &self.points[point];
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
}

/// The cell that says when activations began at the latest that come without a state of this timer.
fn since(plan: &Plan, timer: u32) -> Option<i64> {
    plan.probes.iter().find_map(|p| match p.action {
        Action::Since { slot, cell } if slot == timer => Some(cell),
        _ => None,
    })
}
