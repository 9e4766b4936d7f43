//! The monotonic clock of the machine, which `System.nanoTime()` reads on Linux.

/// Returns the monotonic clock in nanoseconds, the value that `System.nanoTime()` would return.
pub fn monotonic() -> u64 {
    let mut t = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: a plain system call that fills the structure.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}
