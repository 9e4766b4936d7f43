//! `veneer calls PID`: the recorded call graph of a program is compared with an agent of the test,
//! which counts each method entry with its caller by JVMTI events (`tests/native/call_edges.c`).
//!
//! The comparison leaves out what `docs/calls.md` names as not recorded:
//!
//! * static initialisers, and what they call;
//! * calls in a constructor before `super(…)`;
//! * the activation of `main`, which began before its class was armed, and its calls.

use std::path::PathBuf;
use std::process::Child;

use serde_json::Value;
use veneer_tests::call_oracle::{
    Graph, Method, compile_library, differences, is_initialiser, is_lambda, oracle_option,
    read_counted, recorded, start_recording,
};
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::live::{Live, until};
use veneer_tests::process::Process;
use veneer_tests::skip::{Need, skip};

/// Package of the program.
const PACKAGE: &str = "graph";
/// The method whose only activation is older than the recording.
const MAIN: (&str, &str) = ("graph.Main", "main([Ljava/lang/String;)V");
/// The method that `main` calls once before the recording.
const EARLY: (&str, &str) = ("graph.Early", "touch(I)J");
/// Methods that are called only where no call is recorded, with the numbers of their entries.
const UNRECORDED_CALLS: [(&str, &str, i64); 2] = [
    ("graph.Derived", "beforeSuper(I)I", 1),
    ("graph.Initialised", "inInitialiser()J", 1),
];

/// Runs the program with the agent of the test, and reads what the agent counted.
fn oracle(programs: &Programs) -> Result<Graph, Box<dyn std::error::Error>> {
    let library = compile_library(programs, "call_edges")?;
    let counted = programs.classes().join("call_edges.txt");
    let java = programs
        .launcher()
        .arg(oracle_option(&library, &counted, PACKAGE))
        .arg("-cp")
        .arg(programs.classes().path())
        .arg("graph.Main");
    let mut live = Live::start(&java)?;
    work(&mut live)?;
    live.stop()?.succeeded("graph.Main")?;
    read_counted(&counted)
}

/// Lets the program work once, as in the recording.
fn work(live: &mut Live) -> Outcome {
    live.say("run")?;
    live.line("sum ")?;
    Ok(())
}

/// Ends a recording by Ctrl-C, which keeps what was recorded.
fn interrupt(command: &mut Child) -> Outcome {
    let pid = i32::try_from(command.id())?;
    // SAFETY: a system call with plain values; the process is a child of this test.
    assert_eq!(unsafe { libc::kill(pid, libc::SIGINT) }, 0);
    let status = command.wait()?;
    assert!(status.success(), "{status}");
    Ok(())
}

/// Removes what a recording does not contain, and the methods of other programs.
fn comparable(mut graph: Graph) -> Graph {
    let main = (MAIN.0.to_owned(), MAIN.1.to_owned());
    let is_of_program = |(class, _): &Method| class.starts_with("graph.");
    graph.entries.retain(|method, count| {
        is_of_program(method) && !is_lambda(method) && !is_initialiser(method) && *count > 0
    });
    graph.entries.remove(&main);
    graph.edges.retain(|(caller, _, callee), _| {
        let is_unrecorded = UNRECORDED_CALLS
            .iter()
            .any(|(class, method, _)| callee.0 == *class && callee.1 == *method);
        let is_early = *caller == main;
        is_of_program(callee)
            && !is_early
            && !is_initialiser(caller)
            && !is_initialiser(callee)
            && !is_unrecorded
    });
    graph
}

#[test]
fn recorded_calls_are_those_that_the_jvm_reports() -> Outcome {
    if Process::new("cc").arg("--version").run().is_err() {
        return Ok(skip(Need::Program("cc"))?);
    }
    on_a_jdk_with("callgraph", |programs| {
        let mut expected = oracle(programs)?;
        for (class, method, count) in UNRECORDED_CALLS {
            let method = (class.to_owned(), method.to_owned());
            assert_eq!(expected.entries.get(&method), Some(&count), "{method:?}");
        }
        let early = (EARLY.0.to_owned(), EARLY.1.to_owned());
        *expected.entries.entry(early).or_default() -= 1;
        let mut live = Live::start(&programs.java("graph.Main"))?;
        let file: PathBuf = programs.classes().join("recorded.calls");
        let mut command = start_recording(live.pid(), &["graph..*", "--for", "600"], &file)?;
        work(&mut live)?;
        interrupt(&mut command)?;
        let attached = || live.value("instruments().filter(|i| i.attached).len()");
        until("the end of the recording", attached, |count| count == "0")?;
        let output = live.stop()?;
        assert_eq!(output.code, 0, "{}", output.err);

        let (found, shown) = recorded(&file)?;
        check_residues(&shown);
        check_allocations(&shown);
        let (found, expected) = (comparable(found), comparable(expected));
        assert!(expected.edges.len() > 50, "{}", expected.edges.len());
        let entries = differences(&found.entries, &expected.entries);
        let edges = differences(&found.edges, &expected.edges);
        assert!(entries.is_empty(), "{}", entries.join("\n"));
        assert!(edges.is_empty(), "{}", edges.join("\n"));
        Ok(())
    })
}

/// `veneer calls PID --complete`: the entries of the program's methods are those that the JVM reports,
/// calls inside `java.util` are recorded, and all classes get their own code back.
#[test]
fn all_classes_of_a_running_jvm_are_recorded() -> Outcome {
    if Process::new("cc").arg("--version").run().is_err() {
        return Ok(skip(Need::Program("cc"))?);
    }
    on_a_jdk_with("callgraph", |programs| {
        let expected = comparable(oracle(programs)?);
        let mut live = Live::start(&programs.java("graph.Main"))?;
        let file: PathBuf = programs.classes().join("complete.calls");
        let mut command = start_recording(live.pid(), &["--complete", "--for", "600"], &file)?;
        work(&mut live)?;
        interrupt(&mut command)?;
        let attached = || live.value("instruments().filter(|i| i.attached).len()");
        until("the end of the recording", attached, |count| count == "0")?;
        let output = live.stop()?;
        assert_eq!(output.code, 0, "{}", output.err);
        let (found, _) = recorded(&file)?;
        let inside = found.edges.keys();
        let is_of_jdk = |class: &str| class.starts_with("java.util.");
        let inside = inside.filter(|(from, _, to)| is_of_jdk(&from.0) && is_of_jdk(&to.0));
        assert!(inside.count() > 10);
        let found = comparable(found);
        let differing = differences(&found.entries, &expected.entries);
        // A constructor is counted when it begins, and methods that run before the recording are not.
        assert!(differing.len() < 4, "{}", differing.join("\n"));
        assert!(expected.entries.len() > 30);
        Ok(())
    })
}

/// `veneer calls PID --adaptive`: what the program does between two bursts is not recorded, because nothing
/// is attached then.
#[test]
fn nothing_is_attached_between_two_bursts() -> Outcome {
    on_a_jdk_with("callgraph", |programs| {
        let mut live = Live::start(&programs.java("graph.Main"))?;
        let file: PathBuf = programs.classes().join("adaptive.calls");
        let options = ["graph..*", "--adaptive", "--for", "600"];
        let mut command = start_recording(live.pid(), &options, &file)?;
        work(&mut live)?;
        // The first burst takes a second, and the pause after it at least 19 seconds.
        let attached = || live.value("instruments().filter(|i| i.attached).len()");
        until("the end of the burst", attached, |count| count == "0")?;
        for _ in 0..3 {
            work(&mut live)?;
        }
        interrupt(&mut command)?;
        let output = live.stop()?;
        assert_eq!(output.code, 0, "{}", output.err);
        let (found, shown) = recorded(&file)?;
        let recursion = ("graph.Work".to_owned(), "recursion(I)I".to_owned());
        // The number of its calls for 9, when the program works once. A slow machine can work too late.
        let calls = found.entries.get(&recursion).copied().unwrap_or(0);
        assert!(calls <= 109, "{calls}");
        let facts = shown["info"]["adaptive"].to_string();
        assert!(facts.contains("1 burst, 1.00 s of "), "{facts}");
        assert_eq!(
            calls > 0,
            shown["contexts"]
                .as_array()
                .is_some_and(|all| !all.is_empty())
        );
        Ok(())
    })
}

/// The residues of methods whose callers are known: 0 if all calls come from the program, else the
/// number of calls by the JDK and by unrecorded code.
fn check_residues(shown: &Value) {
    for (class, method, residue) in [
        ("graph.Work", "recursion", 0),
        ("graph.Square", "area", 0),
        ("graph.Circle", "name", 0),
        ("graph.Base", "<init>", 0),
        ("graph.Derived", "beforeSuper", 1),
        // 30 calls by reflection, 7 by the class of a method reference.
        ("graph.Work", "plusOne", 37),
    ] {
        let methods = shown["methods"].as_array().into_iter().flatten();
        let mut found = methods.filter(|one| one["class"] == class && one["method"] == method);
        let found = found.next().map(|one| one["residue"].clone());
        assert_eq!(found, Some(residue.into()), "{class}::{method}");
    }
}

/// Allocations with counts that follow from the source of the program.
fn check_allocations(shown: &Value) {
    let count = |type_name: &str| -> i64 {
        let all = shown["allocations"].as_array().into_iter().flatten();
        let all = all.filter(|one| one["type"] == type_name);
        all.filter_map(|one| one["count"].as_i64()).sum()
    };
    for (type_name, expected) in [
        ("graph.Square", 2),
        ("graph.Pair", 9),
        ("graph.Shape[]", 1),
        ("java.lang.IllegalStateException", 7),
        ("java.lang.Thread", 4),
    ] {
        assert_eq!(count(type_name), expected, "{type_name}");
    }
}
