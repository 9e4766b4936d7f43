//! `veneer count`, `time`, `watch` and `hist` on a running program: the figures are exact, and the
//! commands leave nothing attached.

use std::thread;
use std::time::Instant;

use veneer_tests::command::{run, veneer};
use veneer_tests::java_programs::{Outcome, on_a_jdk_with};
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
    (
        &[
            "hist",
            "Orders::handle(..)",
            "round",
            "--by",
            "order.express",
        ],
        &["true", "500 values, 499.0 on average, 0 … 998", "false"],
    ),
    (
        &[
            "count",
            "Orders::handle(..)",
            "--by",
            "round",
            "--rows",
            "1",
        ],
        &["1,000 in 1,000 entries, of which 1 are shown"],
    ),
];

/// For each row of an answer the key, or the name of the method if there is no key, and the number
/// of calls.
type CallCounts = [(&'static str, u64)];

/// The words of a command that measures calls, and its answer.
const CALLS: &[(&[&str], &CallCounts)] = &[
    (
        &["time", "Orders::handle(..)", "--by", "order.user.name"],
        &[("ann", 334), ("bob", 333), ("null", 333)],
    ),
    (
        &[
            "time",
            "Orders::handle(..)",
            "--by",
            "order.express",
            "--if",
            "round % 4 != 1",
        ],
        &[("true", 500), ("false", 250)],
    ),
    (
        &["time", "Orders::handle(..)", "--by", "order.rate"],
        &[("0.5", 500), ("1.5", 500)],
    ),
    (
        &[
            "time",
            "Orders::handle(..)",
            "--if",
            "order.total >= 900 && elapsed >= 0",
        ],
        &[("handle(LOrders$Order;I)J", 100)],
    ),
    (
        &[
            "time",
            "Orders::handle(..)",
            "--if",
            "order.user.name == \"bob\"",
        ],
        &[("handle(LOrders$Order;I)J", 333)],
    ),
    (
        &[
            "count",
            "Orders::handle(..)",
            "--by",
            "round / 500",
            "--if",
            "elapsed >= 0",
        ],
        &[("0", 500), ("1", 500)],
    ),
];

#[test]
fn one_line_commands_are_exact_and_leave_nothing_attached() -> Outcome {
    on_a_jdk_with("instruments", |programs| {
        let mut live = Live::start(&run(&[], &programs.java("Orders").args(["live"])))?;
        live.say("run")?;
        let sum = live.line("sum ")?;
        let attached = |live: &Live| live.value("instruments().filter(|i| i.attached).len()");
        for (words, expected) in QUESTIONS {
            let out = run_during_round(&mut live, words, &sum, &attached, 1)?;
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
            1,
        )?;
        let last: serde_json::Value = serde_json::from_str(out.lines().last().unwrap_or_default())?;
        assert_eq!(last["rows"][0]["hits"], 1000, "{out}");
        let out = run_during_round(
            &mut live,
            &["time", "Orders::handle(..)", "--json"],
            &sum,
            &attached,
            3,
        )?;
        let last: serde_json::Value = serde_json::from_str(out.lines().last().unwrap_or_default())?;
        assert_eq!(last["rows"][0]["count"], 1000, "{out}");
        assert_eq!(last["rows"][0]["class"], "Orders", "{out}");
        let output = live.stop()?;
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        Ok(())
    })
}

/// Runs the command during one run of the program, which begins when this number of instruments is
/// attached. Returns its output.
fn run_during_round(
    live: &mut Live,
    words: &[&str],
    sum: &str,
    attached: &dyn Fn(&Live) -> Result<String, veneer_tests::live::LiveError>,
    instruments: u32,
) -> Result<String, Box<dyn std::error::Error>> {
    let pid = live.pid().to_string();
    let (first, rest) = words.split_first().ok_or("no words")?;
    let command = veneer()
        .args([*first, &pid])
        .args(rest)
        .args(["--for", "2"]);
    let running = thread::spawn(move || command.run());
    let instruments = instruments.to_string();
    until("a question", || attached(live), |n| *n == instruments)?;
    live.say("run")?;
    assert_eq!(live.line("sum ")?, sum);
    let output: Output = running.join().map_err(|_| "the command's thread")??;
    Ok(output.succeeded("the question")?.out)
}

#[test]
fn times_have_keys_conditions_and_self_times() -> Outcome {
    on_a_jdk_with("instruments", |programs| {
        let mut live = Live::start(&run(&[], &programs.java("Orders").args(["live"])))?;
        live.say("run")?;
        let sum = live.line("sum ")?;
        let attached = |live: &Live| live.value("instruments().filter(|i| i.attached).len()");
        for (words, expected) in CALLS {
            until("the end of a question", || attached(&live), |n| n == "0")?;
            let words = [*words, &["--json"]].concat();
            let out = run_during_round(&mut live, &words, &sum, &attached, 2)?;
            let last: serde_json::Value =
                serde_json::from_str(out.lines().last().unwrap_or_default())?;
            let rows = last["rows"].as_array().ok_or("no rows")?;
            let name = |row: &serde_json::Value| match &row["keys"][0] {
                serde_json::Value::Null => match row["method"].as_str() {
                    Some(method) => method.to_owned(),
                    None => "null".to_owned(),
                },
                serde_json::Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let mut found: Vec<(String, u64)> = rows
                .iter()
                .map(|row| (name(row), row["count"].as_u64().unwrap_or(0)))
                .collect();
            found.sort();
            let mut expected: Vec<(String, u64)> = expected
                .iter()
                .map(|(name, n)| (name.to_string(), *n))
                .collect();
            expected.sort();
            assert_eq!(found, expected, "{words:?}: {out}");
            for row in rows.iter().filter(|row| row["total_ns"].is_u64()) {
                // `handle` calls no selected method, so its self time is its time.
                assert_eq!(row["self_ns"], row["total_ns"], "{words:?}: {out}");
            }
        }
        until("the end of a question", || attached(&live), |n| n == "0")?;
        // `all` calls `handle`: its self time is what is left of its time, and not negative.
        let words = ["time", "Orders::*(..)", "--json"];
        let out = run_during_round(&mut live, &words, &sum, &attached, 3)?;
        let last: serde_json::Value = serde_json::from_str(out.lines().last().unwrap_or_default())?;
        let rows = last["rows"].as_array().ok_or("no rows")?;
        let of = |method: &str, figure: &str| {
            let row = rows.iter().find(|row| {
                row["method"]
                    .as_str()
                    .is_some_and(|name| name.starts_with(method))
            });
            row.and_then(|row| row[figure].as_u64())
        };
        assert_eq!(
            (of("all(", "count"), of("handle(", "count")),
            (Some(1), Some(1000)),
            "{out}"
        );
        let (all, own) = (of("all(", "total_ns"), of("all(", "self_ns"));
        assert!(own > Some(0) && own < all, "{out}");
        let output = live.stop()?;
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        Ok(())
    })
}

#[test]
fn durations_are_shown_and_values_end_after_a_number() -> Outcome {
    on_a_jdk_with("instruments", |programs| {
        let mut live = Live::start(&run(&[], &programs.java("Orders").args(["live"])))?;
        live.say("run")?;
        let sum = live.line("sum ")?;
        let attached = |live: &Live| live.value("instruments().filter(|i| i.attached).len()");
        let out = run_during_round(
            &mut live,
            &["hist", "Orders::handle(..)"],
            &sum,
            &attached,
            2,
        )?;
        assert!(out.contains("1,000 values"), "{out}");
        until("the end of a question", || attached(&live), |n| n == "0")?;
        let words = [
            "watch",
            "Orders::handle(..)",
            "round",
            "elapsed",
            "--if",
            "elapsed >= 0 && round > 6",
            "-n",
            "3",
        ];
        let out = run_during_round(&mut live, &words, &sum, &attached, 2)?;
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines.len(), 3, "{out}");
        for (line, round) in lines.iter().zip(7..) {
            assert!(
                line.contains(&format!(": round = {round}, elapsed = ")),
                "{out}"
            );
        }
        until("the end of a question", || attached(&live), |n| n == "0")?;
        let words = ["count", "Orders::handle(..)", "--every", "0.5", "--json"];
        let out = run_during_round(&mut live, &words, &sum, &attached, 1)?;
        assert!(out.lines().count() >= 3, "{out}");
        let output = live.stop()?;
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        Ok(())
    })
}

/// The words of a command about parcels, and parts of its output.
const PARCELS: &[(&[&str], &[&str])] = &[
    (
        &["watch", "Parcels::pack(..)", "parcel", "round"],
        &[
            " main: parcel = Parcels$Parcel{id=7, state=PAID, pieces=3, fragile=true, price=12.50, \
             key=00000000-0000-0001-0000-000000000002, day=2026-11-05, sent=2001-09-09T01:46:40.005Z, \
             time=2024-02-29T23:59:01, items=ArrayList(2), stock=HashMap(1)",
            " main: parcel = Parcels$Parcel{id=8, state=NEW, pieces=null, fragile=null, ",
            " main: parcel = null, round = 3\n",
        ],
    ),
    (
        &[
            "watch",
            "Parcels::pack(..)",
            "parcel.items.len",
            "parcel.stock.size()",
            "parcel.note.len",
            "parcel.note",
        ],
        &[
            "parcel.items.len = 2, parcel.stock.size() = 1, parcel.note.len = 3, ",
            "parcel.items.len = 4, parcel.stock.size() = 2, parcel.note.len = -1, parcel.note = Parcels$Own@",
            "parcel.items.len = 1, parcel.stock.size() = 0, parcel.note.len = 2, ",
            "parcel.items.len = 0, parcel.stock.size() = 0, parcel.note.len = 0, parcel.note = null\n",
        ],
    ),
    (
        &[
            "watch",
            "Parcels::pack(..)",
            "parcel.state",
            "parcel.price",
            "parcel.time",
            "parcel.pieces + 1",
        ],
        &[
            "parcel.state = PAID, parcel.price = 12.50, parcel.time = 2024-02-29T23:59:01, parcel.pieces + 1 = 4\n",
            "parcel.price = -123456789012345678901234567.890, parcel.time = -1.500 s, parcel.pieces + 1 = 1\n",
            "parcel.state = null, parcel.price = null, parcel.time = 1970-01-01T00:00:01.500Z, parcel.pieces + 1 = 3\n",
        ],
    ),
    (
        &[
            "count",
            "Parcels::pack(..)",
            "--by",
            "parcel.state",
            "--by",
            "parcel.day",
            "--if",
            "parcel.state == \"PAID\" && parcel.pieces > 2 && parcel.fragile",
        ],
        &["PAID  2026-11-05\n1 in 1 entries"],
    ),
    (
        &[
            "count",
            "Parcels::pack(..)",
            "--if",
            "parcel.pieces == null",
        ],
        &["2 in 1 entries"],
    ),
    (
        &[
            "count",
            "Parcels::pack(..)",
            "--by",
            "parcel.label()",
            "--unsafe-calls",
        ],
        &["parcel 7\n", "parcel 9\n", "4 in 4 entries"],
    ),
    (
        &[
            "watch",
            "Parcels::pack(..)",
            "parcel",
            "elapsed",
            "--if",
            "elapsed >= 0 && round == 2",
            "-n",
            "1",
        ],
        &[
            "parcel = Parcels$Parcel{id=9, state=null, pieces=2, ",
            "elapsed = ",
        ],
    ),
    (
        &[
            "watch",
            "Parcels::check(..)",
            "round",
            "exception",
            "exception.detailMessage",
        ],
        &[
            "round = 0, exception = null, exception.detailMessage = null\n",
            "round = 1, exception = java.lang.IllegalStateException, exception.detailMessage = round 1\n",
            "round = 2, exception = null, exception.detailMessage = null\n",
            "round = 3, exception = java.lang.NullPointerException, exception.detailMessage = ",
        ],
    ),
    (
        &["count", "Parcels::check(..)", "--by", "exception"],
        &[
            " java.lang.NullPointerException\n",
            " java.lang.IllegalStateException\n",
            "4 in 3 entries",
        ],
    ),
    (
        &[
            "count",
            "Parcels::check(..)",
            "--by",
            "round",
            "--if",
            "exception && round > 1",
        ],
        &[" 3\n1 in 1 entries"],
    ),
];

#[test]
fn values_of_the_jdk_are_shown_without_calls_of_the_application() -> Outcome {
    on_a_jdk_with("instruments", |programs| {
        let mut live = Live::start(&run(&[], &programs.java("Parcels")))?;
        live.say("run")?;
        let sum = live.line("sum ")?;
        let attached = |live: &Live| live.value("instruments().filter(|i| i.attached).len()");
        for (words, expected) in PARCELS {
            until("the end of a question", || attached(&live), |n| n == "0")?;
            let is_at_exits =
                |word: &&str| word.starts_with("elapsed") || word.starts_with("exception");
            let instruments = if words.iter().any(is_at_exits) { 2 } else { 1 };
            let begun = Instant::now();
            let out = run_during_round(&mut live, words, &sum, &attached, instruments)?;
            let most = begun.elapsed().as_secs_f64() * 1e3;
            for part in *expected {
                assert!(out.contains(part), "{words:?}: `{part}` is not in\n{out}");
            }
            for (_, millis) in out.lines().filter_map(|l| l.split_once("elapsed = ")) {
                let millis: f64 = millis.parse()?;
                assert!(millis > 0.0 && millis < most, "{millis} ms in {most} ms");
            }
            let is_watch = words.first() == Some(&"watch");
            for line in out.lines().filter(|_| is_watch) {
                let time: Vec<&str> = line.split([':', '.', ' ']).take(4).collect();
                let digits = time.iter().map(|part| part.len());
                assert_eq!(digits.collect::<Vec<_>>(), [2, 2, 2, 3], "{line}");
            }
        }
        let pid = live.pid().to_string();
        let output = veneer()
            .args(["count", &pid, "Parcels::pack(..)", "--by", "parcel.label()"])
            .run()?;
        assert_eq!(output.code, 1, "{output:?}");
        assert!(
            output.err.contains("allow its call by --unsafe-calls"),
            "{output:?}"
        );
        let output = live.stop()?;
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        Ok(())
    })
}

/// In each run of the program, two of four calls throw.
#[test]
fn a_timer_around_calls_sees_those_that_throw() -> Outcome {
    on_a_jdk_with("instruments", |programs| {
        let mut live = Live::start(&run(&[], &programs.java("Parcels")))?;
        let id = live
            .value(r#"methods("Parcels::main(..)").calls("Parcels::check(..)").around(timer())"#)?;
        for total in [4, 8] {
            live.say("run")?;
            live.line("sum ")?;
            let report = live.report()?;
            let timers = report.instruments.iter().filter(|one| one.id == *id);
            let counts: Vec<u64> = timers
                .flat_map(|timer| timer.points.iter().map(|point| point.count))
                .collect();
            assert_eq!(counts, [total]);
        }
        live.stop()?.succeeded("Parcels")?;
        Ok(())
    })
}

#[test]
fn each_watched_value_has_a_text_of_its_own_for_as_long_as_the_question_runs() -> Outcome {
    on_a_jdk_with("instruments", |programs| {
        let mut live = Live::start(&run(&[], &programs.java("Orders").args(["live"])))?;
        live.say("run")?;
        let sum = live.line("sum ")?;
        let attached = |live: &Live| live.value("instruments().filter(|i| i.attached).len()");
        let pid = live.pid().to_string();
        let words = [
            "watch",
            &pid,
            "Orders::handle(..)",
            "order",
            "--for",
            "4",
            "--every",
            "0.1",
        ];
        let command = veneer().args(words);
        let running = thread::spawn(move || command.run());
        until("a question", || attached(&live), |n| *n == "1")?;
        // More values than the table has strings.
        for _ in 0..12 {
            live.say("run")?;
            assert_eq!(live.line("sum ")?, sum);
        }
        let output = running.join().map_err(|_| "the command's thread")??;
        let out = output.succeeded("watch")?.out;
        let last = out.lines().last().unwrap_or_default();
        let end = "order = Orders$Order{user=Orders$User, total=999, weight=249.75, express=false, \
            parts=int[4], tags=String[2], grade=b, small=2, middle=999, rate=1.5, match=null, number=9990}";
        assert!(last.ends_with(end), "{last}");
        assert!(
            !out.contains("no room") && !out.contains("overwritten"),
            "{out}"
        );
        let output = live.stop()?;
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        Ok(())
    })
}

#[test]
fn a_question_without_a_point_ends_with_the_reason_and_code_one() -> Outcome {
    on_a_jdk_with("instruments", |programs| {
        let mut live = Live::start(&run(&[], &programs.java("Orders").args(["live"])))?;
        live.say("run")?;
        live.line("sum ")?;
        let pid = live.pid().to_string();
        for (words, code, expected) in [
            (
                &["count", &pid, "Orders::*(..)"][..],
                0,
                &[" methods in 1 class"][..],
            ),
            (
                &["count", &pid, "Orders#handle"],
                0,
                &[
                    "`Orders#handle` is read as `*..Orders::handle`",
                    "attached: 1 method in 1 class",
                ],
            ),
            (
                &["count", &pid, "Orders.handle"],
                0,
                &["attached: 1 method in 1 class"],
            ),
            (
                &["count", &pid, "no.such"],
                1,
                &[
                    "`no.such` is read as `no.such..*`",
                    "attached: 0 methods",
                    "no loaded method matches",
                ],
            ),
            (
                &["time", &pid, "Order::handle(..)"],
                1,
                &[
                    "Orders$Order has no method `handle`; it has <init>",
                    "attached: 0 methods",
                ],
            ),
            (
                &["count", &pid, "Ordes.handle"],
                1,
                &["near it: Orders", "attached: 0 methods"],
            ),
            (
                &["count", &pid, "Orders.handel"],
                1,
                &["Orders has no method `handel`; it has handle"],
            ),
            (
                &["count", &pid, "Orders::handle(..)", "--at", "throws"],
                1,
                &["attached: nothing; 1 method matches, and it has no such point"],
            ),
            (
                &["count", &pid, "java.lang.Math::abs(..)"],
                1,
                &[
                    "is never armed",
                    "(OnCellPath)",
                    "--at 'calls:java.lang.Math::abs(..)'",
                ],
            ),
        ] {
            let output = veneer().args(words).args(["--for", "0.2"]).run()?;
            assert_eq!(output.code, code, "{words:?}: {output:?}");
            for part in expected {
                assert!(
                    output.err.contains(part),
                    "{words:?}: `{part}` is not in {}",
                    output.err
                );
            }
            let warnings = output.err.matches("matches no method").count();
            assert!(warnings <= 1, "{words:?}: {}", output.err);
        }
        // In plans too, and each warning once.
        let twice = "for n in 0..2 { methods(\"Orders.handle\").before(counter()); } detach_all()";
        let output = live.exec(twice)?.succeeded("exec")?;
        let hint = "did you mean `Orders::handle(..)`?";
        assert_eq!(output.out.matches(hint).count(), 1, "{}", output.out);
        let output = live.stop()?;
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        Ok(())
    })
}

#[test]
fn invalid_one_line_commands_are_rejected_with_a_reason() -> Outcome {
    on_a_jdk_with("instruments", |programs| {
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
                "--if 'order.total +'",
            ),
            (
                &[
                    "time",
                    &pid,
                    "Orders::handle(..)",
                    "--by",
                    "round",
                    "--if",
                    "elapsed > 3 && cost > 1",
                ],
                1,
                "--if 'elapsed > 3 && cost > 1' at the entry of Orders::handle(",
            ),
            (&["count", "1", "Orders::handle(..)"], 2, "1"),
        ] {
            let output = veneer().args(words).run()?;
            assert_eq!(output.code, code, "{words:?}: {}", output.err);
            assert!(output.err.contains(expected), "{words:?}: {}", output.err);
            for generated in ["methods(", "let ", "LOrders"] {
                assert!(!output.err.contains(generated), "{words:?}: {}", output.err);
            }
            assert!(
                output.err.matches('^').count() <= 1,
                "{words:?}: {}",
                output.err
            );
        }
        let output = live.stop()?;
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        Ok(())
    })
}

#[test]
fn a_list_shows_the_points_and_the_readable_values() -> Outcome {
    on_a_jdk_with("instruments", |programs| {
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
            lines.iter().any(|l| l.starts_with("f0 ")
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
    on_a_jdk_with("instruments", |programs| {
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

/// Calls that are running while a question attaches leave nothing behind: else the next calls of these
/// threads would find no room for their starts.
#[test]
fn questions_about_hot_methods_see_the_calls_of_all_threads() -> Outcome {
    on_a_jdk_with("shipped", |programs| {
        let live = programs.armed("Hot")?;
        let pid = live.pid().to_string();
        for question in [
            &["time", &pid, "Hot::step(..)", "--by", "thread_name()"][..],
            &[
                "count",
                &pid,
                "Hot::step(..)",
                "--by",
                "thread_name()",
                "--if",
                "elapsed >= 0",
            ][..],
            &[
                "time",
                &pid,
                "Hot::step(..)",
                "--by",
                "thread_name()",
                "--if",
                "result != 5",
            ][..],
        ] {
            for _ in 0..3 {
                let output = veneer().args(question).args(["--for", "0.5"]).run()?;
                let output = output.succeeded("the question")?;
                for thread in ["hot-0", "hot-1", "hot-2"] {
                    assert!(output.out.contains(thread), "{question:?}: {}", output.out);
                }
            }
        }
        live.stop()?;
        Ok(())
    })
}
