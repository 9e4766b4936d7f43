//! `veneer trace PID`: records the calls of a running JVM as an event trace.
//!
//! ```text
//!   plan ─▶ agent ─▶ trace directory beside the agent's data ─── move ──▶ DIR ─▶ Trace ─▶ summary
//!                └─▶ report: calls that were not recorded, refusals ─────────────────────────┘
//! ```
//!
//! No message of the protocol names a file, so the agent chooses the place of the trace. The
//! application threads write the files there. When the recording is over, or when the JVM has ended,
//! this command moves the directory to the place that the user named.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde::Deserialize;
use thiserror::Error;
use veneer_client::{Client, ControlError, Target};
use veneer_instruments::{Measurement, MethodPattern, RecordingSummary, RefusalRow};
use veneer_protocol::{DetachTarget, Reply, Report, Request, WireError};

use super::filter_file::read_rules;
use super::summary::{self, LeftOut};
use super::trace_directory::{self, TraceDirectory};
use crate::ask::literal;
use crate::cli::TraceRecordArguments;
use crate::exec::EXIT_PROGRAM_FAILED;
use crate::output::print_error;
use crate::remote::{LEASE_MILLIS, RENEWAL_INTERVAL};

/// The pattern of all methods that can be recorded.
pub const EVERY_METHOD: &str = "*..*";
/// The most methods of a recording.
pub const MAX_METHODS: u32 = 5_000_000;
/// Interval between two looks at whether the JVM is alive.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
/// Why nothing was recorded.
#[derive(Debug, Error)]
enum RecordError {
    #[error("the agent in process {0} did not say where it records; it may be of another version")]
    NoDirectory(u32),
}

/// The line that the program prints after it has attached the recorder.
#[derive(Debug, Deserialize)]
struct Attached {
    id: String,
    directory: PathBuf,
}

/// Records, and returns the exit code.
pub fn run(arguments: &TraceRecordArguments) -> Result<u8> {
    let patterns = match arguments.patterns.is_empty() {
        true => vec![EVERY_METHOD.to_owned()],
        false => arguments.patterns.clone(),
    };
    let parsed = patterns.iter().map(|pattern| MethodPattern::parse(pattern));
    let parsed = parsed.collect::<Result<Vec<_>, _>>()?;
    let rules = read_rules(arguments.filter.as_deref(), arguments.events)?;
    let place = trace_directory::free_place(&arguments.output)?;
    let target = Target::inspect(arguments.pid)?;
    let mut holder = veneer_client::connect(arguments.pid)?;
    let (attached, warnings) = match attach(&mut holder, &patterns, &rules) {
        Ok(attached) => attached,
        Err(ControlError::Refused(message)) => {
            print_error(&message);
            return Ok(EXIT_PROGRAM_FAILED);
        }
        Err(error) => return Err(error.into()),
    };
    let attached = attached.ok_or(RecordError::NoDirectory(arguments.pid))?;
    for warning in &warnings {
        print_error(&format_args!("warning: {warning}"));
    }
    holder.keep_renewing(RENEWAL_INTERVAL)?;
    let recorded = TraceDirectory::of_jvm(&target, &attached.directory);
    let client = veneer_client::connect(arguments.pid)?;
    eprintln!(
        "veneer: recording the calls of {} in process {} for {} s",
        patterns.join(", "),
        arguments.pid,
        arguments.seconds
    );
    let left_out = wait_and_detach(client, &attached.id, arguments.seconds)?;
    drop(holder);
    recorded.move_to(&place)?;
    let Some(mut left_out) = left_out else {
        print_error(&format_args!(
            "process {} has ended; the trace has all its events until then, and the calls that were not recorded are unknown",
            arguments.pid
        ));
        return summarise(
            arguments,
            &LeftOut {
                warnings,
                ..LeftOut::default()
            },
        );
    };
    let is_selected = |row: &RefusalRow| parsed.iter().any(|p| p.matches_class(&row.class));
    left_out.refusals.retain(is_selected);
    left_out.warnings = warnings;
    summarise(arguments, &left_out)
}

/// Attaches the recorder. Returns the line of the program about it, and the warnings.
fn attach(
    holder: &mut Client,
    patterns: &[String],
    rules: &str,
) -> Result<(Option<Attached>, Vec<String>), ControlError> {
    let patterns: Vec<String> = patterns.iter().map(|pattern| literal(pattern)).collect();
    let source = format!(
        "let r = methods([{}]).limit({MAX_METHODS}).around(recorder({}));\n\
         print(#{{ id: r.id(), directory: r.recording().directory }}.to_json());",
        patterns.join(", "),
        literal(rules)
    );
    let mut attached = None;
    let mut warnings = Vec::new();
    for line in execute(holder, source, Some(LEASE_MILLIS))? {
        match (serde_json::from_str(&line), line.split_once("warning: ")) {
            (Ok(found), _) => attached = Some(found),
            (_, Some((_, text))) => warnings.push(text.to_owned()),
            (_, None) => warnings.push(line),
        }
    }
    Ok((attached, warnings))
}

/// Waits until the time is over, and detaches the recorder. Returns `None` if the JVM ended before.
fn wait_and_detach(mut client: Client, id: &str, seconds: f64) -> Result<Option<LeftOut>> {
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let outcome = loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break detach(&mut client, id);
        }
        thread::sleep(left.min(LOOK_INTERVAL));
        if let Err(error) = client.status() {
            break Err(error);
        }
    };
    match outcome {
        Ok(left_out) => Ok(Some(left_out)),
        Err(error) if has_ended(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Detaches the recorder, and asks what it left out.
fn detach(client: &mut Client, id: &str) -> Result<LeftOut, ControlError> {
    client.detach(DetachTarget::Ids(vec![id.to_owned()]))?;
    let source = format!("print(recording({}).to_json());", literal(id));
    let lines = execute(client, source, None)?;
    let summary = lines
        .iter()
        .find_map(|line| serde_json::from_str(line).ok());
    let Some(summary): Option<RecordingSummary> = summary else {
        return Err(ControlError::Refused(lines.join("\n")));
    };
    let report = client.report()?;
    Ok(LeftOut {
        warnings: Vec::new(),
        excluded_methods: summary.excluded_methods,
        calls: unrecorded_calls(&report, id),
        refusals: report.refusals,
        problem: summary.problem,
    })
}

/// The calls that were not recorded, by method, the most frequent first.
fn unrecorded_calls(report: &Report, id: &str) -> Vec<(String, u64)> {
    let instruments = report.instruments.iter().filter(|one| one.id == id);
    let mut calls: Vec<(String, u64)> = instruments
        .flat_map(|one| &one.points)
        .filter_map(|point| match point.data {
            Measurement::Count { hits: 1.. } => Some((
                format!("{}::{}", point.class, point.method),
                point.data.hits(),
            )),
            _ => None,
        })
        .collect();
    calls.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    calls
}

/// Prints the summary of the trace.
fn summarise(arguments: &TraceRecordArguments, left_out: &LeftOut) -> Result<u8> {
    let mut to = BufWriter::new(io::stdout().lock());
    summary::write(&mut to, &arguments.output, left_out)?;
    to.flush()?;
    Ok(0)
}

/// Whether the error says that the JVM has closed the connection.
fn has_ended(error: &ControlError) -> bool {
    match error {
        ControlError::Closed(_) => true,
        ControlError::Wire {
            source: WireError::Io(error),
            ..
        } => matches!(
            error.kind(),
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset
        ),
        _ => false,
    }
}

/// Runs a program in the agent and returns the lines that it printed.
///
/// # Errors
/// The program failed ([`ControlError::Refused`]), or the connection did.
fn execute(
    client: &mut Client,
    source: String,
    hold: Option<u64>,
) -> Result<Vec<String>, ControlError> {
    client.send(&Request::Exec {
        name: "trace".into(),
        source,
        settings: Default::default(),
        modules: Default::default(),
        hold,
    })?;
    let mut lines = Vec::new();
    loop {
        match client.receive()? {
            Reply::Print(line) => lines.push(line),
            Reply::Done { .. } => return Ok(lines),
            Reply::Failed { message } => return Err(ControlError::Refused(message)),
            _ => return Err(ControlError::Unexpected(client.pid())),
        }
    }
}
