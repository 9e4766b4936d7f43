//! The call graph as far as the search knows it.

use std::collections::{BTreeMap, BTreeSet};

use crate::place::MethodId;

/// The most edges that are kept. Later edges are dropped: the search then knows fewer callees.
const MAX_EDGES: usize = 200_000;

/// Methods and calls between them. The weight of an edge is the number of samples that saw it.
#[derive(Clone, Debug, Default)]
pub struct CallGraph {
    callees: BTreeMap<MethodId, BTreeMap<MethodId, u64>>,
    callers: BTreeMap<MethodId, BTreeSet<MethodId>>,
    edges: usize,
}

impl CallGraph {
    /// Adds `samples` to the edge from a caller to a callee. Zero adds the edge alone.
    pub fn add(&mut self, caller: MethodId, callee: MethodId, samples: u64) {
        let known = self
            .callees
            .get(&caller)
            .is_some_and(|all| all.contains_key(&callee));
        if !known {
            if self.edges >= MAX_EDGES {
                return;
            }
            self.edges += 1;
            self.callers.entry(callee).or_default().insert(caller);
        }
        let weight = self
            .callees
            .entry(caller)
            .or_default()
            .entry(callee)
            .or_default();
        *weight = weight.saturating_add(samples);
    }

    /// Returns the callees of a method in the order of their numbers, with the weights.
    pub fn callees(&self, method: MethodId) -> impl Iterator<Item = (MethodId, u64)> {
        let all = self.callees.get(&method).into_iter().flatten();
        all.map(|(callee, samples)| (*callee, *samples))
    }

    /// Returns the callers of a method in the order of their numbers.
    pub fn callers(&self, method: MethodId) -> impl Iterator<Item = MethodId> {
        self.callers.get(&method).into_iter().flatten().copied()
    }

    /// Returns the caller that most samples saw.
    fn main_caller(&self, method: MethodId) -> Option<MethodId> {
        self.callers(method)
            .filter(|caller| *caller != method)
            .max_by_key(|caller| {
                let weight = self.callees.get(caller).and_then(|c| c.get(&method));
                (weight.copied().unwrap_or(0), std::cmp::Reverse(*caller))
            })
    }

    /// Returns the chain of main callers of a method, the nearest first, up to and including the
    /// first one for which `ends` holds, or up to a root or a cycle.
    pub fn chain(&self, method: MethodId, ends: impl Fn(MethodId) -> bool) -> Vec<MethodId> {
        let mut chain = Vec::new();
        let mut seen = BTreeSet::from([method]);
        let mut place = method;
        while let Some(caller) = self.main_caller(place) {
            if !seen.insert(caller) {
                break;
            }
            chain.push(caller);
            if ends(caller) {
                break;
            }
            place = caller;
        }
        chain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_follows_the_main_callers_and_ends_in_cycles() {
        let [a, b, c, d] = [1, 2, 3, 4].map(MethodId);
        let mut graph = CallGraph::default();
        graph.add(a, b, 1);
        graph.add(b, c, 1);
        graph.add(d, c, 5);
        graph.add(c, d, 1);
        assert_eq!(graph.chain(c, |_| false), [d]);
        assert_eq!(graph.chain(b, |_| false), [a]);
        graph.add(b, c, 9);
        assert_eq!(graph.chain(c, |m| m == b), [b]);
        assert_eq!(graph.callees(b).collect::<Vec<_>>(), [(c, 10)]);
    }
}
