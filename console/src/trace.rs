//! `veneer trace`: records, shows, queries, compares and exports event traces. Only recording involves
//! a JVM.
//!
//! ```text
//!   JVM ─── record ─▶ trace directory
//!   veneer_traces ─┬─ fold_thread ──────▶ show
//!                  ├─ parse, run ───────▶ query ─▶ table, CSV, JSON
//!                  ├─ first_difference ─▶ diff
//!                  └─ CallContexts ─────▶ diff, export ◀── veneer_export::trace, veneer_flames
//! ```

mod call_events;
mod diff;
mod filter_file;
mod query;
mod record;
mod recorded_methods;
mod run_recording;
mod show;
mod summary;
mod text;
mod trace_directory;
mod traced_value;
mod tree_browser;
mod tree_difference;
mod tree_json;
mod trigger;

pub use filter_file::read_rules;
pub use run_recording::{RunRecording, traces};
pub use trace_directory::TraceDirectory;

use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Result, bail};
use veneer_export::trace::{write_nodes, write_profile, write_slices, write_spans};
use veneer_traces::Trace;
use veneer_traces::analysis::CallContexts;

use crate::cli::{TraceArguments, TraceCommand, TraceExportArguments};
use crate::export::Output;

/// Runs the command and returns the exit code.
pub fn run(arguments: TraceArguments) -> Result<u8> {
    match (arguments.command, arguments.record) {
        (Some(TraceCommand::Show(arguments)), _) => show::run(&arguments),
        (Some(TraceCommand::Query(arguments)), _) => query::run(&arguments),
        (Some(TraceCommand::Diff(arguments)), _) => diff::run(&arguments),
        (Some(TraceCommand::Export(arguments)), _) => export(&arguments),
        (None, Some(arguments)) => record::run(&arguments),
        (None, None) => bail!("name a process id, or show, query, diff or export"),
    }
}

/// The name of a trace for readers.
fn title(directory: &Path) -> String {
    directory.display().to_string()
}

/// Writes the trace in the requested format.
fn export(arguments: &TraceExportArguments) -> Result<u8> {
    let trace = Trace::open(&arguments.directory)?;
    let format = &arguments.format;
    let output = Output::open(arguments.output.as_deref(), format.is_binary())?;
    let mut to = BufWriter::new(output);
    if format.perfetto {
        write_slices(&trace, &mut to)?;
    } else if format.firefox {
        write_profile(&trace, &mut to)?;
    } else if format.parquet {
        write_nodes(&trace, &mut to)?;
    } else if format.otlp {
        write_spans(&trace, &arguments.service, &mut to)?;
    } else {
        let stacks = CallContexts::of_trace(&trace)?.collapsed();
        let text = match format.flamegraph {
            true => veneer_flames::render(&stacks, &title(&arguments.directory), "ns")?,
            false => stacks,
        };
        to.write_all(text.as_bytes())?;
    }
    to.flush()?;
    Ok(0)
}
