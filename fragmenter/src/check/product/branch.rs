//! Branches and switches. Both sides must test the same condition, and both outcomes are followed.
//! A branch of Veneer's own has a known outcome or leads to a stub.

use super::super::exit_state::OsrExit;
use super::super::failure::Failure;
use super::super::symbolic_state::StackMismatch;
use super::super::value::Value;
use super::{Product, Run, StepResult};
use crate::bytecode::opcode::*;
use crate::bytecode::{Instruction, Label};

impl<'x> Product<'x, '_> {
    /// Executes a branch: a check, a decision of Veneer with a known outcome, or a branch of the
    /// method.
    pub(super) fn branch(&mut self, from: Option<u32>, r: &mut Run, i: &Instruction) -> StepResult {
        let Instruction::Branch { op, target } = i else {
            return Err(self.unknown(r, "no branch"));
        };
        let taken = self.emitted.target(*target);
        let top = r.emitted.stack.last().copied();
        let known = match (op, top) {
            (&IFNULL, Some(Value::INTERNAL_NULL)) | (&IFNONNULL, Some(Value::FRAME_IN)) => {
                Some(true)
            }
            (&IFNULL, Some(Value::FRAME_IN)) | (&IFNONNULL, Some(Value::INTERNAL_NULL)) => {
                Some(false)
            }
            _ => None,
        };
        if let Some(known) = known {
            self.pop(r)?;
            r.emitted_at = if known { taken } else { r.emitted_at + 1 };
            return Ok(true);
        }
        if r.leave.is_some() || r.thrown.is_some() || self.is_resuming(r) {
            return Err(self.unknown(r, "a branch on a way of Veneer's own"));
        }
        if (IF_ICMPEQ..=IF_ICMPLE).contains(op) && compares_operation_value(r) {
            // Follow both outcomes, because no state of the method depends on them.
            self.pop(r)?;
            self.pop(r)?;
            let mut other = r.clone();
            other.emitted_at = taken;
            self.run_after_branch(from, other)?;
            r.emitted_at += 1;
            return Ok(true);
        }
        if let (&IF_ICMPNE, Some(constant)) = (op, self.guarded_constant(r)) {
            let places = (taken, r.emitted_at + 1);
            return self.guard(from, r, constant, places);
        }
        if top == Some(Value::RECEIVER_TEST) {
            return self.branch_on_receiver(from, r, *op, taken);
        }
        if let Some(check @ (Value::CHECK | Value::VERSION_OR_NULL)) = top {
            self.pop(r)?;
            let entry = check == Value::VERSION_OR_NULL;
            let (stub, on) = match (*op, entry) {
                (IFNE, false) | (IFNONNULL, true) => (taken, r.emitted_at + 1),
                (IFEQ, false) | (IFNULL, true) => (r.emitted_at + 1, taken),
                _ => return Err(self.unknown(r, "a check that is not asked for yes or no")),
            };
            // At the entry, a copy of the version lies on top of the method's own operands.
            let mut stack = r.emitted.stack.clone();
            if entry && stack.pop() != Some(Value::VERSION_OR_NULL) {
                return Err(self.unknown(r, "an entry that does not keep the version"));
            }
            if r.monitors > 0 {
                return Err(Failure::Monitor(self.at(r)));
            }
            let mut away = r.clone();
            away.emitted_at = stub;
            away.leave = Some(Box::new(OsrExit::at_check(entry, stack)));
            self.run(from, away)?;
            r.emitted_at = on;
            return Ok(true);
        }
        let words = if (IF_ICMPEQ..=IF_ACMPNE).contains(op) {
            2
        } else {
            1
        };
        if self.is_loop_choice(r) {
            return self.choose_loop(from, r, words, taken);
        }
        let (expected, to) = match self.next_visible(r)? {
            Instruction::Branch { op, target } if *op != GOTO => (*op, *target),
            _ => return Err(Failure::Branch(self.at(r))),
        };
        let same = expected == *op;
        if !same && inverse(expected) != *op {
            return Err(Failure::Branch(self.at(r)));
        }
        self.operands(r, words)?;
        let (jump, fall) = (
            self.original.branch_target(r.original_at, to),
            self.original.next(r.original_at),
        );
        let (Some(jump), Some(fall)) = (jump, fall) else {
            return Err(self.unknown(r, "an edge of the original that leads nowhere"));
        };
        r.matched = true;
        let (first, second) = if same { (jump, fall) } else { (fall, jump) };
        for (p, q) in [(first, taken), (second, r.emitted_at + 1)] {
            let mut next = r.clone();
            (next.original_at, next.emitted_at) = (p, q);
            self.merge_at_leader(from, next, true)?;
        }
        Ok(false)
    }

    /// Pops equal words from both stacks.
    pub(super) fn operands(&mut self, r: &mut Run, words: usize) -> Result<(), Failure> {
        match (r.original.top(words), r.emitted.top(words)) {
            (Ok(a), Ok(b)) if a == b => {}
            _ => return Err(Failure::Operands(self.at(r))),
        }
        let both = r.original.drop(words).and_then(|()| r.emitted.drop(words));
        both.map_err(|StackMismatch| self.unknown(r, "the operand stack is broken"))
    }

    pub(super) fn switch(&mut self, from: Option<u32>, r: &mut Run, i: &Instruction) -> StepResult {
        if r.emitted.stack.last() == Some(&Value::POINT) {
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
            r.emitted_at = self.emitted.target(to);
            return Ok(true);
        }
        if r.leave.is_some() || r.thrown.is_some() || self.is_resuming(r) {
            return Err(self.unknown(r, "a switch on a way of Veneer's own"));
        }
        let expected = self.next_visible(r)?;
        let pairs: Vec<(Label, Label)> = match (expected, i) {
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
            let Some(at) = self.original.branch_target(r.original_at, pair.0) else {
                return Err(self.unknown(r, "an edge of the original that leads nowhere"));
            };
            let mut next = r.clone();
            (next.original_at, next.emitted_at) = (at, self.emitted.target(pair.1));
            self.merge_at_leader(from, next, true)?;
        }
        Ok(false)
    }
}

/// True if a number of Veneer is compared with a constant, so no number of the method is involved.
fn compares_operation_value(r: &Run) -> bool {
    let own = |v: &Value| matches!(*v, Value::INTERNAL_INT | Value::COUNTER);
    match r.emitted.stack[..] {
        [.., a, b] => own(&a) && b.as_int().is_some(),
        _ => false,
    }
}

/// Returns the branch opcode with the negated condition.
fn inverse(op: u8) -> u8 {
    match op {
        IFNULL => IFNONNULL,
        IFNONNULL => IFNULL,
        _ => (op.wrapping_sub(IFEQ) ^ 1).wrapping_add(IFEQ),
    }
}
