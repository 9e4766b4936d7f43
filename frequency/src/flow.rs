//! A flow graph with its counters, and its serialised form.

use serde::{Deserialize, Serialize};

use crate::counts::Counts;
use crate::edge::{Edge, Node};
use crate::placement::place_counters;

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

/// A flow graph with counters on some of its edges.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// The number of nodes. The nodes are numbered from 0.
    pub nodes: u32,
    pub edges: Vec<CountedEdge>,
}

impl Flow {
    /// Places counters on `edges` and numbers the counters from 0, in the order of the edges.
    pub fn of(nodes: u32, edges: &[Edge]) -> Flow {
        let mut next = 0..;
        let counted_edge = |(edge, counted): (&Edge, bool)| CountedEdge {
            from: edge.from,
            to: edge.to,
            counter: if counted { next.next() } else { None },
        };
        Flow {
            nodes,
            edges: edges
                .iter()
                .zip(place_counters(nodes, edges))
                .map(counted_edge)
                .collect(),
        }
    }

    /// Returns the number of counters.
    pub fn width(&self) -> u32 {
        self.counters().count() as u32
    }

    /// Returns the numbers of the counters.
    pub fn counters(&self) -> impl Iterator<Item = u32> + '_ {
        self.edges.iter().filter_map(|e| e.counter)
    }

    /// Returns this graph with `by` added to the number of each counter.
    pub fn shifted(&self, by: u32) -> Flow {
        let counted_edge = |e: &CountedEdge| CountedEdge {
            counter: e.counter.map(|c| c.saturating_add(by)),
            ..*e
        };
        Flow {
            nodes: self.nodes,
            edges: self.edges.iter().map(counted_edge).collect(),
        }
    }

    /// Solves for the counts of all edges and nodes.
    ///
    /// `counter` returns the value of a counter. `inside` lists the node of each running
    /// activation; a node appears once for each activation that is in the node.
    pub fn counts(&self, counter: impl Fn(u32) -> u64, inside: &[u32]) -> Counts {
        Counts::solve(self, counter, inside)
    }
}
