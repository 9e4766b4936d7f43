//! Solves for the counts of all edges and nodes, given the counters.

use crate::edge::{CountedEdge, Endpoint};

/// The execution counts of each edge and each node.
///
/// Counters that are read while the program runs are not consistent with each other. They can
/// differ by up to the number of running activations. Negative results are reported as 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EdgeProfile {
    edges: Vec<(Endpoint, Endpoint, u64)>,
    nodes: Vec<u64>,
}

impl EdgeProfile {
    /// Solves for the counts of a flow graph with the given number of nodes; see
    /// `CountedGraph::solve`.
    pub(crate) fn solve(
        nodes: u32,
        edges: &[CountedEdge],
        counter: impl Fn(u32) -> u64,
        inside: &[u32],
    ) -> EdgeProfile {
        let outside = nodes as usize;
        let index = |node: Endpoint| match node {
            Endpoint::Outside => outside,
            Endpoint::Node(n) => (n as usize).min(outside),
        };
        let in_range = |e: &&CountedEdge| {
            [e.from, e.to]
                .iter()
                .all(|n| !matches!(n, Endpoint::Node(n) if *n >= nodes))
        };
        let edges: Vec<&CountedEdge> = edges.iter().filter(in_range).collect();
        // Counters wrap around, and some also count down. Only their sums are meaningful.
        let mut known: Vec<Option<i64>> = edges
            .iter()
            .map(|e| e.counter.map(|c| counter(c) as i64))
            .collect();
        let mut around: Vec<Vec<usize>> = vec![Vec::new(); outside + 1];
        let mut unknown = vec![0usize; outside + 1];
        for (i, edge) in edges.iter().enumerate() {
            let (from, to) = (index(edge.from), index(edge.to));
            // An edge from a node to itself gives no equation: it enters and leaves the same node.
            if from == to {
                continue;
            }
            for node in [from, to] {
                around[node].push(i);
                unknown[node] += usize::from(known[i].is_none());
            }
        }
        // The number of activations that have entered each node and not left it.
        let mut running = vec![0i64; outside + 1];
        for node in inside {
            running[(*node as usize).min(outside)] += 1;
        }
        // Solve the spanning tree from its leaves. The outside is the root, and its own sum is not
        // used.
        let mut leaves: Vec<usize> = (0..outside).filter(|n| unknown[*n] == 1).collect();
        while let Some(leaf) = leaves.pop() {
            let Some(last) = around[leaf].iter().copied().find(|i| known[*i].is_none()) else {
                continue;
            };
            let incoming = index(edges[last].to) == leaf;
            let mut sum = if incoming {
                running[leaf]
            } else {
                -running[leaf]
            };
            for i in around[leaf].iter().filter(|i| **i != last) {
                let same = (index(edges[*i].to) == leaf) == incoming;
                let n = known[*i].unwrap_or(0);
                sum = sum.wrapping_add(if same { n.wrapping_neg() } else { n });
            }
            known[last] = Some(sum);
            for node in [index(edges[last].from), index(edges[last].to)] {
                unknown[node] -= 1;
                if node != outside && unknown[node] == 1 {
                    leaves.push(node);
                }
            }
        }
        let mut into = vec![0i64; outside + 1];
        let mut passed = Vec::with_capacity(edges.len());
        for (edge, n) in edges.iter().zip(known) {
            let n = n.unwrap_or(0);
            into[index(edge.to)] = into[index(edge.to)].wrapping_add(n);
            passed.push((edge.from, edge.to, n.max(0) as u64));
        }
        into.truncate(outside);
        EdgeProfile {
            edges: passed,
            nodes: into.into_iter().map(|n| n.max(0) as u64).collect(),
        }
    }

    /// How often control entered a node.
    pub fn node_count(&self, node: u32) -> u64 {
        self.nodes.get(node as usize).copied().unwrap_or(0)
    }

    /// How often control passed from one node to another, over all edges between the two.
    pub fn edge_count(&self, from: Endpoint, to: Endpoint) -> u64 {
        let between = |e: &&(Endpoint, Endpoint, u64)| (e.0, e.1) == (from, to);
        self.edges.iter().filter(between).map(|e| e.2).sum()
    }
}
