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

    /// Returns, for each counter, whether the count of one of the `wanted` nodes depends on it. The
    /// counters must be numbered from 0. Takes time in proportion to the number of counters times the
    /// number of edges.
    pub fn counters_of_nodes(&self, wanted: &[u32]) -> Vec<bool> {
        // Counts are sums and differences of counters, and negative counts are reported as 0. So a count
        // depends on a counter if it is positive when this counter alone is 1, or alone is -1.
        let is_needed = |counter: u32| {
            [1, u64::MAX].iter().any(|value| {
                let counts = self.solve(|c| if c == counter { *value } else { 0 }, &[]);
                wanted.iter().any(|node| counts.node_count(*node) > 0)
            })
        };
        (0..self.counter_count()).map(is_needed).collect()
    }

    /// Returns this graph without the edges whose counter is dropped. The other counters are numbered
    /// from 0, in the order of the edges. Counts that depend on a dropped counter are no longer right.
    pub fn without_counters(&self, is_dropped: impl Fn(u32) -> bool) -> CountedGraph {
        let mut next = 0..;
        let kept = self.edges.iter();
        let kept = kept.filter(|edge| edge.counter.is_none_or(|counter| !is_dropped(counter)));
        CountedGraph {
            nodes: self.nodes,
            edges: kept
                .map(|edge| CountedEdge {
                    counter: edge.counter.and_then(|_| next.next()),
                    ..*edge
                })
                .collect(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::Endpoint::{Node, Outside};

    /// A branch around node 1 or 2, then node 3: `outside → 0 → (1 | 2) → 3 → outside`.
    fn diamond() -> CountedGraph {
        let edge = |from, to| Edge::new(from, to, 1);
        CountedGraph::new(
            4,
            &[
                edge(Outside, Node(0)),
                edge(Node(0), Node(1)),
                edge(Node(0), Node(2)),
                edge(Node(1), Node(3)),
                edge(Node(2), Node(3)),
                edge(Node(3), Outside),
            ],
        )
    }

    #[test]
    fn nodes_around_a_branch_need_no_counter_in_it() {
        let graph = diamond();
        assert_eq!(graph.counter_count(), 2);
        let needed = |wanted: &[u32]| {
            graph
                .counters_of_nodes(wanted)
                .iter()
                .filter(|n| **n)
                .count()
        };
        assert_eq!((needed(&[]), needed(&[0, 3]), needed(&[1, 3])), (0, 1, 2));
    }

    #[test]
    fn a_graph_without_unneeded_counters_has_the_counts_of_the_wanted_nodes() {
        let graph = diamond();
        let needed = graph.counters_of_nodes(&[0, 3]);
        let small = graph.without_counters(|counter| !needed[counter as usize]);
        assert_eq!(small.counter_count(), 1);
        let counts = small.solve(|_| 7, &[]);
        assert_eq!((counts.node_count(0), counts.node_count(3)), (7, 7));
        let with_one_inside = small.solve(|_| 7, &[0]);
        let both = [0, 3].map(|node| with_one_inside.node_count(node));
        assert!(both == [7, 6] || both == [8, 7], "{both:?}");
    }
}
