//! The flow graph of the fast path: fragments as numbers in pc order, with the analyses that choose
//! capture points and the values that they carry.
//!
//! The fragments, the loop headers, the live variables and the held monitors are the same as those
//! of [`crate::method::Method`]. The representation is smaller: edges are two arrays of numbers, and
//! a set of local variables is one 64-bit number. A method with more than [`MAX_LOCALS`] local
//! variables, or with an irreducible cycle, is left to the full path.

use super::code_scan::{CodeScan, SwitchTable, branch_offset, i4};
use crate::bytecode::opcode::*;
use crate::classfile::ExceptionRange;

/// The largest number of local variables for which a set fits one number.
pub(super) const MAX_LOCALS: u16 = 64;

/// More monitors than real code nests; see [`crate::monitors`].
const MAX_MONITORS: u8 = 64;

/// Marks a node that the search from the entry has not reached.
const UNREACHED: u32 = u32::MAX;

/// A fragment with the local variables that it reads and writes.
#[derive(Clone, Copy, Default)]
pub(super) struct Block {
    pub pc: u16,
    /// Index of the first instruction.
    pub first: u32,
    /// Locals that are read before they are written.
    pub uses: u64,
    /// Locals that are written.
    pub defs: u64,
    /// Locals that are live at the start. Set by [`BlockGraph::solve_liveness`].
    pub live_in: u64,
}

/// The graph. The buffers are reused for each method.
#[derive(Default)]
pub(super) struct BlockGraph {
    pub blocks: Vec<Block>,
    /// The number of the fragment that starts at a pc.
    block_at: Vec<u16>,
    /// Targets of all edges, by source. Normal edges of a source precede its exceptional ones.
    targets: Vec<u16>,
    /// For each fragment, the positions in `targets` of its first edge and of its first exceptional
    /// edge. One more element follows at the end.
    edges: Vec<(u32, u32)>,
    /// Whether an edge leads to the first fragment.
    pub returns_to_start: bool,
    /// For each fragment, its position in reverse postorder.
    positions: Vec<u32>,
    order: Vec<u16>,
    dominators: Vec<u16>,
    path: Vec<(u16, u32)>,
}

impl BlockGraph {
    /// Splits the code into fragments, without edges.
    pub fn split(&mut self, scan: &CodeScan) {
        self.blocks.clear();
        for (first, pc) in (0..).zip(&scan.starts) {
            if scan.is_leader(*pc) {
                self.blocks.push(Block {
                    pc: *pc,
                    first,
                    ..Block::default()
                });
            }
        }
    }

    /// The number of instructions up to the end of a fragment.
    fn end_instruction(&self, block: usize, scan: &CodeScan) -> usize {
        self.blocks
            .get(block + 1)
            .map_or(scan.starts.len(), |b| b.first as usize)
    }

    /// The number of the fragment that starts at this pc, the start of a fragment.
    pub fn at(&self, pc: u16) -> usize {
        usize::from(self.block_at[usize::from(pc)])
    }

    /// Adds the edges.
    pub fn connect(&mut self, bytes: &[u8], scan: &CodeScan, exceptions: &[ExceptionRange]) {
        self.block_at.clear();
        self.block_at.resize(bytes.len(), 0);
        for (n, b) in (0..).zip(&self.blocks) {
            self.block_at[usize::from(b.pc)] = n;
        }
        self.targets.clear();
        self.edges.clear();
        self.returns_to_start = false;
        for n in 0..self.blocks.len() {
            let first_edge = self.targets.len() as u32;
            let start = self.blocks[n].pc;
            let end = self
                .blocks
                .get(n + 1)
                .map_or(bytes.len(), |b| usize::from(b.pc));
            let last = scan.starts[self.end_instruction(n, scan) - 1];
            let op = bytes[usize::from(last)];
            if !ends_flow(op) && end < bytes.len() {
                self.targets.push(n as u16 + 1);
            }
            let target = |offset: i32| (i32::from(last) + offset) as usize;
            if let Some(offset) = branch_offset(bytes, last) {
                self.targets
                    .push(self.block_at[target(i32::from(offset as i16))]);
            } else if let TABLESWITCH | LOOKUPSWITCH = op
                && let Some(table) = SwitchTable::read(bytes, usize::from(last))
            {
                let offsets = table.offsets().filter_map(|at| i4(bytes, at));
                let targets = offsets.map(|offset| self.block_at[target(offset)]);
                self.targets.extend(targets);
            }
            let first_exceptional = self.targets.len() as u32;
            for e in exceptions {
                if usize::from(e.start) < end && e.end > start {
                    self.targets.push(self.block_at[usize::from(e.handler)]);
                }
            }
            self.returns_to_start |= self.targets[first_edge as usize..].contains(&0);
            self.edges.push((first_edge, first_exceptional));
        }
        let end = self.targets.len() as u32;
        self.edges.push((end, end));
    }

    fn successors(&self, block: usize) -> &[u16] {
        &self.targets[self.edges[block].0 as usize..self.edges[block + 1].0 as usize]
    }

    /// Computes [`Block::live_in`] of all fragments; see `veneer_liveness::liveness`.
    pub fn solve_liveness(&mut self) {
        let mut again = true;
        while again {
            again = false;
            for n in (0..self.blocks.len()).rev() {
                let ((from, exceptional), to) = (self.edges[n], self.edges[n + 1].0);
                let live = |targets: &[u16]| {
                    let live_in = targets.iter().map(|t| self.blocks[usize::from(*t)].live_in);
                    live_in.fold(0, |a, b| a | b)
                };
                let out = live(&self.targets[from as usize..exceptional as usize]);
                let thrown = live(&self.targets[exceptional as usize..to as usize]);
                let block = &self.blocks[n];
                let live_in = block.uses | out & !block.defs | thrown;
                if live_in != block.live_in {
                    self.blocks[n].live_in = live_in;
                    again = true;
                }
            }
        }
    }

    /// Appends the loop headers to `found`. Returns `None` if the graph has an irreducible cycle.
    pub fn loop_headers(&mut self, found: &mut Vec<u16>) -> Option<()> {
        self.find_order();
        self.find_dominators();
        for n in 0..self.blocks.len() {
            let here = self.positions[n];
            if here == UNREACHED {
                continue;
            }
            for target in self.successors(n) {
                // The edge is retreating if its target does not follow its source.
                if self.positions[usize::from(*target)] <= here {
                    self.dominates(*target, n as u16).then_some(())?;
                    found.push(*target);
                }
            }
        }
        Some(())
    }

    /// Computes the reverse postorder of a depth-first search from the first fragment.
    fn find_order(&mut self) {
        let count = self.blocks.len();
        self.positions.clear();
        self.positions.resize(count, UNREACHED);
        self.order.clear();
        self.path.clear();
        self.positions[0] = 0;
        self.path.push((0, self.edges[0].0));
        while let Some((node, next)) = self.path.last_mut() {
            let n = usize::from(*node);
            if *next == self.edges[n + 1].0 {
                self.order.push(*node);
                self.path.pop();
                continue;
            }
            let target = self.targets[*next as usize];
            *next += 1;
            let position = &mut self.positions[usize::from(target)];
            if *position == UNREACHED {
                *position = 0;
                self.path.push((target, self.edges[usize::from(target)].0));
            }
        }
        self.order.reverse();
        for (position, node) in (0..).zip(&self.order) {
            self.positions[usize::from(*node)] = position;
        }
    }

    /// Computes immediate dominators (Cooper, Harvey, Kennedy, *A Simple, Fast Dominance
    /// Algorithm*).
    fn find_dominators(&mut self) {
        const NONE: u16 = u16::MAX;
        self.dominators.clear();
        self.dominators.resize(self.blocks.len(), NONE);
        self.dominators[0] = 0;
        let mut again = true;
        while again {
            again = false;
            for i in 0..self.order.len() {
                let node = self.order[i];
                let n = usize::from(node);
                for edge in self.edges[n].0..self.edges[n + 1].0 {
                    let target = usize::from(self.targets[edge as usize]);
                    let old = self.dominators[target];
                    let new = match old {
                        NONE => node,
                        _ if target == 0 => 0,
                        _ => self.common_dominator(old, node),
                    };
                    if new != old {
                        self.dominators[target] = new;
                        again = true;
                    }
                }
            }
        }
    }

    fn common_dominator(&self, mut a: u16, mut b: u16) -> u16 {
        let position = |n: u16| self.positions[usize::from(n)];
        while a != b {
            if position(a) > position(b) {
                a = self.dominators[usize::from(a)];
            } else {
                b = self.dominators[usize::from(b)];
            }
        }
        a
    }

    fn dominates(&self, a: u16, mut b: u16) -> bool {
        let position = |n: u16| self.positions[usize::from(n)];
        while position(b) > position(a) {
            b = self.dominators[usize::from(b)];
        }
        a == b
    }

    /// Number of monitors held before each instruction; see [`crate::monitors::held_monitors`].
    /// Returns `None` if monitors are not structured.
    pub fn held_monitors(
        &self,
        bytes: &[u8],
        scan: &CodeScan,
        exceptions: &[ExceptionRange],
        held: &mut Vec<u8>,
    ) -> Option<()> {
        held.clear();
        held.resize(scan.starts.len(), 0);
        let mut at_start: Vec<Option<u8>> = vec![None; self.blocks.len()];
        let mut work: Vec<usize> = Vec::new();
        let mut roots = 0..self.blocks.len();
        loop {
            // Code that the entry does not reach begins without a monitor.
            let next = work.pop().or_else(|| {
                let root = roots.find(|n| at_start[*n].is_none())?;
                at_start[root] = Some(0);
                Some(root)
            });
            let Some(n) = next else { break };
            let mut depth = at_start[n].unwrap_or(0);
            let instructions = self.blocks[n].first as usize..self.end_instruction(n, scan);
            for i in instructions.clone() {
                held[i] = depth;
                match bytes[usize::from(scan.starts[i])] {
                    MONITORENTER => depth += 1,
                    MONITOREXIT => depth = depth.saturating_sub(1),
                    _ => {}
                }
                if depth > MAX_MONITORS {
                    return None;
                }
            }
            let mut enter = |target: usize, out: u8| {
                if at_start[target].is_none_or(|old| out > old) {
                    at_start[target] = Some(out);
                    work.push(target);
                }
            };
            for target in &self.targets[self.edges[n].0 as usize..self.edges[n].1 as usize] {
                enter(usize::from(*target), depth);
            }
            for (row, e) in exceptions.iter().enumerate() {
                let reaches = |i: &usize| {
                    let covers = |e: &ExceptionRange| (e.start..e.end).contains(&scan.starts[*i]);
                    let is_caught = |e: &ExceptionRange| e.catch_type == 0 && covers(e);
                    covers(e) && !exceptions[..row].iter().any(is_caught)
                };
                let most = instructions.clone().filter(reaches).map(|i| held[i]).max();
                if let Some(most) = most {
                    enter(self.at(e.handler), most);
                }
            }
        }
        Some(())
    }
}
