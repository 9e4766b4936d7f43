//! The clock of timers.
//!
//! `System.nanoTime()` takes 22–30 ns, twice in each timed call: most of what a timer costs. Most of that is the fence around the
//! processor's counter and the arithmetic after it. Where the kernel keeps its own time by that counter, it runs at one speed on
//! all processors, and a timer may read it bare: about 13 ns. `VeneerClock` calls [`ticks`] from compiled code; how many nanoseconds
//! a tick takes is measured here, against the clock that `nanoTime` reads.
//!
//! As the JVM's own Flight Recorder does, this takes the counter without a fence: a reading may be early or late by some
//! instructions.

use crate::data::monotonic::monotonic;
use crate::jvm::java_runtime::Library;
use crate::jvm::jni::Env;
use crate::jvm::jvmti::Tool;
use crate::jvm::threads;
use std::sync::Once;
use std::time::Duration;

/// What the kernel keeps time by.
const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// Between the readings that the speed is taken from: at 50 ns of uncertainty, five millionths.
const APART: Duration = Duration::from_millis(10);

/// See the module documentation.
pub struct Clock {
    first: Option<Reading>,
    set: Once,
}

/// Both clocks at one moment.
#[derive(Clone, Copy)]
struct Reading {
    ticks: u64,
    nanos: u64,
}

impl Clock {
    /// Takes the first reading.
    pub fn new() -> Clock {
        Clock {
            first: trusted().then(read),
            set: Once::new(),
        }
    }

    /// A timer is attached. A thread of its own links the counter: it takes some tenths of a second, in which timers run by
    /// `System.nanoTime()`. So they go on where it fails.
    pub fn set(&self, tool: Tool, library: &'static Library, env: Env) {
        let Some(first) = self.first else {
            return;
        };
        self.set.call_once(|| {
            let link = move |env| {
                if let Some(scale) = scale(first) {
                    let then = (first.ticks as i64, first.nanos as i64);
                    let _ = library.clock(env, ticks, then, scale);
                }
            };
            let _ = threads::start(tool, env, "veneer-clock", Box::new(link));
        });
    }
}

/// Nanoseconds of a tick, times 2⁶².
fn scale(first: Reading) -> Option<i64> {
    let gone = monotonic().saturating_sub(first.nanos);
    std::thread::sleep(APART.saturating_sub(Duration::from_nanos(gone)));
    let last = read();
    let ticks = last.ticks.checked_sub(first.ticks)?;
    let nanos = last.nanos.checked_sub(first.nanos)?;
    let scale = (u128::from(nanos) << 62).checked_div(u128::from(ticks))?;
    i64::try_from(scale).ok().filter(|scale| *scale > 0)
}

/// The reading with the least doubt of some.
fn read() -> Reading {
    let one = || {
        let before = ticks() as u64;
        let nanos = monotonic();
        let after = ticks() as u64;
        let middle = before + after.saturating_sub(before) / 2;
        (
            after.saturating_sub(before),
            Reading {
                ticks: middle,
                nanos,
            },
        )
    };
    let mut best = one();
    for _ in 0..16 {
        let next = one();
        if next.0 < best.0 {
            best = next;
        }
    }
    best.1
}

#[cfg(target_arch = "x86_64")]
fn trusted() -> bool {
    std::fs::read_to_string(SOURCE).is_ok_and(|source| source.trim() == "tsc")
}

#[cfg(not(target_arch = "x86_64"))]
fn trusted() -> bool {
    let _ = SOURCE;
    false
}

/// The processor's counter.
#[cfg(target_arch = "x86_64")]
extern "C" fn ticks() -> i64 {
    // Safety: every x86-64 processor has it, and Linux lets user code read it.
    unsafe { std::arch::x86_64::_rdtsc() as i64 }
}

#[cfg(not(target_arch = "x86_64"))]
extern "C" fn ticks() -> i64 {
    monotonic() as i64
}
