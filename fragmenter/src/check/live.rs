//! Which locals the original may still read: the checker's own reckoning, by instruction, for the places where an
//! activation leaves an armed body.

use super::machine::wide;
use super::program::{Program, for_targets};
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;

/// Live locals before each instruction, as words of 64 slots.
pub(super) struct Live {
    width: usize,
    sets: Vec<u64>,
}

impl Live {
    /// Solves it backwards until nothing changes.
    pub fn of(program: &Program) -> Live {
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
                        (None, Some((*index, wide(*op))))
                    }
                    Instruction::Local { op, index } => (Some((*index, wide(*op))), None),
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
                // A handler sees what was there before the instruction.
                for (_, handler) in program.rows_at(i as u32).1 {
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
        Live { width, sets }
    }

    /// Whether a slot is live before an instruction.
    pub fn is(&self, instruction: u32, slot: usize) -> bool {
        let word = self.sets.get(instruction as usize * self.width + slot / 64);
        slot / 64 < self.width && word.is_some_and(|w| w >> (slot % 64) & 1 == 1)
    }
}
