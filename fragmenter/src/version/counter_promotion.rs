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

use super::Plan;
use super::body::Body;
use crate::advice::{Action, Site};
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;
use crate::flowgraph::{EdgeKind, FragmentId};
use crate::patch::Patched;
use crate::refusal::Refusal;
use indexmap::IndexMap;
use veneer_liveness::{Loop, Set};

/// Iterations after which the locals are added to the counters in memory. The value must fit
/// `sipush`.
const FLUSH_INTERVAL: i16 = 1 << 14;

/// A loop whose counters are local variables.
#[derive(Clone)]
pub(super) struct PromotedLoop {
    header: FragmentId,
    body: Set,
    /// The local that counts iterations since the last flush.
    pub iterations: u16,
    /// The local of each counter, by the counter's slot.
    pub counters: IndexMap<u32, u16>,
}

/// The relation of an edge to a promoted loop. The number is the index of the loop.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LoopEdge {
    /// A back edge of the loop.
    Back(usize),
    /// An edge that leaves the loop.
    Exit(usize),
}

impl PromotedLoop {
    fn has(&self, f: FragmentId) -> bool {
        self.body.get(f.index()).is_some_and(|b| *b)
    }
}

/// Finds the loops whose counters can be locals. `allocate` reserves local-variable words and
/// returns the first slot.
pub(super) fn promoted_loops(
    plan: &Plan,
    patched: &Patched,
    allocate: &mut dyn FnMut(u16) -> u16,
) -> Vec<PromotedLoop> {
    let forest = &patched.loops;
    let gathers = |a: &Action| matches!(a, Action::Gather { .. });
    // After an edit, code is at other places of the graph. Edited methods do not use spanning-tree
    // counters either.
    if !plan.edits.is_empty()
        || !forest.irreducible.is_empty()
        || !plan.probes.iter().any(|p| gathers(&p.action))
    {
        return Vec::new();
    }
    let mut out = Vec::new();
    for one in forest.loops.iter().filter(|l| is_innermost(l, patched)) {
        if !is_promotable(one, plan) {
            continue;
        }
        let mut found = PromotedLoop {
            header: FragmentId(one.header.index() as u32),
            body: one.body.clone(),
            iterations: 0,
            counters: IndexMap::new(),
        };
        for probe in plan.probes {
            let Action::Gather { slot } = probe.action else {
                continue;
            };
            let inside = match probe.site {
                Site::Before(f) => found.has(f),
                Site::After(f) => {
                    let next = plan.method.flow.successors(f);
                    found.has(f) && !next.is_empty() && next.iter().all(|n| found.has(*n))
                }
                Site::Edge(a, b) => found.has(a) && found.has(b),
                _ => false,
            };
            if inside {
                found.counters.entry(slot).or_insert_with(|| allocate(1));
            }
        }
        if !found.counters.is_empty() {
            found.iterations = allocate(1);
            out.push(found);
        }
    }
    out
}

fn is_innermost(l: &Loop, patched: &Patched) -> bool {
    let all = &patched.loops.loops;
    all.iter()
        .all(|inner| inner.depth <= l.depth || !l.body[inner.header.index()])
}

/// Whether the loop calls nothing and holds no monitors, and no exception leads back to its header.
fn is_promotable(l: &Loop, plan: &Plan) -> bool {
    let method = plan.method;
    l.body.iter_ones().all(|n| {
        let Some(f) = method.flow.get(FragmentId(n as u32)) else {
            return false;
        };
        let is_call_free = |i: usize| {
            let op = method.instructions[i].1.op();
            !is_invoke(op) && !matches!(op, MONITORENTER | MONITOREXIT)
        };
        let leads_to_header = |e: petgraph::graph::EdgeReference<EdgeKind>| {
            let to = petgraph::visit::EdgeRef::target(&e);
            matches!(e.weight(), EdgeKind::Handler(_)) && to == l.header
        };
        f.instructions.clone().all(is_call_free)
            && !method.flow.graph.edges(f.id.node()).any(leads_to_header)
    })
}

impl Body<'_, '_> {
    /// The relation of an edge to the promoted loop that contains its source, if it leaves the loop
    /// or leads to its header.
    pub(super) fn loop_edge(&self, from: FragmentId, to: FragmentId) -> Option<LoopEdge> {
        let n = self.slots.promoted.iter().position(|l| l.has(from))?;
        let one = &self.slots.promoted[n];
        match (to == one.header, one.has(to)) {
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
                self.flush(n)
            }
        }
    }

    /// Emits code that adds a loop's locals to the counters in memory and resets them.
    fn flush(&mut self, n: usize) -> Result<(), Refusal> {
        let one = self.slots.promoted[n].clone();
        for (slot, local) in &one.counters {
            self.a.local(LLOAD, self.slots.shard()?);
            self.e.push_int(&mut self.a, (slot * 8) as i32)?;
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
            if self.slots.promoted[n].has(f) {
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
        self.slots.promoted.iter().any(|l| l.has(f))
    }
}
