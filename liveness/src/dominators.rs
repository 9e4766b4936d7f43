//! Dominators: `a` dominates `b` if every path from the entry to `b` contains `a`.
//!
//! ```text
//!     graph   n0 → n1 → n2 → n4        tree   n0
//!                  └──▶ n3 ──┘                └─ n1
//!                                                ├─ n2
//!                                                ├─ n3
//!                                                └─ n4
//! ```
//!
//! petgraph computes the immediate dominators (Cooper, Harvey, Kennedy, *A Simple, Fast Dominance
//! Algorithm*). The immediate dominators form a tree. This module numbers the tree in preorder, so
//! the descendants of a node are a range of numbers and [`Dominators::dominates`] takes constant
//! time.

use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};

/// The dominator tree of a graph and an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dominators {
    /// By node index: the immediate dominator. `None` for the entry and for unreachable nodes.
    immediate: Vec<Option<NodeIndex>>,
    /// By node index: the node's number in a preorder walk of the tree, and the first number past
    /// its descendants. Numbers begin at 0. Unreachable nodes have the empty range `(0, 0)`.
    range: Vec<(u32, u32)>,
}

impl Dominators {
    /// Computes the dominators of `graph` from `entry`. If `entry` is not a node of the graph, all
    /// nodes are unreachable.
    pub fn new<N, E>(graph: &DiGraph<N, E>, entry: NodeIndex) -> Self {
        let nodes = graph.node_count();
        let mut immediate = vec![None; nodes];
        let mut range = vec![(0, 0); nodes];
        if entry.index() < nodes {
            let tree = simple_fast(graph, entry);
            let mut children = vec![Vec::new(); nodes];
            for node in graph.node_indices() {
                immediate[node.index()] = tree.immediate_dominator(node);
                if let Some(parent) = immediate[node.index()] {
                    children[parent.index()].push(node);
                }
            }
            number(entry, &children, &mut range);
        }
        Dominators { immediate, range }
    }

    /// Whether every path from the entry to `b` contains `a`. A reachable node dominates itself. An
    /// unreachable node dominates no node and has no dominator.
    pub fn dominates(&self, a: NodeIndex, b: NodeIndex) -> bool {
        match (self.range.get(a.index()), self.range.get(b.index())) {
            (Some(&(from, to)), Some(&(b, past))) => b < past && from <= b && b < to,
            _ => false,
        }
    }

    /// Returns the closest strict dominator of `node`; `None` for the entry and for unreachable
    /// nodes.
    pub fn immediate_dominator(&self, node: NodeIndex) -> Option<NodeIndex> {
        self.immediate.get(node.index()).copied().flatten()
    }

    /// Whether a path from the entry to `node` exists.
    pub fn is_reachable(&self, node: NodeIndex) -> bool {
        self.dominates(node, node)
    }
}

/// Numbers the tree below `root` in preorder. The walk keeps its path in a vector, because
/// recursion could overflow the stack on a deep tree.
fn number(root: NodeIndex, children: &[Vec<NodeIndex>], range: &mut [(u32, u32)]) {
    let mut next = 1;
    range[root.index()].0 = 0;
    let mut path = vec![(root, children[root.index()].iter())];
    while let Some((node, rest)) = path.last_mut() {
        if let Some(child) = rest.next() {
            range[child.index()].0 = next;
            next += 1;
            path.push((*child, children[child.index()].iter()));
        } else {
            range[node.index()].1 = next;
            path.pop();
        }
    }
}
