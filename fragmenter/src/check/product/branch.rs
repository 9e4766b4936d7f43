//! Branches and switches: both sides ask the same question, and both answers are followed. Those of Veneer have one answer, or
//! lead to a stub.

use super::super::failure::Failure;
use super::super::leave::Leave;
use super::super::machine::Broken;
use super::super::value::Value;
use super::{Product, Run, Step};
use crate::bytecode::opcode::*;
use crate::bytecode::{Instruction, Label};

impl<'x> Product<'x, '_> {
    /// A check, a decision of Veneer's whose outcome is known, or the method's own branch.
    pub(super) fn branch(&mut self, from: Option<u32>, r: &mut Run, i: &Instruction) -> Step {
        let Instruction::Branch { op, target } = i else {
            return Err(self.unknown(r, "no branch"));
        };
        let taken = self.emitted.target(*target);
        let top = r.e.stack.last().copied();
        let known = match (op, top) {
            (&IFNULL, Some(Value::OWN_NULL)) | (&IFNONNULL, Some(Value::FRAME_IN)) => Some(true),
            (&IFNULL, Some(Value::FRAME_IN)) | (&IFNONNULL, Some(Value::OWN_NULL)) => Some(false),
            _ => None,
        };
        if let Some(known) = known {
            self.pop(r)?;
            r.q = if known { taken } else { r.q + 1 };
            return Ok(true);
        }
        if r.leave.is_some() || r.thrown.is_some() || self.coming(r) {
            return Err(self.unknown(r, "a branch on a way of Veneer's own"));
        }
        if (IF_ICMPEQ..=IF_ICMPLE).contains(op) && is_own_question(r) {
            // Either answer: nothing of the method's depends on it.
            self.pop(r)?;
            self.pop(r)?;
            let mut other = r.clone();
            other.q = taken;
            self.go(from, other)?;
            r.q += 1;
            return Ok(true);
        }
        if let Some(check @ (Value::CHECK | Value::CHECK_ON)) = top {
            self.pop(r)?;
            let (stub, on) = match *op {
                IFNE => (taken, r.q + 1),
                IFEQ => (r.q + 1, taken),
                _ => return Err(self.unknown(r, "a check that is not asked for yes or no")),
            };
            if r.monitors > 0 {
                return Err(Failure::Monitor(self.at(r)));
            }
            let mut away = r.clone();
            away.q = stub;
            away.leave = Some(Box::new(Leave::at_check(
                check == Value::CHECK_ON,
                r.e.stack.clone(),
            )));
            self.go(from, away)?;
            r.q = on;
            return Ok(true);
        }
        let (theirs, to) = match self.advance(r)? {
            Instruction::Branch { op, target } if *op != GOTO => (*op, *target),
            _ => return Err(Failure::Branch(self.at(r))),
        };
        let same = theirs == *op;
        if !same && inverse(theirs) != *op {
            return Err(Failure::Branch(self.at(r)));
        }
        let words = if (IF_ICMPEQ..=IF_ACMPNE).contains(op) {
            2
        } else {
            1
        };
        self.operands(r, words)?;
        let (jump, fall) = (self.original.branch(r.at, to), self.original.next(r.at));
        let (Some(jump), Some(fall)) = (jump, fall) else {
            return Err(self.unknown(r, "an edge of the original that leads nowhere"));
        };
        r.matched = true;
        let (first, second) = if same { (jump, fall) } else { (fall, jump) };
        for (p, q) in [(first, taken), (second, r.q + 1)] {
            let mut next = r.clone();
            (next.at, next.q) = (p, q);
            self.arrive(from, next, true)?;
        }
        Ok(false)
    }

    /// Takes the same words off both stacks.
    pub(super) fn operands(&mut self, r: &mut Run, words: usize) -> Result<(), Failure> {
        match (r.o.top(words), r.e.top(words)) {
            (Ok(a), Ok(b)) if a == b => {}
            _ => return Err(Failure::Operands(self.at(r))),
        }
        let both = r.o.drop(words).and_then(|()| r.e.drop(words));
        both.map_err(|Broken| self.unknown(r, "the operand stack is broken"))
    }

    pub(super) fn switch(&mut self, from: Option<u32>, r: &mut Run, i: &Instruction) -> Step {
        if r.e.stack.last() == Some(&Value::POINT) {
            self.pop(r)?;
            let to = match i {
                Instruction::LookupSwitch { default, pairs } => pairs
                    .iter()
                    .find(|p| p.0 == r.from as i32)
                    .map_or(*default, |p| p.1),
                Instruction::TableSwitch {
                    default,
                    low,
                    targets,
                } => (r.from as i64 - *low as i64)
                    .try_into()
                    .ok()
                    .and_then(|k: usize| targets.get(k).copied())
                    .unwrap_or(*default),
                _ => return Err(self.unknown(r, "no switch")),
            };
            r.q = self.emitted.target(to);
            return Ok(true);
        }
        if r.leave.is_some() || r.thrown.is_some() || self.coming(r) {
            return Err(self.unknown(r, "a switch on a way of Veneer's own"));
        }
        let theirs = self.advance(r)?;
        let pairs: Vec<(Label, Label)> = match (theirs, i) {
            (
                Instruction::TableSwitch {
                    default: d,
                    low: l,
                    targets: t,
                },
                Instruction::TableSwitch {
                    default,
                    low,
                    targets,
                },
            ) if l == low && t.len() == targets.len() => {
                let cases = t.iter().copied().zip(targets.iter().copied());
                cases.chain([(*d, *default)]).collect()
            }
            (
                Instruction::LookupSwitch {
                    default: d,
                    pairs: t,
                },
                Instruction::LookupSwitch { default, pairs },
            ) if t.len() == pairs.len() && t.iter().zip(pairs).all(|(a, b)| a.0 == b.0) => {
                let cases = t.iter().zip(pairs).map(|(a, b)| (a.1, b.1));
                cases.chain([(*d, *default)]).collect()
            }
            _ => return Err(Failure::Switch(self.at(r))),
        };
        self.operands(r, 1)?;
        r.matched = true;
        let mut done: Vec<(Label, Label)> = Vec::new();
        for pair in pairs {
            if done.contains(&pair) {
                continue;
            }
            done.push(pair);
            let Some(at) = self.original.branch(r.at, pair.0) else {
                return Err(self.unknown(r, "an edge of the original that leads nowhere"));
            };
            let mut next = r.clone();
            (next.at, next.q) = (at, self.emitted.target(pair.1));
            self.arrive(from, next, true)?;
        }
        Ok(false)
    }
}

/// Whether two numbers are compared of which one is Veneer's, and none the method's.
fn is_own_question(r: &Run) -> bool {
    let own = |v: &Value| matches!(*v, Value::OWN_INT | Value::COUNTER);
    match r.e.stack[..] {
        [.., a, b] => own(&a) && b.as_int().is_some(),
        _ => false,
    }
}

/// The condition that holds when `op` does not.
fn inverse(op: u8) -> u8 {
    match op {
        IFNULL => IFNONNULL,
        IFNONNULL => IFNULL,
        _ => (op.wrapping_sub(IFEQ) ^ 1).wrapping_add(IFEQ),
    }
}
