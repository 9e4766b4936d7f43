//! How an activation that comes from elsewhere gets to its place, without giving a loop a second entry.
//!
//! ```text
//!   switch (frame.point) ─▶ N(outermost header) ─guard─▶ dispatch ─▶ N(next header) ─guard─▶ … ─▶ values out of the
//!                                                                                       frame, frame = null, goto place
//! ```
//!
//! HotSpot's C2 optimises irreducible loops badly, so every loop is entered through its header even by an activation
//! that stands deep inside (`frame` is non-null just until it has arrived). On the way, locals that a header's frame
//! demands hold dummies; the real values come out of the frame last.

use super::body::Body;
use super::weave::Count;
use crate::arming::kind;
use crate::bytecode::opcode::*;
use crate::bytecode::{Instruction, Label};
use crate::capture::{self, Value};
use crate::flowgraph::FragmentId;
use crate::points::PointKind;
use crate::refusal::Refusal;
use crate::types::Type;

impl Body<'_, '_> {
    /// Loop headers that an activation at point `point` has to pass, the outermost first.
    fn path(&self, point: usize) -> Vec<FragmentId> {
        let place = self.place(point);
        let nest = self.patched.loops.nest(place.node());
        let headers = nest
            .iter()
            .filter_map(|l| self.patched.loops.get(*l))
            .map(|l| FragmentId(l.header.index() as u32));
        // A header whose frame cannot be filled with dummies is not passed.
        headers
            .filter(|h| {
                let state = self.patched.state(self.plan.method, *h);
                state.stack.is_empty() && !state.has_uninitialized()
            })
            .collect()
    }

    /// The fragment at which a point's activation goes on.
    fn place(&self, point: usize) -> FragmentId {
        self.patched.successor[self.points[point].fragment.index()]
    }

    /// The switch at the start of `resume`; registers the guards that it needs.
    pub(super) fn dispatch(&mut self) -> Result<(), Refusal> {
        let points: Vec<usize> = (1..self.points.len()).collect();
        for point in &points {
            for header in self.path(*point) {
                let fresh = self.a.fresh();
                self.guards.entry(header).or_insert(fresh);
            }
        }
        self.switch(&points, None)
    }

    /// What the guards lead to.
    pub(super) fn guard_dispatches(&mut self) -> Result<(), Refusal> {
        for (header, label) in self.guards.clone() {
            self.a.place(label);
            let state = self.state(header);
            self.frame_at(label, state);
            let points: Vec<usize> = (1..self.points.len())
                .filter(|p| self.path(*p).contains(&header))
                .collect();
            self.switch(&points, Some(header))?;
        }
        Ok(())
    }

    /// `switch (frame.point)` over these points, from the guard of `header` or from the start.
    fn switch(&mut self, points: &[usize], header: Option<FragmentId>) -> Result<(), Refusal> {
        let frame = self.frame()?;
        let labels: Vec<Label> = points.iter().map(|_| self.a.fresh()).collect();
        let ids = points.iter().map(|p| self.points[*p].id.0 as i32);
        // At the start, a frame may be of an edit point that was made when this body was ready: it goes back to the
        // executor loop, which has the body that knows the point as soon as that is installed.
        let unknown = header.is_none().then(|| self.a.fresh());
        let Some(default) = unknown.or(labels.last().copied()) else {
            return Err(Refusal::Internal("a guard that nobody passes".into()));
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
            None => self.bare(Vec::new()),
        };
        for (point, label) in points.iter().zip(&labels) {
            self.a.place(*label);
            if switches {
                self.frame_at(*label, state.clone());
            }
            let path = self.path(*point);
            let next = match header {
                Some(h) => path
                    .iter()
                    .position(|p| *p == h)
                    .and_then(|i| path.get(i + 1))
                    .copied(),
                None => path.first().copied(),
            };
            match next {
                Some(next) => self.go_to_header(next)?,
                None => self.arrive(*point)?,
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

    fn frame(&self) -> Result<u16, Refusal> {
        self.slots
            .frame
            .ok_or_else(|| Refusal::Internal("no frame to resume from".into()))
    }

    fn go_to_header(&mut self, header: FragmentId) -> Result<(), Refusal> {
        let state = self.patched.state(self.plan.method, header);
        for (slot, t) in state
            .locals
            .iter()
            .enumerate()
            .filter(|(_, t)| **t != Type::Top)
        {
            self.e.dummy(&mut self.a, t);
            self.a.local(ISTORE + kind(t), slot as u16);
        }
        self.a.branch(GOTO, self.nodes[header.index()]);
        Ok(())
    }

    fn arrive(&mut self, point: usize) -> Result<(), Refusal> {
        let frame = self.frame()?;
        let place = self.place(point);
        let p = &self.points[point].clone();
        let removed = place != p.fragment;
        let (state, target) = if p.kind == PointKind::Exit && !removed {
            let fresh = self.a.fresh();
            (
                self.point_state(point),
                *self.exits.entry(p.instruction).or_insert(fresh),
            )
        } else if self.guards.contains_key(&place) {
            let fresh = self.a.fresh();
            (
                self.state(place),
                *self.behind.entry(place).or_insert(fresh),
            )
        } else {
            (self.state(place), self.nodes[place.index()])
        };
        let max_locals = self.plan.method.code.max_locals;
        let locals = (0u16..max_locals).zip(&state.locals);
        for (slot, t) in locals.filter(|(_, t)| **t != Type::Top) {
            let at = capture::position(p, Value::Local(slot));
            self.e.fetch(&mut self.a, frame, at, t)?;
            self.a.local(ISTORE + kind(t), slot);
        }
        for (n, t) in (0u16..).zip(&state.stack) {
            let at = capture::position(p, Value::Stack(n));
            self.e.fetch(&mut self.a, frame, at, t)?;
        }
        self.a.local(ALOAD, frame);
        self.e.frame_call(&mut self.a, "clear", "()V")?;
        if p.kind != PointKind::Exit || removed {
            self.arrival(place, Count::Up)?;
        }
        self.a.plain(ACONST_NULL);
        self.a.local(ASTORE, frame);
        self.a.branch(GOTO, target);
        Ok(())
    }
}
