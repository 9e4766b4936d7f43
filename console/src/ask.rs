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

mod args;
pub mod expression;
mod merge;

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::channel;
use std::thread;

use anyhow::{Result, bail};
use serde_json::{Value, json};
use veneer_client::{Client, ControlError};
use veneer_protocol::{Reply, Request};

use crate::cli::Question;
use crate::exec;
use crate::output::{Style, print_error};
use crate::remote::{LEASE_MILLIS, RENEWAL_INTERVAL};
use args::ParsedQuestion;
use expression::to_plan_expression;

/// Maximum number of different combinations of keys in a tally.
const MAX_KEYS: u32 = 10_000;
/// The text that the plan prints after its last output. Control character U+0004, which other
/// output of a plan does not consist of.
const END_MARKER: &str = "\u{4}";
/// Interval between two readings of watched values, in seconds.
const WATCH_INTERVAL_SECONDS: f64 = 0.2;

/// Runs the plan in each JVM and prints the answers until all plans have ended or all JVMs have
/// ended.
pub fn run(question: Question) -> Result<u8> {
    let asked = ParsedQuestion::parse(&question)?;
    let arguments = question.arguments();
    let several = asked.pids.len() > 1;
    if arguments.merge && matches!(question, Question::Watch(_)) {
        bail!("values are shown as they come, each with its process; leave --merge away");
    }
    // Merging needs rows as JSON. The rows of a single JVM are printed without merging.
    let merges = arguments.merge && several;
    let terminal = io::stdout().is_terminal() && !arguments.json && !several;
    let source = plan(&question, &asked, terminal, arguments.json || merges);
    let mut clients = Vec::new();
    for pid in &asked.pids {
        clients.push((*pid, start_plan(*pid, &question, &source)?));
    }
    let redraws = terminal && !matches!(question, Question::Watch(_));
    let mode = match (several, merges) {
        (false, _) => OutputMode::Single { redraws, drawn: 0 },
        (true, false) => OutputMode::PerProcess,
        (true, true) => OutputMode::Merged {
            last: BTreeMap::new(),
            json: arguments.json,
            rows: arguments.rows as usize,
        },
    };
    print_answers(clients, mode, arguments.json)
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

/// How the answers are printed.
enum OutputMode {
    /// One JVM. If `redraws` is set, each table replaces the previous table of `drawn` lines.
    Single { redraws: bool, drawn: usize },
    /// Several JVMs; each answer is preceded by its process id.
    PerProcess,
    /// Several JVMs, merged into one table. `last` holds the latest rows of each JVM.
    Merged {
        last: BTreeMap<u32, Vec<Value>>,
        json: bool,
        rows: usize,
    },
}

/// A message from the thread that reads the answers of one JVM.
enum JvmMessage {
    Text(String),
    Failed(String),
    /// The plan or its JVM has ended.
    End,
    Error(ControlError),
}

fn print_answers(clients: Vec<(u32, Client)>, mut mode: OutputMode, json: bool) -> Result<u8> {
    let mut running = clients.len();
    let (sender, messages) = channel();
    for (pid, client) in clients {
        let sender = sender.clone();
        thread::Builder::new()
            .name(format!("jvm-{pid}"))
            .spawn(move || read_answers(client, &|message| sender.send((pid, message)).is_ok()))?;
    }
    drop(sender);
    let mut code = 0;
    let mut stdout = io::stdout().lock();
    for (pid, message) in messages {
        match message {
            JvmMessage::Text(text) => show(&mut stdout, &mut mode, pid, text, json)?,
            JvmMessage::Failed(message) => {
                print_error(&message);
                code = exec::EXIT_PROGRAM_FAILED;
                running -= 1;
            }
            JvmMessage::End => running -= 1,
            // The answers of the other JVMs are still printed.
            JvmMessage::Error(error) if running > 1 => {
                print_error(&error);
                code = 2;
                running -= 1;
            }
            JvmMessage::Error(error) => return Err(error.into()),
        }
        stdout.flush()?;
        if running == 0 {
            break;
        }
    }
    Ok(code)
}

/// Reads the answers of a JVM until the plan fails or ends, the connection closes, or `send` fails.
fn read_answers(mut client: Client, send: &dyn Fn(JvmMessage) -> bool) {
    let mut held = false;
    loop {
        let message = match client.receive() {
            // The JVM has ended.
            Err(ControlError::Closed(_)) if held => JvmMessage::End,
            Err(error) => JvmMessage::Error(error),
            Ok(Reply::Print(text)) if text == END_MARKER => JvmMessage::End,
            Ok(Reply::Print(text)) => JvmMessage::Text(text),
            Ok(Reply::Done { .. }) => {
                held = true;
                continue;
            }
            Ok(Reply::Failed { message }) => JvmMessage::Failed(message),
            Ok(_) => JvmMessage::Error(ControlError::Unexpected(client.pid())),
        };
        let last = !matches!(message, JvmMessage::Text(_));
        if !send(message) || last {
            return;
        }
    }
}

fn show(
    to: &mut impl Write,
    mode: &mut OutputMode,
    pid: u32,
    text: String,
    json: bool,
) -> Result<()> {
    match mode {
        // Text that is not JSON is no answer of the plan, but a message of the agent about the
        // plan.
        _ if json && serde_json::from_str::<Value>(&text).is_err() => print_error(&text),
        OutputMode::Merged { .. } if !text.starts_with('{') => print_error(&text),
        OutputMode::Single { redraws, drawn } => {
            if *redraws && *drawn > 0 {
                write!(to, "\x1b[{drawn}A\x1b[J")?;
            }
            *drawn = text.lines().count();
            writeln!(to, "{text}")?;
        }
        OutputMode::PerProcess if json => {
            let mut object: Value = serde_json::from_str(&text)?;
            if let Value::Object(members) = &mut object {
                members.insert("pid".into(), pid.into());
            }
            writeln!(to, "{object}")?;
        }
        OutputMode::PerProcess if text.contains('\n') => writeln!(to, "process {pid}:\n{text}")?,
        OutputMode::PerProcess => writeln!(to, "process {pid}: {text}")?,
        OutputMode::Merged { last, json, rows } => {
            let object: Value = serde_json::from_str(&text)?;
            let list = object["rows"].as_array().cloned().unwrap_or_default();
            last.insert(pid, list);
            let lists: Vec<&Vec<Value>> = last.values().collect();
            let all = merge::merge_rows(&lists);
            match json {
                true => writeln!(to, "{}", json!({"jvms": last.len(), "rows": all}))?,
                false => {
                    writeln!(to, "{} processes:", last.len())?;
                    merge::write(to, &all, *rows, Style::of_stdout())?;
                }
            }
        }
    }
    Ok(())
}

/// Returns the text as a Rhai string literal.
pub fn literal(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('\n', "\\n"))
}

/// Returns the source of the plan that answers the question.
fn plan(question: &Question, asked: &ParsedQuestion, terminal: bool, json: bool) -> String {
    let arguments = question.arguments();
    let points = format!(
        "methods({}){}",
        literal(&asked.pattern),
        arguments
            .at
            .as_ref()
            .map_or(String::new(), |at| at.0.clone())
    );
    let guarded = |give: String| match &arguments.only {
        Some(only) => format!("if {} {{ {give} }}", to_plan_expression(only)),
        None => give,
    };
    let code = |give: String| format!("let h = {points}.before(|p| {});", guarded(give));
    let keys = |more: &[String]| {
        let all = arguments.by.iter().chain(more);
        all.map(|e| to_plan_expression(e))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let rows = arguments.rows;
    let (attach, show) = match question {
        Question::Count(a) if a.by.is_empty() && a.only.is_none() => {
            let attach = format!("let h = {points}.before(counter());");
            (attach, Show::Table("h"))
        }
        Question::Time(_) => {
            let attach = format!("let h = {points}.around(timer());");
            (attach, Show::Table("h"))
        }
        Question::Count(_) => {
            let attach = code(format!("t.count({})", keys(&[])));
            let stacks = arguments.by.iter().any(|by| by.starts_with("stack("));
            let show = if stacks {
                Show::Stacks
            } else {
                Show::Table("t")
            };
            (format!("let t = tally({MAX_KEYS}); {attach}"), show)
        }
        Question::Hist(_) => {
            let attach = code(format!("t.add({})", keys(&asked.values)));
            let attach = format!("let t = histogram(100); {attach}");
            (attach, Show::Bars)
        }
        Question::Watch(_) => {
            let values = asked.values.iter().map(|e| to_plan_expression(e));
            let values = values.collect::<Vec<_>>().join(", ");
            let attach = code(format!("t.put({values})"));
            (
                format!("let t = last(1000); {attach}"),
                Show::Stream(&asked.values),
            )
        }
    };
    let shown = match (&show, json) {
        (Show::Table(of), false) => format!("print({of}.table({rows}));"),
        (Show::Table(of), true) => format!("print(#{{rows: {of}.rows()}}.to_json());"),
        (Show::Stacks, false) => format!("print(t.stacks({rows}));"),
        (Show::Stacks, true) => "print(#{rows: t.rows()}.to_json());".into(),
        (Show::Bars, false) => format!("print(t.bars({rows}));"),
        (Show::Bars, true) => "print(#{rows: t.rows()}.to_json());".into(),
        (Show::Stream(names), json) => stream(names, json),
    };
    let mut plan = format!("{attach}\nlet seen = [-1];\nlet show = || {{ {shown} }};\n");
    let every = match (&show, arguments.every, arguments.seconds) {
        (Show::Stream(_), ..) => Some(WATCH_INTERVAL_SECONDS),
        (_, Some(seconds), _) => Some(seconds),
        // In a file only the last table is needed. `--for` prints that table.
        (_, None, Some(_)) if !terminal => None,
        _ => Some(1.0),
    };
    if let Some(every) = every {
        plan += &format!("every({every:?}, || show.call());\n");
    }
    if let Some(seconds) = arguments.seconds {
        plan += &format!(
            "after({seconds:?}, || {{ show.call(); h.detach(); print(\"\\u0004\"); }});\n"
        );
    }
    plan
}

/// The form in which a plan prints its results.
enum Show<'a> {
    Table(&'static str),
    /// One line for each stack frame.
    Stacks,
    Bars,
    Stream(&'a [String]),
}

/// Returns plan code that prints the rows of `last(…)` that were not printed before. Unless the
/// output is JSON, the code also prints how many rows were lost in between.
fn stream(names: &[String], json: bool) -> String {
    let print = if json {
        "print(row.to_json());".to_string()
    } else {
        let values = names.iter().enumerate().map(|(n, name)| {
            let name = name.replace('`', "'").replace("${", "$ {");
            format!("{name} = ${{row.values[{n}]}}")
        });
        let values = values.collect::<Vec<_>>().join(", ");
        format!("print(`${{row.time_ns / 1000000}} ms, thread ${{row.thread_id}}: {values}`);")
    };
    let lost = match json {
        true => "",
        false => "let lost = row.number - seen[0] - 1; if lost > 0 { print(`… ${lost} more`); }",
    };
    format!(
        "for row in t.rows() {{ if row.number > seen[0] {{ {lost} seen[0] = row.number; {print} }} }}"
    )
}

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
        plan(&question, &asked, false, question.arguments().json)
    }

    #[test]
    fn a_question_becomes_a_plan() {
        let plan = plan_of(&[
            "count",
            "1",
            "a.B::m(..)",
            "--by",
            "order.user",
            "--if",
            "n > 1",
        ]);
        assert!(plan.starts_with(
            "let t = tally(10000); let h = methods(\"a.B::m(..)\").before(|p| if p[\"n\"] > 1 { t.count(p[\"order\"][\"user\"]) });"
        ), "{plan}");
        let plan = plan_of(&[
            "count",
            "1",
            "a.B::m(..)",
            "--by",
            "stack(8)",
            "--rows",
            "5",
        ]);
        assert!(
            plan.contains("t.count(stack(8))") && plan.contains("print(t.stacks(5));"),
            "{plan}"
        );
        let plan = plan_of(&["time", "1", "a.B::m(..)", "--for", "2.5"]);
        assert!(
            plan.contains("methods(\"a.B::m(..)\").around(timer())"),
            "{plan}"
        );
        assert!(
            plan.contains("after(2.5, ") && !plan.contains("every("),
            "{plan}"
        );
        let plan = plan_of(&["hist", "1", "a.B::m(..)", "n", "--at", "line:7"]);
        assert!(
            plan.contains(".line(7).before(|p| t.add(p[\"n\"]))"),
            "{plan}"
        );
    }
}
