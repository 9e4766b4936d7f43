//! A sample of the cost of an instrument, from which the budget check computes the cost since then.

use rustix::time::{ClockId, clock_gettime};
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
/// JVM.
pub fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
