//! A flow graph with its counters, and its serialised form.

use serde::{Deserialize, Serialize};

use crate::counts::EdgeProfile;
use crate::edge::{CountedEdge, Edge};
use crate::placement::place_counters;

/// A flow graph with counters on some of its edges.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedGraph {
    /// The number of nodes. The nodes are numbered from 0.
    pub nodes: u32,
    /// The edges, each with its counter if it has one.
    pub edges: Vec<CountedEdge>,
}

impl CountedGraph {
    /// Places counters on `edges` and numbers the counters from 0, in the order of the edges.
    pub fn new(nodes: u32, edges: &[Edge]) -> CountedGraph {
        let mut next = 0..;
        let counted_edge = |(edge, counted): (&Edge, bool)| CountedEdge {
            from: edge.from,
            to: edge.to,
            counter: if counted { next.next() } else { None },
        };
        CountedGraph {
            nodes,
            edges: edges
                .iter()
                .zip(place_counters(nodes, edges))
                .map(counted_edge)
                .collect(),
        }
    }

    /// Returns the number of counters.
    pub fn counter_count(&self) -> u32 {
        self.counters().count() as u32
    }

    /// Returns the numbers of the counters.
    pub fn counters(&self) -> impl Iterator<Item = u32> + '_ {
        self.edges.iter().filter_map(|e| e.counter)
    }

    /// Returns this graph with `by` added to the number of each counter.
    pub fn with_counter_offset(&self, by: u32) -> CountedGraph {
        let counted_edge = |e: &CountedEdge| CountedEdge {
            counter: e.counter.map(|c| c.saturating_add(by)),
            ..*e
        };
        CountedGraph {
            nodes: self.nodes,
            edges: self.edges.iter().map(counted_edge).collect(),
        }
    }

    /// Solves for the counts of all edges and nodes.
    ///
    /// `counter` returns the value of a counter. `inside` lists the node of each running
    /// activation; a node appears once for each activation that is in the node.
    pub fn solve(&self, counter: impl Fn(u32) -> u64, inside: &[u32]) -> EdgeProfile {
        EdgeProfile::solve(self.nodes, &self.edges, counter, inside)
    }
}
