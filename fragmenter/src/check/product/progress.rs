//! Progress: neither side may run for ever while the other side makes no progress.

use super::super::failure::Failure;
use super::super::reference::Position;
use super::Product;
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;

impl<'x> Product<'x, '_> {
    /// Reports a cycle without any matched step, unless the original loops silently too. The method
    /// removes nodes in topological order of the silent edges; nodes that remain are on or behind a
    /// cycle.
    pub(super) fn progress(&mut self) -> Result<(), Failure> {
        if self.silent_edges.is_empty() {
            return Ok(());
        }
        self.silent_edges.sort_unstable();
        self.silent_edges.dedup();
        let mut waits = vec![0u32; self.nodes.len()];
        self.silent_edges
            .iter()
            .for_each(|(_, to)| waits[*to as usize] += 1);
        let mut free: Vec<u32> = (0..self.nodes.len() as u32)
            .filter(|n| waits[*n as usize] == 0)
            .collect();
        while let Some(n) = free.pop() {
            let from = self.silent_edges.partition_point(|e| e.0 < n);
            for (a, to) in &self.silent_edges[from..] {
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
            let loops = from == 0 && at != Position::OUT && self.loops_silently(at);
            if *left > 0 && !loops {
                let mut r = self.blank(at);
                r.emitted_at = q;
                return Err(Failure::NoProgress(self.at(&r)));
            }
        }
        Ok(())
    }

    /// True if the original loops silently for ever from this position.
    pub(super) fn loops_silently(&self, at: Position) -> bool {
        let settled = self.original.skip_gotos(at);
        matches!(
            self.original.program.get(settled.instruction),
            Some(Instruction::Branch { op: GOTO, .. } | Instruction::Plain(NOP))
        )
    }
}
