//! `veneer count`, `time`, `watch` and `hist` on a running program: the figures are exact, and the
//! commands leave nothing attached.

use std::thread;

use veneer_tests::command::{run, veneer};
use veneer_tests::java_programs::{Outcome, on_each_jdk_with};
use veneer_tests::live::{Live, until};
use veneer_tests::process::Output;

/// The words of a command after the process id, and the expected lines of its output (sorted for
/// tables).
const QUESTIONS: &[(&[&str], &[&str])] = &[
    (
        &[
            "count",
            "Orders::handle(..)",
            "--by",
            "order.user.name",
            "--if",
            "order.total >= 900",
        ],
        &["count key", "33 bob", "33 ()", "34 ann", "100 in 3 entries"],
    ),
    (
        &[
            "watch",
            "Orders::handle(..)",
            "order.match",
            "round",
            "thread_name()",
            "--if",
            "round % 400 == 8",
        ],
        &[
            "order.match = four, round = 8, thread_name() = main",
            "order.match = four, round = 408, thread_name() = main",
            "order.match = four, round = 808, thread_name() = main",
        ],
    ),
    (
        &["hist", "Orders::handle(..)", "cost / 100", "--at", "exits"],
        &["1,000 values, 9.5 on average, 0 … 20"],
    ),
];

#[test]
fn one_line_commands_are_exact_and_leave_nothing_attached() -> Outcome {
    on_each_jdk_with("instruments", |programs| {
        let mut live = Live::start(&run(&[], &programs.java("Orders").args(["live"])))?;
        live.say("run")?;
        let sum = live.line("sum ")?;
        let attached = |live: &Live| live.value("instruments().filter(|i| i.attached).len()");
        for (words, expected) in QUESTIONS {
            let out = run_during_round(&mut live, words, &sum, &attached)?;
            for line in *expected {
                let words: Vec<&str> = line.split_whitespace().collect();
                let hit = |text: &str| {
                    let found: Vec<&str> = text.split_whitespace().collect();
                    found.windows(words.len()).any(|some| some == words)
                };
                assert!(out.lines().any(hit), "{words:?}: `{line}` is not in\n{out}");
            }
            until("the end of a question", || attached(&live), |n| n == "0")?;
        }
        let out = run_during_round(
            &mut live,
            &["count", "Orders::handle(..)", "--json"],
            &sum,
            &attached,
        )?;
        let last: serde_json::Value = serde_json::from_str(out.lines().last().unwrap_or_default())?;
        assert_eq!(last["rows"][0]["hits"], 1000, "{out}");
        let out = run_during_round(
            &mut live,
            &["time", "Orders::handle(..)", "--json"],
            &sum,
            &attached,
        )?;
        let last: serde_json::Value = serde_json::from_str(out.lines().last().unwrap_or_default())?;
        assert_eq!(last["rows"][0]["count"], 1000, "{out}");
        let output = live.stop()?;
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        Ok(())
    })
}

/// Runs the command during one run of the program, and returns its output.
fn run_during_round(
    live: &mut Live,
    words: &[&str],
    sum: &str,
    attached: &dyn Fn(&Live) -> Result<String, veneer_tests::live::LiveError>,
) -> Result<String, Box<dyn std::error::Error>> {
    let pid = live.pid().to_string();
    let (first, rest) = words.split_first().ok_or("no words")?;
    let command = veneer()
        .args([*first, &pid])
        .args(rest)
        .args(["--for", "2"]);
    let running = thread::spawn(move || command.run());
    until("a question", || attached(live), |n| n == "1")?;
    live.say("run")?;
    assert_eq!(live.line("sum ")?, sum);
    let output: Output = running.join().map_err(|_| "the command's thread")??;
    Ok(output.succeeded("the question")?.out)
}

#[test]
fn invalid_one_line_commands_are_rejected_with_a_reason() -> Outcome {
    on_each_jdk_with("instruments", |programs| {
        let mut live = Live::start(&run(&[], &programs.java("Orders").args(["live"])))?;
        live.say("run")?;
        live.line("sum ")?;
        let pid = live.pid().to_string();
        for (words, code, expected) in [
            (
                &["count", &pid, "Orders::handle(..)", "--by", "order.nothing"][..],
                1,
                "Orders$Order has no field `nothing`: it has user",
            ),
            (
                &["watch", &pid, "Orders::handle(..)", "nothing"],
                1,
                "`nothing` cannot be read here",
            ),
            (
                &["hist", &pid, "Orders::handle(..)", "order.user"],
                1,
                "integer is needed here",
            ),
            (
                &["count", &pid, "Orders::handle(..)", "--if", "order.total +"],
                1,
                "count",
            ),
            (&["count", "1", "Orders::handle(..)"], 2, "1"),
        ] {
            let output = veneer().args(words).run()?;
            assert_eq!(output.code, code, "{words:?}: {}", output.err);
            assert!(output.err.contains(expected), "{words:?}: {}", output.err);
        }
        let output = live.stop()?;
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        Ok(())
    })
}

#[test]
fn a_list_shows_the_points_and_the_readable_values() -> Outcome {
    on_each_jdk_with("instruments", |programs| {
        let mut live = Live::start(&run(&[], &programs.java("Orders").args(["live"])))?;
        live.say("run")?;
        live.line("sum ")?;
        let pid = live.pid().to_string();
        let output = veneer()
            .args(["list", &pid, "Orders::handle(..)"])
            .run()?
            .succeeded("list")?;
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = output.out.lines().map(words).collect();
        assert_eq!(lines[0], "Orders::handle(LOrders$Order;I)J");
        assert!(
            lines.iter().any(|l| l.starts_with("block:0 ")
                && l.ends_with("Orders$Order order, int round")
                || l.ends_with("Orders$Order order")),
            "{}",
            output.out
        );
        assert!(
            lines
                .iter()
                .any(|l| l.contains("loop, depth 1") && l.contains("long cost")),
            "{}",
            output.out
        );
        let output = live.stop()?;
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        Ok(())
    })
}

#[test]
fn the_list_of_class_files_equals_the_list_of_the_running_jvm() -> Outcome {
    on_each_jdk_with("instruments", |programs| {
        let mut live = Live::start(&run(&[], &programs.java("Orders").args(["live"])))?;
        live.say("run")?;
        live.line("sum ")?;
        let pid = live.pid().to_string();
        let classes = programs.classes().path().display().to_string();
        let list = |of: &str, pattern: &str| veneer().args(["list", of, pattern, "--json"]).run();
        for pattern in ["Orders::*(..)", "Orders::handle(..)", "Orders$Order::*(..)"] {
            let running = list(&pid, pattern)?.succeeded("list of the JVM")?;
            let files = list(&classes, pattern)?.succeeded("list of class files")?;
            assert_eq!(files.out, running.out, "{pattern}");
            assert!(running.out.contains("\"blocks\":[{"), "{}", running.out);
        }
        let table = veneer()
            .args(["list", &classes, "Orders::handle(..)"])
            .run()?;
        let running = veneer().args(["list", &pid, "Orders::handle(..)"]).run()?;
        assert_eq!((table.code, table.out), (0, running.out));
        // The command explains why there are no points.
        for (of, pattern, code, said) in [
            (&*classes, "Orders::nowhere(..)", 2, "no method in"),
            (&*classes, "Orders::(", 2, "Orders::("),
            ("no/such/path", "A::b(..)", 2, "no/such/path"),
            ("0", "A::b(..)", 2, "write ./0 for a file of that name"),
            (
                "jrt:/java.base",
                "java.lang.Integer::parse*(..)",
                0,
                "java.lang.Integer has no points",
            ),
        ] {
            let output = list(of, pattern)?;
            assert_eq!(output.code, code, "{of} {pattern}: {output:?}");
            assert!(output.err.contains(said), "{of} {pattern}: {output:?}");
            assert_eq!(output.out, "", "{of} {pattern}");
        }
        let output = live.stop()?;
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        Ok(())
    })
}
