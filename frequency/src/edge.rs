//! Edges between nodes and the outside, before and after counters are placed on them.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A node by its number, or the outside of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Node {
    /// The callers, other versions, and handlers that exceptions enter.
    Outside,
    At(u32),
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Node::Outside => f.write_str("outside"),
            Node::At(n) => write!(f, "{n}"),
        }
    }
}

/// A directed edge. Two nodes may be connected by several edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    pub from: Node,
    pub to: Node,
    /// How often control is expected to pass the edge, in any unit.
    pub weight: u64,
    /// Whether the edge has a counter in every placement.
    pub always: bool,
}

impl Edge {
    /// Creates an edge that gets a counter only if the placement needs one.
    pub fn new(from: Node, to: Node, weight: u64) -> Edge {
        Edge {
            from,
            to,
            weight,
            always: false,
        }
    }

    /// Creates an edge that always has a counter.
    pub fn counted(from: Node, to: Node) -> Edge {
        Edge {
            from,
            to,
            weight: 0,
            always: true,
        }
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arrow = if self.always { "-●>" } else { "->" };
        write!(f, "{} {arrow} {}", self.from, self.to)
    }
}

/// An edge, with the number of its counter if the edge has one.
///
/// The serialised form is the triple `[from, to, counter]`. The value −1 means the outside in the
/// first two places and no counter in the third.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(i64, i64, i64)", into = "(i64, i64, i64)")]
pub struct CountedEdge {
    pub from: Node,
    pub to: Node,
    pub counter: Option<u32>,
}

impl From<(i64, i64, i64)> for CountedEdge {
    fn from((from, to, counter): (i64, i64, i64)) -> CountedEdge {
        let node = |n: i64| u32::try_from(n).map_or(Node::Outside, Node::At);
        CountedEdge {
            from: node(from),
            to: node(to),
            counter: u32::try_from(counter).ok(),
        }
    }
}

impl From<CountedEdge> for (i64, i64, i64) {
    fn from(edge: CountedEdge) -> (i64, i64, i64) {
        let node = |n: Node| match n {
            Node::Outside => -1,
            Node::At(n) => i64::from(n),
        };
        let counter = edge.counter.map_or(-1, i64::from);
        (node(edge.from), node(edge.to), counter)
    }
}
