//! The edges of a graph that is split, and the order in which their nodes are merged.

/// An edge between two nodes that activations can take.
pub(super) struct WeightedEdge {
    pub from: usize,
    pub to: usize,
    pub weight: u64,
}

/// Sorts edges: those that are taken most often first. Of those that are taken about equally often, the
/// first are those between nodes with few other edges. A case of a switch then becomes one group before
/// it is merged with the switch, and is in one part even if the switch is in another.
pub(super) fn order(edges: &mut Vec<WeightedEdge>, nodes: usize) {
    edges.sort_by_key(|edge| (edge.from, edge.to));
    edges.dedup_by_key(|edge| (edge.from, edge.to));
    let (mut leaving, mut entering) = (vec![0; nodes], vec![0; nodes]);
    for edge in edges.iter() {
        leaving[edge.from] += 1;
        entering[edge.to] += 1;
    }
    edges.sort_by_key(|edge| {
        let branches = leaving[edge.from].max(entering[edge.to]);
        let weight = std::cmp::Reverse(edge.weight.checked_ilog2());
        (weight, branches, edge.from, edge.to)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_merged_before_it_joins_its_switch() {
        let edge = |from, to, weight| WeightedEdge { from, to, weight };
        // 0 is a switch with the cases 1 ─▶ 2 and 3 ─▶ 4. The counts of a case are not exactly equal.
        let mut edges = vec![
            edge(0, 1, 1010),
            edge(1, 2, 1000),
            edge(0, 3, 1010),
            edge(3, 4, 1000),
            edge(3, 4, 1000),
            edge(5, 5, 9000),
        ];
        order(&mut edges, 6);
        let pairs: Vec<(usize, usize)> = edges.iter().map(|e| (e.from, e.to)).collect();
        assert_eq!(pairs, [(5, 5), (1, 2), (3, 4), (0, 1), (0, 3)]);
    }
}
