//! `veneer shell`: Rhai at a prompt, in a running JVM.
//!
//! ```text
//!   line (terminal) or standard input ─▶ input
//!      ├─ :command ─▶ command ─▶ help, status, detach, watch …
//!      └─ Rhai ─▶ conversation ─▶ agent: the prompt's variables and functions
//!                      │
//!   screen ◀───────────┘   values, errors, output of callbacks
//! ```
//!
//! **Invariant:** What was attached at the prompt is detached when the shell ends, even if the
//! shell is killed, unless `:keep` was entered. The agent detaches it when it sees the connection
//! close.

mod brackets;
mod command;
mod complete;
mod conversation;
mod history;
mod interrupt;
mod line;
mod names;
mod screen;
mod watch;

use std::collections::BTreeMap;
use std::io::{self, BufRead, IsTerminal};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use veneer_protocol::{DetachTarget, Reply, Status};
use veneer_scripts::{PROMPT_PLAN_NAME, help, nearest_name, overview};
use veneer_text::{ColumnFormat, TextTable, display_width};

use crate::cli::ShellArguments;
use crate::output::{Style, describe};
use crate::remote::RemoteAddress;
use crate::{exec, modules, plans, table};
use brackets::InputState;
use command::{COMMANDS, ShellCommand, intended_command, parse};
use complete::declared_variables;
use conversation::{InputOutcome, ShellConnection};
use line::{EditorInput, LineEditor};
use names::NameQueries;
use screen::Screen;

/// The state of a running shell.
struct Shell {
    conversation: ShellConnection,
    screen: Arc<Screen>,
    /// Line number of the next input. Errors of the agent use the same numbers.
    next: usize,
    terminal: bool,
}

/// The shell's next step after an input.
enum Next {
    /// Reads the next input. Contains the names that this input declared.
    Continue(Vec<String>),
    /// The input failed.
    Failed,
    /// The shell ends.
    End,
}

/// Runs the shell and returns its exit code.
pub fn run(arguments: ShellArguments) -> Result<u8> {
    let remote = RemoteAddress::from_arguments(
        arguments.pid,
        arguments.connect,
        arguments.token_file,
        arguments.cert,
    )?;
    let screen = Arc::new(Screen::new(arguments.json));
    let conversation = ShellConnection::open(remote.clone(), &screen)?;
    let mut shell = Shell {
        conversation,
        screen,
        next: 1,
        terminal: io::stdin().is_terminal() && io::stdout().is_terminal(),
    };
    if shell.terminal {
        shell.at_terminal(&remote)
    } else {
        shell.without_terminal()
    }
}

impl Shell {
    fn at_terminal(&mut self, remote: &RemoteAddress) -> Result<u8> {
        interrupt::install().context("Ctrl-C cannot be watched for")?;
        let mut line = LineEditor::open(NameQueries::start(remote.clone())?, &self.screen)?;
        self.screen
            .show_message("Rhai at a prompt; :help shows what can be typed, Ctrl-D leaves.");
        loop {
            let input = match line.read(&format!("{}> ", self.next))? {
                EditorInput::Input(input) => input,
                EditorInput::Nothing if self.screen.is_disconnected() => return Ok(0),
                EditorInput::Nothing => continue,
                EditorInput::End => return Ok(0),
            };
            if self.screen.is_disconnected() {
                return Ok(0);
            }
            if input.trim().is_empty() {
                continue;
            }
            line.add_history(&input);
            match self.evaluate(&input)? {
                Next::Continue(names) => line.add_names(names),
                Next::Failed => {}
                Next::End => return Ok(0),
            }
        }
    }

    /// Reads inputs from standard input, without a prompt. Results are written immediately.
    fn without_terminal(&mut self) -> Result<u8> {
        let mut code = 0;
        let mut input = String::new();
        for line in io::stdin().lock().lines() {
            let line = line.context("the input is no UTF-8 text")?;
            if !input.is_empty() {
                input.push('\n');
            }
            input.push_str(&line);
            let is_command = input.starts_with(':');
            if !is_command && InputState::scan(&input).is_open(&input) {
                continue;
            }
            match self.evaluate_next(&mut input)? {
                Next::Continue(_) => {}
                Next::Failed => code = exec::EXIT_PROGRAM_FAILED,
                Next::End => return Ok(code),
            }
        }
        // An input that is still incomplete at the end of the file is an error. The agent reports
        // it.
        if matches!(self.evaluate_next(&mut input)?, Next::Failed) {
            code = exec::EXIT_PROGRAM_FAILED;
        }
        Ok(code)
    }

    fn evaluate_next(&mut self, input: &mut String) -> Result<Next> {
        let input = std::mem::take(input);
        if input.trim().is_empty() {
            return Ok(Next::Continue(Vec::new()));
        }
        let next = self.evaluate(&input)?;
        if matches!(next, Next::End) && self.screen.is_disconnected() {
            anyhow::bail!("some input was not run, because the connection to the JVM was lost");
        }
        Ok(next)
    }

    /// Evaluates an input: a command or Rhai.
    fn evaluate(&mut self, input: &str) -> Result<Next> {
        if !input.starts_with(':') {
            return match modules::read(Path::new(""), PROMPT_PLAN_NAME, input) {
                Ok(modules) => {
                    let next = self.run(None, input, modules)?;
                    if matches!(next, Next::Failed)
                        && let Some(command) = intended_command(input)
                    {
                        let hint = format!("commands begin with a colon: {command}");
                        self.screen.hint(&hint);
                    }
                    Ok(next)
                }
                Err(error) => {
                    self.screen.failed(error.to_string());
                    Ok(Next::Failed)
                }
            };
        }
        let done = match parse(input) {
            Ok(command) => self.command(command),
            Err(message) => Err(anyhow::anyhow!(message)),
        };
        match done {
            Ok(next) => Ok(next),
            Err(error) if self.screen.is_disconnected() => Err(error),
            Err(error) => {
                self.screen.failed(describe(&error));
                Ok(Next::Failed)
            }
        }
    }

    /// Runs Rhai code in the JVM.
    fn run(
        &mut self,
        file: Option<&str>,
        source: &str,
        modules: BTreeMap<String, String>,
    ) -> Result<Next> {
        let outcome = self.conversation.input(file, source, modules, None)?;
        if let InputOutcome::Done(_) = outcome {
            self.next += source.lines().count().max(1);
        }
        Ok(match self.show(outcome) {
            Next::Continue(_) => Next::Continue(declared_variables(source)),
            other => other,
        })
    }

    fn show(&self, outcome: InputOutcome) -> Next {
        match outcome {
            InputOutcome::Done(value) => {
                self.screen.value(value);
                Next::Continue(Vec::new())
            }
            InputOutcome::Failed(message) => {
                self.screen.failed(message);
                Next::Failed
            }
            InputOutcome::ConnectionLost | InputOutcome::Abandoned => Next::End,
        }
    }

    fn command(&mut self, command: ShellCommand) -> Result<Next> {
        match command {
            ShellCommand::Help(None) => self.screen.show_message(&guide()),
            ShellCommand::Help(Some(function)) => match help(&function) {
                Some(text) => self.screen.show_message(&text),
                None => anyhow::bail!(
                    "there is no function {function}{}",
                    nearest_name(&function)
                        .map_or(String::new(), |name| format!("; did you mean {name}?"))
                ),
            },
            ShellCommand::Instruments => {
                let status = self.conversation.status()?;
                let table = attached(&status)?;
                self.screen.answer(&Reply::Status(Box::new(status)), &table);
            }
            ShellCommand::Detach(ids) => {
                let which = match ids.is_empty() {
                    true => DetachTarget::All,
                    false => DetachTarget::Ids(ids),
                };
                let detached = self.conversation.detach(which)?;
                let text = match detached.taken.as_slice() {
                    [] => "nothing was taken off".to_owned(),
                    taken => format!("taken off: {}", taken.join(", ")),
                };
                self.screen
                    .answer(&Reply::Detached(Box::new(detached)), &text);
            }
            ShellCommand::Watch(expression) => {
                anyhow::ensure!(
                    self.terminal,
                    ":watch needs a terminal, to draw on and for the key that ends it"
                );
                self.screen.pause();
                let watched = watch::run(&self.conversation, &expression);
                self.screen.release();
                return Ok(self.show(watched?));
            }
            ShellCommand::Load(file) => {
                let plan = plans::read(file.as_ref(), &Default::default())?;
                return self.run(Some(&plan.name), &plan.source, plan.modules);
            }
            ShellCommand::Keep => {
                self.conversation.keep()?;
                self.screen
                    .show_message("what is attached here stays when the shell ends");
            }
            ShellCommand::Quit => return Ok(Next::End),
        }
        Ok(Next::Continue(Vec::new()))
    }
}

/// The text of `:help`.
fn guide() -> String {
    let mut text = String::from(
        "Inputs are Rhai. Declarations are kept for later inputs; what is attached is detached when the shell ends.\n\n",
    );
    let mut commands = TextTable::new(&[("", ColumnFormat::Left), ("", ColumnFormat::Left)]);
    for command in &COMMANDS {
        commands.push_row([command.usage, command.text]);
    }
    for line in commands.render(None).rows {
        text.push_str(&format!("  {line}\n"));
    }
    text.push_str("\nFunctions (:help FUNCTION explains one of them):\n\n");
    for line in overview().lines() {
        text.push_str(&wrapped(line));
    }
    text
}

/// Breaks a line into lines of at most 78 columns, indented.
fn wrapped(line: &str) -> String {
    const WIDTH: usize = 78;
    let mut out = String::from("  ");
    let mut column = 2;
    for word in line.split(' ') {
        let width = display_width(word);
        if column + width + 1 > WIDTH {
            out.truncate(out.trim_end().len());
            out.push_str("\n    ");
            column = 4;
        }
        out.push_str(word);
        out.push(' ');
        column += width + 1;
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// Formats what is attached in the JVM as a table.
fn attached(status: &Status) -> Result<String> {
    let mut rows: Vec<[String; 7]> = Vec::new();
    for load in &status.loads {
        let row = |id: &str, name: String, kind: String, methods: u64, points: String| {
            [
                id.to_owned(),
                name,
                kind,
                methods.to_string(),
                points,
                load.plan.clone(),
                load.owner.clone(),
            ]
        };
        rows.extend(load.instruments.iter().map(|i| {
            let kind = format!("{:?}", i.kind).to_lowercase();
            row(&i.id, i.name.clone(), kind, i.methods, i.points.to_string())
        }));
        rows.extend(load.patches.iter().map(|p| {
            row(
                &p.id,
                p.patterns.join(" "),
                "edit".into(),
                p.methods,
                String::new(),
            )
        }));
    }
    if rows.is_empty() {
        return Ok("nothing is attached".into());
    }
    let mut out = Vec::new();
    let titles = ["id", "name", "kind", "methods", "points", "plan", "owner"];
    table::write(&mut out, titles, &rows, Style::of_stdout())?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}
