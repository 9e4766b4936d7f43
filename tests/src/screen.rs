//! A command in a terminal of its own: what it shows, keys that are pressed, and how it leaves the terminal.

use std::io::{Read, Write};
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::command;
use crate::live::PATIENCE;
use crate::said::{has_line, has_words};

/// Why a conversation with a screen failed.
#[derive(Debug, thiserror::Error)]
pub enum ScreenError {
    /// The terminal or the command could not be made.
    #[error("no terminal: {0}")]
    Terminal(String),
    /// The stream failed.
    #[error("the terminal: {0}")]
    Stream(#[from] std::io::Error),
    /// What was waited for did not come.
    #[error("{0} was not seen within {PATIENCE:?}; the screen is\n{1}")]
    Unseen(String, String),
    /// It did not end.
    #[error("the command did not end within {PATIENCE:?}; the screen is\n{0}")]
    Endless(String),
}

/// `veneer` in a pseudo-terminal. It is killed when this is dropped, if it has not ended.
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
    /// Starts `veneer` with these arguments in a folder, on a terminal of so many rows and columns.
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
            // Reading fails where the other side is closed.
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                let mut parser = showing.lock().unwrap_or_else(PoisonError::into_inner);
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

    /// The command's process id.
    pub fn pid(&self) -> u32 {
        self.child.process_id().unwrap_or(0)
    }

    fn look<T>(&self, at: impl Fn(&vt100::Screen) -> T) -> T {
        at(self
            .shown
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .screen())
    }

    /// What is shown now, line by line, without spaces at the ends.
    pub fn text(&self) -> String {
        self.look(|screen| {
            let (_, columns) = screen.size();
            let rows = screen.rows(0, columns.get());
            rows.map(|row| row.trim_end().to_owned() + "\n").collect()
        })
    }

    /// Whether any cell that is shown has a colour.
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

    /// Whether the terminal is as a shell expects it: the usual screen, the cursor visible, lines and echo.
    pub fn is_restored(&self) -> bool {
        let screen = self.look(|screen| !screen.alternate_screen() && !screen.hide_cursor());
        let Some(file) = self.master.as_ref().and_then(|master| master.as_raw_fd()) else {
            return screen;
        };
        // SAFETY: plain data that may be zero; `file` is open as long as `master` is.
        let flags = unsafe {
            let mut settings: libc::termios = std::mem::zeroed();
            match libc::tcgetattr(file, &mut settings) {
                0 => settings.c_lflag,
                _ => 0,
            }
        };
        screen && flags & libc::ICANON != 0 && flags & libc::ECHO != 0
    }

    /// Whether the terminal is the command's.
    pub fn is_taken(&self) -> bool {
        self.look(vt100::Screen::alternate_screen)
    }

    /// Presses keys.
    pub fn press(&mut self, keys: &str) -> Result<(), ScreenError> {
        if let Some(terminal) = &mut self.keys {
            terminal.write_all(keys.as_bytes())?;
            terminal.flush()?;
        }
        Ok(())
    }

    /// Waits until the screen shows something; gives the whole screen.
    pub fn until(&self, what: &str, yes: impl Fn(&str) -> bool) -> Result<String, ScreenError> {
        let end = Instant::now() + PATIENCE;
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

    /// Waits for a line that has all these words in it, in this order; gives the line.
    pub fn line(&self, words: &[&str]) -> Result<String, ScreenError> {
        let found = self.until(&format!("{words:?}"), |text| has_line(text, words))?;
        let line = found.lines().find(|line| has_words(line, words));
        Ok(line.unwrap_or_default().to_owned())
    }

    /// Closes the terminal, as its window would: as soon as the command has written something more.
    pub fn close(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
        self.keys = None;
        self.master = None;
    }

    /// Waits for the end; gives the exit code, 128 and the signal's number after a signal.
    pub fn end(&mut self) -> Result<u32, ScreenError> {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait()? {
                // What it wrote last may be on its way.
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
            // It may end by itself meanwhile.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
