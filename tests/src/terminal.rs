//! Runs any program in a pseudo-terminal. A test types into it and reads its screen.

use parking_lot::{Mutex, MutexGuard};
use std::io::{Read, Write};
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::live::event_timeout;

const ROWS: NonZero<u16> = NonZero::new(50).unwrap();
const COLUMNS: NonZero<u16> = NonZero::new(120).unwrap();

#[derive(Debug, thiserror::Error)]
pub enum TerminalError {
    /// The system has no pseudo-terminal, or a stream failed.
    #[error("the terminal: {0}")]
    System(String),
    /// The expected text did not appear within [`event_timeout`].
    #[error("`{0}` did not come within {wait:?}; the screen:\n{1}", wait = event_timeout())]
    Missing(String, String),
    /// The program did not end within [`event_timeout`].
    #[error("the program did not end within {wait:?}; the screen:\n{0}", wait = event_timeout())]
    Running(String),
}

/// A program in a pseudo-terminal of 50 rows and 120 columns. It is killed when this value is
/// dropped.
pub struct Terminal {
    // Keeps the terminal open.
    _master: Box<dyn MasterPty + Send>,
    keys: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    screen: Arc<Mutex<vt100::Parser>>,
}

fn system(error: impl std::fmt::Display) -> TerminalError {
    TerminalError::System(error.to_string())
}

impl Terminal {
    /// Starts a program with these variables in addition to those of the test process.
    pub fn start(
        program: &Path,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Result<Terminal, TerminalError> {
        let pair = native_pty_system()
            .openpty(PtySize {
                rows: ROWS.get(),
                cols: COLUMNS.get(),
                ..PtySize::default()
            })
            .map_err(system)?;
        let mut command = CommandBuilder::new(program);
        command.args(arguments);
        command.env("TERM", "xterm");
        for (name, value) in variables {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).map_err(system)?;
        drop(pair.slave);
        let keys = pair.master.take_writer().map_err(system)?;
        let mut output = pair.master.try_clone_reader().map_err(system)?;
        let screen = Arc::new(Mutex::new(vt100::Parser::new(ROWS, COLUMNS, 0)));
        let drawn = screen.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = output.read(&mut bytes) {
                let mut drawn = drawn.lock();
                drawn.process(bytes.get(..n).unwrap_or_default());
            }
        });
        Ok(Terminal {
            _master: pair.master,
            keys,
            child,
            screen,
        })
    }

    pub fn keys(&mut self, text: &str) -> Result<(), TerminalError> {
        self.keys.write_all(text.as_bytes()).map_err(system)?;
        self.keys.flush().map_err(system)
    }

    /// Types `text` and Enter.
    pub fn enter(&mut self, text: &str) -> Result<(), TerminalError> {
        self.keys(&format!("{text}\r"))
    }

    fn parser(&self) -> MutexGuard<'_, vt100::Parser> {
        self.screen.lock()
    }

    /// Returns the text on the screen, without blanks at the ends of lines.
    pub fn screen(&self) -> String {
        self.parser().screen().contents()
    }

    /// Waits until `is` accepts the text of the screen, and returns this text.
    pub fn until(&self, what: &str, is: impl Fn(&str) -> bool) -> Result<String, TerminalError> {
        let end = Instant::now() + event_timeout();
        loop {
            let screen = self.screen();
            if is(&screen) {
                return Ok(screen);
            }
            if Instant::now() > end {
                return Err(TerminalError::Missing(what.into(), screen));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until a line of the screen ends with `end`. Trailing blanks are ignored.
    pub fn line(&self, end: &str) -> Result<String, TerminalError> {
        self.until(end, |screen| {
            screen.lines().any(|line| line.trim_end().ends_with(end))
        })
    }

    /// Waits for the end and returns the exit code.
    pub fn end(mut self) -> Result<u32, TerminalError> {
        let end = Instant::now() + event_timeout();
        loop {
            if let Some(status) = self.child.try_wait().map_err(system)? {
                return Ok(status.exit_code());
            }
            if Instant::now() > end {
                return Err(TerminalError::Running(self.screen()));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            // The program may end between the check and the kill.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
