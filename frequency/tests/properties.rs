//! Random walks over random graphs: the derived counts must equal the counts of the walks.

use proptest::prelude::*;
use veneer_frequency::{CountedGraph, Edge, Endpoint, place_counters};

/// Generates a graph with entries and exits in the middle of it, and walks over the graph.
fn graphs() -> impl Strategy<Value = (u32, Vec<Edge>, Vec<Vec<u8>>)> {
    (1u32..12).prop_flat_map(|nodes| {
        let node = move || (0..nodes).prop_map(Endpoint::Node);
        let inner = (node(), node(), 0u64..5).prop_map(|(a, b, w)| Edge::new(a, b, w));
        let external = prop_oneof![
            node().prop_map(|n| Edge::always_counted(n, Endpoint::Outside)),
            node().prop_map(|n| Edge::always_counted(Endpoint::Outside, n)),
            (node(), 0u64..5).prop_map(|(n, w)| Edge::new(n, Endpoint::Outside, w)),
        ];
        let edges = prop::collection::vec(prop_oneof![4 => inner, 1 => external], 0..30);
        let walks = prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20);
        (Just(nodes), edges, walks).prop_map(|(nodes, mut edges, walks)| {
            edges.insert(0, Edge::new(Endpoint::Outside, Endpoint::Node(0), 1));
            (nodes, edges, walks)
        })
    })
}

/// Returns how often each edge was passed, and the nodes of the walks that have not ended.
fn walk(edges: &[Edge], walks: &[Vec<u8>]) -> (Vec<u64>, Vec<u32>) {
    let mut inside = Vec::new();
    let mut passed = vec![0; edges.len()];
    for choices in walks {
        let mut place = Endpoint::Outside;
        for choice in choices {
            let out: Vec<usize> = (0..edges.len())
                .filter(|i| edges[*i].from == place)
                .collect();
            if let Some(i) = out.get(*choice as usize % out.len().max(1)) {
                passed[*i] += 1;
                place = edges[*i].to;
            }
        }
        if let Endpoint::Node(n) = place {
            inside.push(n);
        }
    }
    (passed, inside)
}

proptest! {
    #[test]
    fn every_edge_and_node_count_is_derived((nodes, edges, walks) in graphs(), first in 0u32..9) {
        let (passed, inside) = walk(&edges, &walks);
        let flow = CountedGraph::new(nodes, &edges).with_counter_offset(first);
        let of_counter: Vec<u64> = edges
            .iter()
            .zip(&flow.edges)
            .zip(&passed)
            .filter(|((_, edge), _)| edge.counter.is_some())
            .map(|(_, n)| *n)
            .collect();
        let counts = flow.solve(|c| of_counter[(c - first) as usize], &inside);
        let sum = |fits: &dyn Fn(&Edge) -> bool| -> u64 {
            (0..edges.len()).filter(|i| fits(&edges[*i])).map(|i| passed[i]).sum()
        };
        for edge in &edges {
            let between = sum(&|e| (e.from, e.to) == (edge.from, edge.to));
            prop_assert_eq!(counts.edge_count(edge.from, edge.to), between, "{}", edge);
        }
        for n in 0..nodes {
            prop_assert_eq!(counts.node_count(n), sum(&|e| e.to == Endpoint::Node(n)), "node {}", n);
        }
    }

    #[test]
    fn no_counter_is_superfluous((nodes, edges, _) in graphs()) {
        let tree = place_counters(nodes, &edges).iter().filter(|counted| !**counted).count();
        // The size of a spanning forest over the edges that may have no counter. All such forests
        // have the same size.
        let mut joined = petgraph::unionfind::UnionFind::<usize>::new(nodes as usize + 1);
        let at = |n: Endpoint| match n { Endpoint::Outside => nodes as usize, Endpoint::Node(n) => n as usize };
        let all = edges.iter().filter(|e| !e.always_counted).filter(|e| joined.union(at(e.from), at(e.to))).count();
        prop_assert_eq!(tree, all);
    }

    #[test]
    fn a_flow_survives_serialisation((nodes, edges, _) in graphs()) {
        let flow = CountedGraph::new(nodes, &edges);
        let text = serde_json::to_string(&flow).expect("written");
        prop_assert_eq!(serde_json::from_str::<CountedGraph>(&text).expect("read"), flow);
    }
}

#[test]
fn a_loop_body_is_counted_once_per_iteration() {
    // outside -> 0 -> 1 -> 2 -> 1, 1 -> 3 -> outside
    let at = Endpoint::Node;
    let edges = [
        Edge::new(Endpoint::Outside, at(0), 10),
        Edge::new(at(0), at(1), 10),
        Edge::new(at(1), at(2), 100),
        Edge::new(at(2), at(1), 99),
        Edge::new(at(1), at(3), 10),
        Edge::new(at(3), Endpoint::Outside, 9),
    ];
    let flow = CountedGraph::new(4, &edges);
    let counters: Vec<usize> = (0..6)
        .filter(|i| flow.edges[*i].counter.is_some())
        .collect();
    assert_eq!(counters, [3, 5]);
    let counts = flow.solve(|c| [70, 3][c as usize], &[]);
    assert_eq!([0, 1, 2, 3].map(|n| counts.node_count(n)), [3, 73, 70, 3]);
    assert_eq!(counts.edge_count(at(1), at(2)), 70);
}

#[test]
fn negative_results_are_reported_as_zero() {
    let edges = [
        Edge::new(Endpoint::Outside, Endpoint::Node(0), 1),
        Edge::always_counted(Endpoint::Outside, Endpoint::Node(0)),
        Edge::always_counted(Endpoint::Node(0), Endpoint::Outside),
    ];
    let flow = CountedGraph::new(1, &edges);
    // Two activations entered from elsewhere, and one left.
    let counts = flow.solve(|c| [2, 1][c as usize], &[]);
    assert_eq!(
        (
            counts.node_count(0),
            counts.edge_count(Endpoint::Outside, Endpoint::Node(0))
        ),
        (1, 2)
    );
}

#[test]
fn edges_of_unknown_nodes_are_ignored() {
    let text = r#"{"nodes":1,"edges":[[7,0,0],[-1,0,-1],[0,9,4000000000]]}"#;
    let flow: CountedGraph = serde_json::from_str(text).expect("read");
    assert_eq!(flow.solve(|_| 5, &[]).node_count(0), 0);
    assert_eq!(flow.solve(|_| 5, &[]).node_count(7), 0);
}
