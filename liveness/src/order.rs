//! Depth-first orders of a graph.
//!
//! In *reverse postorder* every node precedes its successors, except across retreating edges. A
//! forward analysis that follows this order sees the results of the predecessors first. Backward
//! analyses follow the opposite order.

use petgraph::graph::{DiGraph, NodeIndex};

use crate::set::{self, BitSet};

/// Returns all nodes of `graph` in reverse postorder of a depth-first search from `entry`.
///
/// The search visits the successors of a node so that they appear in the order in which their edges
/// were added, as far as the edges allow.
///
/// Nodes that are unreachable from `entry` follow at the end. The search restarts at each of them
/// in index order, and each part that one restart finds is in reverse postorder too. If `entry` is
/// not a node of the graph, all nodes are unreachable.
pub fn reverse_postorder<N, E>(graph: &DiGraph<N, E>, entry: NodeIndex) -> Vec<NodeIndex> {
    depth_first_search(graph, entry).order
}

/// The result of a depth-first search.
pub(crate) struct DepthFirstSearch {
    /// All nodes, in the order of [`reverse_postorder`].
    pub order: Vec<NodeIndex>,
    /// The number of nodes that the entry reaches. These nodes are the first ones of `order`.
    pub reachable: usize,
}

impl DepthFirstSearch {
    /// Returns, by node index, the position of each node in `order`.
    pub fn positions(&self) -> Vec<usize> {
        positions(&self.order)
    }
}

/// Returns, by node index, the position of each node in `order`. `order` must hold every node once.
pub(crate) fn positions(order: &[NodeIndex]) -> Vec<usize> {
    let mut positions = vec![0; order.len()];
    for (position, node) in order.iter().enumerate() {
        positions[node.index()] = position;
    }
    positions
}

pub(crate) fn depth_first_search<N, E>(
    graph: &DiGraph<N, E>,
    entry: NodeIndex,
) -> DepthFirstSearch {
    let mut seen = set::empty(graph.node_count());
    let mut order = Vec::with_capacity(graph.node_count());
    search_from(graph, entry, &mut seen, &mut order);
    let reachable = order.len();
    for node in graph.node_indices() {
        search_from(graph, node, &mut seen, &mut order);
    }
    DepthFirstSearch { order, reachable }
}

/// Appends the nodes that are newly seen from `start` to `order`, in reverse postorder. The walk
/// keeps its path in a vector, because recursion would overflow the stack on long chains.
fn search_from<N, E>(
    graph: &DiGraph<N, E>,
    start: NodeIndex,
    seen: &mut BitSet,
    order: &mut Vec<NodeIndex>,
) {
    if start.index() >= seen.len() || seen[start.index()] {
        return;
    }
    seen.set(start.index(), true);
    let from = order.len();
    // petgraph yields the newest edge first. The successor that is visited last is the first one in
    // reverse postorder, so the successor of the oldest edge is first.
    let mut path = vec![(start, graph.neighbors(start).detach())];
    while let Some((node, successors)) = path.last_mut() {
        match successors.next_node(graph) {
            Some(next) if seen[next.index()] => {}
            Some(next) => {
                seen.set(next.index(), true);
                path.push((next, graph.neighbors(next).detach()));
            }
            None => {
                order.push(*node);
                path.pop();
            }
        }
    }
    order[from..].reverse();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(edges: &[(u32, u32)], entry: u32) -> Vec<usize> {
        let graph = DiGraph::<(), ()>::from_edges(edges);
        let nodes = reverse_postorder(&graph, NodeIndex::new(entry as usize));
        nodes.into_iter().map(NodeIndex::index).collect()
    }

    #[test]
    fn a_join_comes_after_both_arms() {
        assert_eq!(order(&[(0, 1), (0, 2), (1, 3), (2, 3)], 0), [0, 1, 2, 3]);
    }

    #[test]
    fn unreachable_nodes_are_appended() {
        assert_eq!(order(&[(0, 1), (1, 2), (3, 4)], 1), [1, 2, 0, 3, 4]);
    }

    #[test]
    fn an_entry_outside_the_graph_reaches_nothing() {
        assert_eq!(order(&[(0, 1)], 9), [0, 1]);
        assert_eq!(order(&[], 0), [0; 0]);
    }

    #[test]
    fn a_long_chain_does_not_overflow_the_stack() {
        let edges: Vec<_> = (0..200_000).map(|i| (i, i + 1)).collect();
        assert!(order(&edges, 0).is_sorted());
    }
}
