//! `veneer calls PID`: records the call graph of a running JVM.
//!
//! ```text
//!   plan ─▶ agent ─┬─▶ report: counters and a table ─┬─▶ assemble ─▶ CallProfile ─▶ file, or a table
//!                  └─▶ classes(…): supertypes ───────┘
//! ```
//!
//! The plan is held: the agent detaches its instruments when this command ends. A second connection
//! reads the counts, because replies on the first one would mix with the prints of the plan.
//!
//! With `--contexts` the agent also writes a tree of contexts for each thread, in a directory that it
//! chooses. This command reads and removes the directory when the recording is over.

mod assemble;
mod bursts;
mod complete;
mod contexts;
mod hierarchy;
mod instruments;
mod run_recording;
mod site;
mod tasks;

pub use bursts::record_in_bursts;
pub use complete::{CompleteRun, record_running};
pub use instruments::ContextOptions;
pub use run_recording::{RunCalls, recorded_directories};

use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde::Deserialize;
use thiserror::Error;
use veneer_calls::{CallProfile, file};
use veneer_client::{Client, ControlError, Target};
use veneer_instruments::MethodPattern;
use veneer_protocol::DetachTarget;
use veneer_protocol::data::ClassFacts;

use super::text;
use crate::cli::CallsRecordArguments;
use crate::exec::EXIT_PROGRAM_FAILED;
use crate::interruption::Interruption;
use crate::output::{Style, print_error};
use crate::remote::{LEASE_MILLIS, RENEWAL_INTERVAL};
use crate::replaced_file::replace_file;
use crate::trace::TraceDirectory;
use assemble::Readings;
use contexts::take_contexts;
use hierarchy::Hierarchy;
use instruments::InstrumentNames;
use tasks::{UNFOLLOWED_TASKS, is_about_tasks};
use veneer_client::plan_text::literal;

/// The pattern of all methods that can be recorded.
const EVERY_METHOD: &str = "*..*";
/// The most pairs of a call site and a class of receivers.
const MAX_RECEIVERS: u32 = 20_000;
/// The number of classes whose supertypes one program asks for. The agent buffers 4 MiB of the text
/// that a program prints.
const CLASSES_PER_PROGRAM: usize = 100;
/// Interval between two readings of the counts. If the JVM ends, the last reading is written.
const READING_INTERVAL: Duration = Duration::from_secs(5);

/// Why nothing was recorded.
#[derive(Debug, Error)]
enum RecordError {
    #[error("process {0} ended before its counts could be read; record for a shorter time")]
    Ended(u32),
}

/// The recorder of contexts, as the plan prints it.
#[derive(Debug, Deserialize)]
struct ContextRecorder {
    /// The ids of all instruments of the recording.
    ids: Vec<String>,
    /// The number of methods of thread pools whose tasks are not followed.
    #[serde(default)]
    unfollowed: u64,
    /// The directory of the trees, in the file system of the JVM.
    directory: PathBuf,
}

/// A recording whose instruments are attached.
struct Recording {
    /// Reads the counts.
    client: Client,
    names: InstrumentNames,
    hierarchy: Hierarchy,
    /// The classes whose supertypes the agent was asked for.
    asked: BTreeSet<String>,
}

/// The warnings of the program without its lines, which the user has not written. The program has
/// several instruments, and each can warn of the same methods, with another number of activations.
fn distinct(prints: Vec<String>) -> Vec<String> {
    let mut known = BTreeSet::new();
    let texts = prints
        .into_iter()
        .map(|print| match print.split_once("warning: ") {
            Some((_, text)) => text.to_owned(),
            None => print,
        });
    let subject = |text: &str| match text.split_once(" of ") {
        Some((_, rest)) => rest.to_owned(),
        None => text.to_owned(),
    };
    texts.filter(|text| known.insert(subject(text))).collect()
}

/// Takes the line about the recorder of contexts out of the lines that the plan has printed.
fn take_recorder(prints: &mut Vec<String>) -> Option<ContextRecorder> {
    let at = prints.iter().position(|line| line.starts_with('{'))?;
    let recorder = serde_json::from_str(&prints[at]).ok()?;
    prints.remove(at);
    Some(recorder)
}

/// A recording that has ended.
enum RecordedPart {
    /// The agent has refused it, and the user knows why.
    Refused,
    /// The JVM ended during the recording.
    Cut(CallProfile),
    Whole(CallProfile),
}

/// Records, and returns the exit code.
pub fn run(arguments: &CallsRecordArguments) -> Result<u8> {
    let interruption = Interruption::catch()?;
    let time = Duration::from_secs_f64(arguments.seconds);
    match record_part(arguments, |_| time, &interruption)? {
        RecordedPart::Refused => return Ok(EXIT_PROGRAM_FAILED),
        RecordedPart::Cut(profile) | RecordedPart::Whole(profile) => write(&profile, arguments)?,
    }
    Ok(0)
}

/// Attaches the instruments, records for a time or until Ctrl-C, and detaches them. The time can depend
/// on the time that the attachment took.
fn record_part(
    arguments: &CallsRecordArguments,
    time: impl FnOnce(Duration) -> Duration,
    interruption: &Interruption,
) -> Result<RecordedPart> {
    let began = Instant::now();
    let patterns = match arguments.patterns.is_empty() {
        true => vec![EVERY_METHOD.to_owned()],
        false => arguments.patterns.clone(),
    };
    let parsed = patterns.iter().map(|pattern| MethodPattern::parse(pattern));
    let parsed = parsed.collect::<Result<Vec<_>, _>>()?;
    let names = InstrumentNames::of_this_process();
    let target = Target::inspect(arguments.pid)?;
    let mut holder = veneer_client::connect(arguments.pid)?;
    let mut program = names.plan(&patterns, MAX_RECEIVERS);
    let has_contexts = arguments.contexts || arguments.adaptive;
    let options = ContextOptions::new(arguments.exact_times, arguments.tasks);
    let options = Some(options).filter(|_| has_contexts);
    if let Some(options) = options {
        program += &names.context_plan(options);
    }
    let (recorder, warnings) = match holder.execute("calls", program, Some(LEASE_MILLIS)) {
        Ok(mut prints) => {
            let recorder = take_recorder(&mut prints);
            let mut warnings = distinct(prints);
            warnings.retain(|warning| !(arguments.tasks && is_about_tasks(warning)));
            if recorder
                .as_ref()
                .is_some_and(|one: &ContextRecorder| one.unfollowed > 0)
            {
                warnings.push(UNFOLLOWED_TASKS.to_owned());
            }
            (recorder, warnings)
        }
        Err(ControlError::Refused(message)) => {
            print_error(&message);
            return Ok(RecordedPart::Refused);
        }
        Err(error) => return Err(error.into()),
    };
    for warning in &warnings {
        print_error(&format_args!("warning: {warning}"));
    }
    holder.keep_renewing(RENEWAL_INTERVAL)?;
    let trees = recorder
        .as_ref()
        .map(|one| TraceDirectory::of_jvm(&target, &one.directory));
    let mut recording = Recording {
        client: veneer_client::connect(arguments.pid)?,
        names,
        hierarchy: Hierarchy::default(),
        asked: BTreeSet::new(),
    };
    let time = time(began.elapsed());
    print_error(&format_args!(
        "recording the calls of {} in process {} for {} s",
        patterns.join(", "),
        arguments.pid,
        time.as_secs_f64()
    ));
    let (readings, is_whole) = recording.record(time, interruption)?;
    if let Some(recorder) = recorder.filter(|_| is_whole) {
        // The trees are whole when the agent has detached their recorder.
        recording.client.detach(DetachTarget::Ids(recorder.ids))?;
    }
    drop(holder);
    let mut profile = assemble::profile(&readings, &recording.hierarchy, &parsed);
    if let Some(trees) = trees {
        take_contexts(&mut profile, trees.path(), &readings.contexts);
    }
    for (name, fact) in options.into_iter().flat_map(ContextOptions::facts) {
        profile.add_info(name, fact);
    }
    for pattern in &patterns {
        profile.add_info("methods", pattern);
    }
    for warning in &warnings {
        profile.add_info("warning", warning);
    }
    if is_whole {
        return Ok(RecordedPart::Whole(profile));
    }
    print_error(&format_args!(
        "process {} has ended; its last counts are up to {} seconds older",
        arguments.pid,
        READING_INTERVAL.as_secs()
    ));
    profile.add_info("incomplete", "the JVM ended during the recording");
    Ok(RecordedPart::Cut(profile))
}

fn write(profile: &CallProfile, arguments: &CallsRecordArguments) -> Result<()> {
    if let Some(path) = &arguments.output {
        return replace_file(path, |out| {
            file::write(profile, out)?;
            Ok(())
        });
    }
    let mut out = BufWriter::new(io::stdout().lock());
    text::write_overview(profile, Style::of_stdout(), &mut out)?;
    out.flush()?;
    Ok(())
}

impl Recording {
    /// Waits until the time is over, or until Ctrl-C. Returns the counts, and whether they were read at the
    /// end.
    fn record(&mut self, time: Duration, interruption: &Interruption) -> Result<(Readings, bool)> {
        let end = Instant::now() + time;
        let mut last = None;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            interruption.sleep(left.min(READING_INTERVAL));
            let is_over = interruption.is_requested() || Instant::now() >= end;
            match (self.read(), last) {
                (Ok(readings), _) if is_over => return Ok((readings, true)),
                (Ok(readings), _) => last = Some(readings),
                (Err(error), Some(readings)) if error.is_closed() => return Ok((readings, false)),
                (Err(error), None) if error.is_closed() => {
                    return Err(RecordError::Ended(self.client.pid()).into());
                }
                (Err(error), _) => return Err(error.into()),
            }
        }
    }

    /// Reads the counts, and the supertypes of classes that are new.
    fn read(&mut self) -> Result<Readings, ControlError> {
        let readings = self.names.readings(self.client.report()?);
        let classes: BTreeSet<String> = readings
            .entries
            .iter()
            .map(|row| row.class.clone())
            .filter(|class| !self.asked.contains(class))
            .collect();
        let classes: Vec<String> = classes.into_iter().collect();
        for some in classes.chunks(CLASSES_PER_PROGRAM) {
            self.read_supertypes(some)?;
            self.asked.extend(some.iter().cloned());
        }
        Ok(readings)
    }

    /// Asks for the supertypes of these classes.
    fn read_supertypes(&mut self, classes: &[String]) -> Result<(), ControlError> {
        let classes: Vec<String> = classes.iter().map(|class| literal(class)).collect();
        let source = format!(
            "for c in classes([{}]) {{ print(#{{ name: c.name, supertypes: c.supertypes, flags: c.flags, \
             methods: c.methods.map(|m| #{{ method: m.method, size: m.size, flags: m.flags }}) }}.to_json()); }}",
            classes.join(", ")
        );
        for line in self.client.execute("calls", source, None)? {
            // Other lines are messages of the agent about the program.
            match serde_json::from_str::<ClassFacts>(&line) {
                Ok(facts) => self.hierarchy.add(facts),
                Err(_) => print_error(&line),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_of_several_instruments_is_shown_once() {
        let prints = [
            "calls:3:11: warning: 3 activations of Desk::serve began before it",
            "calls:4:16: warning: 2 activations of Desk::serve began before it",
            "calls:4:16: warning: 1 activation of Desk::open began before it",
            "another text",
        ];
        let shown = distinct(prints.map(String::from).to_vec());
        assert_eq!(
            shown,
            [
                "3 activations of Desk::serve began before it",
                "1 activation of Desk::open began before it",
                "another text",
            ]
        );
    }
}
