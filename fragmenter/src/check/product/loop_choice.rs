//! Tests that choose between the copies of a loop ([`crate::unswitching`]).
//!
//! The emitted side tests words of its own operand stack, and the original makes no step. Both outcomes are
//! followed from the same state of the original, so both copies must do what the original does there. Therefore
//! the choice itself needs no proof. A `nop` before the branch tells a choice from a branch of the method. It is
//! only a hint: a branch that is taken for the wrong one is refused at the next step.

use super::{Product, Run, StepResult};
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;
use crate::check::symbolic_state::StackMismatch;

impl<'x> Product<'x, '_> {
    /// Whether the branch that is next chooses between copies of a loop.
    pub(super) fn is_loop_choice(&self, r: &Run) -> bool {
        let before = r.emitted_at.checked_sub(1);
        let marked = before.and_then(|at| self.emitted.get(at));
        self.chooses_loops && marked == Some(&Instruction::Plain(NOP))
    }

    /// Executes a choice, and follows both outcomes.
    pub(super) fn choose_loop(
        &mut self,
        from: Option<u32>,
        r: &mut Run,
        words: usize,
        taken: u32,
    ) -> StepResult {
        let dropped = r.emitted.drop(words);
        dropped.map_err(|StackMismatch| self.unknown(r, "a choice without operands"))?;
        let mut other = r.clone();
        other.emitted_at = taken;
        self.run_after_branch(from, other)?;
        r.emitted_at += 1;
        Ok(true)
    }
}
