//! `optimise("devirtualise")` on real programs: tests of receivers, which pass and fail at random, change no
//! result, no exception and no line of a stack trace, with instruments and without.

use std::time::Duration;

use veneer_tests::command::run;
use veneer_tests::huge_method::{sums, times};
use veneer_tests::java_programs::{Outcome, Programs};
use veneer_tests::jdk;
use veneer_tests::live::Live;
use veneer_tests::phases::quartiles;
use veneer_tests::process::Process;
use veneer_tests::random::Draw;

/// The steps of a round, each with about seven tested calls.
const STEPS: &str = "20000";

/// The cycles of attaching and detaching.
const CYCLES: u64 = 24;

/// The receivers of the program that can be tested. `Late` is never initialised.
const RECEIVERS: [&str; 6] = ["Square", "Circle", "Ring", "Thrower", "Point", "Late"];

/// All exceptions have their traces, so that the sums do not depend on what the JVM compiles.
fn receivers(programs: &Programs, rounds: usize) -> Process {
    programs
        .launcher()
        .args(["-XX:-OmitStackTraceInFastThrow", "-cp"])
        .arg(programs.classes().path())
        .args(["Receivers", &rounds.to_string(), STEPS])
}

fn optimise(methods: &str, receivers: &[&str]) -> String {
    let names: Vec<String> = receivers
        .iter()
        .map(|name| format!("\"Receivers${name}\""))
        .collect();
    let list = names.join(", ");
    format!("methods(\"{methods}\").optimise(\"devirtualise\", #{{ receivers: [{list}] }})")
}

/// Compares the rounds of a program with those of a plain run.
fn check_rounds(programs: &Programs, out: &str, label: &str) -> Outcome {
    let found = sums(out);
    let plain = receivers(programs, found.len()).run()?;
    let expected = sums(&plain.succeeded("the plain run")?.out);
    if let Some(round) = (0..found.len()).find(|n| expected.get(*n) != found.get(*n)) {
        return Err(format!(
            "{label}: round {round} differs: {:?}, not {:?}",
            found.get(round),
            expected.get(round)
        )
        .into());
    }
    println!("{label}: {} rounds are equal", found.len());
    Ok(())
}

/// Attaches tests for receivers in changing orders, with counters and timers that come and go.
fn storm(live: &Live, seed: u64) -> Outcome {
    let mut draw = Draw::new(seed);
    let mut order = RECEIVERS;
    for _ in 0..CYCLES {
        for n in 1..order.len() {
            order.swap(n, draw.within(0, n));
        }
        let first = optimise("Receivers::*(..)", &order[..draw.within(1, 4)]);
        let second = optimise("Receivers::step(..)", &order[3..]);
        let instrument = match draw.below(3) {
            0 => "blocks().before(counter())",
            1 => "calls().around(timer())",
            _ => "around(timer())",
        };
        live.value(&format!(
            "let one = {first}; let two = {second};\n\
             let seen = methods(\"Receivers::*(..)\").{instrument};\n\
             after({:.2}, || one.detach()); after({:.2}, || seen.detach()); after(0.3, || two.detach());",
            draw.below(300) as f64 / 1000.0,
            draw.below(300) as f64 / 1000.0
        ))?;
        std::thread::sleep(Duration::from_millis(350));
    }
    Ok(())
}

#[test]
fn tests_of_receivers_that_come_and_go_change_nothing() -> Outcome {
    for jdk in jdk::for_this_test() {
        let programs = Programs::compile_folder(jdk.clone(), "tune")?;
        for (policy, seed) in [("loop", 1), ("block", 2)] {
            // Each version is checked against the method, as `--check` does.
            let java = receivers(&programs, 0);
            let mut live = Live::start(&run(&["--policy", policy, "--check"], &java))?;
            // From then on, all classes of receivers are loaded.
            live.line("round 0")?;
            storm(&live, seed)?;
            let output = live.stop()?;
            assert_eq!(output.err, "", "{policy}");
            assert!(!output.out.contains("initialised"), "{policy}");
            check_rounds(&programs, &output.out, &format!("{jdk}, {policy}"))?;
        }
    }
    Ok(())
}

/// The counts of all blocks and calls of the program with these edits.
fn counts(programs: &Programs, tests: &str) -> Result<Vec<u64>, Box<dyn std::error::Error>> {
    let mut live = Live::start(&run(&[], &receivers(programs, 8).arg("wait")))?;
    live.line("ready")?;
    if !tests.is_empty() {
        live.value(tests)?;
    }
    let methods = "methods(\"Receivers*::*(..)\")";
    let blocks = live.value(&format!("{methods}.blocks().before(counter())"))?;
    let before = live.value(&format!("{methods}.calls().before(counter())"))?;
    let after = live.value(&format!("{methods}.calls().after(counter())"))?;
    live.say("go")?;
    live.line("done")?;
    let mut all = Vec::new();
    for id in [blocks, before, after] {
        all.extend(live.hits(&id)?.into_iter().map(|(_, hits)| hits));
    }
    let output = live.stop()?;
    assert_eq!(output.err, "");
    Ok(all)
}

#[test]
fn counts_are_those_without_tests_of_receivers() -> Outcome {
    for jdk in jdk::for_this_test() {
        let programs = Programs::compile_folder(jdk, "tune")?;
        let plain = counts(&programs, "")?;
        let tests = optimise("Receivers::*(..)", &["Square", "Circle", "Point"]);
        let tested = counts(&programs, &tests)?;
        assert!(plain.iter().sum::<u64>() > 1_000_000, "{plain:?}");
        assert_eq!(tested, plain);
    }
    Ok(())
}

#[test]
fn receivers_that_cannot_be_tested_are_refused_by_name() -> Outcome {
    for jdk in jdk::for_this_test() {
        let programs = Programs::compile_folder(jdk, "tune")?;
        let mut live = Live::start(&run(&[], &receivers(&programs, 0)))?;
        live.line("round 0")?;
        let step = |options: &str| {
            format!("methods(\"Receivers::step(..)\").optimise(\"devirtualise\", #{{ {options} }})")
        };
        for (options, words) in [
            (
                "receivers: [\"Receivers$Unloaded\"]",
                ["ReceiverRefused", "no loaded class"],
            ),
            (
                "receivers: [\"Receivers$Shape\"]",
                ["ReceiverRefused", "an interface"],
            ),
            (
                "receivers: [\"java.util.ArrayList\"]",
                ["NoVirtualCall", "ArrayList"],
            ),
            (
                "receivers: [\"java.util.ImmutableCollections$ListN\"]",
                ["ReceiverRefused", "not public"],
            ),
            (
                "receivers: [\"sun.nio.fs.UnixFileSystem\"]",
                ["ReceiverRefused", ""],
            ),
            (
                "calls: \"Receivers$Shape::none(..)\", receivers: [\"Receivers$Square\"]",
                ["NoVirtualCall", "Square"],
            ),
            (
                "calls: \"@1\", receivers: [\"Receivers$Square\"]",
                ["NoVirtualCall", "@1"],
            ),
        ] {
            let refused = live.exec(&step(options))?;
            assert_eq!(refused.code, 1, "{options}: {refused:?}");
            for word in words {
                assert!(refused.err.contains(word), "{options}: {}", refused.err);
            }
        }
        // No class was loaded for the answers, and the refused edits have left nothing.
        assert_eq!(live.value("classes(\"Receivers$Unloaded\").len()")?, "0");
        assert_eq!(live.value("edits().filter(|e| e.active).len()")?, "0");
        let output = live.stop()?;
        check_rounds(&programs, &output.out, "refused")?;
    }
    Ok(())
}

/// Prints the times of alternating phases of one JVM. How much faster the calls are is a benchmark; here they must
/// not be slower.
#[test]
fn a_skewed_megamorphic_call_is_faster_with_tests() -> Outcome {
    for jdk in jdk::for_this_test() {
        let programs = Programs::compile_folder(jdk.clone(), "tune")?;
        let java = programs.java("Megamorphic").args(["skewed", "100000"]);
        let live = Live::start(&run(&[], &java))?;
        let total = |options: &str| {
            format!(
                "methods(\"Megamorphic::total(..)\").optimise(\"devirtualise\", #{{ {options} }})"
            )
        };
        let tests = total(
            "receivers: [\"Megamorphic$Square\", \"Megamorphic$Rectangle\", \"Megamorphic$Triangle\", \"Megamorphic$Circle\"]",
        );
        std::thread::sleep(Duration::from_secs(3));
        live.value(&format!(
            "let p = {tests}; after(4.0, || p.detach()); after(8.0, || {{ p = {tests}; }});"
        ))?;
        std::thread::sleep(Duration::from_secs(12));
        let output = live.stop()?;
        let times = times(&output.out);
        // The phases cannot be told apart in the output, but the last one has tests, and the first none.
        let plain = quartiles(times.iter().copied().skip(5).take(20).collect());
        let tested = quartiles(times.iter().copied().rev().take(20).collect());
        println!("{jdk}: microseconds a round: plain {plain:?}, tested {tested:?}");
        assert!(tested[1] < plain[1], "{plain:?}, {tested:?}");
    }
    Ok(())
}
