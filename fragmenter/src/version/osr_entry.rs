//! OSR entry: transfers an activation from a frame to its position in the resume body, without
//! giving any loop a second entry.
//!
//! ```text
//!   switch (frame.point) ─▶ N(outermost header) ─guard─▶ dispatch ─▶ N(next header) ─guard─▶ …
//!                        ─▶ values out of the frame, frame = null, goto position
//! ```
//!
//! HotSpot's C2 optimises irreducible loops badly. Every loop is therefore entered through its
//! header, even by an activation whose position is deep inside. The local `frame` is non-null until
//! the activation has reached its position.
//!
//! On the way, locals that a header's stack-map frame requires hold default values. The real values
//! are read from the frame at the end. A header is omitted if its frame has a non-empty operand
//! stack or an uninitialised object, because no default value can fill it.

use super::body::BodyEmitter;
use super::weave::CounterChange;
use crate::bytecode::opcode::*;
use crate::bytecode::{Instruction, Label};
use crate::flowgraph::{FragmentId, FragmentNode};
use crate::osr_exit::{self, CarriedValue};
use crate::point_values::carried_kind;
use crate::points::PointKind;
use crate::refusal::Refusal;
use crate::types::Type;

impl BodyEmitter<'_, '_> {
    /// The loop headers that an activation at point `point` passes, with the outermost first.
    fn headers_to_pass(&self, point: usize) -> Vec<FragmentId> {
        let place = self.resume_node(point);
        let nest = self.patched.loops.enclosing_loops(place.node());
        let headers = nest
            .iter()
            .filter_map(|l| self.patched.loops.get(*l))
            .map(|l| FragmentId(l.header.index() as u32));
        // A header whose stack-map frame cannot be filled with default values is omitted.
        headers
            .filter(|h| self.has_loop(*h, place))
            .filter(|h| {
                let state = self.patched.state(self.plan.method, *h);
                state.stack.is_empty() && !state.has_uninitialized()
            })
            .collect()
    }

    /// The loop header that an activation at point `point` passes after `header`, or first of all.
    fn header_after(&self, point: usize, header: Option<FragmentId>) -> Option<FragmentId> {
        let mut path = self.headers_to_pass(point).into_iter();
        match header {
            Some(header) => path.skip_while(|h| *h != header).nth(1),
            None => path.next(),
        }
    }

    /// The fragment at which an activation of this point continues.
    fn resume_node(&self, point: usize) -> FragmentId {
        self.patched.successor[self.points[point].fragment.index()]
    }

    /// Emits the switch at the start of the resume body, and registers the guards that it needs.
    pub(super) fn emit_dispatch(&mut self) -> Result<(), Refusal> {
        let points = self.own_points();
        for point in &points {
            for header in self.headers_to_pass(*point) {
                let fresh = self.a.fresh();
                self.guards.entry(header).or_insert(fresh);
            }
        }
        self.emit_switch(&points, None)
    }

    /// Emits the dispatch code to which the guards branch.
    pub(super) fn emit_guard_dispatches(&mut self) -> Result<(), Refusal> {
        for (header, label) in self.guards.clone() {
            self.a.place(label);
            let state = self.state(header);
            self.frame_at(label, state);
            let points: Vec<usize> = self
                .own_points()
                .into_iter()
                .filter(|p| self.headers_to_pass(*p).contains(&header))
                .collect();
            self.emit_switch(&points, Some(header))?;
        }
        Ok(())
    }

    /// Emits `switch (frame.point)` over these points, for the guard of `header` or for the start
    /// of the body.
    fn emit_switch(&mut self, points: &[usize], header: Option<FragmentId>) -> Result<(), Refusal> {
        let frame = self.frame_slot()?;
        let mut labels: Vec<Label> = points.iter().map(|_| self.a.fresh()).collect();
        let groups = self.restore_groups(points, header);
        let next: Vec<Option<FragmentId>> = points
            .iter()
            .map(|point| self.header_after(*point, header))
            .collect();
        // All points of a group share the label of its first one, and so do all that go to a header.
        let first_of = |n: usize| {
            let group = groups.iter().find(|group| group.contains(&n));
            let first = match (group, next[n]) {
                (Some(group), _) => group.first().copied(),
                (None, Some(_)) => next.iter().position(|other| *other == next[n]),
                (None, None) => None,
            };
            first.unwrap_or(n)
        };
        for n in 0..labels.len() {
            labels[n] = labels[first_of(n)];
        }
        let ids = points.iter().map(|p| self.points[*p].id.0 as i32);
        // At the start, a frame may belong to an edit point that was created after this body was
        // emitted. Such a frame is returned to the executor loop. The loop continues with a body
        // that has the point, as soon as this body is installed.
        let unknown = header.is_none().then(|| self.a.fresh());
        let Some(default) = unknown.or(labels.last().copied()) else {
            return Err(Refusal::Internal(
                "a loop guard without a capture point".into(),
            ));
        };
        let switches = points.len() > 1 || unknown.is_some();
        if switches {
            self.a.local(ALOAD, frame);
            self.e.frame_call(&mut self.a, "point", "()I")?;
            let pairs = ids.zip(labels.iter().copied()).collect();
            self.a.push(Instruction::LookupSwitch { default, pairs });
        }
        let state = match header {
            Some(h) => self.state(h),
            None => self.state_without_locals(Vec::new()),
        };
        for (n, (point, label)) in points.iter().zip(&labels).enumerate() {
            if first_of(n) != n {
                continue;
            }
            self.a.place(*label);
            if switches {
                self.frame_at(*label, state.clone());
            }
            if let Some(group) = groups.iter().find(|group| group.first() == Some(&n)) {
                let group: Vec<usize> = group.iter().map(|n| points[*n]).collect();
                self.emit_shared_restore(&group)?;
                continue;
            }
            match next[n] {
                Some(next) => self.emit_jump_to_header(next)?,
                None => self.emit_restore(*point)?,
            }
        }
        if let Some(unknown) = unknown {
            self.a.place(unknown);
            self.frame_at(unknown, state);
            self.a.local(ALOAD, frame);
            self.a.plain(ARETURN);
        }
        Ok(())
    }

    /// Groups of points, as indices of `points`, that share the code which reads the values: those of a
    /// part with equal values that continue at their own fragments, and pass no loop header of the part
    /// after `header`. A part may have hundreds of points, and must not exceed HotSpot's limit.
    fn restore_groups(&self, points: &[usize], header: Option<FragmentId>) -> Vec<Vec<usize>> {
        if !self.is_part() {
            return Vec::new();
        }
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (n, point) in points.iter().enumerate() {
            let p = &self.points[*point];
            let goes_on = p.kind == PointKind::Fragment && self.resume_node(*point) == p.fragment;
            if !goes_on || self.header_after(*point, header).is_some() {
                continue;
            }
            let has_same_values = |group: &&mut Vec<usize>| {
                let other = &self.points[points[group[0]]];
                other.locals == p.locals && other.stack == p.stack
            };
            match groups.iter_mut().find(has_same_values) {
                Some(group) => group.push(n),
                None => groups.push(vec![n]),
            }
        }
        groups.retain(|group| group.len() > 1);
        groups
    }

    /// Emits the code that reads the values of these points out of the frame, and continues at the
    /// fragment of the frame's point.
    fn emit_shared_restore(&mut self, points: &[usize]) -> Result<(), Refusal> {
        let frame = self.frame_slot()?;
        let number = self.slots.temp;
        let p = self.points[points[0]].clone();
        self.a.local(ALOAD, frame);
        self.e.frame_call(&mut self.a, "point", "()I")?;
        self.a.local(ISTORE, number);
        for (slot, t) in &p.locals {
            let at = osr_exit::frame_index(&p, CarriedValue::Local(*slot));
            self.e.push_carried(&mut self.a, frame, at, t)?;
            self.a.local(ISTORE + carried_kind(t), *slot);
        }
        for (n, t) in (0u16..).zip(&p.stack) {
            let at = osr_exit::frame_index(&p, CarriedValue::Stack(n));
            self.e.push_carried(&mut self.a, frame, at, t)?;
        }
        self.a.local(ALOAD, frame);
        self.e.frame_call(&mut self.a, "clear", "()V")?;
        self.a.plain(ACONST_NULL);
        self.a.local(ASTORE, frame);
        let mut pairs: Vec<(i32, Label)> = Vec::new();
        for point in points {
            let place = self.resume_node(*point);
            let label = self.node_after_guard(place);
            pairs.push((i32::from(self.points[*point].id.0), label));
        }
        pairs.sort_unstable_by_key(|pair| pair.0);
        let default = pairs.first().map_or(self.nodes[0], |pair| pair.1);
        self.a.local(ILOAD, number);
        self.a.push(Instruction::LookupSwitch { default, pairs });
        // HotSpot's analysis of null pointers continues after a switch, and the code that follows may
        // begin with another number of operands (`body.rs`, `separate_switch`).
        let label = self.a.fresh();
        self.a.place(label);
        let state = self.state(self.resume_node(points[0]));
        self.frame_at(label, state);
        self.a.branch(GOTO, default);
        Ok(())
    }

    /// The label of a node, after its guard if it has one.
    fn node_after_guard(&mut self, place: FragmentId) -> Label {
        if !self.guards.contains_key(&place) {
            return self.nodes[place.index()];
        }
        let fresh = self.a.fresh();
        *self.after_guard.entry(place).or_insert(fresh)
    }

    fn frame_slot(&self) -> Result<u16, Refusal> {
        self.slots
            .frame
            .ok_or_else(|| Refusal::Internal("no frame to resume from".into()))
    }

    fn emit_jump_to_header(&mut self, header: FragmentId) -> Result<(), Refusal> {
        let state = self.patched.state(self.plan.method, header);
        for (slot, t) in state
            .locals
            .iter()
            .enumerate()
            .filter(|(_, t)| **t != Type::Top)
        {
            self.e.push_default(&mut self.a, t);
            self.a.local(ISTORE + carried_kind(t), slot as u16);
        }
        self.a.branch(GOTO, self.nodes[header.index()]);
        Ok(())
    }

    fn emit_restore(&mut self, point: usize) -> Result<(), Refusal> {
        let frame = self.frame_slot()?;
        let place = self.resume_node(point);
        let p = &self.points[point].clone();
        let is_skipped = place != p.fragment;
        let (state, target) = if p.kind == PointKind::Exit && !is_skipped {
            let fresh = self.a.fresh();
            (
                self.point_state(point),
                *self.return_only.entry(p.instruction).or_insert(fresh),
            )
        } else if self.guards.contains_key(&place) {
            let fresh = self.a.fresh();
            (
                self.state(place),
                *self.after_guard.entry(place).or_insert(fresh),
            )
        } else {
            (self.state(place), self.nodes[place.index()])
        };
        let max_locals = self.plan.method.code.max_locals;
        let locals = (0u16..max_locals).zip(&state.locals);
        for (slot, t) in locals.filter(|(_, t)| **t != Type::Top) {
            let at = osr_exit::frame_index(p, CarriedValue::Local(slot));
            self.e.push_carried(&mut self.a, frame, at, t)?;
            self.a.local(ISTORE + carried_kind(t), slot);
        }
        for (n, t) in (0u16..).zip(&state.stack) {
            let at = osr_exit::frame_index(p, CarriedValue::Stack(n));
            self.e.push_carried(&mut self.a, frame, at, t)?;
        }
        self.a.local(ALOAD, frame);
        self.e.frame_call(&mut self.a, "clear", "()V")?;
        if p.kind != PointKind::Exit || is_skipped {
            self.count_external_entry(place, CounterChange::Increment)?;
        }
        self.a.plain(ACONST_NULL);
        self.a.local(ASTORE, frame);
        self.a.branch(GOTO, target);
        Ok(())
    }
}
