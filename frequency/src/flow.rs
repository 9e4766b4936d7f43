//! A graph with its counters, in the form in which it is kept and written down.

use serde::{Deserialize, Serialize};

use crate::counts::Counts;
use crate::edge::{Edge, Node};
use crate::placement::place;

/// An edge, and its counter where it has one.
///
/// As text a triple: from, to, counter, where −1 stands for the outside and for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(i64, i64, i64)", into = "(i64, i64, i64)")]
pub struct Line {
    /// Where it starts.
    pub from: Node,
    /// Where it leads.
    pub to: Node,
    /// The number of its counter.
    pub counter: Option<u32>,
}

impl From<(i64, i64, i64)> for Line {
    fn from((from, to, counter): (i64, i64, i64)) -> Line {
        let node = |n: i64| u32::try_from(n).map_or(Node::Outside, Node::At);
        Line {
            from: node(from),
            to: node(to),
            counter: u32::try_from(counter).ok(),
        }
    }
}

impl From<Line> for (i64, i64, i64) {
    fn from(line: Line) -> (i64, i64, i64) {
        let node = |n: Node| match n {
            Node::Outside => -1,
            Node::At(n) => i64::from(n),
        };
        let counter = line.counter.map_or(-1, i64::from);
        (node(line.from), node(line.to), counter)
    }
}

/// A graph with counters on some of its edges.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// How many nodes there are.
    pub nodes: u32,
    /// The edges.
    pub edges: Vec<Line>,
}

impl Flow {
    /// Places counters and numbers them from 0, in the order of the edges.
    pub fn of(nodes: u32, edges: &[Edge]) -> Flow {
        let mut next = 0..;
        let line = |(edge, counted): (&Edge, bool)| Line {
            from: edge.from,
            to: edge.to,
            counter: if counted { next.next() } else { None },
        };
        Flow {
            nodes,
            edges: edges.iter().zip(place(nodes, edges)).map(line).collect(),
        }
    }

    /// How many counters there are.
    pub fn width(&self) -> u32 {
        self.counters().count() as u32
    }

    /// The numbers of the counters.
    pub fn counters(&self) -> impl Iterator<Item = u32> + '_ {
        self.edges.iter().filter_map(|e| e.counter)
    }

    /// The same with other counters: their numbers are greater by so much.
    pub fn shifted(&self, by: u32) -> Flow {
        let line = |e: &Line| Line {
            counter: e.counter.map(|c| c.saturating_add(by)),
            ..*e
        };
        Flow {
            nodes: self.nodes,
            edges: self.edges.iter().map(line).collect(),
        }
    }

    /// How often everything was passed, given what the counters say and the nodes in which activations stand, each as often as
    /// there are.
    pub fn counts(&self, counter: impl Fn(u32) -> u64, inside: &[u32]) -> Counts {
        Counts::solve(self, counter, inside)
    }
}
