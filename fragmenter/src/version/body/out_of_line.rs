//! Code that is out of line, outside every exception range of the application:
//!
//! - advice on edges;
//! - entries of exception handlers;
//! - exit stubs for stale activations;
//! - returns for activations that only have to return;
//! - the handler for exceptions that leave the activation.

use super::{BodyEmitter, CopiedInstruction, ExitStub};
use crate::advice::{ProbeAction, ProbeArgument, Site};
use crate::bytecode::opcode::*;
use crate::bytecode::{Instruction, Label};
use crate::classfile::ExceptionRange;
use crate::osr_exit::{self, ExitConstants, PointNumber};
use crate::point_values::carried_kind;
use crate::points::{Point, PointKind};
use crate::refusal::Refusal;
use crate::runtime;
use crate::types::{State, Type};
use crate::version::plan::Bodies;
use crate::version::weave::CounterChange;
use indexmap::IndexMap;
use veneer_names::LocalSlot;

/// The kinds of the values in a frame, and where they come from.
#[derive(PartialEq, Eq, Hash)]
struct FrameLayout {
    stack: Vec<u8>,
    locals: Vec<(u16, u8)>,
}

impl FrameLayout {
    fn from_point(p: &Point) -> FrameLayout {
        let locals = p.locals.iter().filter(|local| local.1 != Type::Null);
        FrameLayout {
            stack: p.stack.iter().map(carried_kind).collect(),
            locals: locals.map(|(slot, t)| (*slot, carried_kind(t))).collect(),
        }
    }
}

impl BodyEmitter<'_, '_> {
    /// Emits only the returns, for activations that are suspended before one. Such an activation
    /// carries only the values that are live there. A log or probe that reads other variables is
    /// skipped.
    pub(super) fn return_only_code(&mut self) -> Result<(), Refusal> {
        let plan = self.plan;
        for i in self.own_points() {
            let p = &self.points[i].clone();
            if !self.only_returns(p) {
                continue;
            }
            let fresh = self.a.fresh();
            let label = *self.return_only.entry(p.instruction).or_insert(fresh);
            self.a.place(label);
            let state = self.point_state(i);
            self.frame_at(label, state);
            self.emit_check(i)?;
            let has = |slot: LocalSlot| p.locals.iter().any(|l| l.0 == slot.0);
            // The activation reaches the end of a fragment into which it was not counted here, so
            // its external exit from the previous version is taken back.
            self.count_external_exit(p.fragment, CounterChange::Decrement)?;
            let at_exit = [Site::After(p.fragment), Site::Return, Site::At(p.pc)];
            for probe in plan.probes.iter().filter(|q| at_exit.contains(&q.site)) {
                match &probe.action {
                    ProbeAction::Log { values, .. } if !values.iter().all(|v| has(v.0)) => {}
                    ProbeAction::RunProbe { reads, .. }
                        if !reads.iter().all(
                            |read| !matches!(read, ProbeArgument::Slot(slot) if !has(*slot)),
                        ) => {}
                    action => self.e.weave(&mut self.a, &self.slots, action)?,
                }
            }
            let (start, end) = (self.a.fresh(), self.a.fresh());
            self.e
                .box_result(&mut self.a, &plan.method.signature.result)?;
            self.a.place(start);
            self.a.plain(ARETURN);
            self.a.place(end);
            self.copied.push(CopiedInstruction {
                pc: p.pc,
                armed_pc: None,
                start,
                end,
            });
        }
        Ok(())
    }

    pub(super) fn edge_advice(&mut self) -> Result<(), Refusal> {
        for ((from, to), label) in self.edge_stubs.clone() {
            self.a.place(label);
            let state = self.state(to);
            self.frame_at(label, state);
            let edge = self.edge_site(from, to);
            for probe in self.plan.probes.iter().filter(|p| p.site == edge) {
                self.e.weave(&mut self.a, &self.slots, &probe.action)?;
            }
            if let Some(loop_edge) = self.loop_edge(from, to) {
                self.emit_loop_edge(loop_edge)?;
            }
            let first = self.first_instruction(self.patched.nodes[to.index()].code);
            self.end_own_code(label, first);
            let target = self.continue_at(to)?;
            self.a.branch(GOTO, target);
        }
        Ok(())
    }

    /// Whether an emitted instruction is in an exception range.
    fn protects(&self, range: &ExceptionRange) -> bool {
        let pcs = range.start..range.end;
        self.copied.iter().any(|copy| pcs.contains(&copy.pc))
    }

    /// Emits an entry for each handler of the application. The entry corrects the host's position
    /// in the exception, if positions are recorded, and updates timers and counters.
    pub(super) fn handler_entries(&mut self) -> Result<(), Refusal> {
        for e in &self.plan.method.code.exceptions {
            let Some(h) = self
                .plan
                .method
                .flow
                .fragment_starting_at(Label::pc(e.handler))
            else {
                continue;
            };
            let is_reached = match self.has(h) {
                true => self.reachable[h.index()],
                false => self.protects(e),
            };
            if self.handlers.contains_key(&h) || !is_reached {
                continue;
            }
            if self.slots.position.is_none()
                && self.open_timers.is_empty()
                && self.external.is_empty()
            {
                let target = self.continue_at(h)?;
                self.handlers.insert(h, target);
                continue;
            }
            let label = self.a.fresh();
            self.handlers.insert(h, label);
            self.a.place(label);
            let state = self.state(h);
            self.frame_at(label, state);
            for slot in self.open_timers.clone() {
                self.e
                    .weave(&mut self.a, &self.slots, &ProbeAction::Stop { slot })?;
            }
            self.count_exception()?;
            self.count_external_entry(h, CounterChange::Increment)?;
            if let Some(at) = self.slots.position {
                self.a.plain(DUP);
                self.emit_locate(at)?;
            }
            self.end_own_code(label, self.first_instruction(h));
            let target = self.continue_at(h)?;
            self.a.branch(GOTO, target);
        }
        Ok(())
    }

    /// Emits the exits for stale activations, and for those that move to another part. They leave with
    /// their live values in a frame: `enter` passes the frame to the executor loop, and `resume` returns
    /// it to the executor loop that called it.
    ///
    /// In a part, stubs with equal layouts share the code that builds the frame: a part may have hundreds
    /// of stubs, and must not exceed HotSpot's limit.
    pub(super) fn leave_stubs(&mut self) -> Result<(), Refusal> {
        let exit_stubs = std::mem::take(&mut self.exit_stubs);
        let plan = self.plan;
        let (points, result) = (self.points.clone(), &plan.method.signature.result);
        let left = || exit_stubs.iter().map(|stub| &points[stub.point]);
        let anchor = self.e.anchor;
        let cell = runtime::cell_field(plan.id);
        let cell = self
            .e
            .pool
            .add_field(anchor, &cell, runtime::CELL_DESCRIPTOR)?;
        let refs = ExitConstants::for_version(&mut self.e.pool, cell, left(), result)?;
        let tail = self.a.fresh();
        let mut shared: IndexMap<FrameLayout, (usize, Label)> = IndexMap::new();
        for (n, stub) in exit_stubs.iter().enumerate() {
            let p: &Point = &points[stub.point];
            self.begin_exit(stub, p)?;
            if self.part.is_some() {
                let fresh = self.a.fresh();
                let (_, label) = *shared
                    .entry(FrameLayout::from_point(p))
                    .or_insert((stub.point, fresh));
                self.a.push(Instruction::Push(p.id.0 as i16));
                self.a.branch(GOTO, label);
                continue;
            }
            refs.build_frame(&mut self.a, p, PointNumber::OfPoint, self.slots.temp);
            self.end_exit(tail, n + 1 == exit_stubs.len())?;
        }
        let count = shared.len();
        for (n, (point, label)) in shared.into_values().enumerate() {
            let p = &points[point];
            self.a.place(label);
            let state = self.shared_exit_state(p);
            self.frame_at(label, state);
            let number = self.slots.temp;
            self.a.local(ISTORE, number);
            refs.build_frame(&mut self.a, p, PointNumber::Local(number), number + 1);
            self.end_exit(tail, n + 1 == count)?;
        }
        if self.bodies == Bodies::Enter && !exit_stubs.is_empty() {
            let cleared = osr_exit::locals_to_clear(plan.method, left(), self.slots.temp);
            refs.run_loop(&mut self.a, &cleared, result);
        }
        Ok(())
    }

    /// Emits the beginning of an exit stub: updates the counters.
    fn begin_exit(&mut self, stub: &ExitStub, p: &Point) -> Result<(), Refusal> {
        self.a.place(stub.label);
        let state = self.point_state(stub.point);
        self.frame_at(stub.label, state);
        if let Some(guard) = stub.guard {
            self.advice_at(guard)?;
        }
        self.flush_around(p.fragment)?;
        match p.kind {
            PointKind::Exit => self.count_external_exit(p.fragment, CounterChange::Increment)?,
            PointKind::Fragment | PointKind::Entry => {
                self.count_external_entry(p.fragment, CounterChange::Decrement)?
            }
        }
        Ok(())
    }

    /// Emits the end of an exit, with the frame on the stack. In `enter`, all exits share `tail`, which
    /// follows the last one.
    fn end_exit(&mut self, tail: Label, is_last: bool) -> Result<(), Refusal> {
        for (slot, local) in self.slots.timers.clone() {
            self.e.push_int(&mut self.a, slot.0 as i32)?;
            self.a.local(LLOAD, local);
            self.e
                .frame_call(&mut self.a, "keep", "(IJ)Ljava/lang/invoke/VeneerFrame;")?;
        }
        match self.bodies {
            // The calling executor loop continues with the frame.
            Bodies::Resume => self.a.plain(ARETURN),
            Bodies::Enter if !is_last => self.a.branch(GOTO, tail),
            Bodies::Enter => {
                self.a.place(tail);
                let state = self.state_without_locals(vec![Type::object(runtime::FRAME)]);
                self.frame_at(tail, state);
            }
        }
        Ok(())
    }

    /// The verification types at the code that several stubs share: the values of their layout, and the
    /// number of the point on the operand stack.
    fn shared_exit_state(&self, p: &Point) -> State {
        let mut locals = vec![Type::Top; self.plan.method.code.max_locals as usize];
        for (slot, t) in p.locals.iter().filter(|local| local.1 != Type::Null) {
            if let Some(local) = locals.get_mut(usize::from(*slot)) {
                *local = osr_exit::as_object(t);
            }
        }
        let stack = p.stack.iter().map(osr_exit::as_object);
        self.slots.extend(State {
            locals,
            stack: stack.chain([Type::Int]).collect(),
        })
    }

    pub(super) fn catch_all(&mut self) -> Result<Option<Label>, Refusal> {
        let throws: Vec<ProbeAction> = self
            .plan
            .probes
            .iter()
            .filter(|p| p.site == Site::Throw)
            .map(|p| p.action.clone())
            .collect();
        let counts = !self.slots.exit_counters.is_empty();
        if throws.is_empty()
            && self.open_timers.is_empty()
            && self.slots.position.is_none()
            && !counts
        {
            return Ok(None);
        }
        let label = self.a.fresh();
        self.a.place(label);
        let state = self.state_without_locals(vec![Type::object("java/lang/Throwable")]);
        self.frame_at(label, state);
        let thrown = self.slots.temp;
        self.a.local(ASTORE, thrown);
        for slot in self.open_timers.clone() {
            self.e
                .weave(&mut self.a, &self.slots, &ProbeAction::Stop { slot })?;
        }
        for action in &throws {
            self.e.weave(&mut self.a, &self.slots, action)?;
        }
        self.count_exception()?;
        if let Some(at) = self.slots.position {
            self.a.local(ALOAD, thrown);
            self.emit_locate(at)?;
        }
        self.a.local(ALOAD, thrown);
        self.a.plain(ATHROW);
        Ok(Some(label))
    }
}
