//! Runs the command `veneer` in a pseudo-terminal of its own. A test reads the screen, presses
//! keys, and checks in which state the command leaves the terminal.

use parking_lot::Mutex;
use std::io::{Read, Write};
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::command;
use crate::live::event_timeout;
use crate::output::{has_line, has_words};

#[derive(Debug, thiserror::Error)]
pub enum ScreenError {
    /// The terminal could not be opened, or the command could not be started.
    #[error("no terminal: {0}")]
    Terminal(String),
    #[error("the terminal: {0}")]
    Stream(#[from] std::io::Error),
    /// The expected text did not appear within [`event_timeout`].
    #[error("{0} was not seen within {wait:?}; the screen is\n{1}", wait = event_timeout())]
    Unseen(String, String),
    /// The command did not end within [`event_timeout`].
    #[error("the command did not end within {wait:?}; the screen is\n{0}", wait = event_timeout())]
    Endless(String),
}

/// The command `veneer` in a pseudo-terminal. It is killed when this value is dropped, unless it
/// has ended.
pub struct Screen {
    child: Box<dyn Child + Send + Sync>,
    master: Option<Box<dyn MasterPty + Send>>,
    keys: Option<Box<dyn Write + Send>>,
    shown: Arc<Mutex<vt100::Parser>>,
    closed: Arc<AtomicBool>,
}

fn terminal(error: impl std::fmt::Display) -> ScreenError {
    ScreenError::Terminal(error.to_string())
}

impl Screen {
    /// Starts `veneer` with these arguments in a folder, on a terminal of `rows` × `cols`
    /// characters.
    pub fn start(
        arguments: &[&str],
        folder: &Path,
        (rows, cols): (u16, u16),
        variables: &[(&str, &str)],
    ) -> Result<Screen, ScreenError> {
        let size = PtySize {
            rows,
            cols,
            pixel_width: 0,
            pixel_height: 0,
        };
        let pair = native_pty_system().openpty(size).map_err(terminal)?;
        let mut command = CommandBuilder::new(command::path());
        command.args(arguments);
        command.cwd(folder);
        command.env("TERM", "xterm-256color");
        command.env_remove("NO_COLOR");
        for (name, value) in variables {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).map_err(terminal)?;
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().map_err(terminal)?;
        let keys = pair.master.take_writer().map_err(terminal)?;
        let shown = Arc::new(Mutex::new(vt100::Parser::new(
            NonZero::new(rows).unwrap_or(NonZero::<u16>::MIN),
            NonZero::new(cols).unwrap_or(NonZero::<u16>::MIN),
            0,
        )));
        let showing = shown.clone();
        let closed = Arc::new(AtomicBool::new(false));
        let closing = closed.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // The read fails when the other side is closed.
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                let mut parser = showing.lock();
                parser.process(&bytes[..count]);
                if closing.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
        Ok(Screen {
            child,
            master: Some(pair.master),
            keys: Some(keys),
            shown,
            closed,
        })
    }

    pub fn pid(&self) -> u32 {
        self.child.process_id().unwrap_or(0)
    }

    fn look<T>(&self, at: impl Fn(&vt100::Screen) -> T) -> T {
        at(self.shown.lock().screen())
    }

    /// Returns the text on the screen, line by line, without trailing spaces.
    pub fn text(&self) -> String {
        self.look(|screen| {
            let (_, columns) = screen.size();
            let rows = screen.rows(0, columns.get());
            rows.map(|row| row.trim_end().to_owned() + "\n").collect()
        })
    }

    /// Returns whether any cell on the screen has a colour.
    pub fn is_coloured(&self) -> bool {
        self.look(|screen| {
            let (rows, columns) = screen.size();
            let (rows, columns) = (rows.get(), columns.get());
            let mut cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
            cells.any(|(row, column)| {
                screen.cell(row, column).is_some_and(|cell| {
                    cell.fgcolor() != vt100::Color::Default
                        || cell.bgcolor() != vt100::Color::Default
                })
            })
        })
    }

    /// Returns whether the terminal is in the state that a shell expects: main screen, visible
    /// cursor, line mode and echo.
    pub fn is_restored(&self) -> bool {
        let screen = self.look(|screen| !screen.alternate_screen() && !screen.hide_cursor());
        let Some(file) = self.master.as_ref().and_then(|master| master.as_raw_fd()) else {
            return screen;
        };
        // SAFETY: `termios` is plain data that may be zero. `file` is open as long as `master` is.
        let flags = unsafe {
            let mut settings: libc::termios = std::mem::zeroed();
            match libc::tcgetattr(file, &mut settings) {
                0 => settings.c_lflag,
                _ => 0,
            }
        };
        screen && flags & libc::ICANON != 0 && flags & libc::ECHO != 0
    }

    /// Returns whether the command uses the alternate screen.
    pub fn uses_alternate_screen(&self) -> bool {
        self.look(vt100::Screen::alternate_screen)
    }

    pub fn press(&mut self, keys: &str) -> Result<(), ScreenError> {
        if let Some(terminal) = &mut self.keys {
            terminal.write_all(keys.as_bytes())?;
            terminal.flush()?;
        }
        Ok(())
    }

    /// Waits until `yes` accepts the text of the screen, and returns this text.
    pub fn until(&self, what: &str, yes: impl Fn(&str) -> bool) -> Result<String, ScreenError> {
        let end = Instant::now() + event_timeout();
        loop {
            let text = self.text();
            if yes(&text) {
                return Ok(text);
            }
            if Instant::now() > end {
                return Err(ScreenError::Unseen(what.to_owned(), text));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits for a line that contains all of these words in this order, and returns the line.
    pub fn line(&self, words: &[&str]) -> Result<String, ScreenError> {
        let found = self.until(&format!("{words:?}"), |text| has_line(text, words))?;
        let line = found.lines().find(|line| has_words(line, words));
        Ok(line.unwrap_or_default().to_owned())
    }

    /// Closes the terminal as soon as the command has written more output, as a terminal window
    /// does that the user closes.
    pub fn close(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
        self.keys = None;
        self.master = None;
    }

    /// Waits for the end and returns the exit code, which is 128 + n after signal n.
    pub fn end(&mut self) -> Result<u32, ScreenError> {
        let end = Instant::now() + event_timeout();
        loop {
            if let Some(status) = self.child.try_wait()? {
                // The last output of the command may still be in the terminal's buffer.
                std::thread::sleep(Duration::from_millis(50));
                return Ok(status.exit_code());
            }
            if Instant::now() > end {
                return Err(ScreenError::Endless(self.text()));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            // The command may end between the check and the kill.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
