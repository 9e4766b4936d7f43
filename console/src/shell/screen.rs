//! Prints results and output: above the line that is being typed, or to standard output.

use parking_lot::{Mutex, MutexGuard};
use std::io::{self, Write};

use veneer_protocol::Reply;

use crate::output::{print_error, print_note};

/// Maximum number of output lines that are kept during `:watch`. The oldest line is dropped first.
const MAX_WAITING_LINES: usize = 1000;

/// Prints a text above the line that is being typed.
pub type Printer = Box<dyn FnMut(String) + Send>;

#[derive(Default)]
struct ScreenState {
    /// If `None`, texts are written to standard output.
    above: Option<Printer>,
    /// Output lines that wait for the end of `:watch`, or `None` if output is printed immediately.
    waiting: Option<Vec<String>>,
    gone: bool,
}

#[derive(Default)]
pub struct Screen {
    json: bool,
    state: Mutex<ScreenState>,
}

impl Screen {
    /// If `json` is set, replies are written as the JSON that the agent sent.
    pub fn new(json: bool) -> Screen {
        Screen {
            json,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, ScreenState> {
        self.state.lock()
    }

    /// From now on, prints above the line that is being typed.
    pub fn set_printer(&self, printer: Printer) {
        self.state().above = Some(printer);
    }

    /// Prints a line of a program's output.
    pub fn print(&self, text: &str) {
        let text = match self.json {
            true => json(&Reply::Print(text.into())),
            false => text.to_owned(),
        };
        let mut state = self.state();
        match (&mut state.waiting, text) {
            (Some(waiting), text) => {
                if waiting.len() == MAX_WAITING_LINES {
                    waiting.remove(0);
                }
                waiting.push(text);
            }
            (None, text) => state.write(text),
        }
    }

    /// Prints the value of an input.
    pub fn value(&self, value: String) {
        if self.json {
            self.state().write(json(&Reply::Done { value }));
        } else if !value.is_empty() {
            self.state().write(value);
        }
    }

    /// Reports the error of an input.
    pub fn failed(&self, message: String) {
        if self.json {
            self.state().write(json(&Reply::Failed { message }));
        } else {
            print_error(&message);
        }
    }

    /// Prints the reply to a query of the shell: the reply itself as JSON, or `text`.
    pub fn answer(&self, reply: &Reply, text: &str) {
        match self.json {
            true => self.show_message(&json(reply)),
            false => self.show_message(text),
        }
    }

    /// Prints a text of the shell itself.
    pub fn show_message(&self, text: &str) {
        self.state().write(text.trim_end().to_owned());
    }

    /// Prints a hint after an error, for people.
    pub fn hint(&self, text: &str) {
        if !self.json {
            print_note(&text);
        }
    }

    /// Reports that the connection to the JVM is lost.
    pub fn report_disconnected(&self, message: &str) {
        let mut state = self.state();
        state.gone = true;
        match &mut state.above {
            Some(printer) => printer(format!(
                "veneer: {message}; press Enter to leave the shell\n"
            )),
            None => print_error(&message),
        }
    }

    /// Whether the connection to the JVM is lost.
    pub fn is_disconnected(&self) -> bool {
        self.state().gone
    }

    /// From now on, output lines are kept until `release` is called.
    pub fn pause(&self) {
        self.state().waiting = Some(Vec::new());
    }

    /// Prints the output lines that were kept.
    pub fn release(&self) {
        let mut state = self.state();
        for text in state.waiting.take().unwrap_or_default() {
            state.write(text);
        }
    }
}

impl ScreenState {
    fn write(&mut self, text: String) {
        match &mut self.above {
            Some(printer) => printer(text + "\n"),
            // If standard output is closed, the failure cannot be reported. The shell notices at
            // its next input.
            None => {
                let mut stdout = io::stdout().lock();
                let _ = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
            }
        }
    }
}

fn json(reply: &Reply) -> String {
    // Replies consist of data that JSON can represent, so serialisation does not fail.
    serde_json::to_string(reply).unwrap_or_default()
}
