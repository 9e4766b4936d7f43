//! Edges between nodes and the outside, before and after counters are placed on them.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A node by its number, or the outside of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Endpoint {
    /// The callers, other versions, and handlers that exceptions enter.
    Outside,
    /// The node with this number.
    Node(u32),
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Endpoint::Outside => f.write_str("outside"),
            Endpoint::Node(n) => write!(f, "{n}"),
        }
    }
}

/// A directed edge. Two nodes may be connected by several edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The end at which control leaves.
    pub from: Endpoint,
    /// The end at which control arrives.
    pub to: Endpoint,
    /// How often control is expected to pass the edge, in any unit.
    pub weight: u64,
    /// Whether the edge has a counter in every placement.
    pub always_counted: bool,
}

impl Edge {
    /// Creates an edge that gets a counter only if the placement needs one.
    pub fn new(from: Endpoint, to: Endpoint, weight: u64) -> Edge {
        Edge {
            from,
            to,
            weight,
            always_counted: false,
        }
    }

    /// Creates an edge that always has a counter.
    pub fn always_counted(from: Endpoint, to: Endpoint) -> Edge {
        Edge {
            from,
            to,
            weight: 0,
            always_counted: true,
        }
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arrow = if self.always_counted { "-●>" } else { "->" };
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
    /// The end at which control leaves.
    pub from: Endpoint,
    /// The end at which control arrives.
    pub to: Endpoint,
    /// The number of the edge's counter; `None` if the count is derived.
    pub counter: Option<u32>,
}

impl From<(i64, i64, i64)> for CountedEdge {
    fn from((from, to, counter): (i64, i64, i64)) -> CountedEdge {
        let node = |n: i64| u32::try_from(n).map_or(Endpoint::Outside, Endpoint::Node);
        CountedEdge {
            from: node(from),
            to: node(to),
            counter: u32::try_from(counter).ok(),
        }
    }
}

impl From<CountedEdge> for (i64, i64, i64) {
    fn from(edge: CountedEdge) -> (i64, i64, i64) {
        let node = |n: Endpoint| match n {
            Endpoint::Outside => -1,
            Endpoint::Node(n) => i64::from(n),
        };
        let counter = edge.counter.map_or(-1, i64::from);
        (node(edge.from), node(edge.to), counter)
    }
}
