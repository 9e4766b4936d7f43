//! The textbook definitions of the analyses: one search over paths for each question.
//!
//! This module shares no code with the crate's solvers: it has no lattice, no fixed point and no
//! order.

use std::collections::HashSet;

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use veneer_liveness::{EdgeTransfer, UseDef};

/// A graph with effects, small enough to search every path.
#[derive(Clone, Debug)]
pub struct Problem {
    pub graph: DiGraph<(), EdgeTransfer>,
    pub width: usize,
    pub locals: usize,
    pub effect: Vec<UseDef>,
    pub entry: NodeIndex,
}

impl Problem {
    fn effect(&self, node: NodeIndex) -> &UseDef {
        &self.effect[node.index()]
    }

    /// Returns the successors at whose entry `variable` still has the value that it had at the
    /// entry of `node`.
    fn passed_on(&self, node: NodeIndex, variable: usize) -> Vec<NodeIndex> {
        let edges = self.graph.edges(node);
        let passes = |flow: &EdgeTransfer| match flow {
            EdgeTransfer::Normal => !self.effect(node).defs[variable],
            EdgeTransfer::Exceptional => variable < self.locals,
        };
        let edges = edges.filter(|edge| passes(edge.weight()));
        edges.map(|edge| edge.target()).collect()
    }

    /// Whether a path from the entry of `node` to a use of `variable` exists without a write
    /// between.
    pub fn is_live_in(&self, node: NodeIndex, variable: usize) -> bool {
        let seen = closure([node], |n| self.passed_on(n, variable));
        seen.iter().any(|&n| self.effect(n).uses[variable])
    }

    /// Whether `variable` is live at the entry of a normal successor.
    pub fn is_live_out(&self, node: NodeIndex, variable: usize) -> bool {
        let mut edges = self.graph.edges(node);
        edges.any(|edge| {
            *edge.weight() == EdgeTransfer::Normal && self.is_live_in(edge.target(), variable)
        })
    }

    /// Returns the nodes that are reachable from the entry when `removed` is not in the graph.
    pub fn reachable_without(&self, removed: Option<NodeIndex>) -> HashSet<NodeIndex> {
        let keep = |n: &NodeIndex| Some(*n) != removed;
        let first = Some(self.entry).filter(keep);
        closure(first, |n| self.graph.neighbors(n).filter(keep).collect())
    }
}

/// Returns all nodes that a walk from `first` along `next` visits, including `first`.
fn closure(
    first: impl IntoIterator<Item = NodeIndex>,
    next: impl Fn(NodeIndex) -> Vec<NodeIndex>,
) -> HashSet<NodeIndex> {
    let mut waiting: Vec<NodeIndex> = first.into_iter().collect();
    let mut seen = HashSet::new();
    while let Some(node) = waiting.pop() {
        if seen.insert(node) {
            waiting.extend(next(node));
        }
    }
    seen
}
