//! `veneer shell`: Rhai at a prompt, in a running JVM.
//!
//! ```text
//!   line (terminal) or standard input ─▶ input ─┬─ :command ─▶ command ─▶ help, status, detach, watch …
//!                                               └─ Rhai ─▶ conversation ─▶ agent: the prompt's variables and functions
//!                                                              │
//!   screen ◀── values, errors, what callbacks print ◀──────────┘
//! ```
//!
//! **Invariant:** what was attached here is taken off when the shell ends, however that comes about, unless `:keep` was said: the
//! agent sees the connection close.

mod balance;
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
use veneer_protocol::{Reply, Status, Which};
use veneer_scripts::{TYPED, help, nearest, overview};

use crate::cli::ShellArguments;
use crate::output::{Style, describe};
use crate::peer::Peer;
use crate::{exec, modules, plans, table};
use balance::State;
use command::{COMMANDS, Command, parse};
use complete::declared;
use conversation::{Conversation, Outcome};
use line::{Line, Typed};
use names::Names;
use screen::Screen;

/// A shell at work.
struct Shell {
    conversation: Conversation,
    screen: Arc<Screen>,
    /// The number of the line that comes next, as errors count them.
    next: usize,
    terminal: bool,
}

/// What comes after an input.
enum Next {
    /// The next one; names that were declared.
    Goes(Vec<String>),
    /// It failed.
    Failed,
    /// No other one.
    Ends,
}

/// Runs the shell and gives its exit code.
pub fn run(arguments: ShellArguments) -> Result<u8> {
    let peer = Peer::of(
        arguments.pid,
        arguments.connect,
        arguments.token_file,
        arguments.cert,
    )?;
    let screen = Arc::new(Screen::new(arguments.json));
    let conversation = Conversation::open(peer.clone(), &screen)?;
    let mut shell = Shell {
        conversation,
        screen,
        next: 1,
        terminal: io::stdin().is_terminal() && io::stdout().is_terminal(),
    };
    if shell.terminal {
        shell.at_terminal(&peer)
    } else {
        shell.without_terminal()
    }
}

impl Shell {
    fn at_terminal(&mut self, peer: &Peer) -> Result<u8> {
        interrupt::install().context("Ctrl-C cannot be watched for")?;
        let mut line = Line::open(Names::of(peer.clone())?, &self.screen)?;
        self.screen
            .say("Rhai at a prompt; :help shows what can be typed, Ctrl-D leaves.");
        loop {
            let input = match line.read(&format!("{}> ", self.next))? {
                Typed::Input(input) => input,
                Typed::Nothing if self.screen.is_gone() => return Ok(0),
                Typed::Nothing => continue,
                Typed::End => return Ok(0),
            };
            if self.screen.is_gone() {
                return Ok(0);
            }
            if input.trim().is_empty() {
                continue;
            }
            line.remember(&input);
            match self.take(&input)? {
                Next::Goes(names) => line.knows(names),
                Next::Failed => {}
                Next::Ends => return Ok(0),
            }
        }
    }

    /// Inputs from where nobody types; their results go out as they come.
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
            if !is_command && State::of(&input).is_open(&input) {
                continue;
            }
            match self.take_next(&mut input)? {
                Next::Goes(_) => {}
                Next::Failed => code = exec::PROGRAM_FAILED,
                Next::Ends => return Ok(code),
            }
        }
        // What is open still is an error, which the agent explains.
        if matches!(self.take_next(&mut input)?, Next::Failed) {
            code = exec::PROGRAM_FAILED;
        }
        Ok(code)
    }

    fn take_next(&mut self, input: &mut String) -> Result<Next> {
        let input = std::mem::take(input);
        if input.trim().is_empty() {
            return Ok(Next::Goes(Vec::new()));
        }
        let next = self.take(&input)?;
        if matches!(next, Next::Ends) && self.screen.is_gone() {
            anyhow::bail!("input is left that could not be run");
        }
        Ok(next)
    }

    /// Does what an input says.
    fn take(&mut self, input: &str) -> Result<Next> {
        if !input.starts_with(':') {
            return match modules::read(Path::new(""), TYPED, input) {
                Ok(modules) => self.run(None, input, modules),
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
            Err(error) if self.screen.is_gone() => Err(error),
            Err(error) => {
                self.screen.failed(describe(&error));
                Ok(Next::Failed)
            }
        }
    }

    /// Has the JVM run a text.
    fn run(
        &mut self,
        file: Option<&str>,
        source: &str,
        modules: BTreeMap<String, String>,
    ) -> Result<Next> {
        let outcome = self.conversation.input(file, source, modules, None)?;
        if let Outcome::Done(_) = outcome {
            self.next += source.lines().count().max(1);
        }
        Ok(match self.show(outcome) {
            Next::Goes(_) => Next::Goes(declared(source)),
            other => other,
        })
    }

    fn show(&self, outcome: Outcome) -> Next {
        match outcome {
            Outcome::Done(value) => {
                self.screen.value(value);
                Next::Goes(Vec::new())
            }
            Outcome::Failed(message) => {
                self.screen.failed(message);
                Next::Failed
            }
            Outcome::Gone | Outcome::Left => Next::Ends,
        }
    }

    fn command(&mut self, command: Command) -> Result<Next> {
        match command {
            Command::Help(None) => self.screen.say(&guide()),
            Command::Help(Some(function)) => match help(&function) {
                Some(text) => self.screen.say(&text),
                None => anyhow::bail!(
                    "there is no function {function}{}",
                    nearest(&function)
                        .map_or(String::new(), |name| format!("; did you mean {name}?"))
                ),
            },
            Command::Instruments => {
                let status = self.conversation.status()?;
                let table = attached(&status)?;
                self.screen.answer(&Reply::Status(Box::new(status)), &table);
            }
            Command::Detach(ids) => {
                let which = match ids.is_empty() {
                    true => Which::All,
                    false => Which::These(ids),
                };
                let detached = self.conversation.detach(which)?;
                let text = match detached.taken.as_slice() {
                    [] => "nothing was taken off".to_owned(),
                    taken => format!("taken off: {}", taken.join(", ")),
                };
                self.screen
                    .answer(&Reply::Detached(Box::new(detached)), &text);
            }
            Command::Watch(expression) => {
                anyhow::ensure!(
                    self.terminal,
                    ":watch needs a terminal, to draw on and for the key that ends it"
                );
                self.screen.hold();
                let watched = watch::run(&self.conversation, &expression);
                self.screen.release();
                return Ok(self.show(watched?));
            }
            Command::Load(file) => {
                let plan = plans::read(file.as_ref(), &Default::default())?;
                return self.run(Some(&plan.name), &plan.source, plan.modules);
            }
            Command::Keep => {
                self.conversation.keep()?;
                self.screen
                    .say("what is attached here stays when the shell ends");
            }
            Command::Quit => return Ok(Next::Ends),
        }
        Ok(Next::Goes(Vec::new()))
    }
}

/// What can be typed.
fn guide() -> String {
    let mut text = String::from(
        "An input is Rhai; what it declares stays for the next ones, and what it attaches as long as the shell.\n\n",
    );
    let width = COMMANDS.iter().map(|c| c.usage.len()).max().unwrap_or(0);
    for command in &COMMANDS {
        text.push_str(&format!("  {:width$}  {}\n", command.usage, command.text));
    }
    text.push_str("\nFunctions, of which :help FUNCTION says more:\n\n");
    for line in overview().lines() {
        text.push_str(&wrapped(line));
    }
    text
}

/// A list in lines of moderate length.
fn wrapped(line: &str) -> String {
    const WIDTH: usize = 78;
    let mut out = String::from("  ");
    let mut column = 2;
    for word in line.split(' ') {
        if column + word.len() + 1 > WIDTH {
            out.truncate(out.trim_end().len());
            out.push_str("\n    ");
            column = 4;
        }
        out.push_str(word);
        out.push(' ');
        column += word.len() + 1;
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// What is attached, as a table.
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
