//! `veneer run --call-graph OUT`: the call graph of small programs, from their start to their end, is
//! compared with an agent of the test, which counts each method entry with its caller by JVMTI events
//! (`tests/native/call_edges.c`). Another test kills the JVM while it records.
//!
//! The comparison leaves out what `docs/calls.md` names as not recorded as an edge: the callers of
//! static initialisers, calls by native code, and calls in a constructor before `super(…)`. The
//! entries of these methods are compared.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use veneer_tests::call_oracle::{
    Graph, Method, compile_library, differences, is_initialiser, is_lambda, oracle_option,
    read_counted, recorded,
};
use veneer_tests::command::run;
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::live::{Live, until};
use veneer_tests::process::Process;
use veneer_tests::skip::{Need, skip};

/// The package of the programs.
const PACKAGE: &str = "kinds";
/// The programs, and the least number of edges that the agent of the test counts in each.
const PROGRAMS: [(&str, usize); 10] = [
    ("Exceptions", 12),
    ("Initialisers", 8),
    ("Inner", 15),
    ("Interfaces", 25),
    ("Lambdas", 10),
    ("Natives", 6),
    ("Recursion", 12),
    ("Reflection", 4),
    ("Serialisation", 8),
    ("Threads", 4),
];
/// Options with which the calls are counted in the code of the methods, and in armed code.
const FORMS: [&[&str]; 2] = [&[], &["--skip", "no.such.Class"]];
/// The native methods of the programs. They have no entries in a recording, because they are counted
/// at their call sites.
const NATIVE_METHODS: [(&str, &str); 2] = [
    ("kinds.Natives", "callStatic(I)I"),
    ("kinds.Natives", "callVirtual(I)V"),
];
/// Methods with entries that no recorded call explains, and the number of these entries.
const RESIDUES: [(&str, &str, i64); 6] = [
    ("kinds.Natives", "called(I)I", 33),
    ("kinds.Natives", "note()V", 20),
    ("kinds.Natives$Other", "note()V", 8),
    ("kinds.Recursion", "main([Ljava/lang/String;)V", 1),
    ("kinds.Recursion", "fibonacci(I)I", 0),
    ("kinds.Threads$Task", "call()Ljava/lang/Object;", 12),
];

/// The process that runs a program of the package, with options of `java` before the class.
fn java(programs: &Programs, options: &[String], program: &str, library: &Path) -> Process {
    let launcher = programs.launcher().args(options);
    launcher
        .arg("-cp")
        .arg(programs.classes().path())
        .arg(format!("{PACKAGE}.{program}"))
        .arg(library)
}

/// The part of a graph that both a recording and the agent of the test have.
fn comparable(mut graph: Graph) -> Graph {
    let is_of_program = |(class, _): &Method| class.starts_with("kinds.");
    let is_native = |(class, method): &Method| NATIVE_METHODS.contains(&(class, method));
    graph.entries.retain(|method, count| {
        is_of_program(method) && !is_lambda(method) && !is_native(method) && *count > 0
    });
    graph.edges.retain(|(caller, index, callee), _| {
        *index >= 0 && is_of_program(caller) && is_of_program(callee) && !is_initialiser(callee)
    });
    graph
}

/// The residues of the methods of a recording.
fn residues(shown: &Value) -> BTreeMap<Method, i64> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let methods = shown["methods"].as_array().into_iter().flatten();
    let residue = |one: &Value| {
        let name = format!("{}{}", text(&one["method"]), text(&one["descriptor"]));
        Some(((text(&one["class"]), name), one["residue"].as_i64()?))
    };
    methods.filter_map(residue).collect()
}

/// Runs a program under Veneer and under the agent of the test, and compares the graphs. Returns the
/// residues.
fn compare(
    programs: &Programs,
    (oracle, natives): (&Path, &Path),
    (program, least): (&str, usize),
) -> Result<BTreeMap<Method, i64>, Box<dyn Error>> {
    let counted = programs.classes().join("counted.txt");
    let option = oracle_option(oracle, &counted, PACKAGE);
    let plain = java(programs, &[option], program, natives).run()?;
    let plain = plain.succeeded(program)?;
    let expected = comparable(read_counted(&counted)?);
    assert!(
        expected.edges.len() >= least,
        "{program}: {}",
        expected.edges.len()
    );
    let mut all = FORMS.iter().map(|form| {
        let file = programs.classes().join("run.calls");
        let java = java(programs, &[], program, natives);
        let shown = compare_with(&expected, &plain.out, &file, form, &java);
        shown.map_err(|error| format!("{program}, {form:?}: {error}"))
    });
    let (in_methods, armed) = (all.next(), all.next());
    let residues = in_methods.transpose()?.unwrap_or_default();
    let armed = armed.transpose()?.unwrap_or_default();
    // Methods of the JDK have other names in armed code: `[LA;::clone()`.
    let of_program = |(method, _): &(&Method, &i64)| method.0.starts_with(PACKAGE);
    assert!(
        residues
            .iter()
            .filter(of_program)
            .eq(armed.iter().filter(of_program)),
        "{program}: {residues:?} {armed:?}"
    );
    Ok(residues)
}

/// Runs a program under Veneer, and compares the graph with the expected one. Returns the residues.
fn compare_with(
    expected: &Graph,
    out: &str,
    file: &Path,
    form: &[&str],
    java: &Process,
) -> Result<BTreeMap<Method, i64>, Box<dyn Error>> {
    let place = file.to_string_lossy();
    let options = [&["--arm", "kinds..*", "--call-graph", &place], form].concat();
    let output = run(&options, java).run()?;
    let output = output.succeeded("the program")?;
    assert_eq!(output.out, out);
    assert!(output.err.contains("methods were called"), "{}", output.err);
    let (found, shown) = recorded(file)?;
    let found = comparable(found);
    let entries = differences(&found.entries, &expected.entries);
    let edges = differences(&found.edges, &expected.edges);
    assert!(
        entries.is_empty() && edges.is_empty(),
        "{}\n{}",
        entries.join("\n"),
        edges.join("\n")
    );
    Ok(residues(&shown))
}

#[test]
fn the_graph_of_a_whole_run_is_the_one_that_the_jvm_reports() -> Outcome {
    if Process::new("cc").arg("--version").run().is_err() {
        return Ok(skip(Need::Program("cc"))?);
    }
    on_a_jdk_with("kinds", |programs| {
        let oracle = compile_library(programs, "call_edges")?;
        let natives = compile_library(programs, "call_back")?;
        let mut all = BTreeMap::new();
        for program in PROGRAMS {
            all.extend(compare(programs, (&oracle, &natives), program)?);
        }
        for (class, method, residue) in RESIDUES {
            let found = all.get(&(class.to_owned(), method.to_owned()));
            assert_eq!(found, Some(&residue), "{class}::{method}");
        }
        Ok(())
    })
}

/// The program makes twelve turns. The sizes of two of its arrays are negative.
#[test]
fn objects_and_arrays_are_counted_by_their_type() -> Outcome {
    on_a_jdk_with("kinds", |programs| {
        let expected = [
            ("double[]", 12),
            ("int[]", 12),
            ("java.lang.String[][]", 6),
            ("kinds.Arrays", 2),
            ("long[][]", 4),
        ];
        let expected = BTreeMap::from(expected.map(|(name, count)| (name.to_owned(), count)));
        let java = programs.launcher().arg("-cp");
        let java = java.arg(programs.classes().path()).arg("kinds.Arrays");
        for form in FORMS {
            let file = programs.classes().join("arrays.calls");
            let place = file.to_string_lossy();
            let options = [&["--arm", "kinds..*", "--call-graph", &place], form].concat();
            run(&options, &java).run()?.succeeded("the program")?;
            let (_, shown) = recorded(&file)?;
            let sites = shown["allocations"].as_array().into_iter().flatten();
            let mut found = BTreeMap::new();
            for site in sites {
                let name = site["type"].as_str().unwrap_or_default().to_owned();
                *found.entry(name).or_default() += site["count"].as_i64().unwrap_or(0);
            }
            assert_eq!(found, expected, "{form:?}");
        }
        Ok(())
    })
}

#[test]
fn a_killed_jvm_leaves_its_counts() -> Outcome {
    on_a_jdk_with("callgraph", |programs| {
        let [in_methods, armed] = FORMS;
        kill_and_read(programs, in_methods, false)?;
        // The table of receivers is in the memory of the JVM.
        kill_and_read(programs, armed, true)
    })
}

/// Kills a recorded JVM, and reads what it left.
fn kill_and_read(programs: &Programs, form: &[&str], loses_receivers: bool) -> Outcome {
    let file: PathBuf = programs.classes().join("killed.calls");
    let _ = std::fs::remove_file(&file);
    let place = file.to_string_lossy();
    let options = [&["--arm", "graph..*", "--call-graph", &place], form].concat();
    let mut live = Live::start(&run(&options, &programs.java("graph.Main")))?;
    live.say("run")?;
    live.line("sum ")?;
    let killed = Command::new("kill")
        .args(["-9", &live.pid().to_string()])
        .status()?;
    assert!(killed.success());
    let there = || Ok(file.exists().to_string());
    until("the file", there, |text| text == "true")?;
    std::thread::sleep(Duration::from_millis(100));
    let (graph, shown) = recorded(&file)?;
    let method = |class: &str, name: &str| (class.to_owned(), name.to_owned());
    let recursion = method("graph.Work", "recursion(I)I");
    // The number of calls of the recursive function of the program for 9.
    assert_eq!(graph.entries.get(&recursion), Some(&109));
    let into = |(_, _, callee): &&(Method, i64, Method)| *callee == recursion;
    let calls = graph
        .edges
        .keys()
        .filter(into)
        .map(|edge| graph.edges[edge]);
    assert_eq!(calls.sum::<i64>(), 109);
    let lost = graph.edges.keys();
    let lost = lost.filter(|(_, _, callee)| callee.1.contains("lost when the JVM was killed"));
    assert_eq!(lost.count() > 0, loses_receivers);
    assert!(shown["info"]["incomplete"].is_array(), "{}", shown["info"]);
    drop(live);
    Ok(())
}
