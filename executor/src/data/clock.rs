//! The clock of timers: the processor's time-stamp counter, if the kernel trusts it.
//!
//! `System.nanoTime()` takes 22–30 ns and is called twice in each timed call, so it is most of the
//! cost of a timer. Most of that time is the fence around the time-stamp counter and the arithmetic
//! after it. If the kernel uses the counter as its own clock source, the counter has the same
//! constant speed on all processors. Then a timer can read it without a fence, in about 13 ns.
//! `VeneerClock` calls [`ticks`] from compiled code. This file measures how many nanoseconds a tick
//! takes, against the clock that `nanoTime` reads.
//!
//! Like the JVM's own Flight Recorder, the timers read the counter without a fence, so a reading
//! can be early or late by some instructions.
//!
//! The plan thread calls [`CounterClock::link`]; a thread of its own measures and links the
//! counter. Recordings wait for that thread, because their clock must not change
//! ([`CounterClock::choose_for_traces`]).

use crate::data::monotonic::monotonic;
use crate::data::time_stamp_counter::{is_trusted, ticks};
use crate::data::trace_clock::TraceClock;
use crate::jvm::java_runtime::Library;
use crate::jvm::jni::Env;
use crate::jvm::jvmti::Tool;
use crate::jvm::threads;
use parking_lot::{Condvar, Mutex};
use std::sync::{Arc, Once, OnceLock};
use std::time::Duration;

/// The shortest time between the two readings that define the speed. With an uncertainty of 50 ns
/// per reading, the speed is exact to five millionths.
const MEASURING_TIME: Duration = Duration::from_millis(10);

/// The number of attempts for one reading; the one with the least uncertainty is used.
const READING_ATTEMPTS: usize = 17;

/// The number of looks for room on the heap before the counter is linked.
const MAX_WAITS_FOR_ROOM: u32 = 500;

/// The time between two looks for room.
const ROOM_INTERVAL: Duration = Duration::from_millis(20);

/// How long the first recording waits until the counter is linked, which takes some tenths of a second.
const MAX_LINK_WAIT: Duration = Duration::from_secs(2);

/// The first reading of both clocks, and whether the counter was linked to timers.
pub struct CounterClock {
    /// `None` if the kernel does not use the counter as its clock source.
    first: Option<Reading>,
    linked: Once,
    link_end: Arc<LinkEnd>,
    /// The clock of all recordings of this process, once it is chosen.
    traces: OnceLock<TraceClock>,
}

/// The end of the thread that links the counter.
#[derive(Default)]
struct LinkEnd {
    has_ended: Mutex<bool>,
    ended: Condvar,
}

impl LinkEnd {
    fn notify(&self) {
        *self.has_ended.lock() = true;
        self.ended.notify_all();
    }

    /// Waits for the end. Returns false if it does not come in time.
    fn wait(&self) -> bool {
        let mut has_ended = self.has_ended.lock();
        let wait = self
            .ended
            .wait_while_for(&mut has_ended, |ended| !*ended, MAX_LINK_WAIT);
        !wait.timed_out()
    }
}

/// A reading of both clocks at one time.
#[derive(Clone, Copy)]
struct Reading {
    ticks: u64,
    nanos: u64,
}

impl CounterClock {
    /// Takes the first reading.
    pub fn new() -> CounterClock {
        CounterClock {
            first: is_trusted().then(read),
            linked: Once::new(),
            link_end: Arc::default(),
            traces: OnceLock::new(),
        }
    }

    /// Chooses the clock of all recordings, at the first one. Called on the plan thread, which waits
    /// until the counter is linked.
    pub fn choose_for_traces(
        &self,
        tool: Tool,
        library: &'static Library,
        env: Env,
        is_running: bool,
    ) {
        let choose = || {
            // Without room, the thread that links would keep the recording waiting for nothing.
            let has_room =
                || !is_running || self.linked.is_completed() || library.has_room_to_link(env);
            if self.first.is_none() || !has_room() {
                return TraceClock::Nanoseconds;
            }
            self.link(tool, library, env, is_running);
            let is_counter =
                self.link_end.wait() && library.choose_trace_clock(env).unwrap_or(false);
            let scale = self.scale().filter(|_| is_counter);
            scale.map_or(TraceClock::Nanoseconds, TraceClock::Counter)
        };
        self.traces.get_or_init(choose);
    }

    /// The clock of all recordings.
    pub fn of_traces(&self) -> TraceClock {
        self.traces.get().copied().unwrap_or_default()
    }

    /// The clock of all recordings with the rate that is known by now. It is the more exact the longer
    /// the agent is in the JVM.
    pub fn of_traces_with_latest_rate(&self) -> TraceClock {
        match (self.of_traces(), self.scale()) {
            (TraceClock::Counter(_), Some(scale)) => TraceClock::Counter(scale),
            (chosen, _) => chosen,
        }
    }

    /// The nanoseconds of a tick until now, times 2⁶².
    fn scale(&self) -> Option<i64> {
        scale(self.first?, read())
    }

    /// Makes timers read the counter. Called when a timer is attached; only the first call has an
    /// effect.
    ///
    /// A thread of its own links the counter, because that takes some tenths of a second. Until
    /// then, and if it fails, timers read `System.nanoTime()`.
    ///
    /// Linking initialises classes of the JDK that the application may need later. If the heap were
    /// full, their initialisation would fail for good, and the application would fail with them. So
    /// this function waits for the end before the application begins. If it is running, the thread
    /// waits until the heap has much room, and gives up after [`MAX_WAITS_FOR_ROOM`] looks.
    pub fn link(&self, tool: Tool, library: &'static Library, env: Env, is_running: bool) {
        let Some(first) = self.first else {
            return;
        };
        self.linked.call_once(|| {
            let end = self.link_end.clone();
            let link = move |env| {
                if let Some(scale) = measure(first)
                    && (!is_running || wait_for_room(library, env))
                {
                    let then = (first.ticks as i64, first.nanos as i64);
                    let _ = library.clock(env, ticks, then, scale);
                }
                end.notify();
            };
            if threads::start(tool, env, "veneer-clock", Box::new(link)).is_err() {
                self.link_end.notify();
            }
            if !is_running {
                self.link_end.wait();
            }
        });
    }
}

/// Waits until the heap has much room. Returns false if it never had.
fn wait_for_room(library: &Library, env: Env) -> bool {
    (0..MAX_WAITS_FOR_ROOM).any(|look| {
        if look > 0 {
            std::thread::sleep(ROOM_INTERVAL);
        }
        library.has_room_to_link(env)
    })
}

/// Measures the nanoseconds of a tick, times 2⁶², from the first reading to one that is taken now.
fn measure(first: Reading) -> Option<i64> {
    let elapsed = Duration::from_nanos(monotonic().saturating_sub(first.nanos));
    std::thread::sleep(MEASURING_TIME.saturating_sub(elapsed));
    scale(first, read())
}

/// The nanoseconds of a tick between two readings, times 2⁶². Returns `None` if one of the clocks
/// did not advance, or if a tick takes 2 ns or more: such a scale does not fit into 63 bits.
fn scale(first: Reading, last: Reading) -> Option<i64> {
    let ticks = last.ticks.checked_sub(first.ticks)?;
    let nanos = last.nanos.checked_sub(first.nanos)?;
    let scale = (u128::from(nanos) << 62).checked_div(u128::from(ticks))?;
    i64::try_from(scale).ok().filter(|scale| *scale > 0)
}

/// Takes several readings and returns the one with the least uncertainty.
fn read() -> Reading {
    let attempts = (0..READING_ATTEMPTS).map(|_| {
        let before = ticks() as u64;
        let nanos = monotonic();
        let uncertainty = (ticks() as u64).saturating_sub(before);
        let ticks = before + uncertainty / 2;
        (uncertainty, Reading { ticks, nanos })
    });
    let best = attempts.min_by_key(|(uncertainty, _)| *uncertainty);
    best.map_or(Reading { ticks: 0, nanos: 0 }, |(_, reading)| reading)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale_of(ticks: u64, nanos: u64) -> Option<i64> {
        let first = Reading {
            ticks: 1_000,
            nanos: 5_000,
        };
        let last = Reading {
            ticks: first.ticks + ticks,
            nanos: first.nanos + nanos,
        };
        scale(first, last)
    }

    #[test]
    fn the_scale_converts_ticks_to_nanoseconds() {
        assert_eq!(scale_of(500, 500), Some(1 << 62));
        assert_eq!(scale_of(2_000, 1_000), Some(1 << 61));
        // A day at 3.1 GHz: the shift must not overflow.
        let day = 86_400_000_000_000;
        let scale = scale_of(day / 10 * 31, day).expect("a scale");
        let nanos = (3_100_000_000_u128 * scale as u128) >> 62;
        assert!((999_999_999..=1_000_000_000).contains(&nanos), "{nanos}");
    }

    #[test]
    fn clocks_that_do_not_advance_have_no_scale() {
        assert_eq!(scale_of(0, 500), None);
        assert_eq!(scale_of(500, 0), None);
        let (first, last) = (
            Reading { ticks: 9, nanos: 9 },
            Reading {
                ticks: 8,
                nanos: 10,
            },
        );
        assert_eq!(scale(first, last), None);
    }

    #[test]
    fn a_tick_of_two_nanoseconds_is_too_slow() {
        assert_eq!(scale_of(500, 1_000), None);
        assert!(scale_of(1_000, 1_999).is_some());
    }
}
