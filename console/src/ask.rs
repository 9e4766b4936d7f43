//! `veneer count`, `time`, `watch`, `hist`: questions in one line, each a plan that this command writes and holds.
//!
//! ```text
//!   veneer watch 4711 'shop.Desk::serve(..)' order.total --if 'order.total > 900'
//!        │
//!        ▼
//!   let t = last(1000); methods("shop.Desk::serve(..)").before(|p| if p["order"]["total"] > 900 { t.put(…) })   every(…, || print(…))
//! ```
//!
//! What it attaches is taken off when the command ends, however that comes about: the agent sees the connection close.

pub mod expression;
mod merged;
mod words;

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use anyhow::{Result, bail};
use serde_json::{Value, json};
use veneer_client::{Client, ControlError};
use veneer_protocol::{Reply, Request};

use crate::cli::Question;
use crate::exec;
use crate::output::{Style, complain};
use expression::of_point;
use words::Asked;

/// The JVM takes off what it has not heard of for so many milliseconds.
const LEASE: u64 = 10_000;
/// Combinations of keys.
const ENTRIES: u32 = 10_000;
/// A print that says that there is no more to come. No program prints it by itself.
const END: &str = "\u{4}";
/// Seconds between two looks at watched values.
const LOOK: f64 = 0.2;

/// Asks, and shows the answers until there are no more, or the JVMs end.
pub fn run(question: Question) -> Result<u8> {
    let asked = Asked::of(&question)?;
    let arguments = question.arguments();
    let several = asked.pids.len() > 1;
    if arguments.merge && matches!(question, Question::Watch(_)) {
        bail!("values are shown as they come, each with its process; leave --merge away");
    }
    // What is to be merged must be rows, and these are shown as they are where there is one JVM only.
    let merges = arguments.merge && several;
    let terminal = io::stdout().is_terminal() && !arguments.json && !several;
    let source = plan(&question, &asked, terminal, arguments.json || merges);
    let mut clients = Vec::new();
    for pid in &asked.pids {
        clients.push((*pid, ask(*pid, &question, &source)?));
    }
    let redraws = terminal && !matches!(question, Question::Watch(_));
    let how = match (several, merges) {
        (false, _) => How::Alone { redraws, drawn: 0 },
        (true, false) => How::Beside,
        (true, true) => How::Merged {
            last: BTreeMap::new(),
            json: arguments.json,
            rows: arguments.rows as usize,
        },
    };
    listen(clients, how, arguments.json)
}

/// Sends the plan to a JVM, which holds it as long as this command runs.
fn ask(pid: u32, question: &Question, source: &str) -> Result<Client> {
    let mut client = veneer_client::connect(pid)?;
    client.send(&Request::Exec {
        name: question.name().into(),
        source: source.into(),
        settings: Default::default(),
        modules: Default::default(),
        hold: Some(LEASE),
    })?;
    client.keep_renewing(Duration::from_millis(LEASE / 4))?;
    Ok(client)
}

/// How answers are shown.
enum How {
    /// Of one JVM; a table takes the place of the one before.
    Alone { redraws: bool, drawn: usize },
    /// Each with its process.
    Beside,
    /// As one table; the rows that each JVM gave last.
    Merged {
        last: BTreeMap<u32, Vec<Value>>,
        json: bool,
        rows: usize,
    },
}

/// What a JVM's thread tells.
enum Said {
    Text(String),
    Failed(String),
    /// It has said all.
    End,
    Error(ControlError),
}

fn listen(clients: Vec<(u32, Client)>, mut how: How, json: bool) -> Result<u8> {
    let mut left = clients.len();
    let (tell, told) = channel();
    for (pid, client) in clients {
        let tell = tell.clone();
        thread::Builder::new()
            .name(format!("jvm-{pid}"))
            .spawn(move || hear(client, &|said| tell.send((pid, said)).is_ok()))?;
    }
    drop(tell);
    let mut code = 0;
    let mut stdout = io::stdout().lock();
    for (pid, said) in told {
        match said {
            Said::Text(text) => show(&mut stdout, &mut how, pid, text, json)?,
            Said::Failed(message) => {
                complain(&message);
                code = exec::PROGRAM_FAILED;
                left -= 1;
            }
            Said::End => left -= 1,
            // The others are heard to their end.
            Said::Error(error) if left > 1 => {
                complain(&error);
                code = 2;
                left -= 1;
            }
            Said::Error(error) => return Err(error.into()),
        }
        stdout.flush()?;
        if left == 0 {
            break;
        }
    }
    Ok(code)
}

/// Reads what a JVM says, to its end.
fn hear(mut client: Client, tell: &dyn Fn(Said) -> bool) {
    let mut held = false;
    loop {
        let said = match client.receive() {
            // The JVM has ended.
            Err(ControlError::Closed(_)) if held => Said::End,
            Err(error) => Said::Error(error),
            Ok(Reply::Print(text)) if text == END => Said::End,
            Ok(Reply::Print(text)) => Said::Text(text),
            Ok(Reply::Done { .. }) => {
                held = true;
                continue;
            }
            Ok(Reply::Failed { message }) => Said::Failed(message),
            Ok(_) => Said::Error(ControlError::Unexpected(client.pid())),
        };
        let last = !matches!(said, Said::Text(_));
        if !tell(said) || last {
            return;
        }
    }
}

fn show(to: &mut impl Write, how: &mut How, pid: u32, text: String, json: bool) -> Result<()> {
    match how {
        // Not the answer: something that the agent says of it.
        _ if json && serde_json::from_str::<Value>(&text).is_err() => complain(&text),
        How::Merged { .. } if !text.starts_with('{') => complain(&text),
        How::Alone { redraws, drawn } => {
            if *redraws && *drawn > 0 {
                write!(to, "\x1b[{drawn}A\x1b[J")?;
            }
            *drawn = text.lines().count();
            writeln!(to, "{text}")?;
        }
        How::Beside if json => {
            let mut object: Value = serde_json::from_str(&text)?;
            if let Value::Object(members) = &mut object {
                members.insert("pid".into(), pid.into());
            }
            writeln!(to, "{object}")?;
        }
        How::Beside if text.contains('\n') => writeln!(to, "process {pid}:\n{text}")?,
        How::Beside => writeln!(to, "process {pid}: {text}")?,
        How::Merged { last, json, rows } => {
            let object: Value = serde_json::from_str(&text)?;
            let list = object["rows"].as_array().cloned().unwrap_or_default();
            last.insert(pid, list);
            let lists: Vec<&Vec<Value>> = last.values().collect();
            let all = merged::merge(&lists);
            match json {
                true => writeln!(to, "{}", json!({"jvms": last.len(), "rows": all}))?,
                false => {
                    writeln!(to, "{} processes:", last.len())?;
                    merged::write(to, &all, *rows, Style::of_stdout())?;
                }
            }
        }
    }
    Ok(())
}

/// A text in a plan.
pub fn literal(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('\n', "\\n"))
}

/// The plan that answers.
fn plan(question: &Question, asked: &Asked, terminal: bool, json: bool) -> String {
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
        Some(only) => format!("if {} {{ {give} }}", of_point(only)),
        None => give,
    };
    let code = |give: String| format!("let h = {points}.before(|p| {});", guarded(give));
    let keys = |more: &[String]| {
        let all = arguments.by.iter().chain(more);
        all.map(|e| of_point(e)).collect::<Vec<_>>().join(", ")
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
            (format!("let t = tally({ENTRIES}); {attach}"), show)
        }
        Question::Hist(_) => {
            let attach = code(format!("t.add({})", keys(&asked.values)));
            let attach = format!("let t = histogram(100); {attach}");
            (attach, Show::Bars)
        }
        Question::Watch(_) => {
            let values = asked.values.iter().map(|e| of_point(e));
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
        (Show::Stream(_), ..) => Some(LOOK),
        (_, Some(seconds), _) => Some(seconds),
        // Into a file, the last table is enough, if there is one.
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

/// How the figures are shown.
enum Show<'a> {
    Table(&'static str),
    /// A line for each frame.
    Stacks,
    Bars,
    Stream(&'a [String]),
}

/// Prints each combination of values that was not seen yet.
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
        let asked = Asked::of(&question).unwrap();
        plan(&question, &asked, false, question.arguments().json)
    }

    #[test]
    fn a_question_is_a_plan() {
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
