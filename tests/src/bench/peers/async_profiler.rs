//! async-profiler's method tracing: each call is timed, and calls longer than a threshold are
//! recorded.
//!
//! No call reaches the threshold used here, so the figure is the cost of the timing alone. With a
//! threshold of 0, every call would emit an event with a stack trace, which costs microseconds.

use std::path::{Path, PathBuf};

use super::recorded::RecordedBytes;
use super::timing::Timing;
use crate::bench::groups::{CheckError, Variant};
use crate::jars::jar;
use crate::process::Process;
use crate::trust::part::TrustError;

pub const NAME: &str = "async-profiler, trace over 100 ms";
const TRACE_NAME: &str = "async-profiler, trace of each call";

/// Unpacks the library for this machine into a folder, and returns its path.
pub fn library(timing: &Timing) -> Result<PathBuf, TrustError> {
    let folder = timing.folder("async-profiler")?;
    let platform = match std::env::consts::ARCH {
        "aarch64" => "linux-arm64",
        _ => "linux-x64",
    };
    let inside = format!("{platform}/libasyncProfiler.so");
    Process::new(timing.jdk.tool("jar"))
        .arg("--extract")
        .arg("--file")
        .arg(jar("async-profiler")?)
        .arg(&inside)
        .folder(&folder)
        .run()?
        .succeeded("jar --extract")?;
    let library = folder.join(inside);
    library
        .is_file()
        .then_some(library)
        .ok_or(TrustError::Missing {
            wanted: "library for this machine",
            found: "async-profiler's jar".into(),
        })
}

/// The program with a trace of the calls of the hot method that last at least `threshold`.
fn traced(timing: &Timing, threshold: &str, file: &Path) -> Result<Process, TrustError> {
    Ok(timing.java(
        &[format!(
            "-agentpath:{}=start,trace=HotCall.step:{threshold},file={}",
            library(timing)?.display(),
            file.display()
        )],
        &[],
    ))
}

/// The variant that records each hot call, with the stack at its end.
pub fn tracer(timing: &Timing) -> (Variant, RecordedBytes) {
    let file = timing.compiled.join("calls.jfr");
    let process = traced(timing, "0ns", &file);
    let recorded = RecordedBytes::default();
    let bytes = recorded.clone();
    let variant = timing.variant(TRACE_NAME, process).checked(move |_| {
        let length = std::fs::metadata(&file).map_or(0, |data| data.len());
        bytes.set(length);
        let _ = std::fs::remove_file(&file);
        match length {
            0 => Err(CheckError::NothingWritten),
            _ => Ok(()),
        }
    });
    (variant, recorded)
}

/// The variant that traces the hot call.
pub fn timer(timing: &Timing) -> Variant {
    let file = timing.compiled.join("trace.jfr");
    let process = traced(timing, "100ms", &file);
    timing.variant(NAME, process).checked(move |_| {
        if file.is_file() {
            Ok(())
        } else {
            Err(CheckError::NothingWritten)
        }
    })
}
