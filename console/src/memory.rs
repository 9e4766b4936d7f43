//! `veneer memory`: records memory accesses of a JVM, shows memory profiles, and simulates caches on
//! address traces.
//!
//! ```text
//!   PID       agent ─▶ record ─▶ MemoryProfile ─▶ file (-o), or as `show`
//!   show      file ──▶ ProfileFile ─┬─▶ render: table, JSON, CSV; html
//!   simulate  trace ─▶ MemoryProfile┘   annotate: source lines
//!                          └─▶ file (-o)
//! ```

mod annotate;
mod curves;
mod html;
mod record;
mod render;
mod show;
mod simulate;
mod trace;

pub use record::{RecordedMore, RecordedWindow, RunMemory, record_window};

use anyhow::Result;
use thiserror::Error;

use crate::cli::{MemoryArguments, MemoryCommand};

/// Why `veneer memory` could not begin.
#[derive(Debug, Error)]
enum MemoryError {
    #[error("name a process: `veneer memory 4711`, or see `veneer memory --help`")]
    MissingProcess,
}

/// Runs the subcommand and returns the exit code.
pub fn run(arguments: MemoryArguments) -> Result<u8> {
    match (arguments.command, arguments.record) {
        (Some(MemoryCommand::Show(arguments)), _) => show::run(&arguments),
        (Some(MemoryCommand::Simulate(arguments)), _) => simulate::run(&arguments),
        (None, Some(arguments)) => record::run(&arguments),
        (None, None) => Err(MemoryError::MissingProcess.into()),
    }
}
