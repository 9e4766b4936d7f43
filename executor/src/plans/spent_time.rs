//! What an instrument has cost so far, for plans with a budget.

use std::time::Duration;

/// What an instrument had passed, and the process used of its processors, at a moment.
#[derive(Clone, Copy, Debug)]
pub struct Spent {
    pub passes: u64,
    pub cpu: Duration,
}

impl Spent {
    /// No passes so far.
    pub fn now() -> Spent {
        let cpu = processor_time();
        Spent { passes: 0, cpu }
    }
}

/// What the process has used of its processors so far: all its threads, the JVM's too.
pub fn processor_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // Safety: it writes to this value and nowhere else.
    match unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) } {
        0 => Duration::new(time.tv_sec as u64, time.tv_nsec as u32),
        _ => Duration::ZERO,
    }
}
