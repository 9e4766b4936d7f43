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
//! long as the merged part fits (Pettis and Hansen 1990 place procedures in this way).

use crate::flowgraph::{FragmentId, FragmentNode};
use crate::method::Method;
use crate::patched_node::PatchedNode;
use crate::points;
use crate::refusal::Refusal;
use std::collections::BTreeMap;

/// The part of each node of an edited graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The number of the part, by node. Numbers begin at 0, in the order of the first nodes.
    of_node: Vec<u16>,
    count: u16,
}

impl Parts {
    /// The number of the part of a node.
    pub fn of(&self, node: FragmentId) -> u16 {
        self.of_node.get(node.index()).copied().unwrap_or(0)
    }

    /// The number of parts.
    pub fn count(&self) -> u16 {
        self.count
    }
}

/// The graph that is split.
pub(crate) struct SplitGraph<'g> {
    /// The nodes, by fragment.
    pub nodes: &'g [PatchedNode],
    /// Whether an activation can be in a node.
    pub reachable: &'g [bool],
    /// The index of the instruction at which new activations begin.
    pub first: usize,
    /// How often nodes were executed. Empty if that is not known.
    pub passes: &'g BTreeMap<FragmentId, u64>,
}

/// Splits a graph into parts of at most `budget` bytes of the method's own code each.
///
/// # Errors
/// [`Refusal::PartTooLarge`] if fragments that must stay together exceed the budget.
pub(crate) fn split(method: &Method, graph: &SplitGraph, budget: usize) -> Result<Parts, Refusal> {
    let count = graph.nodes.len();
    let mut groups = Groups::new((0..count).map(|node| bytes(method, graph, node)).collect());
    let edges = weighted_edges(method, graph);
    let can_cut: Vec<bool> = (0..count as u32)
        .map(|node| points::at_fragment(method, graph.first, FragmentId(node)).is_ok())
        .collect();
    for edge in edges.iter().filter(|edge| !can_cut[edge.to]) {
        groups.merge(edge.from, edge.to);
    }
    if let Some((node, bytes)) = groups.larger_than(budget) {
        let pc = method
            .flow
            .get(FragmentId(node as u32))
            .map_or(0, |fragment| fragment.start);
        return Err(Refusal::PartTooLarge(pc, bytes, budget));
    }
    for edge in &edges {
        if groups.merged_bytes(edge.from, edge.to) <= budget {
            groups.merge(edge.from, edge.to);
        }
    }
    Ok(groups.pack(graph.reachable, budget))
}

/// The nodes to which control moves from another part, in rising order.
pub(crate) fn cut_nodes(method: &Method, graph: &SplitGraph, parts: &Parts) -> Vec<FragmentId> {
    let mut cut: Vec<FragmentId> = weighted_edges(method, graph)
        .into_iter()
        .map(|edge| (FragmentId(edge.from as u32), FragmentId(edge.to as u32)))
        .filter(|(from, to)| parts.of(*from) != parts.of(*to))
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

/// An edge between two nodes that activations can take.
struct WeightedEdge {
    from: usize,
    to: usize,
    weight: u64,
}

/// The edges of the graph, those that are taken most often first.
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
    edges.sort_by_key(|edge| (std::cmp::Reverse(edge.weight), edge.from, edge.to));
    edges.dedup_by_key(|edge| (edge.from, edge.to));
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

/// Sets of nodes that are merged step by step, with their sizes (a disjoint-set forest).
struct Groups {
    parent: Vec<usize>,
    bytes: Vec<usize>,
}

impl Groups {
    fn new(bytes: Vec<usize>) -> Groups {
        Groups {
            parent: (0..bytes.len()).collect(),
            bytes,
        }
    }

    fn root(&mut self, node: usize) -> usize {
        let mut root = node;
        while self.parent[root] != root {
            self.parent[root] = self.parent[self.parent[root]];
            root = self.parent[root];
        }
        root
    }

    fn merge(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            // The smaller number stays the root, so that parts are numbered by their first nodes.
            let (root, other) = (a.min(b), a.max(b));
            self.parent[other] = root;
            self.bytes[root] += self.bytes[other];
        }
    }

    fn merged_bytes(&mut self, a: usize, b: usize) -> usize {
        let (a, b) = (self.root(a), self.root(b));
        match a == b {
            true => self.bytes[a],
            false => self.bytes[a] + self.bytes[b],
        }
    }

    /// The first node of a group of more than `budget` bytes, and the group's size.
    fn larger_than(&mut self, budget: usize) -> Option<(usize, usize)> {
        (0..self.parent.len())
            .find(|node| self.root(*node) == *node && self.bytes[*node] > budget)
            .map(|node| (node, self.bytes[node]))
    }

    /// Packs the groups into parts: each goes to the first part in which it has room.
    fn pack(mut self, reachable: &[bool], budget: usize) -> Parts {
        let mut sizes: Vec<usize> = Vec::new();
        let mut part_of_root: BTreeMap<usize, u16> = BTreeMap::new();
        let mut of_node = Vec::with_capacity(self.parent.len());
        for node in 0..self.parent.len() {
            if !reachable.get(node).is_some_and(|reached| *reached) {
                of_node.push(0);
                continue;
            }
            let root = self.root(node);
            let bytes = self.bytes[root];
            let part = *part_of_root.entry(root).or_insert_with(|| {
                let fits = sizes.iter().position(|size| size + bytes <= budget);
                let part = fits.unwrap_or(sizes.len());
                match sizes.get_mut(part) {
                    Some(size) => *size += bytes,
                    None => sizes.push(bytes),
                }
                part as u16
            });
            of_node.push(part);
        }
        Parts {
            of_node,
            count: sizes.len() as u16,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(bytes: &[usize], merged: &[(usize, usize)], budget: usize) -> Parts {
        let mut groups = Groups::new(bytes.to_vec());
        for (a, b) in merged {
            groups.merge(*a, *b);
        }
        groups.pack(&vec![true; bytes.len()], budget)
    }

    #[test]
    fn groups_go_to_the_first_part_with_room() {
        let parts = parts(&[30, 50, 60, 10], &[], 100);
        assert_eq!(parts.of_node, [0, 0, 1, 0]);
        assert_eq!(parts.count(), 2);
    }

    #[test]
    fn merged_nodes_share_a_part() {
        let parts = parts(&[30, 50, 60, 10], &[(0, 2)], 100);
        assert_eq!(parts.of_node, [0, 1, 0, 0]);
    }

    #[test]
    fn a_merged_group_has_the_size_of_its_nodes() {
        let mut groups = Groups::new(vec![30, 50, 60]);
        assert_eq!(groups.merged_bytes(0, 1), 80);
        groups.merge(1, 2);
        assert_eq!(groups.merged_bytes(0, 2), 140);
        assert_eq!(groups.merged_bytes(1, 2), 110);
        assert_eq!(groups.larger_than(100), Some((1, 110)));
        assert_eq!(groups.larger_than(110), None);
    }

    #[test]
    fn nodes_without_activations_need_no_room() {
        let groups = Groups::new(vec![90, 0, 90]);
        let parts = groups.pack(&[true, false, true], 100);
        assert_eq!(parts.of_node, [0, 0, 1]);
    }
}
