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

mod trace_directory;

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::Deserialize;
use thiserror::Error;
use veneer_client::{Client, ControlError, Target};
use veneer_instruments::{Measurement, MethodPattern, RecordingSummary, RefusalRow};
use veneer_protocol::{DetachTarget, Reply, Report, Request, WireError};
use veneer_traces::Trace;
use veneer_traces::analysis::TraceFilter;

use super::text::{clean, duration};
use crate::ask::literal;
use crate::cli::TraceRecordArguments;
use crate::exec::EXIT_PROGRAM_FAILED;
use crate::output::print_error;
use crate::remote::{LEASE_MILLIS, RENEWAL_INTERVAL};
use trace_directory::TraceDirectory;

/// The pattern of all methods that can be recorded.
const EVERY_METHOD: &str = "*..*";
/// The most methods of a recording.
const MAX_METHODS: u32 = 5_000_000;
/// Interval between two looks at whether the JVM is alive.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
/// The most methods of each list in the summary.
const MAX_LISTED: usize = 10;

/// Why nothing was recorded.
#[derive(Debug, Error)]
enum RecordError {
    #[error("the agent in process {0} did not say where it records; it may be of another version")]
    NoDirectory(u32),
}

/// What the program prints after it has attached the recorder.
#[derive(Debug, Deserialize)]
struct Attached {
    id: String,
    directory: PathBuf,
}

/// What a recording did not see, as far as the agent knows it.
#[derive(Debug, Default)]
struct LeftOut {
    /// The warnings of the plan: activations that began before the recording.
    warnings: Vec<String>,
    /// The number of methods that the filter left out.
    excluded_methods: u64,
    /// The methods that the agent refused.
    refusals: Vec<RefusalRow>,
    /// The calls, by method, in threads without an events file.
    calls: Vec<(String, u64)>,
    /// The first error while the files were written.
    problem: Option<String>,
}

/// Records, and returns the exit code.
pub fn run(arguments: &TraceRecordArguments) -> Result<u8> {
    let patterns = match arguments.patterns.is_empty() {
        true => vec![EVERY_METHOD.to_owned()],
        false => arguments.patterns.clone(),
    };
    let parsed = patterns.iter().map(|pattern| MethodPattern::parse(pattern));
    let parsed = parsed.collect::<Result<Vec<_>, _>>()?;
    let rules = read_filter(arguments)?;
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
    let recorded = TraceDirectory::of(&target, &attached.directory);
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

/// The rules of the filter file, one per line. Other lines of a JPMT configuration are reported.
fn read_filter(arguments: &TraceRecordArguments) -> Result<String> {
    let Some(path) = &arguments.filter else {
        return Ok(String::new());
    };
    let text = fs::read_to_string(path)
        .with_context(|| format!("the filter {} cannot be read", path.display()))?;
    let filter = TraceFilter::parse(&text)
        .with_context(|| format!("the filter {} is malformed", path.display()))?;
    let observed = filter
        .observed
        .iter()
        .map(|event| format!("observe_{event}"));
    let observed = observed.filter(|word| word != "observe_method_invocations");
    let ignored: Vec<String> = observed.chain(filter.ignored).collect();
    if !ignored.is_empty() {
        print_error(&format_args!(
            "warning: {}: no effect here: {}; method calls are recorded",
            path.display(),
            ignored.join(", ")
        ));
    }
    let rules = filter.rules.iter().map(|rule| {
        let word = if rule.is_include {
            "includemethod"
        } else {
            "excludemethod"
        };
        format!("{word} {} {}", rule.class, rule.method)
    });
    Ok(rules.collect::<Vec<_>>().join("\n"))
}

/// Attaches the recorder. Returns what the program printed about it, and the warnings.
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

/// Prints what the trace has and what it lacks.
fn summarise(arguments: &TraceRecordArguments, left_out: &LeftOut) -> Result<u8> {
    let trace = Trace::open(&arguments.output)?;
    let threads = trace.all_threads()?;
    let calls: u64 = threads.iter().map(|thread| thread.index.nodes).sum();
    let segments = || threads.iter().flat_map(|thread| &thread.index.segments);
    let first = segments()
        .map(|one| one.place.header.start)
        .min()
        .unwrap_or(0);
    let last = segments().map(|one| one.last).max().unwrap_or(first);
    let ns = trace.names.clock.nanoseconds(last.saturating_sub(first));
    let findings = trace.findings(&threads);
    let mut to = BufWriter::new(io::stdout().lock());
    writeln!(
        to,
        "{}: {calls} calls of {} in {} threads, {}",
        arguments.output.display(),
        methods(trace.names.frames.len().saturating_sub(1) as u64),
        threads.len(),
        duration(ns)
    )?;
    for (name, count) in findings.list() {
        if count > 0 {
            writeln!(to, "  {count} {name}")?;
        }
    }
    write_left_out(&mut to, left_out)?;
    to.flush()?;
    Ok(0)
}

fn write_left_out(to: &mut impl Write, left_out: &LeftOut) -> io::Result<()> {
    if left_out.excluded_methods > 0 {
        let what = methods(left_out.excluded_methods);
        writeln!(to, "  not recorded: {what}, by the filter")?;
    }
    for warning in &left_out.warnings {
        writeln!(to, "  not recorded: {}", clean(warning))?;
    }
    let calls: u64 = left_out.calls.iter().map(|(_, count)| count).sum();
    if calls > 0 {
        writeln!(
            to,
            "  not recorded: {calls} calls in threads without an events file, which are virtual threads and threads beyond 255 at a time"
        )?;
        for (method, count) in left_out.calls.iter().take(MAX_LISTED) {
            writeln!(to, "    {count} of {}", clean(method))?;
        }
        write_rest(to, left_out.calls.len(), "methods")?;
    }
    if !left_out.refusals.is_empty() {
        let count = left_out.refusals.len();
        writeln!(
            to,
            "  not recorded: {count} methods or classes that cannot be armed"
        )?;
        for row in left_out.refusals.iter().take(MAX_LISTED) {
            let name = match row.method.as_str() {
                "" => row.class.clone(),
                method => format!("{}::{method}", row.class),
            };
            writeln!(to, "    {}: {}", clean(&name), row.reason)?;
        }
        write_rest(to, count, "refusals; `veneer refusals PID` lists them")?;
    }
    match &left_out.problem {
        Some(problem) => writeln!(to, "  incomplete: {}", clean(problem)),
        None => Ok(()),
    }
}

fn methods(count: u64) -> String {
    match count {
        1 => "1 method".into(),
        _ => format!("{count} methods"),
    }
}

fn write_rest(to: &mut impl Write, count: usize, what: &str) -> io::Result<()> {
    match count.saturating_sub(MAX_LISTED) {
        0 => Ok(()),
        rest => writeln!(to, "    … {rest} more {what}"),
    }
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
