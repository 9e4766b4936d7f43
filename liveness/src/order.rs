//! Depth-first orders of a graph.
//!
//! In *reverse postorder* every node comes before its successors, except across retreating edges, so a forward
//! analysis that follows it sees the predecessors' results first. Backward analyses follow the opposite order.
//!
//! ```text
//!     n0 → n1 → n3        n0 n1 n2 n3   reverse postorder: both arms before the join
//!      └─▶ n2 ──┘         n3 n2 n1 n0   postorder
//! ```

use petgraph::graph::{DiGraph, NodeIndex};

use crate::set::{self, Set};

/// All nodes of `graph` in reverse postorder of a depth-first search from `entry`.
///
/// Successors come in the order in which their edges were added, as far as the edges allow. Nodes that `entry` does not
/// reach follow at the end: the search starts again at each of them in index order, and each such part is in
/// reverse postorder itself. An `entry` that is not in the graph reaches nothing.
pub fn reverse_postorder<N, E>(graph: &DiGraph<N, E>, entry: NodeIndex) -> Vec<NodeIndex> {
    search(graph, entry).order
}

/// The result of a depth-first search.
pub(crate) struct Search {
    /// All nodes, in the order of [`reverse_postorder`].
    pub order: Vec<NodeIndex>,
    /// How many of them, from the front, the entry reaches.
    pub reachable: usize,
}

impl Search {
    /// For each node, by index, where it stands in the order.
    pub fn positions(&self) -> Vec<usize> {
        positions(&self.order)
    }
}

/// For each node, by index, where it stands in `order`, which holds every node once.
pub(crate) fn positions(order: &[NodeIndex]) -> Vec<usize> {
    let mut positions = vec![0; order.len()];
    for (position, node) in order.iter().enumerate() {
        positions[node.index()] = position;
    }
    positions
}

pub(crate) fn search<N, E>(graph: &DiGraph<N, E>, entry: NodeIndex) -> Search {
    let mut seen = set::empty(graph.node_count());
    let mut order = Vec::with_capacity(graph.node_count());
    search_from(graph, entry, &mut seen, &mut order);
    let reachable = order.len();
    for node in graph.node_indices() {
        search_from(graph, node, &mut seen, &mut order);
    }
    Search { order, reachable }
}

/// Appends to `order` what is newly seen from `start`, in reverse postorder. Recursion would overflow the stack on
/// long chains, so the path to the current node is kept by hand.
fn search_from<N, E>(
    graph: &DiGraph<N, E>,
    start: NodeIndex,
    seen: &mut Set,
    order: &mut Vec<NodeIndex>,
) {
    if start.index() >= seen.len() || seen[start.index()] {
        return;
    }
    seen.set(start.index(), true);
    let from = order.len();
    // petgraph yields the newest edge first. The successor visited last comes first in reverse postorder, so
    // the oldest edge does.
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
    fn what_the_entry_does_not_reach_is_appended() {
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
