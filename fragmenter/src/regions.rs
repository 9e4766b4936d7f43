//! A policy's fragments: single-entry regions of basic blocks.
//!
//! ```text
//!     b0 ─▶ b1 ─▶ b3 ─▶ b5        policy `block`    {b0} {b1} {b2} {b3} {b4} {b5}
//!            │▲    ┊              policy `loop`     {b0} {b1 b2 b3 b5} {b4}    heads: b0, header b1, handler b4
//!            ▼│    ┊handler       policy `method`   {b0 b1 b2 b3 b4 b5}
//!           b2     b4
//! ```
//!
//! Under `loop` and `call` a region begins at a *head*: the entry, a loop header, a handler, a cut, and any block into
//! which different regions flow. Every other block belongs to the region that all its predecessors belong to. So control
//! enters a region only by its head: the *extended basic blocks* of the literature, but cut at loops and grown over
//! joins. The heads only become more until nothing changes, so the procedure ends.
//!
//! The sets of a region: `uses` are read before any write on some way from the head; `defs` are written somewhere inside.

use crate::flowgraph::{EdgeKind, FlowGraph, FragmentId};
use crate::metadata;
use crate::method::Method;
use crate::policy::Policy;
use petgraph::Direction::Incoming;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use std::fmt;
use veneer_liveness::{Effect, Flow, Set};

/// The number of a region in its method, in pc order of heads; written `f3` like the fragment it is to its policy.
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
    /// Its number.
    pub id: RegionId,
    /// The block by which control enters.
    pub head: FragmentId,
    /// All blocks, in pc order.
    pub blocks: Vec<FragmentId>,
    /// Different ways to heads, its own included, that are not exceptions: target and why.
    pub edges: Vec<(RegionId, EdgeKind)>,
    /// Different handlers of other regions (or its own head): target and the row of the exception table.
    pub handlers: Vec<(RegionId, u16)>,
    /// Read before written on some way from the head.
    pub uses: Set,
    /// Written somewhere inside.
    pub defs: Set,
    /// Live at the head.
    pub live_in: Set,
    /// Live where control leaves normally.
    pub live_out: Set,
}

/// The regions of a method under a policy, in pc order of their heads.
pub fn regions(method: &Method, policy: &Policy) -> Vec<Region> {
    let heads = match policy {
        Policy::Method => vec![FragmentId(0); method.flow.len()],
        Policy::Block => method.flow.fragments().map(|f| f.id).collect(),
        Policy::Loop | Policy::Call(_) => closure(&method.flow, initial_heads(method, policy)),
    };
    let mut order: Vec<FragmentId> = heads.clone();
    order.sort_unstable();
    order.dedup();
    let id_of = |head: FragmentId| RegionId(order.partition_point(|h| *h < head) as u32);
    order
        .iter()
        .map(|head| describe(method, *head, &heads, &id_of))
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

/// The head of each block's region.
fn closure(flow: &FlowGraph, mut is_head: Vec<bool>) -> Vec<FragmentId> {
    let order = veneer_liveness::reverse_postorder(&flow.graph, NodeIndex::new(0));
    loop {
        let mut head_of: Vec<Option<FragmentId>> = vec![None; flow.len()];
        let mut grown = false;
        for node in &order {
            let own = FragmentId(node.index() as u32);
            if is_head[node.index()] {
                head_of[node.index()] = Some(own);
                continue;
            }
            // Retreating edges end at heads, so in reverse postorder all that flows in here has been seen.
            let mut flows_in = flow
                .graph
                .neighbors_directed(*node, Incoming)
                .filter_map(|p| head_of[p.index()]);
            let first = flows_in.next();
            if first.is_none() || flows_in.any(|h| Some(h) != first) {
                is_head[node.index()] = true;
                grown = true;
                head_of[node.index()] = Some(own);
            } else {
                head_of[node.index()] = first;
            }
        }
        if !grown {
            // What no way leads to stands for itself.
            return head_of
                .iter()
                .enumerate()
                .map(|(i, h)| h.unwrap_or(FragmentId(i as u32)))
                .collect();
        }
    }
}

fn describe(
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
    let (mut live_out, mut defs) = (Set::repeat(false, width), Set::repeat(false, width));
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

/// Liveness at the head of the region taken by itself: with nothing live where it is left.
fn upward_exposed(method: &Method, head: FragmentId, blocks: &[FragmentId], width: usize) -> Set {
    let mut graph: DiGraph<(), Flow> = DiGraph::new();
    let position = |f: FragmentId| blocks.binary_search(&f).ok().map(NodeIndex::new);
    let effects: Vec<Effect> = blocks
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
                graph.add_edge(a, b, metadata::flow_of(*edge.weight()));
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
        .unwrap_or_else(|| Set::repeat(false, width))
}
