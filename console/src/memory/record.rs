//! `veneer memory PID`: records the memory accesses of a running JVM, with simulated cache misses.
//!
//! ```text
//!   plan ─▶ agent ─┬─▶ report: the instructions ─┬─▶ assemble ─▶ MemoryProfile ─▶ file, or tables
//!                  └─▶ thread-N.accesses ────────┘
//! ```
//!
//! The plan is held: the agent detaches its instruments when this command ends. A second connection
//! reads the report, because replies on the first one would mix with the prints of the plan.

mod assemble;
mod caches;
mod heap;
mod plan;
mod profile_file;
mod run_recording;

pub use run_recording::RunMemory;

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde::Deserialize;
use thiserror::Error;
use veneer_client::{Client, ControlError, Target};
use veneer_instruments::{MethodPattern, PointRow};
use veneer_memory::profile::{Dimension, MemoryProfile};
use veneer_protocol::DetachTarget;

use super::show;
use crate::cli::MemoryRecordArguments;
use crate::exec::EXIT_PROGRAM_FAILED;
use crate::interruption::Interruption;
use crate::output::print_error;
use crate::recorded_jvm::check_folder;
use crate::remote::{LEASE_MILLIS, RENEWAL_INTERVAL};
use crate::trace::TraceDirectory;
pub use caches::RecordedMore;
use caches::cache_texts;
use plan::{EVERY_METHOD, RecordedPoints, RecordingPlan};
use profile_file::{summarise, write_profile};

/// Interval between two readings of the instructions. If the JVM ends, those of the last reading have
/// names.
const READING_INTERVAL: Duration = Duration::from_secs(5);

/// Why nothing was recorded.
#[derive(Debug, Error)]
enum RecordError {
    #[error("process {0} ended before its recording could be read; record for a shorter time")]
    Ended(u32),
    #[error("the agent of process {0} did not name the recording")]
    Unnamed(u32),
}

/// The recording, as the plan prints it.
#[derive(Debug, Deserialize)]
struct StartedRecording {
    /// The ids of the instruments.
    ids: Vec<String>,
    /// The directory of the files, in the file system of the JVM.
    directory: PathBuf,
}

/// Records, and returns the exit code.
pub fn run(arguments: &MemoryRecordArguments) -> Result<u8> {
    let interruption = Interruption::catch()?;
    if let Some(place) = &arguments.output {
        check_folder(place)?;
    }
    let patterns = match arguments.patterns.is_empty() {
        true => vec![EVERY_METHOD.to_owned()],
        false => arguments.patterns.clone(),
    };
    for pattern in &patterns {
        MethodPattern::parse(pattern)?;
    }
    let plan = match arguments.heap {
        Some(interval) => RecordingPlan::of_heap(patterns, interval),
        None => {
            let asked = RecordedMore {
                sharing: arguments.sharing,
                sample: arguments.sample,
                objects: arguments.objects || arguments.by == Dimension::Object,
                curve: arguments.curve,
            };
            RecordingPlan::new(patterns, cache_texts(&arguments.caches, asked)?)
        }
    };
    let recorded = record((arguments.pid, arguments.seconds), &plan, &interruption)?;
    let Some(RecordedWindow { mut profile, .. }) = recorded else {
        return Ok(EXIT_PROGRAM_FAILED);
    };
    profile.program = format!("process {}: {}", arguments.pid, plan.patterns().join(", "));
    match &arguments.output {
        Some(place) => {
            write_profile(&profile, place)?;
            summarise(place, &profile);
        }
        None => {
            let mut to = io::BufWriter::new(io::stdout().lock());
            show::print(&mut to, &profile, &arguments.view())?;
            to.flush()?;
        }
    }
    Ok(0)
}

/// The result of a recording.
pub struct RecordedWindow {
    pub profile: MemoryProfile,
    /// The instructions. The sites of the profile are in this order, each once.
    pub points: Vec<PointRow>,
}

/// Records the accesses of the methods of these patterns with simulated caches. `None` if the agent has
/// refused the recording, and the user knows why.
///
/// # Errors
/// The JVM cannot be reached, or its files cannot be read.
pub fn record_window(
    pid: u32,
    patterns: Vec<String>,
    caches: Vec<String>,
    seconds: f64,
    interruption: &Interruption,
) -> Result<Option<RecordedWindow>> {
    let plan = RecordingPlan::new(patterns, caches);
    record((pid, seconds), &plan, interruption)
}

/// Attaches the instruments, records for a time or until Ctrl-C, and detaches them. `None` if the agent
/// has refused the recording, and the user knows why.
fn record(
    (pid, seconds): (u32, f64),
    plan: &RecordingPlan,
    interruption: &Interruption,
) -> Result<Option<RecordedWindow>> {
    let target = Target::inspect(pid)?;
    let mut holder = veneer_client::connect(pid)?;
    let prints = match holder.execute("memory", plan.held_source(), Some(LEASE_MILLIS)) {
        Ok(prints) => prints,
        Err(ControlError::Refused(message)) => {
            print_error(&message);
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    let mut started = None;
    for line in prints {
        match serde_json::from_str::<StartedRecording>(&line) {
            Ok(recording) => started = Some(recording),
            Err(_) => print_error(&line),
        }
    }
    let started = started.ok_or(RecordError::Unnamed(pid))?;
    holder.keep_renewing(RENEWAL_INTERVAL)?;
    let files = TraceDirectory::of_jvm(&target, &started.directory);
    let mut client = veneer_client::connect(pid)?;
    let recorded = match plan.is_of_heap() {
        true => "allocations",
        false => "memory accesses",
    };
    print_error(&format_args!(
        "recording the {recorded} of {} in process {pid} for {} s",
        plan.patterns().join(", "),
        seconds
    ));
    let time = Duration::from_secs_f64(seconds);
    let (points, is_whole) = read_points(&mut client, plan, time, interruption)?;
    if is_whole {
        // The files are whole when the agent has detached the recorder.
        client.detach(DetachTarget::Ids(started.ids))?;
    }
    drop(holder);
    let mut profile = match plan.is_of_heap() {
        true => heap::profile(files.path(), &points.accesses)?,
        false => assemble::profile(files.path(), &points, plan.caches())?,
    };
    if !is_whole {
        print_error(&format_args!("process {pid} has ended"));
        profile
            .notes
            .push("The JVM ended during the recording.".into());
    }
    // The profile has everything that is in the files.
    let _ = fs::remove_dir_all(files.path());
    Ok(Some(RecordedWindow {
        profile,
        points: points.accesses,
    }))
}

/// Waits until the time is over, or until Ctrl-C. Returns the recorded instructions, and whether the JVM
/// still runs.
fn read_points(
    client: &mut Client,
    plan: &RecordingPlan,
    time: Duration,
    interruption: &Interruption,
) -> Result<(RecordedPoints, bool)> {
    let end = Instant::now() + time;
    let mut last = None;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        interruption.sleep(left.min(READING_INTERVAL));
        let is_over = interruption.is_requested() || Instant::now() >= end;
        match (client.report(), last.take()) {
            (Ok(report), _) if is_over => return Ok((plan.points(report), true)),
            (Ok(report), _) => last = Some(plan.points(report)),
            (Err(error), Some(points)) if error.is_closed() => return Ok((points, false)),
            (Err(error), None) if error.is_closed() => {
                return Err(RecordError::Ended(client.pid()).into());
            }
            (Err(error), _) => return Err(error.into()),
        }
    }
}
