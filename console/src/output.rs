//! Writes to the terminal. Broken pipes are not errors, and colours are used on terminals only.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use rustix::termios::tcgetwinsize;

/// Assumed number of columns if a terminal does not report its width.
const DEFAULT_COLUMNS: usize = 100;

/// Whether the error was caused by a reader that closed its end of the pipe.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

/// Returns the error and its causes as one text. A cause whose text is already part of the result
/// is not repeated.
pub fn describe(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

/// Prints an error message to standard error.
pub fn print_error(message: &dyn std::fmt::Display) {
    let mut stream = io::stderr().lock();
    let (on, off) = if stream.is_terminal() && wants_colour() {
        ("\x1b[1;31m", "\x1b[0m")
    } else {
        ("", "")
    };
    // If standard error is closed, no output is left that could report the failure.
    let _ = writeln!(stream, "{on}veneer:{off} {message}");
}

/// Prints information about an answer to standard error, so that standard output has the answer only.
pub fn print_note(message: &dyn std::fmt::Display) {
    // As for errors: nothing could report the failure.
    let _ = writeln!(io::stderr().lock(), "{message}");
}

/// How to write to standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether to use bold text and colours.
    pub colour: bool,
    /// Maximum length of a line in columns. `None` means no limit (standard output is a file or a
    /// pipe).
    pub width: Option<usize>,
}

impl Style {
    pub fn of_stdout() -> Style {
        let terminal = io::stdout().is_terminal();
        Style {
            colour: terminal && wants_colour(),
            width: terminal.then(terminal_width),
        }
    }

    /// The style of a file, or that of standard output if there is none or it is `-`.
    pub fn of_output(path: Option<&Path>) -> Style {
        match path {
            Some(path) if path.as_os_str() != "-" => Style {
                colour: false,
                width: None,
            },
            _ => Style::of_stdout(),
        }
    }

    /// Returns the text in bold if colours are enabled.
    pub fn bold(self, text: &str) -> String {
        if self.colour {
            format!("\x1b[1m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Whether the environment allows colours on a terminal: `NO_COLOR` is unset or empty, and `TERM`
/// is not `dumb`.
pub fn wants_colour() -> bool {
    env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && env::var_os("TERM").is_none_or(|term| term != "dumb")
}

fn terminal_width() -> usize {
    match tcgetwinsize(io::stdout()).map_or(0, |size| size.ws_col) {
        0 => DEFAULT_COLUMNS,
        columns => columns.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn causes_are_not_repeated() {
        let full = || io::Error::from_raw_os_error(libc::ENOSPC);
        let error = Err::<(), _>(full()).context("no room for f").unwrap_err();
        assert_eq!(describe(&error), format!("no room for f: {}", full()));
        let error = Err::<(), _>(full())
            .with_context(|| format!("f: {}; free some", full()))
            .unwrap_err();
        assert_eq!(describe(&error), format!("f: {}; free some", full()));
    }

    #[test]
    fn a_closed_pipe_is_found_below_its_context() {
        let pipe = io::Error::from(io::ErrorKind::BrokenPipe);
        let error = Err::<(), _>(pipe).context("writing").unwrap_err();
        assert!(is_broken_pipe(&error));
        assert!(!is_broken_pipe(&anyhow::anyhow!("other")));
    }
}
