//! `veneer calls PID --adaptive`: contexts in bursts, with a bounded cost.
//!
//! Between two bursts nothing is attached. [`BurstSchedule`] decides when the next burst begins.

use std::time::{Duration, Instant};

use anyhow::Result;
use veneer_calls::bursts::BurstSchedule;
use veneer_calls::diff::context_overlap;
use veneer_calls::{CallProfile, Measure, diff};
use veneer_client::Target;
use veneer_instruments::table::format_duration;

use super::{RecordedPart, record_part, write};
use crate::cli::CallsRecordArguments;
use crate::exec::EXIT_PROGRAM_FAILED;
use crate::interruption::Interruption;
use crate::output::print_error;
use crate::quantity::quantity;

/// The share of the time in which the program may be slow.
const MOST_COST: f64 = 0.05;
/// The shortest time that the JVM needs to compile the methods again after a burst. The more methods there
/// are, the longer it takes to attach to them and to compile them.
const LEAST_RECOVERY: Duration = Duration::from_secs(1);

/// The longest burst that is only so long because the attachment took as long. A program of many methods
/// is slow for as long again, until the JVM has compiled the methods with their instruments.
const MAX_BURST: Duration = Duration::from_secs(10);

/// Interval between two looks at whether the JVM still runs.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

/// The bursts up to now.
struct Bursts {
    all: CallProfile,
    /// Every second burst, and the others. Their overlap tells how far the sum is from the truth.
    halves: [CallProfile; 2],
    count: u64,
    recorded: Duration,
}

fn format_percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

/// Records in bursts, and returns the exit code.
///
/// # Errors
/// The JVM cannot be reached.
pub fn record_in_bursts(arguments: &CallsRecordArguments) -> Result<u8> {
    let interruption = Interruption::catch()?;
    let (begin, end) = {
        let now = Instant::now();
        (now, now + Duration::from_secs_f64(arguments.seconds))
    };
    let mut schedule = BurstSchedule::new(MOST_COST);
    let mut bursts = Bursts {
        all: CallProfile::new(),
        halves: [CallProfile::new(), CallProfile::new()],
        count: 0,
        recorded: Duration::ZERO,
    };
    let target = Target::inspect(arguments.pid)?;
    while !interruption.is_requested() && Instant::now() < end && target.is_alive() {
        let began = Instant::now();
        let left = end.saturating_duration_since(began);
        let mut length = Duration::ZERO;
        let choose = |attaching: Duration| {
            let attaching = Duration::from_secs(attaching.as_secs()).min(MAX_BURST);
            length = schedule.length().max(attaching).min(left);
            length
        };
        let part = match record_part(arguments, choose, &interruption) {
            Ok(RecordedPart::Whole(part)) => part,
            Ok(RecordedPart::Refused) if bursts.count == 0 => return Ok(EXIT_PROGRAM_FAILED),
            Ok(RecordedPart::Refused) => break,
            Ok(RecordedPart::Cut(part)) => {
                bursts.add(&part, length);
                break;
            }
            Err(error) if bursts.count == 0 => return Err(error),
            // The earlier bursts must not be lost.
            Err(error) => {
                print_error(&format_args!("{error:#}"));
                break;
            }
        };
        let overlap = context_overlap(&bursts.all, &part);
        bursts.add(&part, length);
        let attaching = began.elapsed().saturating_sub(length);
        let slow = began.elapsed() + attaching / 2 + LEAST_RECOVERY;
        let pause = schedule.pause(slow, overlap);
        let left = end.saturating_duration_since(Instant::now());
        print_error(&format_args!(
            "{}; the next one in {}",
            bursts.state(overlap),
            format_duration(pause.as_nanos() as u64)
        ));
        let next = Instant::now() + pause.min(left);
        while Instant::now() < next && !interruption.is_requested() && target.is_alive() {
            let left = next.saturating_duration_since(Instant::now());
            interruption.sleep(left.min(LOOK_INTERVAL));
        }
    }
    let profile = bursts.finish(begin.elapsed());
    write(&profile, arguments)?;
    Ok(0)
}

impl Bursts {
    fn add(&mut self, part: &CallProfile, length: Duration) {
        self.all.merge(part);
        self.halves[self.count as usize % 2].merge(part);
        self.count += 1;
        self.recorded += length;
    }

    /// The last burst, for people.
    fn state(&self, overlap: Option<f64>) -> String {
        match overlap {
            Some(overlap) => format!(
                "burst {}: {} of the calls are in the same contexts as in earlier bursts",
                self.count,
                format_percent(overlap)
            ),
            None => format!("burst {}", self.count),
        }
    }

    /// The profile of all bursts, with what is known about its error.
    fn finish(mut self, time: Duration) -> CallProfile {
        let facts = format!(
            "{}, {} of {}; counts and times are those of the bursts",
            quantity(self.count, "burst"),
            format_duration(self.recorded.as_nanos() as u64),
            format_duration(time.as_nanos() as u64)
        );
        self.all.add_info("adaptive", &facts);
        let [one, other] = &self.halves;
        let contexts = context_overlap(one, other);
        let edges = diff::diff(one, other, Measure::Count).overlap;
        if let (Some(contexts), Some(edges)) = (contexts, edges) {
            let error = format!(
                "both halves of the bursts have {} of the calls and {} of the contexts in common",
                format_percent(edges),
                format_percent(contexts)
            );
            self.all.add_info("adaptive", &error);
        }
        self.all
    }
}
