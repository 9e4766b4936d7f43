//! The line editor at a terminal: history, completion, and input over several lines.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result};
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, ExternalPrinter, Helper};

use super::brackets::InputState;
use super::complete::{Candidate, Typing, typing};
use super::history;
use super::names::Names;
use super::screen::Screen;
use crate::output::complain;

/// Maximum number of inputs in the history.
const HISTORY_SIZE: usize = 1000;

pub struct Line {
    editor: Editor<Help, DefaultHistory>,
    /// `None` if the history cannot be stored.
    history: Option<PathBuf>,
}

/// The result of reading one input.
pub enum Typed {
    Input(String),
    /// Ctrl-C: the line was cancelled.
    Nothing,
    /// Ctrl-D: the shell must end.
    End,
}

impl Line {
    /// Sets up the terminal and makes the screen print above the line that is being typed.
    pub fn open(names: Names, screen: &Arc<Screen>) -> Result<Line> {
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .max_history_size(HISTORY_SIZE)
            .context("the history has no such size")?
            .history_ignore_space(true)
            .build();
        let mut editor = Editor::with_config(config).context("the terminal cannot be set up")?;
        editor.set_helper(Some(Help {
            names,
            files: FilenameCompleter::new(),
            variables: RefCell::default(),
        }));
        if let Ok(printer) = editor.create_external_printer() {
            let printer = Mutex::new(printer);
            screen.put_above(Box::new(move |text| {
                let mut printer = printer.lock().unwrap_or_else(PoisonError::into_inner);
                // A failure means that the terminal is gone. The shell notices that at its next
                // input.
                let _ = printer.print(text);
            }));
        }
        let mut line = Line {
            editor,
            history: history::path(),
        };
        if let Some(path) = line.history.clone()
            && path.exists()
            && let Err(error) = line.editor.load_history(&path)
        {
            line.disable_history(&error);
        }
        Ok(line)
    }

    fn disable_history(&mut self, error: &dyn std::fmt::Display) {
        if let Some(path) = self.history.take() {
            complain(&format!(
                "the history {} is not kept ({error}); set XDG_STATE_HOME to a directory that can be written to",
                path.display()
            ));
        }
    }

    /// Reads one input.
    pub fn read(&mut self, prompt: &str) -> Result<Typed> {
        match self.editor.readline(prompt) {
            Ok(input) => Ok(Typed::Input(input)),
            Err(ReadlineError::Interrupted) => Ok(Typed::Nothing),
            Err(ReadlineError::Eof) => Ok(Typed::End),
            Err(error) => Err(error).context("the terminal cannot be read"),
        }
    }

    /// Adds an input to the history, in memory and in the file.
    pub fn remember(&mut self, input: &str) {
        if !matches!(self.editor.add_history_entry(input), Ok(true)) {
            return;
        }
        let Some(path) = self.history.clone() else {
            return;
        };
        let kept = history::prepare(&path)
            .map_err(ReadlineError::from)
            .and_then(|()| self.editor.append_history(&path));
        if let Err(error) = kept {
            self.disable_history(&error);
        }
    }

    /// Adds names to the completions.
    pub fn add_names(&mut self, names: Vec<String>) {
        if let Some(help) = self.editor.helper() {
            let mut variables = help.variables.borrow_mut();
            variables.extend(names);
            variables.sort();
            variables.dedup();
        }
    }
}

/// The callbacks of the editor for completion and validation.
struct Help {
    names: Names,
    files: FilenameCompleter,
    variables: RefCell<Vec<String>>,
}

impl Helper for Help {}

impl Hinter for Help {
    type Hint = String;
}

impl Highlighter for Help {}

impl Validator for Help {
    fn validate(&self, context: &mut ValidationContext) -> rustyline::Result<ValidationResult> {
        let input = context.input();
        let is_open = !input.starts_with(':') && InputState::scan(input).is_open(input);
        Ok(match is_open {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

impl Completer for Help {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        cursor: usize,
        context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = line.get(..cursor).unwrap_or(line);
        let pair = |candidate: Candidate| Pair {
            display: candidate.shown,
            replacement: candidate.typed,
        };
        let variables = self.variables.borrow();
        Ok(match typing(before, &variables) {
            Typing::Pattern(text) => {
                let names = self.names.beginning(text).into_iter();
                let from = before.len() - text.len();
                (from, names.map(Candidate::from).map(pair).collect())
            }
            Typing::Path(_) => self.files.complete(line, cursor, context)?,
            Typing::Known(offer) => {
                let candidates = offer.candidates.into_iter().map(pair);
                (offer.from, candidates.collect())
            }
        })
    }
}
