//! The line editor at a terminal: history, completion, and input over several lines.

use parking_lot::Mutex;
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, ExternalPrinter, Helper};

use super::brackets::InputState;
use super::complete::{Completion, CompletionContext, completion_context};
use super::history;
use super::names::NameQueries;
use super::screen::Screen;
use crate::output::print_error;

/// Maximum number of inputs in the history.
const HISTORY_SIZE: usize = 1000;

pub struct LineEditor {
    editor: Editor<Help, DefaultHistory>,
    /// `None` if the history cannot be stored.
    history: Option<PathBuf>,
}

/// The result of reading one input.
pub enum EditorInput {
    Input(String),
    /// Ctrl-C: the line was cancelled.
    Nothing,
    /// Ctrl-D: the shell must end.
    End,
}

impl LineEditor {
    /// Sets up the terminal and makes the screen print above the line that is being typed.
    pub fn open(names: NameQueries, screen: &Arc<Screen>) -> Result<LineEditor> {
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
            screen.set_printer(Box::new(move |text| {
                let mut printer = printer.lock();
                // A failure means that the terminal is gone. The shell notices that at its next
                // input.
                let _ = printer.print(text);
            }));
        }
        let mut line = LineEditor {
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
            print_error(&format!(
                "the history {} is not kept ({error}); set XDG_STATE_HOME to a directory that can be written to",
                path.display()
            ));
        }
    }

    /// Reads one input.
    pub fn read(&mut self, prompt: &str) -> Result<EditorInput> {
        match self.editor.readline(prompt) {
            Ok(input) => Ok(EditorInput::Input(input)),
            Err(ReadlineError::Interrupted) => Ok(EditorInput::Nothing),
            Err(ReadlineError::Eof) => Ok(EditorInput::End),
            Err(error) => Err(error).context("the terminal cannot be read"),
        }
    }

    /// Adds an input to the history, in memory and in the file.
    pub fn add_history(&mut self, input: &str) {
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
    names: NameQueries,
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
        let pair = |candidate: Completion| Pair {
            display: candidate.shown,
            replacement: candidate.typed,
        };
        let variables = self.variables.borrow();
        Ok(match completion_context(before, &variables) {
            CompletionContext::Pattern(text) => {
                let names = self.names.with_prefix(text).into_iter();
                let from = before.len() - text.len();
                (from, names.map(Completion::from).map(pair).collect())
            }
            CompletionContext::Path(_) => self.files.complete(line, cursor, context)?,
            CompletionContext::Known(offer) => {
                let candidates = offer.candidates.into_iter().map(pair);
                (offer.from, candidates.collect())
            }
        })
    }
}
