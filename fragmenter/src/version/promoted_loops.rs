//! Finds the loops whose counters are promoted to local variables (`counter_promotion.rs`).

use super::plan::VersionPlan;
use crate::advice::{ProbeAction, Site};
use crate::bytecode::opcode::*;
use crate::flowgraph::{EdgeKind, FragmentId, FragmentNode};
use crate::patch::Patched;
use indexmap::IndexMap;
use std::collections::BTreeSet;
use veneer_liveness::{BitSet, Loop};
use veneer_names::CounterSlot;

/// A loop whose counters are local variables.
#[derive(Clone)]
pub(super) struct PromotedLoop {
    pub(super) header: FragmentId,
    pub(super) body: BitSet,
    /// The local that counts iterations since the last flush.
    pub iterations: u16,
    /// The local of each counter, by the counter's slot.
    pub counters: IndexMap<CounterSlot, u16>,
    /// Whether the cold back edge looks at the window of a sampled recording.
    pub looks: bool,
}

impl PromotedLoop {
    pub(super) fn contains(&self, f: FragmentId) -> bool {
        self.body.get(f.index()).is_some_and(|b| *b)
    }
}

/// Finds the loops whose counters can be locals. `allocate` reserves local-variable words and
/// returns the first slot.
pub(super) fn promoted_loops(
    plan: &VersionPlan,
    patched: &Patched,
    allocate: &mut dyn FnMut(u16) -> u16,
) -> Vec<PromotedLoop> {
    let forest = &patched.loops;
    let gathers =
        |a: &ProbeAction| matches!(a, ProbeAction::CountBuffered { .. }) || a.is_in_window();
    let looks = plan.probes.iter().any(|p| p.action.is_in_window());
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
            looks,
        };
        for probe in plan.probes {
            let ProbeAction::CountBuffered { slot } = probe.action else {
                continue;
            };
            let inside = match probe.site {
                Site::Before(f) => found.contains(f),
                Site::After(f) => {
                    let next = plan.method.flow.successors(f);
                    found.contains(f) && !next.is_empty() && next.iter().all(|n| found.contains(*n))
                }
                Site::Edge(a, b) => found.contains(a) && found.contains(b),
                Site::At(pc) => found.contains(plan.method.flow.fragment_containing(pc)),
                _ => false,
            };
            if inside {
                found.counters.entry(slot).or_insert_with(|| allocate(1));
            }
        }
        if !found.counters.is_empty() || looks {
            found.iterations = allocate(1);
            out.push(found);
        }
    }
    out
}

/// The headers of the loops in which each iteration looks at the window of a sampled recording: all loops
/// but those that are promoted.
pub(super) fn looked_at(
    plan: &VersionPlan,
    patched: &Patched,
    promoted: &[PromotedLoop],
) -> BTreeSet<FragmentId> {
    if !plan.probes.iter().any(|p| p.action.is_in_window()) {
        return BTreeSet::new();
    }
    let headers = patched.loops.loops.iter().map(|one| one.header);
    let headers = headers.map(|header| FragmentId(header.index() as u32));
    let is_promoted = |h: &FragmentId| promoted.iter().any(|one| one.header == *h);
    headers.filter(|h| !is_promoted(h)).collect()
}

fn is_innermost(l: &Loop, patched: &Patched) -> bool {
    let all = &patched.loops.loops;
    all.iter()
        .all(|inner| inner.depth <= l.depth || !l.body[inner.header.index()])
}

/// Whether the loop calls nothing and holds no monitors, and no exception leads back to its header.
fn is_promotable(l: &Loop, plan: &VersionPlan) -> bool {
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
