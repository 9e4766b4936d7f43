//! Diagnoses a JVM that does not answer, from the kernel's data on its threads.
//!
//! For some operations a JVM stops all Java threads at a safepoint. A thread without safepoint
//! polls (in a long counted loop or a long array copy) delays the safepoint, and with it all other
//! threads, including the attach listener. Such a thread uses a processor all the time while the
//! other threads are idle.

use std::fs;
use std::thread;
use std::time::Duration;

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

struct Thread {
    id: u32,
    name: String,
    /// Processor time since the thread's start, in clock ticks.
    ticks: u64,
    state: char,
}

/// The likely reason why the JVM `pid` does not answer, as a clause for an error message. Takes
/// [`OBSERVATION_PERIOD`].
pub fn describe_hang(pid: u32) -> String {
    let before = threads(pid);
    thread::sleep(OBSERVATION_PERIOD);
    let after = threads(pid);
    if after.is_empty() {
        return "it has ended meanwhile".into();
    }
    if after.iter().all(|t| matches!(t.state, 'T' | 't')) {
        return format!("all its threads are stopped (kill -CONT {pid} continues it)");
    }
    if let Some(stuck) = after.iter().find(|t| t.state == 'D') {
        return format!(
            "its thread `{}` ({}) waits for a disk or another device",
            stuck.name, stuck.id
        );
    }
    let busy = after.iter().filter_map(|now| {
        let then = before.iter().find(|t| t.id == now.id)?;
        let used = now.ticks.saturating_sub(then.ticks);
        let is_internal = INTERNAL_THREAD_PREFIXES
            .iter()
            .any(|p| now.name.starts_with(p));
        (used > 0 && !is_internal).then_some((used, now))
    });
    match busy.max_by_key(|(used, _)| *used) {
        Some((_, thread)) => format!(
            "it seems to wait for its thread `{}` ({}), which runs without a stop; `jstack {pid}` would wait too, `gdb -p {pid}` shows where it is",
            thread.name, thread.id
        ),
        None => {
            "none of its threads runs: it may wait for a lock, for memory, or for another process"
                .into()
        }
    }
}

fn threads(pid: u32) -> Vec<Thread> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    let one = |entry: fs::DirEntry| {
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        parse(&stat)
    };
    entries.filter_map(Result::ok).filter_map(one).collect()
}

/// Parses `/proc/PID/task/TID/stat` (see `proc(5)`): thread id, name in parentheses, state, …, and
/// user and system time as fields 14 and 15.
fn parse(stat: &str) -> Option<Thread> {
    let (id, rest) = stat.split_once(" (")?;
    let (name, rest) = rest.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let number = |n: usize| fields.get(n - 3)?.parse::<u64>().ok();
    Some(Thread {
        id: id.parse().ok()?,
        name: name.into(),
        ticks: number(14)? + number(15)?,
        state: fields.first()?.chars().next()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_parentheses_are_parsed() {
        let thread = parse("71 (a) (b) R 1 2 3 4 5 6 7 8 9 10 40 2 0 0").unwrap();
        assert_eq!(
            (thread.id, thread.name.as_str(), thread.ticks, thread.state),
            (71, "a) (b", 42, 'R')
        );
        assert!(parse("71 (a").is_none() && parse("").is_none());
    }

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
