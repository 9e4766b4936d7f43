//! The answers of one or several JVMs to a question, and how they are printed.
//!
//! A plan prints tables or JSON, which go to standard output, and texts for this command, which begin
//! with [`CONTROL`]. The agent adds warnings, which go to standard error, each once.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::sync::mpsc::channel;
use std::thread;

use anyhow::Result;
use serde_json::{Value, json};
use veneer_client::{Client, ControlError};
use veneer_instruments::table::format_count;
use veneer_protocol::{Reply, Request};

use super::args::{DEFAULT_ROWS, ParsedQuestion};
use super::attachment::{Attachment, ControlText};
use super::written_plan::{CONTROL, WrittenPlan};
use super::{call_times, merge, plan_error, watched_value};
use crate::cli::{PointArguments, Question};
use crate::exec::EXIT_PROGRAM_FAILED;
use crate::exit_code::EXIT_REFUSED;
use crate::output::{Style, print_error, print_note};

/// A part of the agent's warning about calls that its instruments do not see.
const RUNNING_BEFORE: &str = " began before the class was armed";

/// How the answers are printed.
enum OutputMode {
    /// One JVM. If `redraws` is set, each table replaces the previous table of `drawn` lines.
    Single { redraws: bool, drawn: usize },
    /// Several JVMs; each answer is preceded by its process id.
    PerProcess,
    /// Several JVMs, merged into one table. `last` holds the latest rows of each JVM.
    Merged { last: BTreeMap<u32, Vec<Value>> },
}

/// A message from the thread that reads the answers of one JVM.
enum JvmMessage {
    Text(String),
    Control(String),
    /// The plan has attached its instruments.
    Started,
    Failed(String),
    /// The plan or its JVM has ended.
    End,
    Error(ControlError),
}

/// Prints the answers. See the module documentation.
pub struct Answers {
    /// The name of the plan: that of the command.
    name: &'static str,
    plan: WrittenPlan,
    mode: OutputMode,
    json: bool,
    rows: usize,
    /// Whether the question names points inside methods.
    has_points: bool,
    /// The calls for which the question asks, as a pattern.
    callee: Option<String>,
    is_watch: bool,
    /// The expressions of `watch` as the user typed them.
    values: Vec<String>,
    pattern: String,
    /// The warnings that were printed.
    warned: BTreeSet<String>,
    /// The calls that were running when the question was attached, until they are printed.
    running_before: Vec<String>,
    /// The last report of each JVM.
    attached: BTreeMap<u32, Attachment>,
}

impl Answers {
    /// `terminal`: whether standard output is a terminal on which tables replace each other.
    pub fn new(
        question: &Question,
        asked: &ParsedQuestion,
        plan: WrittenPlan,
        terminal: bool,
    ) -> Answers {
        let arguments = question.arguments();
        let is_watch = matches!(question, Question::Watch(_));
        let several = asked.pids.len() > 1;
        let mode = match (several, arguments.merge) {
            (false, _) => OutputMode::Single {
                redraws: terminal && !is_watch,
                drawn: 0,
            },
            (true, false) => OutputMode::PerProcess,
            (true, true) => OutputMode::Merged {
                last: BTreeMap::new(),
            },
        };
        Answers {
            name: question.name(),
            plan,
            mode,
            json: arguments.json,
            rows: arguments.rows.unwrap_or(DEFAULT_ROWS) as usize,
            has_points: arguments.at.is_some(),
            callee: arguments.at.as_ref().and_then(PointArguments::callee),
            is_watch,
            values: asked.values.clone(),
            pattern: asked.pattern.clone(),
            warned: BTreeSet::new(),
            running_before: Vec::new(),
            attached: BTreeMap::new(),
        }
    }

    /// Prints the answers until all plans have ended. Returns the exit code.
    pub fn print(mut self, clients: Vec<(u32, Client)>) -> Result<u8> {
        let mut running = clients.len();
        let (sender, messages) = channel();
        for (pid, client) in clients {
            let sender = sender.clone();
            let send = move |message| sender.send((pid, message)).is_ok();
            thread::Builder::new()
                .name(format!("jvm-{pid}"))
                .spawn(move || read_answers(client, &send))?;
        }
        drop(sender);
        let mut code = 0;
        let mut stdout = io::stdout().lock();
        for (pid, message) in messages {
            match message {
                JvmMessage::Text(text) => self.text(&mut stdout, pid, text)?,
                JvmMessage::Control(text) => self.control(&mut stdout, pid, &text)?,
                JvmMessage::Started => self.print_running_before(),
                JvmMessage::Failed(message) => {
                    print_error(&plan_error::explain(&message, self.name, &self.plan));
                    code = EXIT_PROGRAM_FAILED;
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
        Ok(if code == 0 { self.match_code() } else { code })
    }

    /// The exit code of a question whose plans have ended: whether there was anything to measure.
    fn match_code(&self) -> u8 {
        let has_points = self.attached.values().any(|attached| attached.points > 0);
        if self.attached.is_empty() || has_points {
            return 0;
        }
        if self.attached.values().all(|attached| attached.matched == 0) {
            print_error(&format!("no loaded method matches `{}`", self.pattern));
        } else if let Some(hint) = self.callee.as_deref().and_then(callee_hint) {
            print_note(&hint);
        }
        EXIT_REFUSED
    }

    /// Handles a text of the plan for this command.
    fn control(&mut self, to: &mut impl Write, pid: u32, text: &str) -> Result<()> {
        match ControlText::read(text) {
            Some(ControlText::Attached(attached)) => self.attachment(pid, attached),
            Some(ControlText::Lost(count)) => {
                let count = format_count(count);
                self.print_table(to, pid, &format!("… {count} more"))?;
            }
            None => {}
        }
        Ok(())
    }

    /// Prints the first report of each JVM, and a later one if more methods match by then.
    fn attachment(&mut self, pid: u32, attached: Attachment) {
        let before = self.attached.insert(pid, attached);
        if before != Some(attached) {
            let process = match self.mode {
                OutputMode::Single { .. } => String::new(),
                _ => format!("process {pid}: "),
            };
            print_note(&format!("{process}{}", attached.describe(self.has_points)));
        }
    }

    /// Prints a warning of the agent, unless it was printed before. Calls that began before the
    /// question are collected, because there can be one warning for each method.
    fn warn(&mut self, warning: &str) {
        if let Some((calls, _)) = warning.split_once(RUNNING_BEFORE) {
            let calls = calls.to_owned();
            if !self.running_before.contains(&calls) && self.warned.insert(calls.clone()) {
                self.running_before.push(calls);
            }
        } else if self.warned.insert(warning.to_owned()) {
            print_error(&format!("warning: {warning}"));
        }
    }

    fn print_running_before(&mut self) {
        let calls = std::mem::take(&mut self.running_before);
        if let Some(line) = running_line(&calls) {
            print_note(&line);
        }
    }

    fn text(&mut self, to: &mut impl Write, pid: u32, text: String) -> Result<()> {
        if let Some(warning) = plan_error::warning(&text, self.name) {
            self.warn(warning);
            return Ok(());
        }
        let prints_json = self.json || matches!(self.mode, OutputMode::Merged { .. });
        let mut object = None;
        if prints_json || self.plan.prints_calls || self.plan.prints_values {
            // Text that is not JSON is no answer of the plan, but a message of the agent about the
            // plan.
            let Ok(value) = serde_json::from_str::<Value>(&text) else {
                print_error(&plan_error::explain(&text, self.name, &self.plan));
                return Ok(());
            };
            object = Some(match self.plan.prints_calls {
                true if prints_json => json!({"rows": call_times::rows(&value)}),
                true => json!({"rows": call_times::rows(&value), "methods": value["methods"]}),
                false => value,
            });
        }
        match (&mut self.mode, object) {
            (OutputMode::Merged { last }, Some(object)) => {
                let list = object["rows"].as_array().cloned().unwrap_or_default();
                last.insert(pid, list);
                self.print_merged(to)
            }
            (OutputMode::PerProcess, Some(mut object)) if self.json => {
                if let Value::Object(members) = &mut object {
                    members.insert("pid".into(), pid.into());
                }
                Ok(writeln!(to, "{object}")?)
            }
            (_, Some(object)) if self.json => Ok(writeln!(to, "{object}")?),
            (_, object) => {
                let text = match object {
                    Some(row) if self.plan.prints_values => {
                        watched_value::line(&row, &self.values).unwrap_or(text)
                    }
                    Some(object) => {
                        let rows = object["rows"].as_array().cloned().unwrap_or_default();
                        let all = object["methods"].as_u64().unwrap_or(0) as usize;
                        call_times::render(&rows, all, self.rows, Style::of_stdout())
                    }
                    None => text,
                };
                self.print_table(to, pid, &text)
            }
        }
    }

    fn print_merged(&self, to: &mut impl Write) -> Result<()> {
        let OutputMode::Merged { last } = &self.mode else {
            return Ok(());
        };
        let lists: Vec<&Vec<Value>> = last.values().collect();
        let all = merge::merge_rows(&lists);
        if self.json {
            writeln!(to, "{}", json!({"jvms": last.len(), "rows": all}))?;
            return Ok(());
        }
        writeln!(to, "{} processes:", last.len())?;
        match self.plan.prints_calls {
            true => writeln!(
                to,
                "{}",
                call_times::render(&all, 0, self.rows, Style::of_stdout())
            )?,
            false => merge::write(to, &all, self.rows, Style::of_stdout())?,
        }
        Ok(())
    }

    fn print_table(&mut self, to: &mut impl Write, pid: u32, text: &str) -> Result<()> {
        match &mut self.mode {
            OutputMode::Single { redraws, drawn } => {
                if *redraws && *drawn > 0 {
                    write!(to, "\x1b[{drawn}A\x1b[J")?;
                }
                *drawn = text.lines().count();
                writeln!(to, "{text}")?;
            }
            _ if text.contains('\n') && !self.is_watch => writeln!(to, "process {pid}:\n{text}")?,
            _ => writeln!(to, "process {pid}: {text}")?,
        }
        Ok(())
    }
}

/// The hint for a question that has found no call of a method. `None` if its pattern names no class.
fn callee_hint(callee: &str) -> Option<String> {
    let (class, method) = callee.rsplit_once("::")?;
    (class != "*..*").then(|| {
        format!(
            "a call is found by the declared type of its object, which may be an interface or another \
             supertype of {class}: try --at 'calls:*..*::{method}'"
        )
    })
}

/// One line about the calls that the agent found running, each as `2 activations of a.B::m`. `None` if
/// there are none.
fn running_line(calls: &[String]) -> Option<String> {
    /// The number of methods that the line names.
    const NAMED: usize = 3;
    let method = |call: &String| {
        call.split_once(" of ")
            .map_or(call.clone(), |(_, m)| m.to_owned())
    };
    let count = |call: &String| call.split(' ').next()?.parse::<u64>().ok();
    let total: u64 = calls.iter().filter_map(count).sum();
    let named: Vec<String> = calls.iter().take(NAMED).map(method).collect();
    let more = if calls.len() > NAMED { ", …" } else { "" };
    let (was, is) = match total {
        0 => return None,
        1 => ("call was", "is"),
        _ => ("calls were", "are"),
    };
    Some(format!(
        "{total} {was} already running and {is} not measured: {}{more}",
        named.join(", ")
    ))
}

/// Reads the answers of a JVM until the plan fails or ends, the connection closes, or `send` fails.
fn read_answers(mut client: Client, send: &dyn Fn(JvmMessage) -> bool) {
    let mut held = false;
    loop {
        let message = match client.receive() {
            // The JVM has ended.
            Err(ControlError::Closed(_)) if held => JvmMessage::End,
            Err(error) => JvmMessage::Error(error),
            Ok(Reply::Print(text)) => match text.strip_prefix(CONTROL) {
                Some("") => {
                    end_plan(&mut client);
                    JvmMessage::End
                }
                Some(control) => JvmMessage::Control(control.to_owned()),
                None => JvmMessage::Text(text),
            },
            Ok(Reply::Done { .. }) => {
                held = true;
                JvmMessage::Started
            }
            Ok(Reply::Failed { message }) => JvmMessage::Failed(message),
            Ok(_) => JvmMessage::Error(ControlError::Unexpected(client.pid())),
        };
        let continues = matches!(
            message,
            JvmMessage::Text(_) | JvmMessage::Control(_) | JvmMessage::Started
        );
        if !send(message) || !continues {
            return;
        }
    }
}

/// Ends a plan that has answered, and waits until the agent has detached everything. If the JVM ends
/// meanwhile, nothing is left either.
fn end_plan(client: &mut Client) {
    if client.send(&Request::End {}).is_err() {
        return;
    }
    while let Ok(Reply::Print(_)) = client.receive() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_a_class_may_be_calls_of_its_interface() {
        let hint = callee_hint("java.util.ArrayList::add(..)").unwrap();
        assert!(
            hint.ends_with("java.util.ArrayList: try --at 'calls:*..*::add(..)'"),
            "{hint}"
        );
        assert_eq!(callee_hint("*..*::add(..)"), None);
        assert_eq!(callee_hint("add"), None);
    }

    #[test]
    fn calls_that_were_running_are_named_in_one_line() {
        let calls = |all: &[&str]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(running_line(&[]), None);
        assert_eq!(
            running_line(&calls(&["1 activation of a.B::main"])).unwrap(),
            "1 call was already running and is not measured: a.B::main"
        );
        let many = calls(&[
            "2 activations of A::a",
            "1 activation of B::b",
            "1 activation of C::c",
            "1 activation of D::d",
        ]);
        assert_eq!(
            running_line(&many).unwrap(),
            "5 calls were already running and are not measured: A::a, B::b, C::c, …"
        );
    }
}
