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

mod expression;

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use anyhow::Result;
use veneer_protocol::{Reply, Request};

use crate::cli::Question;
use crate::exec;
use crate::output::complain;
use expression::of_point;
use veneer_client::{Client, ControlError};

/// The JVM takes off what it has not heard of for so many milliseconds.
const LEASE: u64 = 10_000;
/// Combinations of keys.
const ENTRIES: u32 = 10_000;
/// A print that says that there is no more to come. No program prints it by itself.
const END: &str = "\u{4}";
/// Seconds between two looks at watched values.
const LOOK: f64 = 0.2;

/// Asks, and shows the answers until there are no more, or the JVM ends.
pub fn run(question: Question) -> Result<u8> {
    let arguments = question.arguments();
    let terminal = io::stdout().is_terminal() && !arguments.json;
    let source = plan(&question, terminal);
    let mut client = veneer_client::connect(arguments.pid)?;
    client.send(&Request::Exec {
        name: question.name().into(),
        source,
        settings: Default::default(),
        hold: Some(LEASE),
    })?;
    client.keep_renewing(Duration::from_millis(LEASE / 4))?;
    let redraws = terminal && !matches!(question, Question::Watch(_));
    listen(&mut client, redraws)
}

fn listen(client: &mut Client, redraws: bool) -> Result<u8> {
    let mut stdout = io::stdout().lock();
    let mut drawn = 0;
    let mut held = false;
    loop {
        let reply = match client.receive() {
            // The JVM has ended.
            Err(ControlError::Closed(_)) if held => return Ok(0),
            reply => reply?,
        };
        match reply {
            Reply::Print(text) if text == END => return Ok(0),
            Reply::Print(text) => {
                if redraws && drawn > 0 {
                    write!(stdout, "\x1b[{drawn}A\x1b[J")?;
                }
                drawn = text.lines().count();
                writeln!(stdout, "{text}")?;
            }
            Reply::Done { .. } => held = true,
            Reply::Failed { message } => {
                complain(&message);
                return Ok(exec::PROGRAM_FAILED);
            }
            _ => return Err(ControlError::Unexpected(client.pid()).into()),
        }
        stdout.flush()?;
    }
}

/// A text in a plan.
pub fn literal(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('\n', "\\n"))
}

/// The plan that answers.
fn plan(question: &Question, terminal: bool) -> String {
    let arguments = question.arguments();
    let points = format!(
        "methods({}){}",
        literal(&arguments.pattern),
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
            (
                format!("let t = tally({ENTRIES}); {attach}"),
                Show::Table("t"),
            )
        }
        Question::Hist(a) => {
            let attach = code(format!("t.add({})", keys(std::slice::from_ref(&a.value))));
            let attach = format!("let t = histogram(100); {attach}");
            (attach, Show::Bars)
        }
        Question::Watch(a) => {
            let values = a.values.iter().map(|e| of_point(e));
            let values = values.collect::<Vec<_>>().join(", ");
            let attach = code(format!("t.put({values})"));
            (
                format!("let t = last(1000); {attach}"),
                Show::Stream(&a.values),
            )
        }
    };
    let shown = match (&show, arguments.json) {
        (Show::Table(of), false) => format!("print({of}.table({rows}));"),
        (Show::Table(of), true) => format!("print(#{{rows: {of}.rows()}}.to_json());"),
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
        plan(&question, false)
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
