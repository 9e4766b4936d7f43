//! Code that is out of line, outside every exception range of the application:
//!
//! - advice on edges;
//! - entries of exception handlers;
//! - exit stubs for stale activations;
//! - returns for activations that only have to return;
//! - the handler for exceptions that leave the activation.

use super::slots::external_counters;
use super::{BodyEmitter, CopiedInstruction};
use crate::advice::{ProbeAction, ProbeArgument, Site};
use crate::bytecode::Label;
use crate::bytecode::opcode::*;
use crate::osr_exit::{self, ExitConstants};
use crate::points::{Point, PointKind};
use crate::refusal::Refusal;
use crate::runtime;
use crate::types::Type;
use crate::version::plan::Bodies;
use crate::version::weave::CounterChange;
use veneer_names::LocalSlot;

impl BodyEmitter<'_, '_> {
    /// Emits only the returns, for activations that are suspended before one. Such an activation
    /// carries only the values that are live there. A log or probe that reads other variables is
    /// skipped.
    pub(super) fn return_only_code(&mut self) -> Result<(), Refusal> {
        let plan = self.plan;
        for (i, p) in plan.armed.points.iter().enumerate() {
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
            for probe in self
                .plan
                .probes
                .iter()
                .filter(|p| p.site == Site::Edge(from, to))
            {
                self.e.weave(&mut self.a, &self.slots, &probe.action)?;
            }
            if let Some(loop_edge) = self.loop_edge(from, to) {
                self.emit_loop_edge(loop_edge)?;
            }
            self.a.branch(GOTO, self.nodes[to.index()]);
        }
        Ok(())
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
            if self.handlers.contains_key(&h) || !self.reachable[h.index()] {
                continue;
            }
            if self.slots.position.is_none()
                && self.open_timers.is_empty()
                && external_counters(self.plan).next().is_none()
            {
                self.handlers.insert(h, self.nodes[h.index()]);
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
            self.a.branch(GOTO, self.nodes[h.index()]);
        }
        Ok(())
    }

    /// Emits the exits for stale activations. They leave with their live values in a frame: `enter`
    /// passes the frame to the executor loop, and `resume` returns it to the executor loop that
    /// called it.
    pub(super) fn leave_stubs(&mut self) -> Result<(), Refusal> {
        let exit_stubs = std::mem::take(&mut self.exit_stubs);
        let plan = self.plan;
        let (points, result) = (self.points.clone(), &plan.method.signature.result);
        let left = || exit_stubs.iter().map(|(point, _)| &points[*point]);
        let anchor = self.e.anchor;
        let cell = runtime::cell_field(plan.id);
        let cell = self
            .e
            .pool
            .add_field(anchor, &cell, runtime::CELL_DESCRIPTOR)?;
        let refs = ExitConstants::for_version(&mut self.e.pool, cell, left(), result)?;
        let shared = self.a.fresh();
        for (n, (point, label)) in exit_stubs.iter().enumerate() {
            self.a.place(*label);
            let state = self.point_state(*point);
            self.frame_at(*label, state);
            let p: &Point = &points[*point];
            self.flush_around(p.fragment)?;
            match p.kind {
                PointKind::Exit => {
                    self.count_external_exit(p.fragment, CounterChange::Increment)?
                }
                PointKind::Fragment | PointKind::Entry => {
                    self.count_external_entry(p.fragment, CounterChange::Decrement)?
                }
            }
            refs.build_frame(&mut self.a, p, self.slots.temp);
            for (slot, local) in self.slots.timers.clone() {
                self.e.push_int(&mut self.a, slot.0 as i32)?;
                self.a.local(LLOAD, local);
                self.e
                    .frame_call(&mut self.a, "keep", "(IJ)Ljava/lang/invoke/VeneerFrame;")?;
            }
            match self.bodies {
                // The calling executor loop continues with the frame.
                Bodies::Resume => self.a.plain(ARETURN),
                Bodies::Enter if n + 1 < exit_stubs.len() => self.a.branch(GOTO, shared),
                Bodies::Enter => {
                    self.a.place(shared);
                    let state = self.state_without_locals(vec![Type::object(runtime::FRAME)]);
                    self.frame_at(shared, state);
                    let cleared = osr_exit::locals_to_clear(plan.method, left(), self.slots.temp);
                    refs.run_loop(&mut self.a, &cleared, result);
                }
            }
        }
        Ok(())
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
