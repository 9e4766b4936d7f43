//! Promotes counters to local variables in loops that call nothing. A counter in memory would limit
//! the speed of such a loop.
//!
//! ```text
//!      ┌──────▶ header ──▶ … c += 1 … ──┬── n += 1; n < FLUSH_INTERVAL ──▶ header   hot back edge
//!      │                      │         └──▶ add c to its counter, c = n = 0 ──┐    cold back edge
//!      └──────────────────────┼───────────────────────────────────────────────┘
//!                             └── exit: add c to its counter, c = n = 0
//! ```
//!
//! C2 forms two nested loops from the two back edges: an inner loop, which it can unroll and
//! vectorise, and an outer one. Only innermost loops are treated in this way. In these, each edge
//! is taken at most once per iteration, so no local overflows.
//!
//! Every path out of the loop adds the locals to the counters: an edge, an exception or an exit at
//! a capture point.

use super::body::BodyEmitter;
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;
use crate::flowgraph::FragmentId;
use crate::refusal::Refusal;

/// Iterations after which the locals are added to the counters in memory. The value must fit
/// `sipush`.
const FLUSH_INTERVAL: i16 = 1 << 14;

/// The relation of an edge to a promoted loop. The number is the index of the loop.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LoopEdge {
    /// A back edge of the loop.
    Back(usize),
    /// An edge that leaves the loop.
    Exit(usize),
}

impl BodyEmitter<'_, '_> {
    /// The relation of an edge to the promoted loop that contains its source, if it leaves the loop
    /// or leads to its header.
    pub(super) fn loop_edge(&self, from: FragmentId, to: FragmentId) -> Option<LoopEdge> {
        let n = self.slots.promoted.iter().position(|l| l.contains(from))?;
        let one = &self.slots.promoted[n];
        match (to == one.header, one.contains(to)) {
            (true, _) => Some(LoopEdge::Back(n)),
            (false, true) => None,
            (false, false) => Some(LoopEdge::Exit(n)),
        }
    }

    /// Emits the code on a back edge or exit edge, before control continues at the edge's target.
    pub(super) fn emit_loop_edge(&mut self, edge: LoopEdge) -> Result<(), Refusal> {
        match edge {
            LoopEdge::Exit(n) => self.flush(n),
            LoopEdge::Back(n) => {
                let (iterations, header) = {
                    let one = &self.slots.promoted[n];
                    (one.iterations, one.header)
                };
                self.a.push(Instruction::Iinc {
                    index: iterations,
                    delta: 1,
                });
                self.a.local(ILOAD, iterations);
                self.a.push(Instruction::Push(FLUSH_INTERVAL));
                self.a.branch(IF_ICMPLT, self.nodes[header.index()]);
                self.flush(n)?;
                match self.slots.promoted[n].looks {
                    true => self.look_at_window(),
                    false => Ok(()),
                }
            }
        }
    }

    /// Emits code that adds a loop's locals to the counters in memory and resets them.
    fn flush(&mut self, n: usize) -> Result<(), Refusal> {
        let one = self.slots.promoted[n].clone();
        for (slot, local) in &one.counters {
            self.a.local(LLOAD, self.slots.shard()?);
            self.e.push_int(&mut self.a, slot.byte_offset() as i32)?;
            self.a.local(ILOAD, *local);
            self.a.plain(I2L);
            self.e.call(&mut self.a, "add", "(JIJ)V")?;
        }
        for local in one.counters.values().chain([&one.iterations]) {
            self.a.push(Instruction::Push(0));
            self.a.local(ISTORE, *local);
        }
        Ok(())
    }

    /// Flushes the promoted loops around a fragment.
    pub(super) fn flush_around(&mut self, f: FragmentId) -> Result<(), Refusal> {
        for n in 0..self.slots.promoted.len() {
            if self.slots.promoted[n].contains(f) {
                self.flush(n)?;
            }
        }
        Ok(())
    }

    /// Flushes all promoted loops, because an exception can leave any of them.
    pub(super) fn flush_all(&mut self) -> Result<(), Refusal> {
        (0..self.slots.promoted.len()).try_for_each(|n| self.flush(n))
    }

    /// Whether counters of a fragment are in locals while it runs.
    pub(super) fn counts_in_locals(&self, f: FragmentId) -> bool {
        self.slots.promoted.iter().any(|l| l.contains(f))
    }
}
