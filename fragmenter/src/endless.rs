//! Fragments from which an edited method can no longer return.
//!
//! The edit of this loop leads the only edge out of the loop back to its header:
//!
//! ```text
//!   f0 ─▶ f1 ─▶ f2 (return)          redirect f1->f2 to f1:          f0 ─▶ f1 ◀┐   f2
//!         ▲ └┐                                                              └──┘
//!         └──┘
//! ```
//!
//! Such an edit is valid, because a plan may want exactly that, and detaching reaches the
//! activation. The plan gets a warning.

use crate::flowgraph::FragmentId;
use crate::method::Method;
use crate::patch::Patched;

/// Returns the first fragment of the edited method from which control reaches neither a return nor a
/// `throw`, although it does in the original method.
///
/// Exceptions of other instructions are not considered: nearly every fragment can throw one.
pub fn endless_fragment(method: &Method, patched: &Patched) -> Option<FragmentId> {
    let original: Vec<Vec<FragmentId>> = method
        .flow
        .fragments()
        .map(|f| method.flow.successors(f.id))
        .collect();
    let edited: Vec<Vec<FragmentId>> = patched
        .nodes
        .iter()
        .map(|node| node.out.iter().map(|(_, to)| *to).collect())
        .collect();
    let ended_before = reaches_an_end(&original);
    let ends = reaches_an_end(&edited);
    let reached = reachable(&edited, patched.entry);
    (0..original.len())
        .find(|i| reached[*i] && ended_before[*i] && !ends[*i])
        .map(|i| FragmentId(i as u32))
}

/// For each node: whether a path leads from it to a node without successors.
fn reaches_an_end(successors: &[Vec<FragmentId>]) -> Vec<bool> {
    let mut predecessors = vec![Vec::new(); successors.len()];
    for (from, targets) in successors.iter().enumerate() {
        for to in targets {
            predecessors[to.index()].push(FragmentId(from as u32));
        }
    }
    let ends = successors.iter().enumerate().filter(|(_, s)| s.is_empty());
    let ends = ends.map(|(i, _)| FragmentId(i as u32)).collect();
    spread(&predecessors, ends)
}

/// For each node: whether a path leads to it from `start`.
fn reachable(successors: &[Vec<FragmentId>], start: FragmentId) -> Vec<bool> {
    spread(successors, vec![start])
}

/// Marks the `work` nodes, and all nodes to which `edges` lead from a marked node.
fn spread(edges: &[Vec<FragmentId>], mut work: Vec<FragmentId>) -> Vec<bool> {
    let mut marked = vec![false; edges.len()];
    while let Some(node) = work.pop() {
        if !std::mem::replace(&mut marked[node.index()], true) {
            work.extend(&edges[node.index()]);
        }
    }
    marked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(successors: &[&[u32]]) -> Vec<Vec<FragmentId>> {
        let numbered = |s: &&[u32]| s.iter().map(|n| FragmentId(*n)).collect();
        successors.iter().map(numbered).collect()
    }

    #[test]
    fn nodes_before_an_end_reach_it_and_nodes_of_a_closed_cycle_do_not() {
        let all = graph(&[&[1, 3], &[2], &[1], &[]]);
        assert_eq!(reaches_an_end(&all), [true, false, false, true]);
        assert_eq!(reachable(&all, FragmentId(1)), [false, true, true, false]);
        assert_eq!(reachable(&all, FragmentId(0)), [true; 4]);
    }
}
