//! What stands out of line, outside every range of the application: advice on edges, ways into handlers, ways out for activations that are stale or only
//! have to return, and what happens when an exception leaves.

use super::slots::balances;
use super::{Body, Piece};
use crate::advice::{Action, Read, Site};
use crate::bytecode::Label;
use crate::bytecode::opcode::*;
use crate::capture::{self, Refs};
use crate::points::{Point, PointKind};
use crate::refusal::Refusal;
use crate::runtime;
use crate::types::Type;
use crate::version::Bodies;
use crate::version::weave::Count;

impl Body<'_, '_> {
    /// Just the returns, for activations that stand before one. Such an activation brings what is live there and no more,
    /// so a log of other variables is passed over.
    pub(super) fn tails(&mut self) -> Result<(), Refusal> {
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

    pub(super) fn edge_advice(&mut self) -> Result<(), Refusal> {
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
    pub(super) fn handler_entries(&mut self) -> Result<(), Refusal> {
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

    /// Stale activations leave with their live values in a frame: to the executor loop, or back to the one that called.
    pub(super) fn leave_stubs(&mut self) -> Result<(), Refusal> {
        let outs = std::mem::take(&mut self.outs);
        let plan = self.plan;
        let (points, result) = (self.points.clone(), &plan.method.signature.result);
        let left = || outs.iter().map(|(point, _)| &points[*point]);
        let anchor = self.e.anchor;
        let cell = runtime::cell_field(plan.id);
        let cell = self
            .e
            .pool
            .add_field(anchor, &cell, runtime::CELL_DESCRIPTOR)?;
        let refs = Refs::framed_only(&mut self.e.pool, cell, left(), result)?;
        let shared = self.a.fresh();
        for (n, (point, label)) in outs.iter().enumerate() {
            self.a.place(*label);
            let state = self.point_state(*point);
            self.frame_at(*label, state);
            let p: &Point = &points[*point];
            self.add_around(p.fragment)?;
            match p.kind {
                PointKind::Exit => self.departure(p.fragment, Count::Up)?,
                PointKind::Fragment | PointKind::Entry => self.arrival(p.fragment, Count::Down)?,
            }
            refs.framed(&mut self.a, p, self.slots.temp);
            for (slot, local) in self.slots.timers.clone() {
                self.e.push_int(&mut self.a, slot as i32)?;
                self.a.local(LLOAD, local);
                self.e
                    .frame_call(&mut self.a, "keep", "(IJ)Ljava/lang/invoke/VeneerFrame;")?;
            }
            match self.bodies {
                // The executor loop that called takes the frame from here.
                Bodies::Resume => self.a.plain(ARETURN),
                Bodies::Enter if n + 1 < outs.len() => self.a.branch(GOTO, shared),
                Bodies::Enter => {
                    self.a.place(shared);
                    let state = self.bare(vec![Type::object(runtime::FRAME)]);
                    self.frame_at(shared, state);
                    let dropped = capture::dropped(plan.method, left(), self.slots.temp);
                    refs.go(&mut self.a, &dropped, result);
                }
            }
        }
        Ok(())
    }

    pub(super) fn catch_all(&mut self) -> Result<Option<Label>, Refusal> {
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
}
