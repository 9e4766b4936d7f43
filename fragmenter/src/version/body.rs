//! One body of a version: the fragments in their original order, linked along the edited graph,
//! with advice woven in.
//!
//! ```text
//!   prologue    move the arguments, or fetch the frame; load the shard; initialise timers
//!   N3:         (resume, loop header)  if frame != null goto dispatch
//!   G3:         (point)                if the cell has another version goto out
//!               advice before f3 … f3's instructions … advice after f3 … its last instruction
//!   ─────────── below: out of line, outside every exception range of the application
//!   E3→5:       advice on the edge, goto N5
//!   H7:         correct the line in the exception, stop open timers, goto N7 (handlers enter here)
//!   O3:         live values into a frame, continue in the executor loop        (stale activations)
//!   C:          catch-all: counts and corrects an exception that leaves the activation
//! ```
//!
//! Locals of the method keep their slots. The version's own locals are above them. An activation is
//! *stale* if its cell names another version than the one that it runs.

mod code_attribute;
mod external_counts;
mod loop_choice;
mod out_of_line;
mod parameter_guard;
mod part;
pub(super) mod slots;
mod tested_call;

use super::emitter::Emitter;
use super::plan::{Bodies, PositionTracking, VersionPlan};
use super::version_class::Span;
use crate::advice::{ProbeAction, Site};
use crate::bytecode::opcode::*;
use crate::bytecode::{Assembler, Instruction, Label};
use crate::classfile::Code;
use crate::counting::ExternalEdges;
use crate::flowgraph::FragmentId;
use crate::patch::Patched;
use crate::point_values::carried_kind;
use crate::points::{Point, PointKind};
use crate::refusal::Refusal;
use crate::runtime;
use crate::types::{State, Type};
use indexmap::IndexMap;
use slots::{ExternalCounters, Slots, external_counters};
use std::collections::HashMap;
use veneer_names::CounterSlot;

/// One instruction of the application in the emitted code.
struct CopiedInstruction {
    pc: u16,
    /// pc of the instruction in the armed body, if the instruction can throw an exception.
    armed_pc: Option<u16>,
    start: Label,
    end: Label,
}

/// Veneer's own code where the activation holds a monitor. If it throws an error of the JVM, the handlers
/// for everything catch it that protect the instruction at `pc`, because they release the monitor.
/// HotSpot compiles no method that an exception could leave while it holds a monitor.
struct MonitoredCode {
    pc: u16,
    start: Label,
    end: Label,
}

/// Code by which an activation leaves the body: after a check, or to move to another part.
#[derive(Clone, Copy)]
struct ExitStub {
    /// The index of the point with whose frame the activation leaves.
    point: usize,
    label: Label,
    /// The outcome of a guard for which the activation leaves, if a counter counts it.
    guard: Option<Site>,
}

/// A [`Span`] before the pcs of the body are known.
struct LabelledSpan {
    label: Label,
    fragment: Option<FragmentId>,
    original_pc: u16,
    gathers: bool,
}

/// An emitted body with its mapping to the armed body.
pub(super) struct EmittedBody {
    pub code: Code<'static>,
    /// For each instruction that can throw: its pc and its pc in the armed body, in rising order.
    pub armed_pcs: Vec<(u16, u16)>,
    /// The fragments by pc; see [`super::VersionClass::spans`].
    pub spans: Vec<Span>,
}

/// The state of emitting one body.
pub(super) struct BodyEmitter<'b, 'e> {
    pub e: &'b mut Emitter<'e>,
    pub plan: &'b VersionPlan<'b>,
    pub patched: &'b Patched,
    pub bodies: Bodies,
    pub slots: Slots,
    pub a: Assembler,
    /// Capture points: first those of the armed body, then the edit points.
    pub points: Vec<Point>,
    /// Label at the start of each node.
    pub nodes: Vec<Label>,
    /// Label of the dispatch code that the guard of a loop header branches to.
    pub guards: IndexMap<FragmentId, Label>,
    /// Label directly after the guard of a loop header. An activation that has reached its position
    /// continues here.
    pub after_guard: HashMap<FragmentId, Label>,
    /// Labels of the return-only code, by instruction index of the return.
    pub return_only: HashMap<usize, Label>,
    /// Whether each node is emitted.
    pub reachable: Vec<bool>,
    frames: Vec<(Label, State)>,
    copied: Vec<CopiedInstruction>,
    monitored: Vec<MonitoredCode>,
    /// Label of each copied `new` instruction, by its original pc.
    new_instruction_labels: HashMap<u16, Label>,
    /// The exit stubs.
    exit_stubs: Vec<ExitStub>,
    /// The part of the method that the body has; `None` for all of it.
    part: Option<u16>,
    /// For each node of a part, a number that the nodes of a cycle within the part share.
    cycles: Vec<usize>,
    /// The exit stubs through which control moves to nodes of other parts.
    moves: HashMap<FragmentId, Label>,
    /// The stubs with advice on edges, by source and target.
    edge_stubs: IndexMap<(FragmentId, FragmentId), Label>,
    /// The entry of each exception handler.
    handlers: IndexMap<FragmentId, Label>,
    /// Timers around fragments and instructions, which an exception must stop.
    open_timers: Vec<CounterSlot>,
    /// The external entries and exits of each placement of spanning-tree counters.
    external: Vec<(ExternalCounters<'b>, ExternalEdges)>,
    spans: Vec<LabelledSpan>,
    /// Whether positions are recorded by instruction.
    exact: bool,
}

/// Emits one body of a method.
pub(super) fn emit(
    e: &mut Emitter,
    plan: &VersionPlan,
    patched: &Patched,
    (bodies, part): (Bodies, Option<u16>),
    tracking: PositionTracking,
) -> Result<EmittedBody, Refusal> {
    let throws = plan
        .method
        .instructions
        .iter()
        .any(|(_, i)| may_throw(i.op()));
    let slots = Slots::new(
        plan,
        patched,
        bodies,
        tracking != PositionTracking::No && throws,
        throws,
    );
    if slots.temp as usize + 600 > u16::MAX as usize {
        return Err(Refusal::MethodTooLarge(
            "the method has too many local variables".into(),
        ));
    }
    (e.scratch, e.scratch_words) = (slots.temp, 0);
    let mut points = plan.armed.points.clone();
    points.extend(patched.edit_points.iter().cloned());
    let mut a = Assembler::new();
    let nodes = patched.nodes.iter().map(|_| a.fresh()).collect();
    let open_timers = plan
        .probes
        .iter()
        .filter(|p| {
            matches!(
                (&p.site, &p.action),
                (Site::Before(_) | Site::At(_), ProbeAction::Start { .. })
            )
        })
        .filter_map(|p| p.action.timer())
        .collect();
    let external = external_counters(plan).map(|external| {
        let points = &plan.armed.points;
        let edges = ExternalEdges::entries_and_exits(plan.method, points, external.steps);
        (external, edges)
    });
    let external = external.collect();
    let body = BodyEmitter {
        e,
        plan,
        patched,
        bodies,
        slots,
        external,
        spans: Vec::new(),
        points,
        a,
        nodes,
        guards: IndexMap::new(),
        after_guard: HashMap::new(),
        return_only: HashMap::new(),
        reachable: Vec::new(),
        frames: Vec::new(),
        copied: Vec::new(),
        monitored: Vec::new(),
        new_instruction_labels: HashMap::new(),
        exit_stubs: Vec::new(),
        part,
        cycles: Vec::new(),
        moves: HashMap::new(),
        edge_stubs: IndexMap::new(),
        handlers: IndexMap::new(),
        open_timers,
        exact: tracking == PositionTracking::Instruction,
    };
    body.build()
}

impl BodyEmitter<'_, '_> {
    fn build(mut self) -> Result<EmittedBody, Refusal> {
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
                let goes_on = |n: usize| {
                    let p = &self.points[n];
                    if self.only_returns(p) {
                        self.handler_fragments(p.fragment)
                    } else {
                        vec![self.patched.successor[p.fragment.index()]]
                    }
                };
                self.own_points().into_iter().flat_map(goes_on).collect()
            }
        };
        self.reachable = self.reachable_from(&roots);
        self.cycles = self.cycles_of_part();
        self.prologue()?;
        let (begin, end) = (self.a.fresh(), self.a.fresh());
        match self.bodies {
            Bodies::Enter => {
                self.a.place(begin);
                for probe in plan.probes.iter().filter(|p| p.site == Site::Entry) {
                    self.e.weave(&mut self.a, &self.slots, &probe.action)?;
                }
                self.emit_parameter_guards()?;
                if partial {
                    for probe in plan
                        .probes
                        .iter()
                        .filter(|p| p.site == Site::Before(entry.fragment))
                    {
                        self.e.weave(&mut self.a, &self.slots, &probe.action)?;
                    }
                    self.emit_code(entry.fragment, entry.fragment, entry.instruction)?;
                } else {
                    let first = self.reachable.iter().position(|r| *r);
                    if first != Some(self.patched.entry.index()) {
                        self.a.branch(GOTO, self.nodes[self.patched.entry.index()]);
                    }
                }
            }
            Bodies::Resume => {
                self.emit_dispatch()?;
                self.a.place(begin);
            }
        }
        for i in 0..self.patched.nodes.len() {
            if self.reachable[i] {
                self.emit_node(FragmentId(i as u32))?;
            }
        }
        self.begin_span(None, 0);
        if self.bodies == Bodies::Resume {
            self.return_only_code()?;
        }
        self.a.place(end);
        self.edge_advice()?;
        if self.bodies == Bodies::Resume {
            self.emit_guard_dispatches()?;
        }
        self.handler_entries()?;
        self.leave_stubs()?;
        let catch = self.catch_all()?;
        self.finish(begin, end, catch)
    }

    /// Whether an activation at this point only has to return. This does not depend on the edges
    /// that now leave its fragment.
    fn only_returns(&self, p: &Point) -> bool {
        self.patched.only_returns(p)
    }

    fn handler_fragments(&self, code: FragmentId) -> Vec<FragmentId> {
        self.plan.method.flow.handlers(code)
    }

    fn reachable_from(&self, roots: &[FragmentId]) -> Vec<bool> {
        let mut seen = vec![false; self.patched.nodes.len()];
        let mut work = roots.to_vec();
        while let Some(n) = work.pop() {
            if !self.has(n) || std::mem::replace(&mut seen[n.index()], true) {
                continue;
            }
            let node = &self.patched.nodes[n.index()];
            work.extend(node.out.iter().map(|o| o.1));
            work.extend(self.handler_fragments(node.code));
        }
        seen
    }

    /// The verification types at a node's start, including the version's own locals.
    pub fn state(&self, node: FragmentId) -> State {
        self.slots
            .extend(self.patched.state(self.plan.method, node))
    }

    /// Requests a stack-map frame with these types at a label.
    pub fn frame_at(&mut self, label: Label, state: State) {
        self.frames.push((label, state));
    }

    /// A state in which no local of the method is defined.
    pub fn state_without_locals(&self, stack: Vec<Type>) -> State {
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
                        self.a.local(ILOAD + carried_kind(t), *from);
                    }
                    for (_, to, t) in carried.iter().rev() {
                        self.a.local(ISTORE + carried_kind(t), *to);
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
        self.look_at_window()?;
        if let Some(at) = self.slots.position {
            self.a.push(Instruction::Push(-1));
            self.a.local(ISTORE, at);
        }
        for (departures, local) in self.slots.exit_counters.clone() {
            self.e
                .push_int(&mut self.a, departures.byte_offset() as i32)?;
            self.a.local(ISTORE, local);
        }
        for one in self.slots.promoted.clone() {
            for local in one.counters.values().chain([&one.iterations]) {
                self.a.push(Instruction::Push(0));
                self.a.local(ISTORE, *local);
            }
        }
        for (slot, local) in self.slots.timers.clone() {
            match self.slots.frame {
                // Timer state is carried: if the activation enters from a version with the same
                // instrument, the state continues.
                Some(frame) => {
                    self.a.local(ALOAD, frame);
                    self.e.push_int(&mut self.a, slot.0 as i32)?;
                    self.e.frame_call(&mut self.a, "kept", "(I)J")?;
                    if let Some(cell) = late_start_cell(self.plan, slot) {
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

    fn emit_node(&mut self, id: FragmentId) -> Result<(), Refusal> {
        let label = self.nodes[id.index()];
        // A copy has the checks and the advice of the fragment that was copied.
        let origin = self.patched.origin(id);
        self.a.place(label);
        let state = self.state(id);
        self.frame_at(label, state.clone());
        if let Some(choice) = self.patched.nodes[id.index()].choice.clone() {
            return self.emit_loop_choice(id, choice);
        }
        if let (Some(frame), Some(guard)) = (self.slots.frame, self.guards.get(&id).copied()) {
            self.a.local(ALOAD, frame);
            self.a.branch(IFNONNULL, guard);
            let after_guard = self.a.fresh();
            self.place_after_guard(id, after_guard, state);
        }
        let point = self
            .points
            .iter()
            .position(|p| p.kind == PointKind::Fragment && p.fragment == origin);
        if let Some(point) = point.filter(|point| self.is_checked(*point)) {
            self.emit_check(point)?;
        }
        let code = self.patched.nodes[id.index()].code;
        let first = self.first_instruction(code);
        let own = self.here();
        if self.slots.looked_at.contains(&origin) {
            self.look_at_window()?;
        }
        for probe in self
            .plan
            .probes
            .iter()
            .filter(|p| p.site == Site::Before(origin))
        {
            self.e.weave(&mut self.a, &self.slots, &probe.action)?;
        }
        self.end_own_code(own, first);
        self.emit_code(id, code, first)
    }

    /// The index of a fragment's first instruction.
    fn first_instruction(&self, code: FragmentId) -> usize {
        let fragment = self.plan.method.flow.get(code);
        fragment.map_or(0, |f| f.instructions.start)
    }

    /// A label at the current position.
    fn here(&mut self) -> Label {
        let label = self.a.fresh();
        self.a.place(label);
        label
    }

    /// Ends own code that began at a label, before the instruction with this index.
    fn end_own_code(&mut self, start: Label, instruction: usize) {
        let method = self.plan.method;
        if let Some((pc, _)) = method.instructions.get(instruction)
            && method.held_before(instruction) > 0
        {
            let end = self.here();
            self.monitored.push(MonitoredCode {
                pc: *pc,
                start,
                end,
            });
        }
    }

    /// Whether activations leave at a point for another version. In a split method, they only enter at
    /// the edit points that no loop needs: such a check would cost room, and moves from part to part
    /// lead to the current version anyway.
    fn is_checked(&self, point: usize) -> bool {
        let is_armed = point < self.plan.armed.points.len();
        let needed = &self.patched.loop_points;
        !self.is_part() || is_armed || needed.contains(&self.points[point].fragment)
    }

    fn place_after_guard(&mut self, id: FragmentId, fresh: Label, state: State) {
        let label = *self.after_guard.entry(id).or_insert(fresh);
        self.a.place(label);
        self.frame_at(label, state);
    }

    /// Emits `if (cell.stale(token)) goto exit stub`.
    fn emit_check(&mut self, point: usize) -> Result<(), Refusal> {
        let out = self.a.fresh();
        self.exit_stubs.push(ExitStub {
            point,
            label: out,
            guard: None,
        });
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

    /// Emits the instructions of fragment `code` at node `id`, beginning with instruction `first`.
    fn emit_code(&mut self, id: FragmentId, code: FragmentId, first: usize) -> Result<(), Refusal> {
        let method = self.plan.method;
        let Some(fragment) = method.flow.get(code) else {
            return Err(Refusal::Internal("a fragment was lost".into()));
        };
        let last = fragment.instructions.end - 1;
        let mut line = None;
        // The position in the local `position`, if it is known. It is known from the first store to
        // the end of the fragment.
        let mut known_position: Option<i32> = None;
        let mut are_exit_counters_set = false;
        self.begin_span(Some(code), method.instructions[first].0);
        for i in first..=last {
            let (pc, instruction) = &method.instructions[i];
            let op = instruction.op();
            let own = self.here();
            if is_return(op) {
                self.emit_return_check(i)?;
            }
            let leaves =
                i == last && (ends_flow(op) || matches!(instruction, Instruction::Branch { .. }));
            // The advice at a return acts before that after its fragment and its method: code at
            // `exits()` acts before code with `after`.
            if is_return(op) {
                self.advice_at(Site::At(*pc))?;
            }
            if leaves {
                self.advice_after(id, op)?;
            }
            if !is_return(op) {
                self.advice_at(Site::At(*pc))?;
            }
            let receivers = self.tested_receivers(*pc);
            let (start, end) = (self.a.fresh(), self.a.fresh());
            if is_return(op) && self.bodies == Bodies::Resume {
                // Boxing the result may throw an `OutOfMemoryError`. The code is outside the
                // exception ranges, because the application's handlers must not catch it.
                self.e.box_result(&mut self.a, &method.signature.result)?;
            }
            self.end_own_code(own, i);
            self.a.place(start);
            if let Some(at) = self.slots.position
                && may_throw(op)
                && (self.exact || line != Some(method.line(*pc)))
            {
                line = Some(method.line(*pc));
                let place = self.plan.armed.pcs.get(i).copied().unwrap_or(0) as i32;
                match known_position.and_then(|k| i8::try_from(place - k).ok()) {
                    Some(delta) if at < 256 => self.a.push(Instruction::Iinc {
                        index: at,
                        delta: delta as i16,
                    }),
                    _ => {
                        self.e.push_int(&mut self.a, place)?;
                        self.a.local(ISTORE, at);
                    }
                }
                known_position = Some(place);
            }
            let begins_node = self.begins_node(*pc);
            if begins_node {
                self.begin_span(Some(code), *pc);
            }
            let is_first = may_throw(op) && !are_exit_counters_set;
            if is_first || begins_node {
                self.select_exit_counters(code, *pc, is_first)?;
                are_exit_counters_set |= is_first;
            }
            if op == NEW {
                let label = self.a.fresh();
                self.a.place(label);
                self.new_instruction_labels.insert(*pc, label);
            }
            match instruction {
                Instruction::Branch { .. }
                | Instruction::TableSwitch { .. }
                | Instruction::LookupSwitch { .. } => {
                    let mut targets = HashMap::new();
                    for t in instruction.targets() {
                        targets.insert(t, self.edge_label(id, t)?);
                    }
                    self.a
                        .push(instruction.retarget(&mut |t| targets.get(&t).copied().unwrap_or(t)));
                }
                _ if is_return(op) && self.bodies == Bodies::Resume => self.a.plain(ARETURN),
                _ if receivers.is_empty() => self.copy_or_constant(instruction)?,
                _ => {}
            }
            self.a.place(end);
            self.copied.push(CopiedInstruction {
                pc: *pc,
                armed_pc: may_throw(op)
                    .then(|| self.plan.armed.pcs.get(i).copied())
                    .flatten(),
                start,
                end,
            });
            if !receivers.is_empty() {
                self.emit_tested_call((id, first), i, &receivers)?;
            }
            let own = self.here();
            if matches!(op, TABLESWITCH | LOOKUPSWITCH) {
                self.separate_switch(id, instruction)?;
            }
            if !ends_flow(op) && !matches!(instruction, Instruction::Branch { .. }) {
                self.advice_at(Site::AfterCode(*pc))?;
            }
            if i == last && !leaves {
                self.advice_after(id, op)?;
            }
            if i == last && !ends_flow(op) {
                self.emit_fall_through(id, Label(fragment.end))?;
            }
            self.end_own_code(own, i + 1);
        }
        Ok(())
    }

    /// Emits a jump after a switch if the code that follows begins with another depth of the operand
    /// stack. No activation reaches the jump, but HotSpot's analysis of null pointers continues after
    /// a switch and would merge the two depths ([`crate::hotspot::null_message`]).
    fn separate_switch(
        &mut self,
        from: FragmentId,
        instruction: &Instruction,
    ) -> Result<(), Refusal> {
        let Some(default) = instruction.targets().last().copied() else {
            return Ok(());
        };
        let target = self.target_node(from, default)?;
        let state = self.state(target);
        let mut following = vec![self.next_reachable(from.index() + 1)];
        if self.bodies == Bodies::Enter && from == self.plan.armed.points[0].fragment {
            // The code after point 0 is also emitted before the first node.
            following.push(self.next_reachable(0));
        }
        let same = |next: &Option<usize>| {
            next.is_some_and(|i| self.state(FragmentId(i as u32)).depth() == state.depth())
        };
        if following.iter().all(same) {
            return Ok(());
        }
        let label = self.a.fresh();
        self.a.place(label);
        self.frame_at(label, state);
        let target = self.continue_at(target)?;
        self.a.branch(GOTO, target);
        Ok(())
    }

    /// The first node from `index` on that is emitted.
    fn next_reachable(&self, index: usize) -> Option<usize> {
        (index..self.reachable.len()).find(|i| self.reachable[*i])
    }

    /// Emits the advice before or after a single instruction.
    fn advice_at(&mut self, site: Site) -> Result<(), Refusal> {
        for probe in self.plan.probes.iter().filter(|p| p.site == site) {
            self.e.weave(&mut self.a, &self.slots, &probe.action)?;
        }
        Ok(())
    }

    fn advice_after(&mut self, node: FragmentId, op: u8) -> Result<(), Refusal> {
        let id = self.patched.origin(node);
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

    /// Emits the check before a return, if the return has a capture point.
    fn emit_return_check(&mut self, instruction: usize) -> Result<(), Refusal> {
        let is = |p: &Point| p.kind == PointKind::Exit && p.instruction == instruction;
        match self.points.iter().position(is) {
            Some(point) => self.emit_check(point),
            None => Ok(()),
        }
    }

    /// The verification types at a capture point, restricted to the live values.
    pub fn point_state(&self, point: usize) -> State {
        let p = &self.points[point];
        self.slots.extend(crate::point_values::frame_state(
            p,
            self.plan.method.code.max_locals,
        ))
    }

    /// The node that control reaches from node `from`, if its instructions branch to `to`.
    fn target_node(&self, from: FragmentId, to: Label) -> Result<FragmentId, Refusal> {
        let original = self
            .plan
            .method
            .flow
            .fragment_starting_at(to)
            .ok_or_else(|| Refusal::Internal("a target was lost".into()))?;
        let out = self.patched.nodes[from.index()]
            .out
            .iter()
            .find(|o| o.0 == original);
        out.map(|o| o.1)
            .ok_or_else(|| Refusal::Internal("an edge was lost".into()))
    }

    /// The label that a branch along an edge must use: that of the target node, or of the edge's
    /// stub if the edge has advice.
    fn edge_label(&mut self, from: FragmentId, to: Label) -> Result<Label, Refusal> {
        let node = self.target_node(from, to)?;
        if !self.has_edge_advice(from, node) {
            return self.continue_at(node);
        }
        let fresh = self.a.fresh();
        Ok(*self.edge_stubs.entry((from, node)).or_insert(fresh))
    }

    fn has_edge_advice(&self, from: FragmentId, to: FragmentId) -> bool {
        let probes = &self.plan.probes;
        let edge = self.edge_site(from, to);
        self.loop_edge(from, to).is_some() || probes.iter().any(|p| p.site == edge)
    }

    /// The edge between two nodes as the site of advice. An edge of a copy has the advice of the edge that was
    /// copied.
    fn edge_site(&self, from: FragmentId, to: FragmentId) -> Site {
        Site::Edge(self.patched.origin(from), self.patched.origin(to))
    }

    fn emit_fall_through(&mut self, from: FragmentId, to: Label) -> Result<(), Refusal> {
        let node = self.target_node(from, to)?;
        let edge = self.edge_site(from, node);
        for probe in self.plan.probes.iter().filter(|p| p.site == edge) {
            self.e.weave(&mut self.a, &self.slots, &probe.action)?;
        }
        if let Some(loop_edge) = self.loop_edge(from, node) {
            self.emit_loop_edge(loop_edge)?;
        }
        let next = self.next_reachable(from.index() + 1);
        let entry = &self.plan.armed.points[0];
        let inline_entry =
            self.bodies == Bodies::Enter && from == entry.fragment && !self.reachable[from.index()];
        let next = if inline_entry {
            self.next_reachable(0)
        } else {
            next
        };
        if next != Some(node.index()) || self.bodies == Bodies::Enter && from == entry.fragment {
            let target = self.continue_at(node)?;
            self.a.branch(GOTO, target);
        }
        Ok(())
    }

    /// Emits code that pops a throwable and corrects the nest host's position in its stack trace.
    /// The verifier may know the value by a supertype or an interface only, so `locate` takes an
    /// `Object`.
    fn emit_locate(&mut self, at: u16) -> Result<(), Refusal> {
        self.a.local(ILOAD, at);
        self.a.push(Instruction::Push(self.exact as i16));
        self.e.push_cell(&mut self.a, self.plan.id)?;
        self.e.call(
            &mut self.a,
            "locate",
            "(Ljava/lang/Object;IZLjava/lang/invoke/VeneerCell;)V",
        )
    }
}

/// The cell of the timer's `LateStart` action, if the plan has one.
fn late_start_cell(plan: &VersionPlan, timer: CounterSlot) -> Option<i64> {
    plan.probes.iter().find_map(|p| match p.action {
        ProbeAction::LateStart { slot, cell } if slot == timer => Some(cell),
        _ => None,
    })
}
