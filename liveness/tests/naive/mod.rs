//! The definitions of the analyses, taken word for word: one search over paths for each question.
//!
//! Nothing here is shared with the crate's solvers: no lattice, no fixed point, no order.

use std::collections::HashSet;

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use veneer_liveness::{Effect, Flow, Set};

/// A graph with effects, small enough to search every path.
#[derive(Clone, Debug)]
pub struct Problem {
    pub graph: DiGraph<(), Flow>,
    pub width: usize,
    pub locals: usize,
    pub effect: Vec<Effect>,
    pub entry: NodeIndex,
    pub entry_defined: Set,
}

impl Problem {
    fn effect(&self, node: NodeIndex) -> &Effect {
        &self.effect[node.index()]
    }

    /// The nodes whose entry sees, untouched, the value that `variable` had at the entry of `node`.
    fn passed_on(&self, node: NodeIndex, variable: usize) -> Vec<NodeIndex> {
        let edges = self.graph.edges(node);
        let passes = |flow: &Flow| match flow {
            Flow::Normal => !self.effect(node).defs[variable],
            Flow::Exceptional => variable < self.locals,
        };
        let edges = edges.filter(|edge| passes(edge.weight()));
        edges.map(|edge| edge.target()).collect()
    }

    /// Whether there is a path from the entry of `node` to a use of `variable` with no write between.
    pub fn is_live_in(&self, node: NodeIndex, variable: usize) -> bool {
        let seen = closure([node], |n| self.passed_on(n, variable));
        seen.iter().any(|&n| self.effect(n).uses[variable])
    }

    /// Whether `variable` is live at the entry of a normal successor.
    pub fn is_live_out(&self, node: NodeIndex, variable: usize) -> bool {
        let mut edges = self.graph.edges(node);
        edges.any(|edge| *edge.weight() == Flow::Normal && self.is_live_in(edge.target(), variable))
    }

    /// The nodes whose entry the write of `variable` in `node` reaches.
    pub fn reached_from(&self, node: NodeIndex, variable: usize) -> HashSet<NodeIndex> {
        let edges = self.graph.edges(node).filter(|edge| match edge.weight() {
            Flow::Normal => true,
            Flow::Exceptional => variable < self.locals,
        });
        let first: Vec<_> = edges.map(|edge| edge.target()).collect();
        closure(first, |n| self.passed_on(n, variable))
    }

    /// The nodes whose entry the value that `variable` has at first reaches.
    pub fn reached_initially(&self, variable: usize) -> HashSet<NodeIndex> {
        closure([self.entry], |n| self.passed_on(n, variable))
    }

    /// The nodes that are reached from the entry when `removed` is taken out of the graph.
    pub fn reachable_without(&self, removed: Option<NodeIndex>) -> HashSet<NodeIndex> {
        let keep = |n: &NodeIndex| Some(*n) != removed;
        let first = Some(self.entry).filter(keep);
        closure(first, |n| self.graph.neighbors(n).filter(keep).collect())
    }
}

/// All nodes that a walk from `first` along `next` meets, `first` included.
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
