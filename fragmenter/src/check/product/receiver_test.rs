//! Tests of a call's receiver, for which the plan asks ([`crate::devirtualisation`]).
//!
//! A test reads an object and has no effect, if its class is resolved. So both outcomes are followed, and each
//! must execute the original's call on equal operands. Where the receiver has passed the test, a cast to the
//! same class is silent. Everything else is refused: a test of another object or for another class than the
//! plan has, a cast that does not follow its test, and another call.

use super::super::constants::Effect;
use super::super::failure::Failure;
use super::super::value::Value;
use super::tested_receiver::TestedReceiver;
use super::{Product, Run, StepResult};
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;

/// The difference between the keys of the effects of a test and of a cast to the same class.
const TEST_AFTER_CAST: u32 = 1;

impl<'x> Product<'x, '_> {
    /// Whether the plan tests the original's next instruction, a call, and this effect is the test of its
    /// receiver.
    pub(super) fn is_receiver_test(
        &mut self,
        r: &mut Run,
        effect: Effect,
    ) -> Result<bool, Failure> {
        let on_its_way = r.leave.is_some() || r.thrown.is_some() || self.is_resuming(r);
        if self.receivers.is_empty() || on_its_way {
            return Ok(false);
        }
        let expected = self.next_visible(r)?;
        let Some(call) = self.original_effect(r, expected)? else {
            return Ok(false);
        };
        let Some(pc) = self.original_pc(r) else {
            return Ok(false);
        };
        let wanted = self.receivers.iter().filter(|(at, _)| *at == pc);
        let mut is_wanted = false;
        for (_, class) in wanted {
            is_wanted |= self.contents.test_for(class) == effect.key;
        }
        let words = usize::from(call.pops);
        let receiver = r.original.top(words).ok().and_then(|w| w.first().copied());
        Ok(is_wanted && receiver.is_some() && r.emitted.stack.last().copied() == receiver)
    }

    /// The pc of the original's current instruction.
    fn original_pc(&self, r: &Run) -> Option<u16> {
        let at = r.original_at.instruction as usize;
        self.original.program.instructions.get(at).map(|i| i.0)
    }

    /// Executes a test of a receiver.
    pub(super) fn test_receiver(
        &mut self,
        from: Option<u32>,
        r: &mut Run,
        effect: Effect,
    ) -> StepResult {
        self.check_runtime_handlers(from, r)?;
        let object = self.pop(r)?;
        r.receiver = Some(TestedReceiver {
            object,
            test: effect.key,
            has_passed: false,
        });
        r.emitted.push(Value::RECEIVER_TEST, 1);
        r.emitted_at += 1;
        Ok(true)
    }

    /// Follows both outcomes of a test.
    pub(super) fn branch_on_receiver(
        &mut self,
        from: Option<u32>,
        r: &mut Run,
        op: u8,
        taken: u32,
    ) -> StepResult {
        self.pop(r)?;
        let (passed, failed) = match op {
            IFEQ => (r.emitted_at + 1, taken),
            IFNE => (taken, r.emitted_at + 1),
            _ => {
                return Err(self.unknown(r, "a test of a receiver that is not asked for yes or no"));
            }
        };
        let mut other = r.clone();
        other.receiver = None;
        other.emitted_at = failed;
        self.run_after_branch(from, other)?;
        if let Some(receiver) = &mut r.receiver {
            receiver.has_passed = true;
        }
        r.emitted_at = passed;
        Ok(true)
    }

    /// Whether a cast gives a receiver the class for which it has passed the test.
    pub(super) fn is_receiver_cast(&self, r: &Run, effect: Effect) -> bool {
        r.receiver.is_some_and(|receiver| {
            receiver.has_passed
                && receiver.test == effect.key + TEST_AFTER_CAST
                && r.emitted.stack.last() == Some(&receiver.object)
        })
    }

    /// Gives the operands of a tested call the values that they had before they were in locals for a moment,
    /// where `null` is taken for a value of Veneer, and the upper word of a wide value is not kept.
    pub(super) fn restore_arguments(
        &mut self,
        r: &mut Run,
        call: &Instruction,
        effect: Effect,
    ) -> Result<(), Failure> {
        let pc = self.original_pc(r);
        let Some(index) = call.pool_index().filter(|_| is_invoke(call.op())) else {
            return Ok(());
        };
        if !self.receivers.iter().any(|(at, _)| Some(*at) == pc) {
            return Ok(());
        }
        let Some(at) = r.emitted.stack.len().checked_sub(usize::from(effect.pops)) else {
            return Ok(());
        };
        for operand in r.emitted.stack.iter_mut().skip(at) {
            if *operand == Value::INTERNAL_NULL {
                *operand = Value::NULL;
            }
        }
        let parts = self.original_constants.parts(index);
        let (.., descriptor) = parts.map_err(|e| self.unknown(r, &e.to_string()))?;
        let descriptor = String::from_utf8_lossy(&descriptor).into_owned();
        self.match_upper_words(r, at + 1, &descriptor)
    }
}
