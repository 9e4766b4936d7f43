//! Stores to locals of the method and to Veneer's own locals.

use super::super::failure::Failure;
use super::super::symbolic_state::{StackMismatch, words_moved};
use super::super::value::Value;
use super::{Product, Run, StepResult};
use crate::bytecode::Instruction;

impl<'x> Product<'x, '_> {
    /// Executes a store or `iinc`. The store belongs to Veneer if the local does, or if a resumed
    /// activation has not yet reached its position. Otherwise it must be the original's next store.
    pub(super) fn store(&mut self, r: &mut Run, i: &Instruction) -> StepResult {
        let (slot, words) = match i {
            Instruction::Local { op, index } => (*index, words_moved(*op)),
            Instruction::Iinc { index, .. } => (*index, 1),
            _ => return Err(self.unknown(r, "no store")),
        };
        let v = r.emitted.stored_value(i, &mut self.values);
        let v = v.map_err(|StackMismatch| self.unknown(r, "the operand stack is broken"))?;
        r.emitted_at += 1;
        r.last_ranges = None;
        r.last_operation_range = None;
        let broken = |this: &Self, r: &Run| this.unknown(r, "a local that is not there");
        if slot as usize >= self.first_own_local {
            // During an OSR exit, such a local may briefly hold a value of the method, so `null`
            // stays `null`.
            let v = if v == Value::NULL && r.leave.is_none() {
                Value::INTERNAL_NULL
            } else {
                v
            };
            let stored = r.emitted.set(slot, v, words);
            stored.map_err(|StackMismatch| broken(self, r))?;
            return Ok(true);
        }
        if r.leave.is_some() && v == Value::NULL {
            // The activation clears a variable that it no longer needs, because it does not return
            // to this body.
            let stored = r.emitted.set(slot, v, words);
            stored.map_err(|StackMismatch| broken(self, r))?;
            return Ok(true);
        }
        if r.leave.is_some() || r.thrown.is_some() {
            return Err(Failure::Store {
                at: self.at(r),
                slot,
            });
        }
        if self.is_resuming(r) {
            let stored = r.emitted.set(slot, v, words);
            stored.map_err(|StackMismatch| broken(self, r))?;
            return Ok(true);
        }
        // The store may write the value that the original's local already has: `enter` moves
        // parameters this way. It may also be a store of the original, and the checker tries that
        // first.
        let restores = r.original.locals.get(slot as usize) == Some(&v);
        let before = restores.then(|| (r.original.clone(), r.original_at));
        let expected = self.next_visible(r);
        let matches = match expected {
            Ok(expected @ (Instruction::Local { .. } | Instruction::Iinc { .. })) => {
                let mut o = r.original.clone();
                let (there, n) = match expected {
                    Instruction::Local { op, index } => (*index, words_moved(*op)),
                    Instruction::Iinc { index, .. } => (*index, 1),
                    _ => (u16::MAX, 0),
                };
                match o.stored_value(expected, &mut self.values) {
                    Ok(w) if w == v && there == slot && n == words => Some((o, w)),
                    _ => None,
                }
            }
            _ => None,
        };
        match (matches, before) {
            (Some((o, w)), _) => {
                r.original = o;
                let both = r
                    .original
                    .set(slot, w, words)
                    .and_then(|()| r.emitted.set(slot, w, words));
                both.map_err(|StackMismatch| broken(self, r))?;
                r.matched = true;
                let next = self.original.next(r.original_at);
                r.original_at =
                    next.ok_or_else(|| self.unknown(r, "the original runs off its end"))?;
            }
            (None, Some((o, at))) => {
                (r.original, r.original_at) = (o, at);
                let stored = r.emitted.set(slot, v, words);
                stored.map_err(|StackMismatch| broken(self, r))?;
            }
            (None, None) => {
                r.emitted_at -= 1;
                return Err(Failure::Store {
                    at: self.at(r),
                    slot,
                });
            }
        }
        Ok(true)
    }
}
