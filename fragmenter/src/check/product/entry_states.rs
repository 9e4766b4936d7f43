//! The states of both sides at which activations begin.

use super::super::constants::words_of;
use super::super::failure::Failure;
use super::super::frame_contract::{CarriedLocation, FrameContract};
use super::super::reference::Position;
use super::super::symbolic_state::SymbolicState;
use super::super::value::Value;
use super::{Product, Run};

impl<'x> Product<'x, '_> {
    /// Explores an armed body. Both sides begin with the same parameters.
    pub fn armed(&mut self, parameters: usize) -> Result<(), Failure> {
        let at = self.original.skip_gotos(Position {
            block: 0,
            instruction: 0,
        });
        let mut r = self.blank(at);
        for slot in 0..parameters {
            if let (Some(o), Some(e)) =
                (r.original.locals.get(slot), r.emitted.locals.get_mut(slot))
            {
                *e = *o;
            }
        }
        self.merge_at_leader(None, r, true)?;
        self.explore()
    }

    pub(super) fn contract(&self, point: usize) -> Result<FrameContract, Failure> {
        self.contracts
            .get(point)
            .and_then(Clone::clone)
            .ok_or_else(|| Failure::Missing(format!("point {point}")))
    }

    /// Returns the original's state at a point, with a new symbol for each carried value.
    pub fn state_at_point(&mut self, contract: &FrameContract, at: Position) -> SymbolicState {
        let mut o = self.blank(at).original;
        o.stack = (0..contract.depth).map(|_| Value::HIGH).collect();
        for c in &contract.carried {
            let v = if c.null {
                Value::NULL
            } else {
                self.values.fresh()
            };
            match c.slot {
                CarriedLocation::Local(slot) => {
                    let words = words_of(&c.descriptor);
                    let _ = o.set(slot, v, words);
                }
                CarriedLocation::Stack(_, word) => {
                    if let Some(x) = o.stack.get_mut(word) {
                        *x = v;
                    }
                }
            }
        }
        for slot in &contract.nulls {
            let _ = o.set(*slot, Value::NULL, 1);
        }
        o
    }

    /// Passes the carried values to the emitted side as parameters, in order.
    pub(super) fn pass_parameters(contract: &FrameContract, r: &mut Run) {
        let mut slot = 0u16;
        for c in &contract.carried {
            let words = words_of(&c.descriptor);
            let v = match c.slot {
                CarriedLocation::Local(n) => r.original.locals.get(n as usize).copied(),
                CarriedLocation::Stack(_, word) => r.original.stack.get(word).copied(),
            };
            if let Some(v) = v {
                let _ = r.emitted.set(slot, v, words);
            }
            slot += words as u16;
        }
    }

    /// Explores an `enter` body.
    pub fn enter(&mut self) -> Result<(), Failure> {
        self.check_constants()?;
        let contract = self.contract(0)?;
        let entry = self.original.entry_position(contract.instruction);
        let at = entry.ok_or_else(|| Failure::Missing("the place of point 0".into()))?;
        let at = self.original.skip_gotos(at);
        let mut r = self.blank(at);
        r.original = self.state_at_point(&contract, at);
        Self::pass_parameters(&contract, &mut r);
        // The prologue moves parameters into the method's locals, so the first run begins before
        // any node.
        self.runs += 1;
        self.run(None, r)?;
        self.explore()
    }

    /// Explores a `resume` body from these points. Points without a frame contract are left out.
    pub fn resume(&mut self, points: &[usize]) -> Result<(), Failure> {
        self.starts = vec![None; self.contracts.len()];
        for point in points.iter().copied() {
            let Some(contract) = self.contracts.get(point).cloned().flatten() else {
                continue;
            };
            let at = self
                .original
                .resume_position(contract.instruction, contract.exit);
            let at = at.ok_or_else(|| Failure::Missing(format!("the place of point {point}")))?;
            let at = self.original.skip_gotos(at);
            let o = self.state_at_point(&contract, at);
            let mut r = self.blank(at);
            r.original = o.clone();
            r.from = point as u16;
            self.starts[point] = Some((o, at));
            match r.emitted.locals.first_mut() {
                Some(v) => *v = Value::FRAME_IN,
                None => return Err(Failure::Missing("the frame".into())),
            }
            self.runs += 1;
            self.run(None, r)?;
        }
        self.resume_from_unknown_point()?;
        self.explore()
    }

    /// Explores `resume` with a frame of an unknown point. The body must return the frame
    /// unchanged.
    fn resume_from_unknown_point(&mut self) -> Result<(), Failure> {
        let Ok(number) = u16::try_from(self.contracts.len()) else {
            return Ok(());
        };
        let at = self.original.skip_gotos(Position {
            block: 0,
            instruction: 0,
        });
        let mut r = self.blank(at);
        r.from = number;
        match r.emitted.locals.first_mut() {
            Some(v) => *v = Value::FRAME_IN,
            None => return Err(Failure::Missing("the frame".into())),
        }
        self.runs += 1;
        self.run(None, r)
    }
}
