//! `veneer count`, `time`, `watch` and `hist`: this command writes a plan from its arguments, runs
//! it in the JVM, and prints the plan's output.
//!
//! ```text
//!   veneer watch 4711 'shop.Desk::serve(..)' order.total --if 'order.total > 900'
//!        │
//!        ▼
//!   let t = last(1000);
//!   methods("shop.Desk::serve(..)").before(|p| if p["order"]["total"] > 900 { t.put(…) });
//!   every(…, || print(…))
//! ```
//!
//! The agent detaches the plan's instruments when it sees the connection close. So nothing stays
//! attached when the command ends, even if it is killed.
//!
//! | file | noun |
//! | --- | --- |
//! | `args.rs` | the positional arguments, and options that have no meaning for a command |
//! | `method_pattern.rs` | patterns as people write them; classes that are never armed |
//! | `written_plan.rs`, `expression.rs` | the plan, and the expressions in it |
//! | `plan_error.rs` | errors and warnings in the user's words |
//! | `answers.rs` | the answers of one or several JVMs, and how they are printed |
//! | `attachment.rs` | the methods that the question was attached to |
//! | `watched_value.rs` | the lines of `watch` |
//! | `call_times.rs`, `merge.rs` | tables of times, and of several JVMs |

mod answers;
mod args;
mod attachment;
mod call_times;
pub mod expression;
mod merge;
mod method_pattern;
pub mod plan_error;
mod watched_value;
mod written_plan;

use std::io::{self, IsTerminal};

use anyhow::Result;
use veneer_client::Client;
use veneer_protocol::Request;

use crate::cli::Question;
use crate::exit_code::EXIT_REFUSED;
use crate::output::{Style, print_error, print_note};
use crate::remote::{LEASE_MILLIS, RENEWAL_INTERVAL};
use answers::Answers;
use args::ParsedQuestion;

/// Runs the plan in each JVM and prints the answers until all plans have ended or all JVMs have
/// ended.
pub fn run(question: Question) -> Result<u8> {
    let asked = match ParsedQuestion::parse(&question) {
        Ok(asked) => asked,
        Err(error) if args::is_pattern_refusal(&error) => {
            print_error(&error);
            return Ok(EXIT_REFUSED);
        }
        Err(error) => return Err(error),
    };
    if let Some(typed) = &asked.typed_pattern {
        print_note(&format!("`{typed}` is read as `{}`", asked.pattern));
    }
    let arguments = question.arguments();
    let several = asked.pids.len() > 1;
    // Merging needs rows as JSON. The rows of a single JVM are printed without merging.
    let merges = arguments.merge && several;
    let terminal = io::stdout().is_terminal() && !arguments.json && !several;
    let width = Style::of_stdout().width.filter(|_| terminal);
    let plan = written_plan::write(&question, &asked, width, arguments.json || merges);
    let mut clients = Vec::new();
    for pid in &asked.pids {
        clients.push((*pid, start_plan(*pid, &question, &plan.source)?));
    }
    Answers::new(&question, &asked, plan, terminal).print(clients)
}

/// Runs the plan in a JVM, on a lease that is renewed while this command runs.
fn start_plan(pid: u32, question: &Question, source: &str) -> Result<Client> {
    let mut client = veneer_client::connect(pid)?;
    client.send(&Request::Exec {
        name: question.name().into(),
        source: source.into(),
        settings: Default::default(),
        modules: Default::default(),
        hold: Some(LEASE_MILLIS),
    })?;
    client.keep_renewing(RENEWAL_INTERVAL)?;
    Ok(client)
}

#[cfg(test)]
#[path = "../../scripts/tests/no_jvm/mod.rs"]
mod no_jvm;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::Parser;

    fn plan_of(words: &[&str]) -> String {
        let mut all = vec!["veneer"];
        all.extend(words);
        let crate::cli::Command::Ask(question) = Cli::parse_from(all).command else {
            panic!("no question");
        };
        let asked = ParsedQuestion::parse(&question).unwrap();
        written_plan::write(&question, &asked, None, question.arguments().json).source
    }

    #[test]
    fn tables_have_the_width_of_the_terminal() {
        let crate::cli::Command::Ask(question) =
            Cli::parse_from(["veneer", "count", "1", "a.B::m(..)"]).command
        else {
            panic!("no question");
        };
        let asked = ParsedQuestion::parse(&question).unwrap();
        let plan = written_plan::write(&question, &asked, Some(80), false).source;
        assert!(plan.contains("print(h.table(20, 80));"), "{plan}");
    }

    /// Asserts that the plan of a question has these parts, without regard to line breaks.
    #[track_caller]
    fn has(words: &[&str], parts: &[&str]) {
        let plan = plan_of(words);
        let flat = plan.replace('\n', "");
        veneer_scripts::Plan::compile("question", &plan)
            .and_then(|plan| no_jvm::dry_run(&plan))
            .unwrap_or_else(|error| panic!("{error}\n{plan}"));
        for part in parts {
            assert!(flat.contains(part), "`{part}` is not in\n{plan}");
        }
    }

    #[test]
    fn a_question_becomes_a_plan() {
        let question = |rest: &[&'static str]| [&["count", "1", "a.B::m(..)"], rest].concat();
        has(
            &question(&["--by", "order.user", "--if", "n > 1"]),
            &[
                "let m = methods(\"a.B::m(..)\");let t = tally(10000);",
                "let h = m.before(|p| { if p[\"n\"] > 1{ t.count(p[\"order\"][\"user\"]) } });",
            ],
        );
        has(
            &question(&["--by", "stack(8)", "--rows", "5"]),
            &["t.count(stack(8))", "print(t.stacks(5));"],
        );
        has(
            &question(&["--every", "3"]),
            &["every(3.0, ", "m.before(counter())"],
        );
        has(
            &["hist", "1", "a.B::m(..)", "n", "--at", "line:7"],
            &["m.line(7).before(|p| { t.add(p[\"n\"]) });"],
        );
        has(
            &["watch", "1", "a.B::m(..)", "n", "-n", "3", "--every", "2"],
            &["seen.len() <= 3", "every(2.0, "],
        );
        has(
            &question(&["--by", "order.getUser().name", "--unsafe-calls"]),
            &[
                "unsafe_calls(true);let m = methods(",
                "t.count(p[\"order\"].getUser()[\"name\"])",
            ],
        );
        has(
            &["watch", "1", "a.B::m(..)", "order", "--if", "order.paid"],
            &["if p[\"order\"][\"paid\"]{ t.put(describe(p[\"order\"])) }"],
        );
        let plan = plan_of(&["time", "1", "a.B::m(..)", "--for", "2.5"]);
        assert!(
            plan.contains("after(2.5, ") && !plan.contains("every("),
            "{plan}"
        );
    }

    #[test]
    fn the_examples_of_the_help_become_plans() {
        let mut plans = 0;
        for words in crate::cli::examples::all() {
            let Ok(Cli {
                command: crate::cli::Command::Ask(question),
            }) = Cli::try_parse_from(&words)
            else {
                continue;
            };
            match ParsedQuestion::parse(&question) {
                Ok(asked) => {
                    let plan = written_plan::write(&question, &asked, None, false).source;
                    veneer_scripts::Plan::compile("question", &plan)
                        .and_then(|plan| no_jvm::dry_run(&plan))
                        .unwrap_or_else(|error| panic!("{words:?}: {error}\n{plan}"));
                    plans += 1;
                }
                // No JVM of this machine matches `--match`.
                Err(error) => {
                    assert!(words.contains(&"--match".to_owned()), "{words:?}: {error}");
                }
            }
        }
        assert!(plans >= 9, "{plans}");
    }

    #[test]
    fn times_have_self_times_keys_and_conditions() {
        has(
            &["time", "1", "a.B::m(..)"],
            &[
                "let h = m.around(timer());",
                "own.add(hash_of_method(), end - start - below);",
            ],
        );
        has(
            &[
                "time",
                "1",
                "a.B::m(..)",
                "--by",
                "c",
                "--if",
                "c == \"c7\" && elapsed > 10",
            ],
            &[
                "k0.push(p[\"c\"] == \"c7\"); k1.push(p[\"c\"]); ",
                "let v1 = k1.pop(p[\"c\"]); ",
                "if v0{ if elapsed > 10{ t.add(v1, end - start); own.add(v1, end - start - below); } } } });",
            ],
        );
        has(
            &["time", "1", "a.B::m(..)", "--if", "n > 3"],
            &["if v0{ t.add(hash_of_method(), end - start);"],
        );
        has(
            &["time", "1", "a.B::m(..)", "--at", "monitor_enters"],
            &[
                "let h = m.monitor_enters().around(timer());",
                "print(h.table(20));",
            ],
        );
    }

    #[test]
    fn elapsed_is_measured_from_the_entry_to_the_exits() {
        has(
            &[
                "watch",
                "1",
                "a.B::m(..)",
                "o.id",
                "elapsed",
                "--if",
                "elapsed > o.limit",
            ],
            &[
                "k0.push(p[\"o\"][\"limit\"]);",
                "k1.push(describe(p[\"o\"][\"id\"]));",
                "if elapsed > v0{ t.put(v1,describe(elapsed)); }",
            ],
        );
        has(
            &[
                "watch",
                "1",
                "a.B::m(..)",
                "o.id",
                "result.total",
                "--if",
                "result == null",
            ],
            &[
                "let h = m.exits().before(|p| { let end = now_ns(); let start = began.pop(); let v0 = k0.pop(describe(p[\"o\"][\"id\"])); if start > 0 { ",
                "if p[\"result\"] == (){ t.put(v0,describe(p[\"result\"][\"total\"])); } } began.push(0); });",
                "m.after(|p| { let end = now_ns(); let start = began.pop(); if start > 0 { let v0 = k0.pop(describe(p[\"o\"][\"id\"])); } });",
            ],
        );
        has(
            &["count", "1", "a.B::m(..)", "--by", "n", "--if", "exception"],
            &[
                "let exception = p[\"exception\"] != (); ",
                "if exception{ t.count(v0); } } });",
            ],
        );
        has(
            &["count", "1", "a.B::m(..)", "--by", "exception"],
            &["t.count(class_of(p[\"exception\"]));"],
        );
        has(
            &[
                "watch",
                "1",
                "a.B::m(..)",
                "result",
                "cost",
                "--at",
                "exits",
            ],
            &[
                "let h = m.exits().before(|p| { t.put(describe(p[\"result\"]),describe(p[\"cost\"])) });",
            ],
        );
        has(
            &["hist", "1", "a.B::m(..)", "--by", "o.id"],
            &[
                "let t = histogram(100);",
                "t.add(v0, (end - start) / 1000);",
            ],
        );
        has(
            &[
                "count",
                "1",
                "a.B::m(..)",
                "--if",
                "elapsed > 3",
                "--at",
                "exits",
            ],
            &["if elapsed > 3{ t.count(); }"],
        );
    }

    #[test]
    fn each_expression_is_on_the_line_that_the_plan_records() {
        let crate::cli::Command::Ask(question) = Cli::parse_from([
            "veneer",
            "time",
            "1",
            "a.B::m(..)",
            "--by",
            "c",
            "--if",
            "n > 1 && elapsed > q",
        ])
        .command
        else {
            panic!("no question");
        };
        let asked = ParsedQuestion::parse(&question).unwrap();
        let plan = written_plan::write(&question, &asked, None, false);
        assert!(plan.expressions.len() >= 6);
        let lines: Vec<&str> = plan.source.lines().collect();
        for placed in &plan.expressions {
            assert_eq!(
                lines[placed.line - 1],
                placed.translation.code,
                "{placed:?}"
            );
        }
        let q = plan
            .expressions
            .iter()
            .find(|e| e.translation.code == "p[\"q\"]")
            .unwrap();
        assert_eq!((q.option, q.offset), ("--if", "n > 1 && elapsed > ".len()));
    }
}
