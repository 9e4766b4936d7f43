//! `veneer trace`: shows, queries, compares and exports event traces. No JVM is involved.
//!
//! ```text
//!   veneer_traces ─┬─ fold_thread ──────▶ show
//!                  ├─ parse, run ───────▶ query ─▶ table, CSV, JSON
//!                  ├─ first_difference ─▶ diff
//!                  └─ CallContexts ─────▶ diff, export ◀── veneer_export::trace
//! ```

mod diff;
mod query;
mod show;
mod text;

use std::io::{BufWriter, Write};

use anyhow::Result;
use veneer_export::trace::{write_nodes, write_slices, write_spans};
use veneer_traces::Trace;
use veneer_traces::analysis::CallContexts;

use crate::cli::{TraceArguments, TraceCommand, TraceExportArguments};
use crate::export::Output;

/// Runs the command and returns the exit code.
pub fn run(arguments: TraceArguments) -> Result<u8> {
    match arguments.command {
        TraceCommand::Show(arguments) => show::run(&arguments),
        TraceCommand::Query(arguments) => query::run(&arguments),
        TraceCommand::Diff(arguments) => diff::run(&arguments),
        TraceCommand::Export(arguments) => export(&arguments),
    }
}

/// Writes the trace in the requested format.
fn export(arguments: &TraceExportArguments) -> Result<u8> {
    let trace = Trace::open(&arguments.directory)?;
    let format = &arguments.format;
    let output = Output::open(arguments.output.as_deref(), format.is_binary())?;
    let mut to = BufWriter::new(output);
    if format.perfetto {
        write_slices(&trace, &mut to)?;
    } else if format.parquet {
        write_nodes(&trace, &mut to)?;
    } else if format.otlp {
        write_spans(&trace, &arguments.service, &mut to)?;
    } else {
        let contexts = CallContexts::of_trace(&trace)?;
        to.write_all(contexts.collapsed().as_bytes())?;
    }
    to.flush()?;
    Ok(0)
}
