//! Counters of the guards that transformations insert: they count exactly what the program counts itself, while
//! guards fail more than a million times at random, and no result changes.

use std::time::Duration;

use veneer_tests::command::run;
use veneer_tests::java_programs::{Outcome, Programs};
use veneer_tests::jdk;
use veneer_tests::live::{Live, number};
use veneer_tests::process::Process;
use veneer_tests::report::Point;

/// The calls of a run. Four of ten have another value than the constant, and three of ten a receiver that no test has.
const CALLS: u64 = 4_000_000;

/// The guards that must fail in a run.
const MIN_FAILURES: u64 = 1_000_000;

/// The cycles in which instruments come and go while the calls are counted.
const CYCLES: usize = 12;

const TRANSFORMATIONS: &str = r#"
let m = methods("Guards::measure(..)");
let one = m.optimise("specialise", #{ parameter: 1, value: 8 });
let two = m.optimise("devirtualise", #{ receivers: ["Guards$Square", "Guards$Circle"], calls: "Guards$Shape::area(..)" });
"#;

fn guards(programs: &Programs, seed: u64) -> Process {
    let java = programs.launcher().arg("-XX:-OmitStackTraceInFastThrow");
    let java = java.arg("-cp").arg(programs.classes().path());
    java.args(["Guards", &CALLS.to_string(), &seed.to_string()])
}

/// The rows of a counter of guards: the text and the hits of each.
fn rows(live: &Live, id: &str) -> Result<Vec<(String, u64)>, Box<dyn std::error::Error>> {
    let report = live.report()?;
    let mut all = report.instruments.into_iter();
    let found = all.find(|one| one.id.as_str() == Some(id));
    let points = found.ok_or("no such instrument")?.points.into_iter();
    let row = |point: Point| (point.what.unwrap_or_default(), point.hits);
    Ok(points.map(row).collect())
}

/// The row whose text ends with `end`.
fn hits(rows: &[(String, u64)], end: &str) -> u64 {
    let found: Vec<&(String, u64)> = rows.iter().filter(|row| row.0.ends_with(end)).collect();
    assert_eq!(found.len(), 1, "{end}: {rows:?}");
    found[0].1
}

/// The result of a run without Veneer.
fn plain_sum(programs: &Programs, seed: u64) -> Result<String, Box<dyn std::error::Error>> {
    let plain = guards(programs, seed).run()?;
    let plain = plain.succeeded("the plain run")?;
    let mut lines = plain.out.lines();
    let sum = lines.find_map(|line| line.strip_prefix("sum "));
    Ok(sum.ok_or("no sum")?.to_owned())
}

#[test]
fn a_million_failed_guards_are_counted_exactly_and_change_nothing() -> Outcome {
    for jdk in jdk::for_this_test() {
        let programs = Programs::compile_folder(jdk.clone(), "tune")?;
        for (policy, seed) in [("loop", 17), ("block", 40)] {
            // Each version is checked against the method, as `--check` does.
            let java = guards(&programs, seed);
            let mut live = Live::start(&run(&["--policy", policy, "--check"], &java))?;
            live.line("ready")?;
            let counter = "methods(\"Guards::measure(..)\").guards().before(counter())";
            let id = live.value(&format!("{TRANSFORMATIONS} {counter}"))?;
            live.say("go")?;
            // The versions change while the guards fail.
            let mut middle = 0;
            for n in 0..CYCLES {
                let instrument = ["blocks().before(counter())", "around(timer())"][n % 2];
                live.value(&format!(
                    "let seen = methods(\"Guards::*(..)\").{instrument}; after(0.05, || seen.detach());"
                ))?;
                if n == 0 {
                    middle = hits(&rows(&live, &id)?, "is not 8");
                }
                std::thread::sleep(Duration::from_millis(100));
            }
            let sum = live.line("sum ")?;
            let seen = live.line("calls ")?;
            live.line("done")?;
            let rows = rows(&live, &id)?;
            let own = |word: &str| number(&seen, word).and_then(|n| u64::try_from(n).ok());
            let (others, rest) = (hits(&rows, "is not 8"), hits(&rows, "on others"));
            assert!(
                (1..others).contains(&middle),
                "{middle} of {others} failed in the first cycle"
            );
            assert_eq!(Some(hits(&rows, "is 8")), own("eight"), "{rows:?}");
            assert_eq!(Some(others), own("other"), "{rows:?}");
            let squares = hits(&rows, "on Guards$Square");
            assert_eq!(Some(squares), own("square"), "{rows:?}");
            let circles = hits(&rows, "on Guards$Circle");
            assert_eq!(Some(circles), own("circle"), "{rows:?}");
            assert_eq!(Some(rest), own("rest"), "{rows:?}");
            let output = live.stop()?;
            assert_eq!(output.err, "", "{policy}");
            assert_eq!(sum, plain_sum(&programs, seed)?, "{policy}");
            let failures = others + rest;
            assert!(failures >= MIN_FAILURES, "only {failures} guards failed");
            println!("{jdk}, {policy}: {failures} guards failed, all results are equal");
        }
    }
    Ok(())
}

/// A counter counts the same outcome when other edits change the order of the tests, and nothing without its guard.
#[test]
fn a_counter_keeps_its_outcome_when_other_edits_come_and_go() -> Outcome {
    let jdk = jdk::newest().ok_or("no JDK")?;
    let programs = Programs::compile_folder(jdk, "tune")?;
    let mut live = Live::start(&run(&["--check"], &guards(&programs, 5)))?;
    live.line("ready")?;
    let id = live.value(
        r#"
        let m = methods("Guards::measure(..)");
        let calls = "Guards$Shape::area(..)";
        let circles = m.optimise("devirtualise", #{ receivers: ["Guards$Circle"], calls: calls });
        let squares = m.optimise("devirtualise", #{ receivers: ["Guards$Square"], calls: calls });
        let seen = m.guards().before(counter());
        circles.detach();
        seen
        "#,
    )?;
    live.say("go")?;
    let seen = live.line("calls ")?;
    live.line("done")?;
    let rows = rows(&live, &id)?;
    let own = |word: &str| number(&seen, word).map_or(0, |n| n as u64);
    assert_eq!(hits(&rows, "on Guards$Circle"), 0, "{rows:?}");
    assert_eq!(hits(&rows, "on Guards$Square"), own("square"), "{rows:?}");
    let others = own("circle") + own("rest");
    assert_eq!(hits(&rows, "on others"), others, "{rows:?}");
    // Without guards, there is nothing to count, and code has no place there.
    let none =
        live.value("methods(\"Guards::run(..)\").guards().before(counter()).rows().len()")?;
    assert_eq!(none, "0");
    for written in ["after(counter())", "around(timer())", "before(|p| p)"] {
        let refused = live.exec(&format!(
            "methods(\"Guards::measure(..)\").guards().{written}"
        ))?;
        assert_eq!(refused.code, 1, "{written}: {refused:?}");
    }
    let refused = live.exec("methods(\"Guards::measure(..)\").guards().after(counter())")?;
    assert!(
        refused.err.contains(".guards().before(counter())"),
        "{refused:?}"
    );
    live.stop()?;
    Ok(())
}
