//! Diagnoses a JVM that does not answer, from the kernel's data on its threads.
//!
//! For some operations a JVM stops all Java threads at a safepoint. A thread without safepoint
//! polls (in a long counted loop or a long array copy) delays the safepoint, and with it all other
//! threads, including the attach listener. Such a thread uses a processor all the time while the
//! other threads are idle.

use std::thread;
use std::time::Duration;

use crate::process_stat;

/// The period over which the processor time of the threads is measured.
const OBSERVATION_PERIOD: Duration = Duration::from_millis(300);
/// Prefixes of the names of the JVM's and the agent's own threads. These threads do not delay a
/// safepoint, so a busy one is not the cause of a hang.
const INTERNAL_THREAD_PREFIXES: [&str; 10] = [
    "GC Thread",
    "G1 ",
    "C1 Comp",
    "C2 Comp",
    "VM Thread",
    "VM Periodic",
    "Signal Disp",
    "Attach List",
    "veneer-",
    "ZWorker",
];

/// The likely reason why the JVM `pid` does not answer, as a clause for an error message. Takes
/// [`OBSERVATION_PERIOD`].
pub fn describe_hang(pid: u32) -> String {
    let before = process_stat::of_threads(pid);
    thread::sleep(OBSERVATION_PERIOD);
    let after = process_stat::of_threads(pid);
    if after.is_empty() {
        return "it has ended meanwhile".into();
    }
    if after.iter().all(|t| matches!(t.state, 'T' | 't')) {
        return format!("all its threads are stopped (kill -CONT {pid} continues it)");
    }
    if let Some(stuck) = after.iter().find(|t| t.state == 'D') {
        return format!(
            "its thread `{}` ({}) waits for a disk or another device",
            stuck.comm, stuck.pid
        );
    }
    let busy = after.iter().filter_map(|now| {
        let then = before.iter().find(|t| t.pid == now.pid)?;
        let used = (now.utime + now.stime).saturating_sub(then.utime + then.stime);
        let is_internal = INTERNAL_THREAD_PREFIXES
            .iter()
            .any(|p| now.comm.starts_with(p));
        (used > 0 && !is_internal).then_some((used, now))
    });
    match busy.max_by_key(|(used, _)| *used) {
        Some((_, thread)) => format!(
            "it seems to wait for its thread `{}` ({}), which runs without a stop; `jstack {pid}` would wait too, `gdb -p {pid}` shows where it is",
            thread.comm, thread.pid
        ),
        None => {
            "none of its threads runs: it may wait for a lock, for memory, or for another process"
                .into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_thread_is_named() {
        let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let seen = stop.clone();
        let busy = thread::Builder::new()
            .name("endless".into())
            .spawn(
                move || {
                    while !seen.load(std::sync::atomic::Ordering::Relaxed) {}
                },
            );
        let words = describe_hang(std::process::id());
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        busy.unwrap().join().unwrap();
        assert!(words.contains("`endless`"), "{words}");
    }
}
