//! Executes the original's silent instructions on demand.

use super::super::constants::constant;
use super::super::failure::Failure;
use super::super::symbolic_state::StackMismatch;
use super::{Product, Run, StepResult};
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;

impl<'x> Product<'x, '_> {
    /// Advances the original to the earliest position at which its stack equals the emitted side's.
    pub fn sync_stacks(&mut self, r: &mut Run) -> Result<(), Failure> {
        for _ in 0..=self.original.program.instructions.len() {
            r.original_at = self.original.skip_gotos(r.original_at);
            if r.original.stack == r.emitted.stack {
                return Ok(());
            }
            if !self.step_original(r)? {
                break;
            }
        }
        Err(Failure::Stack(self.at(r)))
    }

    /// Executes one silent instruction of the original. Returns `false` if the next instruction is
    /// not silent.
    pub fn step_original(&mut self, r: &mut Run) -> StepResult {
        let Some(i) = self.original.program.get(r.original_at.instruction) else {
            return Ok(false);
        };
        let next = match i {
            Instruction::Branch { op: GOTO, target } => {
                self.original.branch_target(r.original_at, *target)
            }
            _ => {
                let known = match i {
                    Instruction::Ldc { .. } => {
                        let m = self.original_constants.meaning(self.contents, i);
                        constant(
                            m.map_err(|e| self.unknown(r, &e.to_string()))?,
                            &mut self.values,
                        )
                    }
                    _ => None,
                };
                let done = r.original.run_silent(i, known, &mut self.values);
                if !done
                    .map_err(|StackMismatch| self.unknown(r, "the original's stack is broken"))?
                {
                    return Ok(false);
                }
                self.original.next(r.original_at)
            }
        };
        match next {
            Some(n) => {
                r.original_at = n;
                Ok(true)
            }
            None => Err(self.unknown(r, "the original runs off its end")),
        }
    }

    /// Advances the original to its next instruction that is not silent, and returns the
    /// instruction.
    pub fn next_visible(&mut self, r: &mut Run) -> Result<&'x Instruction, Failure> {
        for _ in 0..=2 * self.original.program.instructions.len() {
            if !self.step_original(r)? {
                let found = self.original.program.get(r.original_at.instruction);
                return found.ok_or_else(|| self.unknown(r, "the original has no such place"));
            }
        }
        Err(Failure::Operation(self.at(r)))
    }
}
