//! The processor's time-stamp counter.

#[cfg(not(target_arch = "x86_64"))]
use crate::data::monotonic::monotonic;

/// The file that names the clock source of the kernel.
#[cfg(target_arch = "x86_64")]
const CLOCK_SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// Whether the kernel uses the counter as its own clock source. The counter then has the same constant
/// speed on all processors.
#[cfg(target_arch = "x86_64")]
pub fn is_trusted() -> bool {
    std::fs::read_to_string(CLOCK_SOURCE).is_ok_and(|source| source.trim() == "tsc")
}

/// Other processors have no such counter.
#[cfg(not(target_arch = "x86_64"))]
pub fn is_trusted() -> bool {
    false
}

/// Reads the time-stamp counter. Compiled Java code calls this function by its address.
#[cfg(target_arch = "x86_64")]
pub extern "C" fn ticks() -> i64 {
    // SAFETY: every x86-64 processor has the instruction, and Linux lets user code execute it.
    unsafe { std::arch::x86_64::_rdtsc() as i64 }
}

/// The monotonic clock, because other processors have no such counter.
#[cfg(not(target_arch = "x86_64"))]
pub extern "C" fn ticks() -> i64 {
    monotonic() as i64
}
