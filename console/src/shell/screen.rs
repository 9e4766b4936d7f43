//! Where results and printed lines go: above the line that is being typed, or to standard output.

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use veneer_protocol::Reply;

use crate::output::complain;

/// Lines that are kept while a table is being watched.
const KEPT: usize = 1000;

/// Puts a text above the line that is being typed.
pub type Printer = Box<dyn FnMut(String) + Send>;

#[derive(Default)]
struct State {
    /// None: to standard output.
    above: Option<Printer>,
    /// While a table is being watched, what is printed waits.
    waiting: Option<Vec<String>>,
    gone: bool,
}

/// See the module documentation.
#[derive(Default)]
pub struct Screen {
    json: bool,
    state: Mutex<State>,
}

impl Screen {
    /// With `json`, replies are written as they come.
    pub fn new(json: bool) -> Screen {
        Screen {
            json,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on lines go above the one that is being typed.
    pub fn put_above(&self, printer: Printer) {
        self.state().above = Some(printer);
    }

    /// A line that a program prints.
    pub fn print(&self, text: &str) {
        let text = match self.json {
            true => json(&Reply::Print(text.into())),
            false => text.to_owned(),
        };
        let mut state = self.state();
        match (&mut state.waiting, text) {
            (Some(waiting), text) => {
                if waiting.len() == KEPT {
                    waiting.remove(0);
                }
                waiting.push(text);
            }
            (None, text) => state.write(text),
        }
    }

    /// The value of an input.
    pub fn value(&self, value: String) {
        if self.json {
            self.state().write(json(&Reply::Done { value }));
        } else if !value.is_empty() {
            self.state().write(value);
        }
    }

    /// What went wrong with an input.
    pub fn failed(&self, message: String) {
        if self.json {
            self.state().write(json(&Reply::Failed { message }));
        } else {
            complain(&message);
        }
    }

    /// The answer to a question of the shell: as it came, or in these words.
    pub fn answer(&self, reply: &Reply, text: &str) {
        match self.json {
            true => self.say(&json(reply)),
            false => self.say(text),
        }
    }

    /// Text of the shell itself.
    pub fn say(&self, text: &str) {
        self.state().write(text.trim_end().to_owned());
    }

    /// The JVM is gone.
    pub fn gone(&self, message: &str) {
        let mut state = self.state();
        state.gone = true;
        match &mut state.above {
            Some(printer) => printer(format!("veneer: {message}; Enter leaves the shell\n")),
            None => complain(&message),
        }
    }

    /// Whether it is.
    pub fn is_gone(&self) -> bool {
        self.state().gone
    }

    /// From now on printed lines wait.
    pub fn hold(&self) {
        self.state().waiting = Some(Vec::new());
    }

    /// Prints those that waited.
    pub fn release(&self) {
        let mut state = self.state();
        for text in state.waiting.take().unwrap_or_default() {
            state.write(text);
        }
    }
}

impl State {
    fn write(&mut self, text: String) {
        match &mut self.above {
            Some(printer) => printer(text + "\n"),
            // Where nobody reads there is nobody to tell; the shell notices at its next input.
            None => {
                let mut stdout = io::stdout().lock();
                let _ = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
            }
        }
    }
}

fn json(reply: &Reply) -> String {
    // A reply is plain data, of which JSON can always be made.
    serde_json::to_string(reply).unwrap_or_default()
}
