//! Prints the results of the analyses in the notation of the files' expectations.

use petgraph::graph::{EdgeIndex, NodeIndex};
use veneer_liveness::{BitSet, Dominators, liveness, loops, reverse_postorder};

use super::{Command, File};

pub struct Answer {
    /// By node: the text about the node, if the command makes statements about nodes.
    pub of_node: Option<Vec<String>>,
    /// The lines about the whole graph.
    pub of_graph: Vec<String>,
}

pub fn answer(file: &File) -> Answer {
    match file.command {
        Command::Liveness => of_liveness(file),
        Command::Loops => of_loops(file),
        Command::Dominators => of_dominators(file),
        Command::Order => Answer {
            of_node: None,
            of_graph: vec![format!(
                "order: {}",
                words(
                    reverse_postorder(&file.graph, file.entry)
                        .into_iter()
                        .map(node)
                )
            )],
        },
    }
}

fn of_liveness(file: &File) -> Answer {
    let width = file.variables.len();
    let live = liveness(&file.graph, width, file.locals, &file.effect, |edge| {
        file.graph[edge]
    });
    let names = |set: &BitSet| braces(set.iter_ones().map(|v| file.variables[v].clone()));
    in_and_out(&live.live_in, &live.live_out, names)
}

fn in_and_out(before: &[BitSet], after: &[BitSet], names: impl Fn(&BitSet) -> String) -> Answer {
    let of_node = before
        .iter()
        .zip(after)
        .map(|(before, after)| format!("in: {} out: {}", names(before), names(after)))
        .collect();
    Answer {
        of_node: Some(of_node),
        of_graph: Vec::new(),
    }
}

fn of_loops(file: &File) -> Answer {
    let forest = loops(&file.graph, file.entry);
    let nest = |n: NodeIndex| {
        let nest = forest.enclosing_loops(n);
        assert_eq!(nest.last().copied(), forest.innermost(n));
        format!("nest: {}", words(nest.iter().map(ToString::to_string)))
    };
    let mut of_graph = Vec::new();
    for (index, found) in forest.loops.iter().enumerate() {
        let body = braces(found.body.iter_ones().map(|n| node(NodeIndex::new(n))));
        let parent = found
            .parent
            .map_or(String::new(), |id| format!(" parent {id}"));
        of_graph.push(format!(
            "loop{index}: header {} body {body} back {} depth {}{parent}",
            node(found.header),
            edges(file, &found.back_edges),
            found.depth,
        ));
    }
    of_graph.push(format!("irreducible: {}", edges(file, &forest.irreducible)));
    Answer {
        of_node: Some(file.graph.node_indices().map(nest).collect()),
        of_graph,
    }
}

fn of_dominators(file: &File) -> Answer {
    let dominators = Dominators::new(&file.graph, file.entry);
    let idom = |n: NodeIndex| match dominators.immediate_dominator(n) {
        Some(parent) => format!("idom: {}", node(parent)),
        None if dominators.is_reachable(n) => "idom: none".to_string(),
        None => "unreachable".to_string(),
    };
    Answer {
        of_node: Some(file.graph.node_indices().map(idom).collect()),
        of_graph: Vec::new(),
    }
}

fn node(node: NodeIndex) -> String {
    format!("n{}", node.index())
}

fn edges(file: &File, edges: &[EdgeIndex]) -> String {
    words(edges.iter().filter_map(|&edge| {
        let (from, to) = file.graph.edge_endpoints(edge)?;
        Some(format!("{}->{}", node(from), node(to)))
    }))
}

fn words(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.collect();
    if words.is_empty() {
        "none".to_string()
    } else {
        words.join(" ")
    }
}

fn braces(words: impl Iterator<Item = String>) -> String {
    format!("{{{}}}", words.collect::<Vec<_>>().join(", "))
}
