//! Writing to the terminal: broken pipes are no errors, and colour is for terminals only.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::mem::MaybeUninit;

/// The columns of a terminal that does not tell.
const COLUMNS: usize = 100;

/// Did this error come from a reader that went away?
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

/// The error and its causes in one text; a cause that the text has already is not repeated.
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

/// Says on standard error what went wrong.
pub fn complain(message: &dyn std::fmt::Display) {
    let mut stream = io::stderr().lock();
    let (on, off) = if stream.is_terminal() && wants_colour() {
        ("\x1b[1;31m", "\x1b[0m")
    } else {
        ("", "")
    };
    // Where standard error is closed there is nobody to tell.
    let _ = writeln!(stream, "{on}veneer:{off} {message}");
}

/// How standard output is to be written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// With bold and colours.
    pub colour: bool,
    /// Lines are to be no longer than this; `None`: no limit (a file or a pipe).
    pub width: Option<usize>,
}

impl Style {
    /// The style of standard output.
    pub fn of_stdout() -> Style {
        let terminal = io::stdout().is_terminal();
        Style {
            colour: terminal && wants_colour(),
            width: terminal.then(terminal_width),
        }
    }

    /// The text in bold, where there is colour.
    pub fn bold(self, text: &str) -> String {
        if self.colour {
            format!("\x1b[1m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Whether colour is wanted, on a terminal.
pub fn wants_colour() -> bool {
    env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && env::var_os("TERM").is_none_or(|term| term != "dumb")
}

fn terminal_width() -> usize {
    let mut size = MaybeUninit::<libc::winsize>::zeroed();
    // SAFETY: `winsize` is plain data, valid for the write that TIOCGWINSZ makes.
    let columns = unsafe {
        match libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, size.as_mut_ptr()) {
            0 => usize::from(size.assume_init().ws_col),
            _ => 0,
        }
    };
    if columns == 0 { COLUMNS } else { columns }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn causes_are_told_once() {
        let full = || io::Error::from_raw_os_error(libc::ENOSPC);
        let error = Err::<(), _>(full()).context("no room for f").unwrap_err();
        assert_eq!(describe(&error), format!("no room for f: {}", full()));
        let error = Err::<(), _>(full())
            .with_context(|| format!("f: {}; free some", full()))
            .unwrap_err();
        assert_eq!(describe(&error), format!("f: {}; free some", full()));
    }

    #[test]
    fn a_closed_pipe_is_seen_below_its_context() {
        let pipe = io::Error::from(io::ErrorKind::BrokenPipe);
        let error = Err::<(), _>(pipe).context("writing").unwrap_err();
        assert!(is_broken_pipe(&error));
        assert!(!is_broken_pipe(&anyhow::anyhow!("other")));
    }
}
