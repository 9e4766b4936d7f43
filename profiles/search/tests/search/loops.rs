//! Loops as a step of the path, between the method and the line.

use veneer_search::cause::Cause;
use veneer_search::coloured_graph::LinkKind;
use veneer_search::outcome::{Axis, Finding, Outcome};
use veneer_search::place::MethodId;
use veneer_search::sentence::{self, sentences};
use veneer_search::settings::Settings;

use crate::driver::Simulation;
use crate::program::{Program, work};
use crate::programs::{self, looping};

/// The seeds of each program.
const SEEDS: u64 = 10;

/// Searches a program by samples alone, as `veneer search` does.
fn search(program: &Program, seed: u64) -> (Simulation, Outcome) {
    let mut simulation = Simulation::new(program.clone(), Settings::default(), seed);
    simulation.samples_only = true;
    let outcome = simulation.run(10.0);
    (simulation, outcome)
}

/// Returns the kinds and lines of the steps below the method.
fn inside(finding: &Finding) -> Vec<(&str, Option<u32>)> {
    let steps = finding.path.iter().filter(|s| s.axis == Axis::Where);
    steps
        .map(|s| (s.kind.as_str(), s.line))
        .filter(|(kind, _)| ["loop", "block"].contains(kind))
        .collect()
}

fn specific(outcome: &Outcome) -> Vec<&Finding> {
    outcome.findings.iter().filter(|f| f.specific).collect()
}

#[test]
fn the_loop_around_a_line_is_in_the_path_the_sentence_and_the_graph() {
    let program = programs::endless_loop().program;
    for seed in 0..SEEDS {
        let (simulation, outcome) = search(&program, seed);
        let found = specific(&outcome);
        let lines: Vec<_> = found.iter().map(|f| inside(f)).collect();
        let expected = vec![("loop", Some(10)), ("block", Some(12))];
        assert!(lines.contains(&expected), "{lines:?}");
        let text = sentences(&outcome).join("\n");
        let place = "sim.Program.spin (Program.java:12, in the loop at Program.java:10)";
        assert!(text.contains(place), "{text}");
        let tree = simulation.search.text_tree();
        assert!(tree.contains("*   loop at Program.java:10"), "{tree}");
        let dot = simulation.search.dot();
        assert!(dot.contains("label=\"loop at Program.java:10\\n"), "{dot}");
        assert!(dot.contains("m0 -> m0l10 [style=dashed];"), "{dot}");
        let graph = simulation.search.coloured_graph();
        let node = graph.nodes.iter().position(|n| n.line == Some(10));
        let link = graph.links.iter().find(|link| Some(link.to) == node);
        let link = link.expect("the loop is linked with its method");
        assert_eq!(link.kind, LinkKind::Loop);
        assert_eq!(graph.nodes[link.from].line, None);
        let svg = simulation.search.svg();
        assert!(svg.contains(">loop at Program.java:10  "), "{svg}");
        assert_eq!(svg.matches("<rect ").count(), tree.lines().count());
    }
}

/// Each of the 20 lines of the loop takes 2.5 %, so no line is a bottleneck, but the loop is.
#[test]
fn a_loop_whose_lines_are_all_below_the_threshold_is_found() {
    let mut p = Program::default();
    let steps = (11..31).map(|line| looping(20.0, line, 10)).collect();
    let scan = p.method("scan", steps);
    let mut others: Vec<_> = (0..20)
        .map(|i| p.method(&format!("leaf{i}"), vec![work(20.0, 1)]))
        .map(crate::program::call)
        .collect();
    others.push(crate::program::call(scan));
    p.thread("main", "run", others);
    let mut hits = 0;
    for seed in 0..SEEDS {
        let (_, outcome) = search(&p, seed);
        let is_loop = |f: &&Finding| {
            f.method == MethodId(scan as u32)
                && inside(f) == [("loop", Some(10))]
                && f.why == Cause::Processor
        };
        let found = specific(&outcome);
        if let Some(finding) = found.iter().find(|f| is_loop(f)) {
            hits += 1;
            let place = sentence::place(finding);
            assert_eq!(place, "sim.Program.scan (the loop at Program.java:10)");
        }
        let lines = found.iter().filter(|f| inside(f).len() > 1);
        assert_eq!(lines.count(), 0, "{found:#?}");
    }
    assert!(hits >= SEEDS - 1, "{hits} of {SEEDS}");
}

/// A method has a loop with most of its time, a loop with hardly any, and a line in no loop.
#[test]
fn the_loop_with_the_time_is_found_among_others_of_its_method() {
    let mut p = Program::default();
    let steps = vec![
        work(300.0, 4),
        looping(650.0, 6, 5),
        looping(20.0, 9, 8),
        looping(30.0, 10, 8),
    ];
    p.thread("main", "run", steps);
    for seed in 0..SEEDS {
        let (_, outcome) = search(&p, seed);
        let found: Vec<_> = specific(&outcome).into_iter().map(inside).collect();
        assert!(found.contains(&vec![("block", Some(4))]), "{found:?}");
        let hot = vec![("loop", Some(5)), ("block", Some(6))];
        assert!(found.contains(&hot), "{found:?}");
        let cold = outcome.findings.iter().map(inside);
        assert!(cold.flatten().all(|(_, line)| line != Some(9)), "{found:?}");
    }
}
