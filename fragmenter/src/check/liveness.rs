//! Liveness of the original's locals, per instruction. The checker computes it independently of the
//! emitter and uses it at the points where an activation leaves an armed body.

use super::program::{Program, for_targets};
use super::symbolic_state::words_moved;
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;

/// The live locals before each instruction: `width` words per instruction, one bit per slot.
pub(super) struct LiveLocals {
    width: usize,
    sets: Vec<u64>,
}

impl LiveLocals {
    /// Solves the backward data-flow equations by iteration to a fixed point.
    pub fn solve(program: &Program) -> LiveLocals {
        let width = program.max_locals.div_ceil(64).max(1);
        let count = program.instructions.len();
        let mut sets = vec![0u64; width * (count + 1)];
        let mut now = vec![0u64; width];
        let mut changed = true;
        while changed {
            changed = false;
            for i in (0..count).rev() {
                let instruction = &program.instructions[i].1;
                now.fill(0);
                let join = |to: usize, now: &mut [u64]| {
                    if let Some(set) = sets.get(to * width..(to + 1) * width) {
                        now.iter_mut().zip(set).for_each(|(a, b)| *a |= b);
                    }
                };
                if !ends_flow(instruction.op()) {
                    join(i + 1, &mut now);
                }
                for_targets(instruction, &mut |t| {
                    join(program.target(t) as usize, &mut now)
                });
                let (read, written) = match instruction {
                    Instruction::Local { op, index } if *op >= ISTORE => {
                        (None, Some((*index, words_moved(*op))))
                    }
                    Instruction::Local { op, index } => (Some((*index, words_moved(*op))), None),
                    Instruction::Iinc { index, .. } => (Some((*index, 1)), None),
                    _ => (None, None),
                };
                let each = |slots: Option<(u16, u8)>, on: bool, now: &mut [u64]| {
                    let Some((first, words)) = slots else { return };
                    for slot in first as usize..first as usize + words as usize {
                        if let Some(word) = now.get_mut(slot / 64) {
                            let bit = 1u64 << (slot % 64);
                            *word = if on { *word | bit } else { *word & !bit };
                        }
                    }
                };
                each(written, false, &mut now);
                each(read, true, &mut now);
                // A handler reads the locals as they were before the throwing instruction.
                for (_, handler) in program.handlers_at(i as u32).1 {
                    if may_throw(instruction.op()) || is_return(instruction.op()) {
                        join(*handler as usize, &mut now);
                    }
                }
                let old = &mut sets[i * width..(i + 1) * width];
                if *old != now[..] {
                    old.copy_from_slice(&now);
                    changed = true;
                }
            }
        }
        LiveLocals { width, sets }
    }

    /// True if the slot is live before the instruction.
    pub fn is_live(&self, instruction: u32, slot: usize) -> bool {
        let word = self.sets.get(instruction as usize * self.width + slot / 64);
        slot / 64 < self.width && word.is_some_and(|w| w >> (slot % 64) & 1 == 1)
    }
}
