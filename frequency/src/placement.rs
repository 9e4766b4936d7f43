//! Which edges have counters: all that are not in a spanning tree of the greatest weight.

use petgraph::unionfind::UnionFind;

use crate::edge::{Edge, Node};

/// Says of each edge of a graph of so many nodes whether it has a counter. Edges of nodes that are not there have one.
pub fn place(nodes: u32, edges: &[Edge]) -> Vec<bool> {
    let outside = nodes as usize;
    let at = |node: Node| match node {
        Node::Outside => Some(outside),
        Node::At(n) => (n < nodes).then_some(n as usize),
    };
    // The heaviest first; of equal ones the first, so that the same graph has the same counters.
    let mut order: Vec<usize> = (0..edges.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(edges[*i].weight));
    let mut joined = UnionFind::<usize>::new(outside + 1);
    let mut counted = vec![true; edges.len()];
    for i in order {
        let edge = &edges[i];
        if let (false, Some(from), Some(to)) = (edge.always, at(edge.from), at(edge.to)) {
            counted[i] = !joined.union(from, to);
        }
    }
    counted
}
