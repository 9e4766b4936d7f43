//! The original, led along lazily over what nobody sees.

use super::super::constants::constant;
use super::super::failure::Failure;
use super::super::machine::Broken;
use super::{Product, Run, Step};
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;

impl<'x> Product<'x, '_> {
    /// Leads the original to the earliest place whose stack is the emitted one.
    pub fn sync(&mut self, r: &mut Run) -> Result<(), Failure> {
        for _ in 0..=self.original.program.instructions.len() {
            r.at = self.original.settle(r.at);
            if r.o.stack == r.e.stack {
                return Ok(());
            }
            if !self.lead(r)? {
                break;
            }
        }
        Err(Failure::Stack(self.at(r)))
    }

    /// Runs one instruction of the original that nobody sees. `false`: the next one is seen.
    pub fn lead(&mut self, r: &mut Run) -> Step {
        let Some(i) = self.original.program.get(r.at.instruction) else {
            return Ok(false);
        };
        let next = match i {
            Instruction::Branch { op: GOTO, target } => self.original.branch(r.at, *target),
            _ => {
                let known = match i {
                    Instruction::Ldc { .. } => {
                        let m = self.left.meaning(self.canon, i);
                        constant(m.map_err(|e| self.unknown(r, &e))?, &mut self.values)
                    }
                    _ => None,
                };
                let done = r.o.silent(i, known, &mut self.values);
                if !done.map_err(|Broken| self.unknown(r, "the original's stack is broken"))? {
                    return Ok(false);
                }
                self.original.next(r.at)
            }
        };
        match next {
            Some(n) => {
                r.at = n;
                Ok(true)
            }
            None => Err(self.unknown(r, "the original runs off its end")),
        }
    }

    /// Leads the original to what is seen next.
    pub fn advance(&mut self, r: &mut Run) -> Result<&'x Instruction, Failure> {
        for _ in 0..=2 * self.original.program.instructions.len() {
            if !self.lead(r)? {
                let found = self.original.program.get(r.at.instruction);
                return found.ok_or_else(|| self.unknown(r, "the original has no such place"));
            }
        }
        Err(Failure::Operation(self.at(r)))
    }
}
