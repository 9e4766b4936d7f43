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
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde::Deserialize;
use thiserror::Error;
use veneer_client::{Client, ControlError, Target};
use veneer_instruments::{Measurement, MethodPattern, RecordingSummary, RefusalRow};
use veneer_protocol::{DetachTarget, Reply, Report};

use super::call_events::call_event_code;
use super::filter_file::{TraceRules, keep_last_line, option_lines, read_rules, uncounted_reason};
use super::recorded_methods::{EVERY_METHOD, MAX_METHODS};
use super::summary::{self, LeftOut};
use super::trace_directory::{self, TraceDirectory};
use super::traced_value::{TRACE_EVENT, ValueCode};
use super::trigger::{FIRED, trigger_code};
use crate::ask::plan_error::explain_without_expressions;
use crate::cli::TraceRecordArguments;
use crate::exec::EXIT_PROGRAM_FAILED;
use crate::exit_code::EXIT_REFUSED;
use crate::interruption::Interruption;
use crate::output::print_error;
use crate::remote::{LEASE_MILLIS, RENEWAL_INTERVAL};
use veneer_client::plan_text::literal;

/// The code of a refusal of plan code that reads variables which a method does not have.
const NOT_COMPILED: &str = "NotCompiled";
/// The name of the plan in messages.
const PLAN_NAME: &str = "trace";
/// Interval between two looks at whether the JVM is alive, and the longest delay after Ctrl-C.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
/// The time of a recording without a trigger, in seconds.
const DEFAULT_SECONDS: f64 = 10.0;
/// The longest time from the call that fires the trigger to the end of the recording, without `--keep`.
const TRIGGER_DELAY_SECONDS: f64 = 1.0;
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

/// The end of a recording.
enum Outcome {
    /// The recorder was detached.
    Detached(LeftOut),
    /// The JVM ended before.
    JvmEnded,
}

/// The time at which a recording ends.
struct RecordingEnd {
    /// The end without a trigger.
    deadline: Option<Instant>,
    /// The time for which the recording goes on after the trigger has fired.
    keep: Duration,
    /// Whether a trigger is attached.
    has_trigger: bool,
    /// Ctrl-C ends the recording and keeps the trace.
    interruption: Interruption,
}

/// Records, and returns the exit code.
pub fn run(arguments: &TraceRecordArguments) -> Result<u8> {
    let patterns = match arguments.patterns.is_empty() {
        true => vec![EVERY_METHOD.to_owned()],
        false => arguments.patterns.clone(),
    };
    let parsed = patterns.iter().map(|pattern| MethodPattern::parse(pattern));
    let parsed = parsed.collect::<Result<Vec<_>, _>>()?;
    let rules = rules(arguments)?;
    let program = program(arguments, &patterns, &rules)?;
    let place = trace_directory::free_place(&arguments.output)?;
    let target = Target::inspect(arguments.pid)?;
    let mut holder = veneer_client::connect(arguments.pid)?;
    let (attached, warnings) = match attach(&mut holder, program) {
        Ok(attached) => attached,
        Err(ControlError::Refused(message)) => {
            match message.contains(TRACE_EVENT) {
                true => {
                    let reason = explain_without_expressions(&message, PLAN_NAME);
                    print_error(&format_args!("--value: {reason}"));
                }
                false => print_error(&message),
            }
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
    let end = RecordingEnd::from_arguments(arguments)?;
    let until = match &arguments.trigger {
        Some(condition) => format!("until {condition}"),
        None => format!("for {} s", arguments.seconds.unwrap_or(DEFAULT_SECONDS)),
    };
    print_error(&format_args!(
        "recording the calls of {} in process {} {until}",
        patterns.join(", "),
        arguments.pid
    ));
    let closer = holder.closer()?;
    let (has_fired, outcome) = end.wait_and_detach(holder, client, &attached.id)?;
    closer.close();
    recorded.move_to(&place)?;
    let mut left_out = match outcome {
        Outcome::Detached(left_out) => left_out,
        Outcome::JvmEnded => {
            print_error(&format_args!(
                "process {} has ended; the trace has all its events until then, and the calls that were not recorded are unknown",
                arguments.pid
            ));
            LeftOut::default()
        }
    };
    // A method that lacks a value is recorded without it.
    let is_selected = |row: &RefusalRow| {
        row.reason != NOT_COMPILED && parsed.iter().any(|p| p.matches_class(&row.class))
    };
    left_out.refusals.retain(is_selected);
    left_out.warnings = warnings;
    left_out.uncounted = uncounted_reason(&rules.lines);
    summarise(arguments, &left_out)?;
    if has_fired == Some(false) {
        print_error(&"the trigger did not fire; the trace has the last seconds of the recording");
        return Ok(EXIT_REFUSED);
    }
    Ok(0)
}

/// The filter of the recording: that of the options, and then that of the file.
fn rules(arguments: &TraceRecordArguments) -> Result<TraceRules> {
    let mut rules = read_rules(arguments.filter.as_deref(), &arguments.events)?;
    let mut lines = option_lines(&arguments.threads, arguments.longer);
    lines.extend(kept_seconds(arguments).map(keep_last_line));
    lines.push(rules.lines);
    rules.lines = lines.join("\n");
    Ok(rules)
}

/// The program that attaches the recorder, and the trigger if there is one.
fn program(
    arguments: &TraceRecordArguments,
    patterns: &[String],
    rules: &TraceRules,
) -> Result<String> {
    let patterns: Vec<String> = patterns.iter().map(|pattern| literal(pattern)).collect();
    let recorded = patterns.join(", ");
    let values = ValueCode::new(&arguments.values)?;
    let mut program = format!(
        "let v = methods([{recorded}]).limit({MAX_METHODS});\n{}let r = v.around(recorder({}));\n{}",
        values.at_exits,
        literal(&rules.lines),
        values.at_entries
    );
    program += &call_event_code(&rules.events.calls);
    if let Some(condition) = &arguments.trigger {
        let tested = match &arguments.trigger_on {
            Some(pattern) => literal(pattern),
            None => recorded,
        };
        program += &format!("let m = methods([{tested}]).limit({MAX_METHODS});\n");
        program += &trigger_code(condition)?;
    }
    Ok(program + "print(#{ id: r.id(), directory: r.recording().directory }.to_json());")
}

/// The last seconds that the trace must have at its end: those before the trigger, those after it, and the
/// time until the command knows that it has fired.
fn kept_seconds(arguments: &TraceRecordArguments) -> Option<f64> {
    let last = arguments.last?;
    Some(match arguments.trigger {
        Some(_) => last + arguments.keep.unwrap_or(0.0) + TRIGGER_DELAY_SECONDS,
        None => last,
    })
}

/// Attaches the recorder. Returns the line of the program about it, and the warnings.
fn attach(
    holder: &mut Client,
    program: String,
) -> Result<(Option<Attached>, Vec<String>), ControlError> {
    let mut attached = None;
    let mut warnings = Vec::new();
    for line in holder.execute(PLAN_NAME, program, Some(LEASE_MILLIS))? {
        match (serde_json::from_str(&line), line.split_once("warning: ")) {
            (Ok(found), _) => attached = Some(found),
            (_, Some((_, text))) => warnings.push(text.to_owned()),
            (_, None) => warnings.push(line),
        }
    }
    Ok((attached, warnings))
}

impl RecordingEnd {
    fn from_arguments(arguments: &TraceRecordArguments) -> io::Result<RecordingEnd> {
        let seconds = match arguments.trigger {
            Some(_) => arguments.seconds,
            None => arguments.seconds.or(Some(DEFAULT_SECONDS)),
        };
        let deadline = seconds.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds));
        Ok(RecordingEnd {
            deadline,
            keep: Duration::from_secs_f64(arguments.keep.unwrap_or(0.0)),
            has_trigger: arguments.trigger.is_some(),
            interruption: Interruption::catch()?,
        })
    }

    /// Waits until the recording ends, and detaches the recorder. The first result is whether the
    /// trigger has fired, if there is one.
    fn wait_and_detach(
        self,
        holder: Client,
        mut client: Client,
        id: &str,
    ) -> Result<(Option<bool>, Outcome)> {
        let (send, fired) = channel();
        thread::spawn(move || read_prints(holder, &send));
        let mut has_fired = self.has_trigger.then_some(false);
        let mut deadline = self.deadline;
        let outcome = loop {
            let left = deadline.map(|end| end.saturating_duration_since(Instant::now()));
            if self.interruption.is_requested() || left.is_some_and(|left| left.is_zero()) {
                break detach(&mut client, id);
            }
            let pause = left.map_or(LOOK_INTERVAL, |left| left.min(LOOK_INTERVAL));
            match has_fired {
                Some(false) if fired.recv_timeout(pause).is_ok() => {
                    has_fired = Some(true);
                    deadline = Some(Instant::now() + self.keep);
                }
                Some(false) => {}
                _ => self.interruption.sleep(pause),
            }
            if let Err(error) = client.status() {
                break Err(error);
            }
        };
        let outcome = match outcome {
            Ok(left_out) => Outcome::Detached(left_out),
            Err(error) if error.is_closed() => Outcome::JvmEnded,
            Err(error) => return Err(error.into()),
        };
        Ok((has_fired, outcome))
    }
}

/// Reads what the plan prints, until the connection is closed. Sends a message when the trigger fires.
fn read_prints(mut holder: Client, fired: &Sender<()>) {
    while let Ok(reply) = holder.receive() {
        if matches!(reply, Reply::Print(line) if line == FIRED) {
            let _ = fired.send(());
        }
    }
}

/// Detaches the recorder, and asks what it left out.
fn detach(client: &mut Client, id: &str) -> Result<LeftOut, ControlError> {
    client.detach(DetachTarget::Ids(vec![id.to_owned()]))?;
    let source = format!("print(recording({}).to_json());", literal(id));
    let lines = client.execute(PLAN_NAME, source, None)?;
    let summary = lines
        .iter()
        .find_map(|line| serde_json::from_str(line).ok());
    let Some(summary): Option<RecordingSummary> = summary else {
        return Err(ControlError::Refused(lines.join("\n")));
    };
    let report = client.report()?;
    Ok(LeftOut {
        warnings: Vec::new(),
        uncounted: String::new(),
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
fn summarise(arguments: &TraceRecordArguments, left_out: &LeftOut) -> Result<()> {
    let mut to = BufWriter::new(io::stdout().lock());
    summary::write(&mut to, &arguments.output, left_out)?;
    to.flush()?;
    Ok(())
}
