//! `veneer memory`: shows memory profiles, and simulates caches on address traces. No JVM is needed.
//!
//! ```text
//!   show      file ──▶ ProfileFile ─┬─▶ render: table, JSON, CSV
//!   simulate  trace ─▶ MemoryProfile┘   annotate: source lines
//!                          └─▶ file (-o)
//! ```

mod annotate;
mod render;
mod show;
mod simulate;
mod trace;

use anyhow::Result;

use crate::cli::{MemoryArguments, MemoryCommand};

/// Runs the subcommand and returns the exit code.
pub fn run(arguments: MemoryArguments) -> Result<u8> {
    match arguments.command {
        MemoryCommand::Show(arguments) => show::run(&arguments),
        MemoryCommand::Simulate(arguments) => simulate::run(&arguments),
    }
}
