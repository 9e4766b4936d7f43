//! Results as text: sentences, the text tree, DOT and JSON.

use veneer_search::coloured_graph::{LinkKind, NodeDecision};
use veneer_search::outcome::Outcome;
use veneer_search::sentence::sentences;
use veneer_search::settings::Settings;

use crate::driver::Simulation;
use crate::programs;

#[test]
fn a_result_is_read_as_sentences_tree_dot_and_json() {
    let mut simulation = Simulation::new(programs::monitor().program, Settings::default(), 4);
    let outcome = simulation.run(10.0);
    let text = sentences(&outcome).join("\n");
    println!("{text}\n{}", simulation.search.text_tree());
    let says = |words: &str| assert!(text.contains(words), "no `{words}` in:\n{text}");
    says("is spent waiting for a monitor (synchronized) in sim.Program.audit (Program.java:61)");
    says("in the threads http-*");
    says("called by Program.serve, called by Program.run");
    let tree = simulation.search.text_tree();
    assert!(tree.contains("* Program.run"), "{tree}");
    assert!(tree.contains("*     Program.audit"), "{tree}");
    let dot = simulation.search.dot();
    assert!(dot.starts_with("digraph search {") && dot.ends_with("}\n"));
    assert!(dot.contains("label=\"Program.audit\\n"), "{dot}");
    let svg = simulation.search.svg();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert!(svg.contains(">Program.audit  "), "{svg}");
    assert_eq!(svg.matches("<rect ").count(), tree.lines().count());
    let json = serde_json::to_string(&outcome).expect("plain data");
    for key in [
        "schema",
        "findings",
        "ruled_out",
        "not_looked_at",
        "cost",
        "seconds",
    ] {
        assert!(json.contains(&format!("\"{key}\":")), "{json}");
    }
    let read: Outcome = serde_json::from_str(&json).expect("what was written is read");
    assert_eq!(read.findings.len(), outcome.findings.len());
}

/// The graph as data has the methods of the text tree, with the same decisions.
#[test]
fn the_graph_as_data_agrees_with_the_text_tree() {
    let mut simulation = Simulation::new(programs::monitor().program, Settings::default(), 4);
    simulation.run(10.0);
    let graph = simulation.search.coloured_graph();
    let tree = simulation.search.text_tree();
    for node in graph.nodes.iter().filter(|node| node.line.is_none()) {
        let mark = match node.state {
            NodeDecision::Holds => '*',
            NodeDecision::RuledOut => '-',
            NodeDecision::Undecided => '?',
        };
        let name = format!("{}.{}", node.class.trim_start_matches("sim."), node.method);
        let is_shown = |line: &str| {
            let mut words = line.split_whitespace().skip(1);
            line.starts_with(mark) && words.next() == Some(name.as_str())
        };
        assert!(tree.lines().any(is_shown), "{mark} {name} in:\n{tree}");
        assert!(
            node.low <= node.high && (0.0..=1.0).contains(&node.share),
            "{node:?}"
        );
    }
    let position = |method: &str| graph.nodes.iter().position(|node| node.method == method);
    let (caller, callee) = (position("serve"), position("audit"));
    let is_call = |link: &&veneer_search::coloured_graph::GraphLink| {
        link.kind == LinkKind::Call && Some(link.from) == caller && Some(link.to) == callee
    };
    let call = graph.links.iter().find(is_call).expect("serve calls audit");
    assert!(call.samples > 0, "{call:?}");
    let holds = |node: usize| graph.nodes[node].state == NodeDecision::Holds;
    assert!(callee.is_some_and(holds), "{graph:?}");
}
