//! Compares the analyses of random graphs with the definitions in `naive` and with random runs, and
//! checks the properties that every loop forest must have.

mod naive;

use std::collections::HashSet;

use naive::Problem;
use petgraph::algo::is_cyclic_directed;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use proptest::prelude::*;
use veneer_liveness::{Dominators, EdgeTransfer, UseDef, liveness, loops, reverse_postorder};

/// One access of a node's code to a variable.
#[derive(Clone, Copy, Debug)]
enum Access {
    Read(usize),
    Write(usize),
}

const WIDTH: usize = 5;

fn access() -> impl Strategy<Value = Access> {
    (any::<bool>(), 0..WIDTH).prop_map(|(writes, variable)| match writes {
        false => Access::Read(variable),
        true => Access::Write(variable),
    })
}

/// Generates a problem, and the code of each node from which its effects are computed.
fn problem() -> impl Strategy<Value = (Problem, Vec<Vec<Access>>)> {
    (1usize..12, 0..=WIDTH).prop_flat_map(|(nodes, locals)| {
        let edge = (0..nodes, 0..nodes, prop::bool::weighted(0.25));
        (
            prop::collection::vec(edge, 0..nodes * 2 + 2),
            prop::collection::vec(prop::collection::vec(access(), 0..4), nodes),
            0..nodes,
        )
            .prop_map(move |(edges, code, entry)| {
                let problem = build(&edges, &code, entry, locals);
                (problem, code)
            })
    })
}

fn build(
    edges: &[(usize, usize, bool)],
    code: &[Vec<Access>],
    entry: usize,
    locals: usize,
) -> Problem {
    let mut graph = DiGraph::new();
    let mut effects = Vec::new();
    for accesses in code {
        graph.add_node(());
        let mut effect = UseDef::new(WIDTH);
        for access in accesses {
            match *access {
                Access::Read(variable) => effect.read(variable),
                Access::Write(variable) => effect.write(variable),
            }
        }
        effects.push(effect);
    }
    for &(from, to, exceptional) in edges {
        let flow = if exceptional {
            EdgeTransfer::Exceptional
        } else {
            EdgeTransfer::Normal
        };
        graph.add_edge(NodeIndex::new(from), NodeIndex::new(to), flow);
    }
    Problem {
        graph,
        width: WIDTH,
        locals,
        effect: effects,
        entry: NodeIndex::new(entry),
    }
}

fn solve_liveness(p: &Problem) -> veneer_liveness::Liveness {
    liveness(&p.graph, p.width, p.locals, &p.effect, |edge| p.graph[edge])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn live_variables_have_a_path_to_a_use((p, _) in problem()) {
        let live = solve_liveness(&p);
        for node in p.graph.node_indices() {
            for variable in 0..p.width {
                prop_assert_eq!(
                    live.live_in[node.index()][variable], p.is_live_in(node, variable),
                    "variable {} at the beginning of {:?}", variable, node
                );
                prop_assert_eq!(
                    live.live_out[node.index()][variable], p.is_live_out(node, variable),
                    "variable {} at the end of {:?}", variable, node
                );
            }
        }
    }

    /// Runs the code. A variable that is read must be live at the entry of every node that the run
    /// has entered since the variable's last write.
    #[test]
    fn a_variable_is_live_from_its_write_to_each_read(
        (p, code) in problem(),
        choices in prop::collection::vec(any::<prop::sample::Index>(), 150),
    ) {
        let live = solve_liveness(&p);
        let mut choices = choices.into_iter();
        let mut choose = |n: usize| choices.next().map(|choice| choice.index(n));
        // By variable: the nodes entered since its last write.
        let mut entered: Vec<Vec<NodeIndex>> = vec![Vec::new(); p.width];
        let mut node = p.entry;
        loop {
            for entered in &mut entered {
                entered.push(node);
            }
            let exits: Vec<_> = p.graph.edges(node).collect();
            let Some(exit) = choose(exits.len() + 1) else { break };
            let Some(exit) = exits.get(exit) else { break };
            let code = &code[node.index()];
            let steps = match exit.weight() {
                EdgeTransfer::Normal => Some(code.len()),
                EdgeTransfer::Exceptional => choose(code.len() + 1),
            };
            for access in &code[..steps.unwrap_or(0)] {
                match *access {
                    Access::Write(variable) => entered[variable].clear(),
                    Access::Read(variable) => {
                        for passed in &entered[variable] {
                            let live_in = &live.live_in[passed.index()];
                            prop_assert!(live_in[variable], "{} at {:?}", variable, passed);
                        }
                    }
                }
            }
            if *exit.weight() == EdgeTransfer::Exceptional {
                for entered in &mut entered[p.locals..] {
                    entered.clear();
                }
            }
            node = exit.target();
        }
    }

    #[test]
    fn dominators_are_on_every_path((p, _) in problem()) {
        let dominators = Dominators::new(&p.graph, p.entry);
        let reachable = p.reachable_without(None);
        for a in p.graph.node_indices() {
            let without = p.reachable_without(Some(a));
            for b in p.graph.node_indices() {
                let cut = reachable.contains(&b) && !without.contains(&b);
                prop_assert_eq!(dominators.dominates(a, b), cut, "{:?} over {:?}", a, b);
            }
            prop_assert_eq!(dominators.is_reachable(a), reachable.contains(&a));
            // All other strict dominators dominate the immediate dominator.
            let strict = |n: &NodeIndex| *n != a && dominators.dominates(*n, a);
            let all: Vec<_> = p.graph.node_indices().filter(strict).collect();
            match dominators.immediate_dominator(a) {
                None => prop_assert!(all.is_empty()),
                Some(closest) => {
                    prop_assert!(all.contains(&closest));
                    prop_assert!(all.iter().all(|&n| dominators.dominates(n, closest)));
                }
            }
        }
    }

    #[test]
    fn reverse_postorder_reverses_only_edges_of_cycles((p, _) in problem()) {
        let order = reverse_postorder(&p.graph, p.entry);
        let distinct: HashSet<_> = order.iter().copied().collect();
        prop_assert_eq!(distinct.len(), p.graph.node_count());
        prop_assert_eq!(order.len(), p.graph.node_count());
        prop_assert_eq!(order[0], p.entry);
        let reachable = p.reachable_without(None);
        prop_assert!(order[..reachable.len()].iter().all(|n| reachable.contains(n)));
        // An edge leads backward only inside a cycle, or from an unreachable node.
        let place = |n: NodeIndex| order.iter().position(|&other| other == n);
        for edge in p.graph.edge_references() {
            let (from, to) = (edge.source(), edge.target());
            if reachable.contains(&from) && place(to) <= place(from) {
                let back = Problem { entry: to, ..p.clone() };
                prop_assert!(back.reachable_without(None).contains(&from), "{:?}", edge);
            }
        }
    }

    #[test]
    fn loops_are_natural_and_nest((p, _) in problem()) {
        let forest = loops(&p.graph, p.entry);
        let dominators = Dominators::new(&p.graph, p.entry);
        let mut headers = HashSet::new();
        for (index, found) in forest.loops.iter().enumerate() {
            prop_assert!(headers.insert(found.header), "two loops with one header");
            prop_assert!(!found.back_edges.is_empty());
            for &edge in &found.back_edges {
                let (from, to) = p.graph.edge_endpoints(edge).unwrap();
                prop_assert_eq!(to, found.header);
                prop_assert!(found.body[from.index()]);
            }
            // The body is the set of nodes that the header dominates and from which a path to the
            // header exists that contains only nodes the header dominates.
            let inside = |n: NodeIndex| dominators.dominates(found.header, n);
            for node in p.graph.node_indices() {
                let part = p.graph.filter_map(|n, _| inside(n).then_some(n), |_, flow| Some(*flow));
                let at = |n: NodeIndex| part.node_indices().find(|&i| part[i] == n);
                let returns = match (at(node), at(found.header)) {
                    (Some(from), Some(to)) => part
                        .neighbors(from)
                        .any(|next| petgraph::algo::has_path_connecting(&part, next, to, None)),
                    _ => false,
                };
                prop_assert_eq!(found.body[node.index()], returns, "loop{} and {:?}", index, node);
            }
            // The parent is the smallest of the loops around this one.
            let around = |other: &&veneer_liveness::Loop| {
                other.header != found.header && other.body[found.header.index()]
            };
            let outer: Vec<_> = forest.loops.iter().filter(around).collect();
            prop_assert_eq!(found.depth as usize, outer.len() + 1);
            let smallest = outer.iter().min_by_key(|other| other.body.count_ones());
            let parent = found.parent.and_then(|id| forest.get(id));
            prop_assert_eq!(parent.map(|l| l.header), smallest.map(|l| l.header));
            if let Some(parent) = parent {
                let common = found.body.clone() & &parent.body;
                prop_assert_eq!(&common, &found.body, "loop{} lies in its parent", index);
            }
        }
        prop_assert_eq!(forest.headers().collect::<HashSet<_>>(), headers);
        for node in p.graph.node_indices() {
            let nest = forest.enclosing_loops(node);
            let around = forest.loops.iter().filter(|l| l.body[node.index()]).count();
            prop_assert_eq!(nest.len(), around);
            prop_assert!(nest.iter().all(|&id| forest.get(id).unwrap().body[node.index()]));
            let depths: Vec<_> = nest.iter().map(|&id| forest.get(id).unwrap().depth).collect();
            prop_assert!(depths.iter().copied().eq(1..=nest.len() as u32));
            prop_assert_eq!(nest.last().copied(), forest.innermost(node));
        }
    }

    #[test]
    fn back_edges_and_irreducible_edges_cut_every_cycle((p, _) in problem()) {
        let forest = loops(&p.graph, p.entry);
        let dominators = Dominators::new(&p.graph, p.entry);
        let back: HashSet<_> = forest.loops.iter().flat_map(|l| l.back_edges.clone()).collect();
        for edge in p.graph.edge_references() {
            let dominated = dominators.dominates(edge.target(), edge.source());
            prop_assert_eq!(back.contains(&edge.id()), dominated, "{:?}", edge);
        }
        let cut = p.graph.filter_map(
            |n, _| dominators.is_reachable(n).then_some(()),
            |edge, _| (!back.contains(&edge) && !forest.irreducible.contains(&edge)).then_some(()),
        );
        prop_assert!(!is_cyclic_directed(&cut));
        // A graph is reducible if it has no cycle without its back edges. Only a reducible graph
        // has an empty list of irreducible edges.
        let forward = p.graph.filter_map(
            |n, _| dominators.is_reachable(n).then_some(()),
            |edge, _| (!back.contains(&edge)).then_some(()),
        );
        prop_assert_eq!(forest.irreducible.is_empty(), !is_cyclic_directed(&forward));
    }

    /// The analyses accept sets of any length, too few effects and an entry outside the graph.
    #[test]
    fn inconsistent_input_does_not_panic(
        (p, _) in problem(),
        width in 0usize..9,
        locals in 0usize..12,
        given in 0usize..14,
        entry in 0usize..14,
    ) {
        let effect = &p.effect[..given.min(p.effect.len())];
        let (graph, entry) = (&p.graph, NodeIndex::new(entry));
        let live = liveness(graph, width, locals, effect, |edge| graph[edge]);
        prop_assert!(live.live_in.iter().chain(&live.live_out).all(|set| set.len() == width));
        let forest = loops(graph, entry);
        prop_assert!(entry.index() < graph.node_count() || forest.loops.is_empty());
        prop_assert!(forest.enclosing_loops(NodeIndex::new(99)).is_empty());
        prop_assert!(!Dominators::new(graph, entry).is_reachable(NodeIndex::new(99)));
    }
}

#[test]
fn an_empty_graph_has_empty_answers() {
    let graph = DiGraph::<(), ()>::new();
    let entry = NodeIndex::new(0);
    let live = liveness(&graph, 3, 3, &[], |_| EdgeTransfer::Normal);
    assert!(live.live_in.is_empty());
    assert!(loops(&graph, entry).loops.is_empty());
}
