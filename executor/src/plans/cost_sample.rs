//! A sample of the cost of an instrument, from which the budget check computes the cost since then.

use std::time::Duration;

/// The passes of an instrument and the processor time of the process, at the same time.
#[derive(Clone, Copy, Debug)]
pub struct CostSample {
    pub passes: u64,
    pub cpu: Duration,
}

impl CostSample {
    /// The sample of an instrument that has no passes yet.
    pub fn now() -> CostSample {
        let cpu = processor_time();
        CostSample { passes: 0, cpu }
    }
}

/// Returns the processor time that all threads of the process have used, including those of the
/// JVM; zero if the system does not report it.
pub fn processor_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: a plain system call that fills the structure.
    match unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) } {
        0 => Duration::new(time.tv_sec as u64, time.tv_nsec as u32),
        _ => Duration::ZERO,
    }
}
