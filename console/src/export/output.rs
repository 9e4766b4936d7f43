//! The destination of exported metrics: a file, or standard output.

use std::fs::{self, File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// An open file or standard output. As a [`Write`] it has no buffer.
///
/// Until the first bytes are written, an existing file keeps its content. A file that this value has
/// created disappears again if nothing is written, so a plan that fails leaves no empty file.
pub struct Output {
    to: Destination,
    name: String,
}

enum Destination {
    Stdout(io::Stdout),
    File(OutputFile),
}

struct OutputFile {
    file: File,
    /// Whether bytes were written.
    is_begun: bool,
    /// The path, if the file did not exist before.
    created: Option<PathBuf>,
}

impl OutputFile {
    fn open(path: &Path) -> io::Result<OutputFile> {
        let mut create = OpenOptions::new();
        create.write(true).create_new(true);
        let (file, created) = match create.open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                (OpenOptions::new().write(true).open(path)?, None)
            }
            file => (file?, Some(path.to_owned())),
        };
        Ok(OutputFile {
            file,
            is_begun: false,
            created,
        })
    }

    fn begin(&mut self) -> io::Result<()> {
        if !self.is_begun {
            self.is_begun = true;
            // A pipe or a device has no length.
            if self.file.metadata()?.is_file() {
                self.file.set_len(0)?;
            }
        }
        Ok(())
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some(path) = self.created.take().filter(|_| !self.is_begun) {
            // If another program has removed the file, there is nothing to do.
            let _ = fs::remove_file(path);
        }
    }
}

impl Output {
    /// Opens the destination. An existing file is overwritten. Binary data is not written to a
    /// terminal.
    pub fn open(path: Option<&Path>, is_binary: bool) -> Result<Output> {
        match path.filter(|path| path.as_os_str() != "-") {
            Some(path) => {
                let name = path.display().to_string();
                let file = OutputFile::open(path).with_context(|| {
                    format!("{name} cannot be written; choose another file for -o")
                })?;
                let to = Destination::File(file);
                Ok(Output { to, name })
            }
            None if is_binary && io::stdout().is_terminal() => {
                bail!(
                    "a trace is binary and is not written to a terminal: name a file, -o trace.pftrace"
                )
            }
            None => Ok(Output {
                to: Destination::Stdout(io::stdout()),
                name: "standard output".into(),
            }),
        }
    }

    /// Writes all bytes and flushes the buffer.
    pub fn write_now(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.write_all(bytes).and_then(|()| self.flush());
        written.with_context(|| format!("{} cannot be written", self.name))
    }

    /// Flushes the buffer and reports an error. A result without bytes makes an empty file.
    pub fn finish(mut self) -> Result<()> {
        let begun = match &mut self.to {
            Destination::File(file) => file.begin(),
            Destination::Stdout(_) => Ok(()),
        };
        let flushed = begun.and_then(|()| self.flush());
        flushed.with_context(|| format!("{} cannot be written", self.name))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.to {
            Destination::Stdout(out) => out.write(bytes),
            Destination::File(file) => {
                file.begin()?;
                file.file.write(bytes)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            Destination::Stdout(out) => out.flush(),
            Destination::File(file) => file.file.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_result_disappears_or_keeps_its_content() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out.csv");
        drop(Output::open(Some(&path), false).unwrap());
        assert!(!path.exists());

        fs::write(&path, "of before").unwrap();
        drop(Output::open(Some(&path), false).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "of before");
    }

    #[test]
    fn a_result_replaces_the_content_of_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out.csv");
        fs::write(&path, "a longer content").unwrap();
        let mut output = Output::open(Some(&path), false).unwrap();
        output.write_now(b"one ").unwrap();
        output.write_now(b"two").unwrap();
        output.finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one two");

        Output::open(Some(&path), false).unwrap().finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "");
    }
}
