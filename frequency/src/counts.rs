//! What follows from the counters.

use crate::edge::Node;
use crate::flow::{Flow, Line};

/// How often each edge and each node was passed.
///
/// Counters that are read while activations run may disagree by as many as there are; what would be less than nothing then
/// is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    edges: Vec<(Node, Node, u64)>,
    nodes: Vec<u64>,
}

impl Counts {
    pub(crate) fn solve(flow: &Flow, counter: impl Fn(u32) -> u64, inside: &[u32]) -> Counts {
        let outside = flow.nodes as usize;
        let at = |node: Node| match node {
            Node::Outside => outside,
            Node::At(n) => (n as usize).min(outside),
        };
        let fits = |e: &&Line| {
            [e.from, e.to]
                .iter()
                .all(|n| !matches!(n, Node::At(n) if *n >= flow.nodes))
        };
        let edges: Vec<&Line> = flow.edges.iter().filter(fits).collect();
        // Counters wrap around, and some count downwards too: only the sums make sense.
        let mut known: Vec<Option<i64>> = edges
            .iter()
            .map(|e| e.counter.map(|c| counter(c) as i64))
            .collect();
        let mut around: Vec<Vec<usize>> = vec![Vec::new(); outside + 1];
        let mut unknown = vec![0usize; outside + 1];
        for (i, edge) in edges.iter().enumerate() {
            let (from, to) = (at(edge.from), at(edge.to));
            // A way from a node to itself says nothing of the others.
            if from == to {
                continue;
            }
            for node in [from, to] {
                around[node].push(i);
                unknown[node] += usize::from(known[i].is_none());
            }
        }
        // What has gone in and not yet out.
        let mut stays = vec![0i64; outside + 1];
        for node in inside {
            stays[(*node as usize).min(outside)] += 1;
        }
        // Leaf by leaf off the tree; the outside is its root, whose own sum is not looked at.
        let mut leaves: Vec<usize> = (0..outside).filter(|n| unknown[*n] == 1).collect();
        while let Some(leaf) = leaves.pop() {
            let Some(last) = around[leaf].iter().copied().find(|i| known[*i].is_none()) else {
                continue;
            };
            let comes = at(edges[last].to) == leaf;
            let mut sum = if comes { stays[leaf] } else { -stays[leaf] };
            for i in around[leaf].iter().filter(|i| **i != last) {
                let same = (at(edges[*i].to) == leaf) == comes;
                let n = known[*i].unwrap_or(0);
                sum = sum.wrapping_add(if same { n.wrapping_neg() } else { n });
            }
            known[last] = Some(sum);
            for node in [at(edges[last].from), at(edges[last].to)] {
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
            into[at(edge.to)] = into[at(edge.to)].wrapping_add(n);
            passed.push((edge.from, edge.to, n.max(0) as u64));
        }
        into.truncate(outside);
        Counts {
            edges: passed,
            nodes: into.into_iter().map(|n| n.max(0) as u64).collect(),
        }
    }

    /// How often a node was gone into.
    pub fn node(&self, node: u32) -> u64 {
        self.nodes.get(node as usize).copied().unwrap_or(0)
    }

    /// How often control went from one node to another.
    pub fn edge(&self, from: Node, to: Node) -> u64 {
        let between = |e: &&(Node, Node, u64)| (e.0, e.1) == (from, to);
        self.edges.iter().filter(between).map(|e| e.2).sum()
    }
}
