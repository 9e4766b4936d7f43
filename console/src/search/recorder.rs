//! The file to which `--record` writes the observations of a search.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use veneer_search::observation::Observation;
use veneer_search::record::RecordWriter;
use veneer_search::settings::Settings;

/// A record that grows. The first error ends the record and not the search; `finish` returns the
/// error.
pub struct Recorder {
    path: PathBuf,
    file: BufWriter<File>,
    writer: RecordWriter,
    failed: Option<io::Error>,
}

impl Recorder {
    /// Creates the file, or empties it, and writes the first line.
    pub fn create(path: &Path, settings: &Settings) -> Result<Recorder> {
        let (writer, line) = RecordWriter::begin(settings)?;
        let create = || -> io::Result<BufWriter<File>> {
            let mut file = BufWriter::new(File::create(path)?);
            file.write_all(line.as_bytes())?;
            file.flush()?;
            Ok(file)
        };
        let file = create().with_context(|| {
            format!(
                "the record {} cannot be written; choose another file for --record",
                path.display()
            )
        })?;
        Ok(Recorder {
            path: path.to_owned(),
            file,
            writer,
            failed: None,
        })
    }

    /// Writes the lines of an observation.
    pub fn write(&mut self, observation: &Observation) {
        let lines = self.writer.lines(observation).map_err(io::Error::other);
        self.keep(lines);
    }

    /// Writes the buffer to the file, so that a killed command loses one window at most.
    pub fn flush(&mut self) {
        if self.failed.is_none() {
            self.failed = self.file.flush().err();
        }
    }

    /// Writes the last line.
    ///
    /// # Errors
    /// A line of the record could not be written.
    pub fn finish(mut self) -> Result<()> {
        let last = self.writer.end().map_err(io::Error::other);
        self.keep(last);
        self.flush();
        match self.failed {
            None => Ok(()),
            Some(error) => Err(error)
                .with_context(|| format!("the record {} is incomplete", self.path.display())),
        }
    }

    fn keep(&mut self, lines: io::Result<String>) {
        if self.failed.is_none() {
            let written = lines.and_then(|text| self.file.write_all(text.as_bytes()));
            self.failed = written.err();
        }
    }
}
