//! Splitting a method into *parts* that HotSpot compiles.
//!
//! HotSpot never compiles a method of more than 8,000 bytes. A version of such a method may have
//! several parts, each a method of its own below that limit. Inside a part, control flows along
//! branches as always. From one part to another, the activation moves as between two versions: with
//! its live values in a frame.
//!
//! ```text
//!   part 0                      part 1
//!   f0 ─▶ f1 ◀──┐               f4 ─▶ f5
//!         │     │                     │
//!         ├─▶ f2┘   frame             │
//!         └─▶ f3 ┄┄┄┄┄┄┄┄┄┄┄┄┄┄▶ f4   └┄┄┄▶ f1
//! ```
//!
//! A fragment to which control moves from another part must have a capture point. Where none is
//! possible, because a monitor is held for example, the fragments stay together.
//!
//! The choice of parts merges fragments along the edges that are expected to be taken most often, as
//! long as the merged part fits (Pettis and Hansen 1990 place procedures in this way). A part fits if
//! neither its own code nor the estimate of its emitted code is too large ([`emitted_size`]).

mod edges;
mod emitted_size;
mod groups;
mod parts;

pub use self::parts::Parts;

use self::edges::{WeightedEdge, order};
use self::emitted_size::EmittedSize;
use self::groups::Groups;
use crate::flowgraph::{FragmentId, FragmentNode};
use crate::method::Method;
use crate::patched_node::PatchedNode;
use crate::points::{self, Point};
use crate::refusal::Refusal;
use std::collections::BTreeMap;

/// The graph that is split.
pub(crate) struct SplitGraph<'g> {
    /// The nodes, by fragment.
    pub nodes: &'g [PatchedNode],
    /// Whether an activation can be in a node.
    pub reachable: &'g [bool],
    /// The capture points of the armed method. New activations begin at the first one.
    pub points: &'g [Point],
    /// How often nodes were executed. Empty if that is not known.
    pub passes: &'g BTreeMap<FragmentId, u64>,
}

/// Splits a graph into parts of at most `budget` bytes of the method's own code each.
///
/// # Errors
/// [`Refusal::PartTooLarge`] if fragments that must stay together exceed the budget.
pub(crate) fn split(method: &Method, graph: &SplitGraph, budget: usize) -> Result<Parts, Refusal> {
    let count = graph.nodes.len();
    let first = graph.points.first().map_or(0, |p| p.instruction);
    let points: Vec<Option<Point>> = (0..count as u32)
        .map(|node| points::at_fragment(method, first, FragmentId(node)).ok())
        .collect();
    let edges = weighted_edges(method, graph);
    let bytes = (0..count).map(|node| bytes(method, graph, node)).collect();
    let size = EmittedSize::new(graph.points, &points, &edges);
    let mut groups = Groups::new(bytes, size, budget);
    for edge in edges.iter().filter(|edge| points[edge.to].is_none()) {
        groups.merge(edge.from, edge.to);
    }
    if let Some((node, bytes)) = groups.first_too_large() {
        let pc = method
            .flow
            .get(FragmentId(node as u32))
            .map_or(0, |fragment| fragment.start);
        return Err(Refusal::PartTooLarge(pc, bytes, budget));
    }
    for edge in &edges {
        if groups.fit_together(edge.from, edge.to) {
            groups.merge(edge.from, edge.to);
        }
    }
    Ok(groups.pack(graph.reachable))
}

/// The nodes to which control moves from another part, in rising order.
pub(crate) fn cut_nodes(method: &Method, graph: &SplitGraph, parts: &Parts) -> Vec<FragmentId> {
    let mut cut: Vec<FragmentId> = weighted_edges(method, graph)
        .into_iter()
        .map(|edge| (FragmentId(edge.from as u32), FragmentId(edge.to as u32)))
        .filter(|(from, to)| parts.part(*from) != parts.part(*to))
        .map(|(_, to)| to)
        .collect();
    cut.sort_unstable();
    cut.dedup();
    cut
}

/// The size of a node's instructions in bytes; 0 for a node without activations.
fn bytes(method: &Method, graph: &SplitGraph, node: usize) -> usize {
    if !graph.reachable.get(node).is_some_and(|reached| *reached) {
        return 0;
    }
    let fragment = method.flow.get(graph.nodes[node].code);
    fragment.map_or(0, |f| f.end as usize - usize::from(f.start))
}

/// The edges of the graph, in the order in which their nodes are merged ([`order`]).
fn weighted_edges(method: &Method, graph: &SplitGraph) -> Vec<WeightedEdge> {
    let mut edges = Vec::new();
    for (from, node) in graph.nodes.iter().enumerate() {
        if !graph.reachable.get(from).is_some_and(|reached| *reached) {
            continue;
        }
        for (_, to) in &node.out {
            edges.push(WeightedEdge {
                from,
                to: to.index(),
                weight: weight(method, graph, from, to.index()),
            });
        }
        for to in method.flow.handlers(node.code) {
            edges.push(WeightedEdge {
                from,
                to: to.index(),
                weight: 0,
            });
        }
    }
    order(&mut edges, graph.nodes.len());
    edges
}

/// How often an edge is taken: at most as often as both of its nodes. Without counts, each loop around
/// both nodes multiplies the expectation by 8.
fn weight(method: &Method, graph: &SplitGraph, from: usize, to: usize) -> u64 {
    if graph.passes.is_empty() {
        let depth = |node: usize| {
            let node = FragmentId(node as u32);
            method.loops.enclosing_loops(node.node()).len() as u32
        };
        return 1 << (3 * depth(from).min(depth(to)).min(20));
    }
    let passes = |node: usize| {
        let node = FragmentId(node as u32);
        graph.passes.get(&node).copied().unwrap_or(0)
    };
    passes(from).min(passes(to))
}
