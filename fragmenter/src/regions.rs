//! Regions: the fragments of a policy as single-entry sets of basic blocks.
//!
//! ```text
//!     b0 ─▶ b1 ─▶ b3 ─▶ b5        policy `block`    {b0} {b1} {b2} {b3} {b4} {b5}
//!            │▲    ┊              policy `loop`     {b0} {b1 b2 b3 b5} {b4}
//!            ▼│    ┊handler       policy `method`   {b0 b1 b2 b3 b4 b5}
//!           b2     b4           heads under `loop`: b0, header b1, handler b4
//! ```
//!
//! Under `loop` and `call`, a region begins at each *head*. These blocks are heads:
//!
//! - the entry;
//! - a loop header;
//! - an exception handler;
//! - a block at which the policy cuts;
//! - a block whose predecessors are in different regions.
//!
//! Any other block belongs to the region of all its predecessors.
//!
//! Control therefore enters a region only at its head. Such regions are the *extended basic blocks*
//! of the literature, but cut at loops and extended over joins. The procedure repeats until no
//! block becomes a head. It terminates because a head never ceases to be one.
//!
//! A region's `uses` are the variables that some path from the head reads before it writes them.
//! Its `defs` are the variables that any block in the region writes.

use crate::flowgraph::{EdgeKind, FlowGraph, FragmentId, FragmentNode};
use crate::method::Method;
use crate::policy::Policy;
use crate::use_def;
use petgraph::Direction::Incoming;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use std::fmt;
use veneer_liveness::{BitSet, EdgeTransfer, UseDef};

/// The number of a region in its method, in pc order of the heads. It is written `f3`, because for
/// its policy the region is a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RegionId(pub u32);

impl fmt::Display for RegionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "f{}", self.0)
    }
}

/// One single-entry region.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// The number of the region.
    pub id: RegionId,
    /// The block at which control enters.
    pub head: FragmentId,
    /// All blocks in pc order.
    pub blocks: Vec<FragmentId>,
    /// The normal edges to heads, the region's own head included, without duplicates: the target
    /// and the reason.
    pub edges: Vec<(RegionId, EdgeKind)>,
    /// The exception edges to heads, the region's own head included, without duplicates: the target
    /// and the index of the exception-table entry.
    pub handlers: Vec<(RegionId, u16)>,
    /// Variables that some path from the head reads before it writes them.
    pub uses: BitSet,
    /// Variables that the region writes.
    pub defs: BitSet,
    /// Variables that are live at the head.
    pub live_in: BitSet,
    /// Variables that are live where control leaves the region without an exception.
    pub live_out: BitSet,
}

/// The regions of a method under a policy, in pc order of their heads.
pub fn regions(method: &Method, policy: &Policy) -> Vec<Region> {
    let heads = match policy {
        Policy::Method => vec![FragmentId(0); method.flow.len()],
        Policy::Block => method.flow.fragments().map(|f| f.id).collect(),
        Policy::Loop | Policy::Call(_) => region_heads(&method.flow, initial_heads(method, policy)),
    };
    let mut order: Vec<FragmentId> = heads.clone();
    order.sort_unstable();
    order.dedup();
    let id_of = |head: FragmentId| RegionId(order.partition_point(|h| *h < head) as u32);
    order
        .iter()
        .map(|head| build_region(method, *head, &heads, &id_of))
        .collect()
}

fn initial_heads(method: &Method, policy: &Policy) -> Vec<bool> {
    let flow = &method.flow;
    let mut is_head = vec![false; flow.len()];
    let mut mark = |n: NodeIndex| {
        if let Some(head) = is_head.get_mut(n.index()) {
            *head = true;
        }
    };
    mark(NodeIndex::new(0));
    method.loops.headers().for_each(&mut mark);
    for edge in flow.graph.edge_references() {
        let handler = matches!(edge.weight(), EdgeKind::Handler(_));
        if handler || method.loops.irreducible.contains(&edge.id()) {
            mark(edge.target());
        }
    }
    for fragment in flow.fragments() {
        let first = method.instructions.get(fragment.instructions.start);
        if first.is_some_and(|(_, i)| policy.cuts(i, &method.file.pool)) {
            mark(fragment.id.node());
        }
    }
    is_head
}

/// Computes the head of each block's region, indexed by block. `is_head` marks the initial heads.
fn region_heads(flow: &FlowGraph, mut is_head: Vec<bool>) -> Vec<FragmentId> {
    let order = veneer_liveness::reverse_postorder(&flow.graph, NodeIndex::new(0));
    loop {
        let mut head_of: Vec<Option<FragmentId>> = vec![None; flow.len()];
        let mut changed = false;
        for node in &order {
            let own = FragmentId(node.index() as u32);
            if is_head[node.index()] {
                head_of[node.index()] = Some(own);
                continue;
            }
            // Retreating edges lead only to heads. In reverse postorder, all other predecessors
            // have therefore been visited.
            let mut flows_in = flow
                .graph
                .neighbors_directed(*node, Incoming)
                .filter_map(|p| head_of[p.index()]);
            let first = flows_in.next();
            if first.is_none() || flows_in.any(|h| Some(h) != first) {
                is_head[node.index()] = true;
                changed = true;
                head_of[node.index()] = Some(own);
            } else {
                head_of[node.index()] = first;
            }
        }
        if !changed {
            // An unreachable block is a region of its own.
            return head_of
                .iter()
                .enumerate()
                .map(|(i, h)| h.unwrap_or(FragmentId(i as u32)))
                .collect();
        }
    }
}

fn build_region(
    method: &Method,
    head: FragmentId,
    heads: &[FragmentId],
    id_of: &dyn Fn(FragmentId) -> RegionId,
) -> Region {
    let graph = &method.flow.graph;
    let width = method.code.max_locals as usize + method.code.max_stack as usize;
    let blocks: Vec<FragmentId> = method
        .flow
        .fragments()
        .map(|f| f.id)
        .filter(|b| heads[b.index()] == head)
        .collect();
    let mut edges: Vec<(RegionId, EdgeKind)> = Vec::new();
    let mut handlers: Vec<(RegionId, u16)> = Vec::new();
    let (mut live_out, mut defs) = (BitSet::repeat(false, width), BitSet::repeat(false, width));
    for block in &blocks {
        defs |= &method.effects[block.index()].writes;
        let mut out: Vec<_> = graph.edges(block.node()).collect();
        out.sort_by_key(|e| e.id());
        for edge in out {
            let target = FragmentId(edge.target().index() as u32);
            if heads[target.index()] != target {
                continue;
            }
            let to = id_of(target);
            match *edge.weight() {
                EdgeKind::Handler(row) if !handlers.contains(&(to, row)) => {
                    handlers.push((to, row))
                }
                EdgeKind::Handler(_) => {}
                kind => {
                    live_out |= &method.liveness.live_in[target.index()];
                    if !edges.contains(&(to, kind)) {
                        edges.push((to, kind));
                    }
                }
            }
        }
    }
    Region {
        id: id_of(head),
        head,
        edges,
        handlers,
        uses: upward_exposed(method, head, &blocks, width),
        defs,
        live_in: method.liveness.live_in[head.index()].clone(),
        live_out,
        blocks,
    }
}

/// The variables that are live at the head if nothing is live where control leaves the region.
fn upward_exposed(
    method: &Method,
    head: FragmentId,
    blocks: &[FragmentId],
    width: usize,
) -> BitSet {
    let mut graph: DiGraph<(), EdgeTransfer> = DiGraph::new();
    let position = |f: FragmentId| blocks.binary_search(&f).ok().map(NodeIndex::new);
    let effects: Vec<UseDef> = blocks
        .iter()
        .map(|b| method.effects[b.index()].clone())
        .collect();
    for _ in blocks {
        graph.add_node(());
    }
    for block in blocks {
        for edge in method.flow.graph.edges(block.node()) {
            let to = FragmentId(edge.target().index() as u32);
            if let (Some(a), Some(b)) = (position(*block), position(to)) {
                graph.add_edge(a, b, use_def::edge_flow(*edge.weight()));
            }
        }
    }
    let inside = veneer_liveness::liveness(
        &graph,
        width,
        method.code.max_locals as usize,
        &effects,
        |e| graph[e],
    );
    position(head)
        .and_then(|p| inside.live_in.get(p.index()).cloned())
        .unwrap_or_else(|| BitSet::repeat(false, width))
}
