//! Neither side is silent for ever where the other one is not.

use super::super::failure::Failure;
use super::super::original::Position;
use super::Product;
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;

impl<'x> Product<'x, '_> {
    /// No circle of steps in which nothing is matched, unless the original goes round for ever too.
    pub(super) fn progress(&mut self) -> Result<(), Failure> {
        if self.silent.is_empty() {
            return Ok(());
        }
        self.silent.sort_unstable();
        self.silent.dedup();
        let mut waits = vec![0u32; self.nodes.len()];
        self.silent
            .iter()
            .for_each(|(_, to)| waits[*to as usize] += 1);
        let mut free: Vec<u32> = (0..self.nodes.len() as u32)
            .filter(|n| waits[*n as usize] == 0)
            .collect();
        while let Some(n) = free.pop() {
            let from = self.silent.partition_point(|e| e.0 < n);
            for (a, to) in &self.silent[from..] {
                if *a != n {
                    break;
                }
                waits[*to as usize] -= 1;
                if waits[*to as usize] == 0 {
                    free.push(*to);
                }
            }
        }
        for (n, left) in waits.iter().enumerate() {
            let (at, q, from) = self.nodes[n].key;
            let rests = from == 0 && at != Position::OUT && self.rests(at);
            if *left > 0 && !rests {
                let mut r = self.blank(at);
                r.q = q;
                return Err(Failure::NoProgress(self.at(&r)));
            }
        }
        Ok(())
    }

    /// Whether the original goes round for ever from here, unseen.
    pub(super) fn rests(&self, at: Position) -> bool {
        let settled = self.original.settle(at);
        matches!(
            self.original.program.get(settled.instruction),
            Some(Instruction::Branch { op: GOTO, .. } | Instruction::Plain(NOP))
        )
    }
}
