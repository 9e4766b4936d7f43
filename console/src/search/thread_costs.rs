//! What the threads of a JVM used between two dumps: processor time, allocated bytes, and pauses for
//! collections. Stacks do not show these.
//!
//! A stack sample has one cause. If a cause takes a known share of a thread's time, that share of
//! the thread's samples gets the cause, so the share of the samples is the share of the time.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use veneer_client::thread_dump::DumpedThread;

/// The assumed processor time of allocating one byte, in nanoseconds: clearing and writing memory
/// that is in no cache, and the allocation itself. Dumps show bytes only.
const NANOS_PER_BYTE: f64 = 0.3;
/// The period of which the allocation rate is calculated. HotSpot rounds the bytes, so a shorter
/// period would have no rate after 10 GB.
const RATE_PERIOD: Duration = Duration::from_secs(2);
/// A runnable thread in a native method waits if it used less than this part of the time.
const MIN_PROCESSOR_PART: f64 = 0.1;

/// A moment in the life of a thread.
#[derive(Clone, Copy, Debug)]
struct Moment {
    at: Duration,
    processor: Duration,
    allocated_bytes: u64,
}

/// Gives a share of the samples a cause, as evenly as possible.
#[derive(Clone, Copy, Debug, Default)]
struct EvenDraw {
    sum: f64,
}

impl EvenDraw {
    fn draw(&mut self, share: f64) -> bool {
        self.sum += share.clamp(0.0, 1.0);
        let is_drawn = self.sum >= 1.0;
        if is_drawn {
            self.sum -= 1.0;
        }
        is_drawn
    }
}

#[derive(Clone, Debug, Default)]
struct ThreadHistory {
    moments: VecDeque<Moment>,
    allocation: EvenDraw,
    collections: EvenDraw,
}

/// What a sample of one runnable thread represents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleCost {
    /// The sample represents time in which the thread allocated objects.
    pub is_allocation: bool,
    /// The sample represents time in which a collection stopped the thread.
    pub is_collection: bool,
    /// The thread used hardly any processor time since the last dump.
    pub is_off_processor: bool,
}

/// The histories of all threads of a JVM.
#[derive(Clone, Debug, Default)]
pub struct ThreadCosts {
    histories: HashMap<u64, ThreadHistory>,
}

impl ThreadCosts {
    /// Returns what a sample of a runnable thread represents. `at` is the time of the dump since
    /// the beginning, and `collections` the share of the time since the last dump in which
    /// collections stopped all threads. Each dump is told once for each thread.
    pub fn add(&mut self, thread: &DumpedThread, at: Duration, collections: f64) -> SampleCost {
        let (Some(id), Some(processor)) = (thread.id, thread.processor) else {
            return SampleCost::default();
        };
        let history = self.histories.entry(id).or_default();
        let moment = Moment {
            at,
            processor,
            allocated_bytes: thread.allocated_bytes.unwrap_or(0),
        };
        let last = history.moments.back().copied();
        history.moments.push_back(moment);
        while history
            .moments
            .get(1)
            .is_some_and(|m| m.at + RATE_PERIOD <= at)
        {
            history.moments.pop_front();
        }
        let first = history.moments.front().copied().unwrap_or(moment);
        let is_collection = history.collections.draw(collections);
        // The processor time does not contain the pauses, so other samples represent it.
        let share = allocation_share(first, moment);
        SampleCost {
            is_allocation: !is_collection && history.allocation.draw(share),
            is_collection,
            is_off_processor: last.is_some_and(|last| is_off_processor(last, moment)),
        }
    }

    /// Forgets threads that have ended.
    pub fn retain(&mut self, threads: &[DumpedThread]) {
        let alive: HashSet<u64> = threads.iter().filter_map(|t| t.id).collect();
        self.histories.retain(|id, _| alive.contains(id));
    }
}

/// Returns the part of the processor time that the allocated bytes took.
fn allocation_share(first: Moment, last: Moment) -> f64 {
    let processor = last.processor.saturating_sub(first.processor).as_nanos() as f64;
    let bytes = last.allocated_bytes.saturating_sub(first.allocated_bytes) as f64;
    if processor > 0.0 {
        (bytes * NANOS_PER_BYTE / processor).min(1.0)
    } else {
        0.0
    }
}

fn is_off_processor(last: Moment, now: Moment) -> bool {
    let elapsed = now.at.saturating_sub(last.at).as_secs_f64();
    let processor = now.processor.saturating_sub(last.processor).as_secs_f64();
    processor < MIN_PROCESSOR_PART * elapsed
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_client::thread_dump::parse;

    fn thread(processor_ms: u64, allocated_kib: u64) -> DumpedThread {
        let dump = format!(
            "\"t\" #9 prio=5 cpu={processor_ms}.00ms elapsed=1.00s allocated={allocated_kib}K\n   \
             java.lang.Thread.State: RUNNABLE\n"
        );
        parse(&dump).remove(0)
    }

    /// Counts the samples that represent allocation, of 100 dumps with these costs.
    fn count(processor_ms: u64, allocated_kib: u64) -> (usize, usize) {
        let mut costs = ThreadCosts::default();
        let samples: Vec<SampleCost> = (1..=100)
            .map(|i| {
                let thread = thread(i * processor_ms, i * allocated_kib);
                costs.add(&thread, Duration::from_millis(100 * i), 0.25)
            })
            .collect();
        assert_eq!(samples.iter().filter(|s| s.is_collection).count(), 25);
        let allocation = samples.iter().filter(|s| s.is_allocation).count();
        let off = samples.iter().filter(|s| s.is_off_processor).count();
        (allocation, off)
    }

    #[test]
    fn the_share_of_samples_is_the_share_of_the_time() {
        // 100 ms of processor time allocate 100,000 KiB, which take 30.72 ms. Three of four samples
        // represent processor time.
        let (allocation, off) = count(100, 100_000);
        assert!((22..=24).contains(&allocation), "{allocation}");
        assert_eq!(off, 0);
        assert_eq!(count(100, 0), (0, 0));
        assert_eq!(count(5, 0), (0, 99));
    }

    #[test]
    fn ended_threads_are_forgotten() {
        let mut costs = ThreadCosts::default();
        costs.add(&thread(1, 1), Duration::ZERO, 0.0);
        costs.retain(&[]);
        assert!(costs.histories.is_empty());
    }
}
