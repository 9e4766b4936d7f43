//! Stores to locals: the method's, and Veneer's own.

use super::super::failure::Failure;
use super::super::machine::{Broken, wide};
use super::super::value::Value;
use super::{Product, Run, Step};
use crate::bytecode::Instruction;

impl<'x> Product<'x, '_> {
    /// A store or `iinc`: Veneer's where the local is, or where nothing has begun yet; else the original's next.
    pub(super) fn store(&mut self, r: &mut Run, i: &Instruction) -> Step {
        let (slot, words) = match i {
            Instruction::Local { op, index } => (*index, wide(*op)),
            Instruction::Iinc { index, .. } => (*index, 1),
            _ => return Err(self.unknown(r, "no store")),
        };
        let v = r.e.written(i, &mut self.values);
        let v = v.map_err(|Broken| self.unknown(r, "the operand stack is broken"))?;
        r.q += 1;
        r.last = None;
        r.own_last = None;
        let broken = |this: &Self, r: &Run| this.unknown(r, "a local that is not there");
        if slot as usize >= self.own_from {
            // On the way out such a local holds values of the method for a moment.
            let v = if v == Value::NULL && r.leave.is_none() {
                Value::OWN_NULL
            } else {
                v
            };
            let stored = r.e.set(slot, v, words);
            stored.map_err(|Broken| broken(self, r))?;
            return Ok(true);
        }
        if r.leave.is_some() && v == Value::NULL {
            // The activation drops the variable: it does not come back here.
            let stored = r.e.set(slot, v, words);
            stored.map_err(|Broken| broken(self, r))?;
            return Ok(true);
        }
        if r.leave.is_some() || r.thrown.is_some() {
            return Err(Failure::Store {
                at: self.at(r),
                slot,
            });
        }
        if self.coming(r) {
            let stored = r.e.set(slot, v, words);
            stored.map_err(|Broken| broken(self, r))?;
            return Ok(true);
        }
        // The value that the original has there already: how `enter` puts parameters into place. It may as well be a
        // store of the original's; that is tried first.
        let restores = r.o.locals.get(slot as usize) == Some(&v);
        let before = restores.then(|| (r.o.clone(), r.at));
        let theirs = self.advance(r);
        let matches = match theirs {
            Ok(theirs @ (Instruction::Local { .. } | Instruction::Iinc { .. })) => {
                let mut o = r.o.clone();
                let (there, n) = match theirs {
                    Instruction::Local { op, index } => (*index, wide(*op)),
                    Instruction::Iinc { index, .. } => (*index, 1),
                    _ => (u16::MAX, 0),
                };
                match o.written(theirs, &mut self.values) {
                    Ok(w) if w == v && there == slot && n == words => Some((o, w)),
                    _ => None,
                }
            }
            _ => None,
        };
        match (matches, before) {
            (Some((o, w)), _) => {
                r.o = o;
                let both =
                    r.o.set(slot, w, words)
                        .and_then(|()| r.e.set(slot, w, words));
                both.map_err(|Broken| broken(self, r))?;
                r.matched = true;
                let next = self.original.next(r.at);
                r.at = next.ok_or_else(|| self.unknown(r, "the original runs off its end"))?;
            }
            (None, Some((o, at))) => {
                (r.o, r.at) = (o, at);
                let stored = r.e.set(slot, v, words);
                stored.map_err(|Broken| broken(self, r))?;
            }
            (None, None) => {
                r.q -= 1;
                return Err(Failure::Store {
                    at: self.at(r),
                    slot,
                });
            }
        }
        Ok(true)
    }
}
