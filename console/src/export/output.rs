//! The destination of exported metrics: a file, or standard output.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};

/// An open file or standard output. As a [`Write`] it has no buffer.
pub struct Output {
    to: Box<dyn Write + Send>,
    name: String,
}

impl Output {
    /// Opens the destination. An existing file is overwritten. Binary data is not written to a
    /// terminal.
    pub fn open(path: Option<&Path>, is_binary: bool) -> Result<Output> {
        match path.filter(|path| path.as_os_str() != "-") {
            Some(path) => {
                let name = path.display().to_string();
                let file = File::create(path).with_context(|| {
                    format!("{name} cannot be written; choose another file for -o")
                })?;
                let to = Box::new(file);
                Ok(Output { to, name })
            }
            None if is_binary && io::stdout().is_terminal() => {
                bail!(
                    "a trace is binary and is not written to a terminal: name a file, -o trace.pftrace"
                )
            }
            None => Ok(Output {
                to: Box::new(io::stdout()),
                name: "standard output".into(),
            }),
        }
    }

    /// Writes all bytes and flushes the buffer.
    pub fn write_now(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.to.write_all(bytes).and_then(|()| self.to.flush());
        written.with_context(|| format!("{} cannot be written", self.name))
    }

    /// Flushes the buffer and reports an error.
    pub fn finish(mut self) -> Result<()> {
        let flushed = self.to.flush();
        flushed.with_context(|| format!("{} cannot be written", self.name))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
