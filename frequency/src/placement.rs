//! Counter placement: every edge outside a spanning tree of the greatest weight has a counter.

use petgraph::unionfind::UnionFind;

use crate::edge::{Edge, Endpoint};

/// Returns, for each edge of a graph of `nodes` nodes, whether the edge has a counter. An edge
/// whose node number is not below `nodes` always has one.
pub fn place_counters(nodes: u32, edges: &[Edge]) -> Vec<bool> {
    let outside = nodes as usize;
    let at = |node: Endpoint| match node {
        Endpoint::Outside => Some(outside),
        Endpoint::Node(n) => (n < nodes).then_some(n as usize),
    };
    // The heaviest edge is first. Edges of equal weight keep their order, so equal graphs get equal
    // counters.
    let mut order: Vec<usize> = (0..edges.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(edges[*i].weight));
    let mut joined = UnionFind::<usize>::new(outside + 1);
    let mut counted = vec![true; edges.len()];
    for i in order {
        let edge = &edges[i];
        if let (false, Some(from), Some(to)) = (edge.always_counted, at(edge.from), at(edge.to)) {
            counted[i] = !joined.union(from, to);
        }
    }
    counted
}
