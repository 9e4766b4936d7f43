//! async-profiler's method tracing: each call is timed, and calls longer than a threshold are
//! recorded.
//!
//! No call reaches the threshold used here, so the figure is the cost of the timing alone. With a
//! threshold of 0, every call would emit an event with a stack trace, which costs microseconds.

use std::path::PathBuf;

use super::timing::Timing;
use crate::bench::groups::{CheckError, Variant};
use crate::jars::jar;
use crate::process::Process;
use crate::trust::part::TrustError;

pub const NAME: &str = "async-profiler, trace over 100 ms";

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

/// The variant that traces the hot call.
pub fn timer(timing: &Timing) -> Variant {
    let process = || -> Result<Process, TrustError> {
        let library = library(timing)?;
        let file = library.with_file_name("trace.jfr");
        Ok(timing.java(
            &[format!(
                "-agentpath:{}=start,trace=HotCall.step:100ms,file={}",
                library.display(),
                file.display()
            )],
            &[],
        ))
    };
    let file = timing
        .compiled
        .join("async-profiler")
        .join(match std::env::consts::ARCH {
            "aarch64" => "linux-arm64",
            _ => "linux-x64",
        })
        .join("trace.jfr");
    timing.variant(NAME, process()).checked(move |_| {
        if file.is_file() {
            Ok(())
        } else {
            Err(CheckError::NothingWritten)
        }
    })
}
