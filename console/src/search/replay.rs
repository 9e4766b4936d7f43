//! `veneer search --replay FILE`: the search once more, from a record and without a JVM.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result};
use veneer_search::observation::Observation;
use veneer_search::record::{RecordError, RecordReader};
use veneer_search::replay::Replay;
use veneer_search::settings::Settings;

/// The longest line that is read, in bytes. A longer line is damaged: one dump of 65,536 threads is
/// shorter.
const MAX_LINE_BYTES: u64 = 64 << 20;

/// Replays a record. `change` changes the settings of the record, and measurements after `length`
/// seconds are ignored.
///
/// # Errors
/// The file cannot be read, is no record, or is damaged. A record that was cut off is none of these:
/// the result says how many lines there were.
pub fn replay(
    path: &Path,
    length: f64,
    change: impl FnOnce(Settings) -> Settings,
) -> Result<Replay> {
    let name = || format!("the record {} cannot be replayed", path.display());
    let file = File::open(path).with_context(name)?;
    let mut lines = Lines {
        file: BufReader::new(file),
        is_whole: true,
    };
    let first = lines.next(1).with_context(name)?;
    let first = first.ok_or(RecordError::NoRecord).with_context(name)?;
    let mut reader = RecordReader::begin(&first).with_context(name)?;
    let mut replay = Replay::new(change(reader.settings().clone()), length).with_context(name)?;
    while let Some(line) = lines.next(reader.lines() + 1).with_context(name)? {
        match reader.line(&line) {
            Ok(Some(observation)) => replay.observe(observation),
            Ok(None) => {}
            // The command that wrote the record was killed while it wrote this line.
            Err(_) if !lines.is_whole => break,
            Err(error) => return Err(error).with_context(name),
        }
    }
    if !reader.is_complete() {
        let reason = format!("the record was cut off after {} lines", reader.lines());
        replay.observe(Observation::Ended { reason });
    }
    Ok(replay)
}

/// The lines of a file.
struct Lines {
    file: BufReader<File>,
    /// Whether the last line that was read ended with a line break.
    is_whole: bool,
}

impl Lines {
    /// Returns the next line, whose number is for messages only.
    fn next(&mut self, number: u64) -> Result<Option<String>> {
        let damaged = |reason: &str| RecordError::Damaged {
            line: number,
            reason: reason.to_owned(),
        };
        let mut bytes = Vec::new();
        let mut limited = (&mut self.file).take(MAX_LINE_BYTES);
        if limited.read_until(b'\n', &mut bytes)? == 0 {
            return Ok(None);
        }
        self.is_whole = bytes.ends_with(b"\n");
        if !self.is_whole && bytes.len() as u64 == MAX_LINE_BYTES {
            return Err(damaged("it is longer than 64 MiB").into());
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(_) if !self.is_whole => Ok(None),
            Err(_) => Err(damaged("it is not UTF-8").into()),
        }
    }
}
