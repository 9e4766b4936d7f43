//! The shipped plans for loops, calls and database statements, and instruments with limits: hits,
//! conditions, budgets. The programs have known counts. The plans are attached before a program
//! starts and while it runs.

use std::path::PathBuf;

use veneer_tests::command::{run, veneer};
use veneer_tests::folder::workspace;
use veneer_tests::jars::jar;
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::live::{Live, until};
use veneer_tests::output::timed;

type TextResult = Result<String, Box<dyn std::error::Error>>;

fn plan(name: &str) -> PathBuf {
    workspace().join("scripts/plans").join(name)
}

/// Runs a program once with a shipped plan from the start, and returns what the plan prints at the
/// end.
fn from_the_start(programs: &Programs, name: &str) -> TextResult {
    let file = plan(name).display().to_string();
    let options = ["--strict", "--plan", &file, "--set", "methods=Rounds"];
    let java = programs.java("Rounds").arg("once");
    let plain = java.run()?.succeeded("Rounds")?;
    let output = run(&options, &java).run()?.succeeded(name)?;
    assert_eq!(rest(&output.out), rest(&plain.out), "{name}");
    Ok(output.err)
}

/// Returns the output without the first line, which has the process id.
fn rest(out: &str) -> String {
    out.lines().skip(1).collect()
}

/// Runs a program once, attaches a shipped plan for another run, and returns what the plan prints.
fn while_it_runs(programs: &Programs, name: &str) -> TextResult {
    let mut live = programs.armed("Rounds")?;
    live.say("run")?;
    let sum = live.line("sum ")?;
    let file = plan(name).display().to_string();
    let pid = live.pid().to_string();
    let exec = ["exec", &pid, &file, "--set", "methods=Rounds"];
    veneer().args(exec).run()?.succeeded(name)?;
    live.say("run")?;
    assert_eq!(live.line("sum ")?, sum);
    Ok(live.stop()?.err)
}

/// Returns the rows `iterations: count` below the position of each loop.
fn iteration_rows(text: &str) -> Vec<(String, Vec<(u64, u64)>)> {
    let mut out: Vec<(String, Vec<(u64, u64)>)> = Vec::new();
    for line in text.lines() {
        if line.starts_with("Rounds.") {
            out.push((line.to_string(), Vec::new()));
            continue;
        }
        let numbers: Vec<u64> = line
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        if let ([turns, .., times], Some(last)) = (&numbers[..], out.last_mut())
            && *times > 0
            && !line.contains(" values, ")
        {
            last.1.push((*turns, *times));
        }
    }
    out.sort();
    out
}

/// The iteration counts of the loops of `Rounds` in one run, by the line of their header; see the
/// program's comments.
const TRIPS: &[(&str, &[(u64, u64)])] = &[
    ("Rounds.caught:38", &[(5, 1)]),
    ("Rounds.caught:42", &[(3, 5)]),
    ("Rounds.counted:12", &[(7, 10)]),
    ("Rounds.early:28", &[(2, 1)]),
    ("Rounds.inside:59", &[(0, 1), (1, 1), (2, 1), (3, 1)]),
    ("Rounds.left:69", &[(3, 1)]),
    ("Rounds.nested:19", &[(4, 1)]),
    ("Rounds.nested:20", &[(0, 1), (1, 1), (2, 1), (3, 1)]),
    ("Rounds.right:75", &[(5, 1)]),
    ("Rounds.run:85", &[(10, 1)]),
    ("Rounds.thrown:52", &[(1, 1)]),
];

#[test]
fn iterations_are_counted_however_a_loop_is_left() -> Outcome {
    on_a_jdk_with("shipped", |programs| {
        for text in [
            from_the_start(programs, "trips.rhai")?,
            while_it_runs(programs, "trips.rhai")?,
        ] {
            let expected: Vec<(String, Vec<(u64, u64)>)> = TRIPS
                .iter()
                .map(|(place, rows)| (place.to_string(), rows.to_vec()))
                .collect();
            assert_eq!(iteration_rows(&text), expected, "{text}");
        }
        Ok(())
    })
}

/// Returns the count, depth and method of each line of a tree.
fn tree(text: &str) -> Vec<(u64, usize, String)> {
    let rows = text.lines().filter_map(|line| {
        let count = line.split_whitespace().next()?.parse().ok()?;
        let (figures, place) = line.split_once("%  ")?;
        assert!(figures.split_whitespace().count() == 4, "{line}");
        let name = place.trim_start();
        let depth = (place.len() - name.len()) / 2;
        let method = name.split(':').next()?;
        Some((count, depth, method.to_string()))
    });
    let mut rows: Vec<_> = rows.collect();
    // The order of siblings depends on their times, which differ from run to run.
    rows.sort();
    rows
}

/// The tree of one run without `main`.
const CALLS: &[(u64, usize, &str)] = &[
    (1, 0, "Rounds.run"),
    (1, 1, "Rounds.caught"),
    (1, 1, "Rounds.early"),
    (1, 1, "Rounds.inside"),
    (1, 1, "Rounds.left"),
    (1, 1, "Rounds.nested"),
    (1, 1, "Rounds.right"),
    (1, 1, "Rounds.thrown"),
    (1, 2, "Rounds.inside"),
    (1, 3, "Rounds.inside"),
    (1, 4, "Rounds.inside"),
    (3, 2, "Rounds.leaf"),
    (5, 2, "Rounds.leaf"),
    (10, 1, "Rounds.counted"),
];

#[test]
fn a_call_tree_has_each_call_path_with_its_count() -> Outcome {
    on_a_jdk_with("shipped", |programs| {
        // In the first case, `main` is still active when the plan prints; in the second, it has
        // ended.
        let started = tree(&from_the_start(programs, "tree.rhai")?);
        let found = tree(&while_it_runs(programs, "tree.rhai")?);
        let expected = |deeper: usize| {
            let one = |(count, depth, name): &(u64, usize, &str)| {
                (*count, depth + deeper, name.to_string())
            };
            CALLS.iter().map(one).collect::<Vec<_>>()
        };
        assert_eq!(found, expected(0));
        let mut whole = expected(1);
        whole.push((1, 0, "Rounds.main".into()));
        whole.sort();
        assert_eq!(started, whole);
        Ok(())
    })
}

/// The executed statements of one run of `Queries`; see the program's comments.
const QUERIES: &[(u64, &str)] = &[
    (1, "(prepared earlier, or in another thread)"),
    (1, "create table item (id int, price int)"),
    (1, "drop table item"),
    (1, "update item set price = 0 where id < 5"),
    (7, "select sum(price) from item"),
    (20, "insert into item values (?, ?)"),
];

#[test]
fn statements_are_timed_by_their_text_through_jdbc() -> Outcome {
    on_a_jdk_with("shipped", |programs| {
        let path = std::env::join_paths([programs.classes().path(), &jar("h2")?])?;
        let java = |words: &[&str]| {
            let java = programs.launcher().arg("-cp").arg(&path);
            java.arg("Queries").arg("jdbc:h2:mem:test").args(words)
        };
        let file = plan("sql.rhai").display().to_string();
        let set = ["--set", "methods=Queries"];
        let plain = java(&["once"]).run()?.succeeded("Queries")?;
        let options = ["--strict", "--plan", &file, set[0], set[1]];
        let started = run(&options, &java(&["once"])).run()?.succeeded("sql")?;
        assert_eq!(rest(&started.out), rest(&plain.out));
        // Without `methods`, the plan leaves out the driver, which calls the same interfaces.
        let everywhere = run(&options[..3], &java(&["once"]))
            .run()?
            .succeeded("sql")?;
        assert_eq!(rest(&everywhere.out), rest(&plain.out));

        // The agent is attached to a JVM that was started without it.
        let mut live = Live::start(&java(&[]))?;
        live.say("run")?;
        let sum = live.line("sum ")?;
        let pid = live.pid().to_string();
        let exec = ["exec", &pid, &file, set[0], set[1]];
        veneer().args(exec).run()?.succeeded("sql")?;
        live.say("run")?;
        assert_eq!(live.line("sum ")?, sum);
        let came = live.stop()?;

        let expected: Vec<(u64, String)> = QUERIES
            .iter()
            .map(|(count, text)| (*count, text.to_string()))
            .collect();
        assert_eq!(timed(&started.err), expected, "{}", started.err);
        assert_eq!(timed(&everywhere.err), expected, "{}", everywhere.err);
        let head = started.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            head.contains("executions avg µs min µs max µs statement"),
            "{head}"
        );
        assert!(!head.contains("texts are unknown"), "{head}");
        assert_eq!(timed(&came.err), expected, "{}", came.err);
        Ok(())
    })
}

/// Returns the number of attached instruments.
fn attached(live: &Live) -> Result<String, veneer_tests::live::LiveError> {
    live.value("instruments().filter(|i| i.attached).len()")
}

#[test]
fn a_limited_instrument_acts_exactly_that_often_and_is_detached() -> Outcome {
    on_a_jdk_with("shipped", |programs| {
        let mut live = programs.armed("Rounds")?;
        live.say("run")?;
        let sum = live.line("sum ")?;
        let code = r#"
            let sums = tally();
            let hits = methods("Rounds::leaf(..)").before(counter().times(3));
            let kept = methods("Rounds::inside(..)").entry().before(log("depth").times(2));
            let seen = methods("Rounds::counted(..)").before(code(|p| sums.count("counted")).times(4));
            let each = methods(["Rounds::left(..)", "Rounds::right(..)"]).loops().before(counter().times_each(2));
            at_exit(|| {
                print(`hits ${hits.hits()} ${hits.attached()}`);
                print(`kept ${kept.hits()} ${kept.attached()} ${kept.events(10).map(|e| e.values.depth)}`);
                print(`seen ${seen.hits()} ${seen.attached()} ${sums.rows()[0].count}`);
                print(`each ${each.rows().map(|r| r.hits)} ${each.attached()}`);
            });"#;
        live.exec(code)?.succeeded("exec")?;
        assert_eq!(attached(&live)?, "4");
        live.say("run")?;
        assert_eq!(live.line("sum ")?, sum);
        until("the end of three of them", || attached(&live), |n| n == "1")?;
        live.say("run")?;
        assert_eq!(live.line("sum ")?, sum);
        let said = live.stop()?.err;
        for line in [
            "hits 3 false",
            "kept 2 false [3, 2]",
            "seen 4 false 4",
            "each [2, 2] true",
        ] {
            assert!(
                said.lines().any(|l| l == line),
                "`{line}` is not in\n{said}"
            );
        }
        Ok(())
    })
}

#[test]
fn a_conditional_instrument_is_attached_once_when_its_condition_holds() -> Outcome {
    on_a_jdk_with("shipped", |programs| {
        let mut live = programs.armed("Rounds")?;
        live.say("run")?;
        live.line("sum ")?;
        let code = r#"
            let flag = tally();
            methods("Rounds::hot(..)").before(|p| if p.calls > 100 { flag.count() });
            when(|| !flag.rows().is_empty(), || {
                let leaves = methods("Rounds::leaf(..)").before(counter());
                print("armed");
                at_exit(|| print(`leaves ${leaves.hits()}`));
            });"#;
        live.exec(code)?.succeeded("exec")?;
        live.say("hot 100")?;
        live.line("sum ")?;
        assert_eq!(attached(&live)?, "1");
        live.say("hot 101")?;
        live.line("sum ")?;
        until("the second instrument", || attached(&live), |n| n == "2")?;
        live.say("hot 5")?;
        live.line("sum ")?;
        live.say("hot 102")?;
        live.line("sum ")?;
        let said = live.stop()?.err;
        assert!(said.contains("leaves 107\n"), "{said}");
        assert_eq!(said.matches("armed").count(), 1, "{said}");
        Ok(())
    })
}

#[test]
fn an_instrument_over_its_budget_is_detached_and_reported() -> Outcome {
    on_a_jdk_with("shipped", |programs| {
        let mut live = programs.armed("Rounds")?;
        let code = r#"
            methods("Rounds::leaf(..)").around(timer().budget(0.0001).named("leaves"));
            methods("Rounds::hot(..)").around(timer().budget(0.5).named("rounds"));"#;
        live.exec(code)?.succeeded("exec")?;
        assert_eq!(attached(&live)?, "2");
        let mut turns = 0;
        until(
            "the end of the dear one",
            || {
                live.say("hot 5000000")?;
                live.line("sum ")?;
                turns += 1;
                attached(&live)
            },
            |n| n == "1",
        )?;
        let left = live.value("instruments().filter(|i| i.attached)[0].name")?;
        assert_eq!(left, "rounds", "after {turns} rounds");
        let said = live.stop()?.err;
        assert!(said.contains("(leaves) costs about "), "{said}");
        assert!(
            said.contains(
                "% of the processor time of the program, more than its budget of 0.01 %: taken off"
            ),
            "{said}"
        );
        assert!(!said.contains("(rounds)"), "{said}");
        Ok(())
    })
}

#[test]
fn meaningless_limits_are_refused() -> Outcome {
    on_a_jdk_with("shipped", |programs| {
        let mut live = programs.armed("Rounds")?;
        live.say("run")?;
        live.line("sum ")?;
        for (code, message) in [
            ("counter().times(0)", "0 is no number of times"),
            ("timer().times(3)", "a timer has no .times(…)"),
            (
                "counter().budget(0.0)",
                "0 is no share of the processor time",
            ),
            (
                "methods(\"Rounds\").loop_exits().before(counter())",
                "a counter at the exits of loops is not supported",
            ),
            (
                "let t = tally(); methods(\"Rounds\").loops().before(|p| t.count(p.turns))",
                "turns",
            ),
        ] {
            let output = live.exec(code)?;
            assert_eq!(output.code, 1, "{code}: {output:?}");
            assert!(output.err.contains(message), "{code}: {}", output.err);
        }
        assert_eq!(attached(&live)?, "0");
        live.stop()?;
        Ok(())
    })
}
