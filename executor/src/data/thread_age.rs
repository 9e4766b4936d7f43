//! The age of the current thread, by the clock of the kernel.

use std::time::Duration;

/// The time since the boot of the machine.
pub fn since_boot() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::new(
        time.tv_sec.unsigned_abs(),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}

/// Whether the current thread began before a time since the boot. The kernel rounds the beginning of
/// a thread down to a hundredth of a second.
pub fn current_thread_began_before(time: Duration) -> bool {
    // SAFETY: a system call without arguments, which cannot fail.
    let id = unsafe { libc::gettid() };
    let Ok(text) = std::fs::read_to_string(format!("/proc/self/task/{id}/stat")) else {
        return true;
    };
    // The name of the thread in parentheses may contain spaces. Field 22 is the beginning.
    let fields = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks: Option<u64> = fields
        .split_whitespace()
        .nth(19)
        .and_then(|t| t.parse().ok());
    // SAFETY: a query of a constant of the system.
    let per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    let per_second = u64::try_from(per_second).unwrap_or(0).max(1);
    ticks.is_none_or(|ticks| Duration::from_millis(ticks * 1000 / per_second) < time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "Miri reads no files of the system")]
    fn the_beginning_of_a_thread_is_known() {
        assert!(current_thread_began_before(
            since_boot() + Duration::from_secs(1)
        ));
        let before = since_boot();
        std::thread::sleep(Duration::from_millis(30));
        let other = std::thread::spawn(move || current_thread_began_before(before));
        assert!(!other.join().expect("the thread"));
    }
}
