//! The monotonic clock of the machine, which `System.nanoTime()` reads on Linux.

use rustix::time::{ClockId, clock_gettime};

/// Returns the monotonic clock in nanoseconds, the value that `System.nanoTime()` would return.
pub fn monotonic() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
