//! A running `veneer trace PID`.

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Child;

use crate::command::veneer;
use crate::live::Live;

/// Starts a recording of the methods that match a pattern, and waits until it is attached.
///
/// # Errors
/// The command cannot be started, or ends before it records.
pub fn start_recording(
    live: &Live,
    pattern: &str,
    options: &[&str],
    trace: &Path,
) -> Result<Child, Box<dyn Error>> {
    let pid = live.pid().to_string();
    let command = veneer()
        .args(["trace", &pid, pattern])
        .args(options)
        .arg("-o")
        .arg(trace);
    let mut recording = command.start()?;
    let errors = recording.stderr.take().ok_or("no standard error")?;
    for line in BufReader::new(errors).lines() {
        let line = line?;
        // Each line of a filter must be understood.
        assert!(!line.contains("no effect"), "{line}");
        if line.contains("recording the calls") {
            return Ok(recording);
        }
    }
    Err("the command does not record".into())
}
