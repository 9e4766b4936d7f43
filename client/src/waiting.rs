//! What a JVM that does not answer seems to wait for, by what the kernel says of its threads.
//!
//! A JVM stops all Java threads for some of its work. A thread that runs on without looking whether it should stop (a long counted
//! loop, a long copy of an array) keeps everything waiting, the attach listener too. Such a thread is one that uses a processor all
//! the time while the others stand still.

use std::fs;
use std::thread;
use std::time::Duration;

/// How long threads are watched.
const WATCHED: Duration = Duration::from_millis(300);
/// Names of the JVM's own threads begin with these; they do not keep the JVM from stopping.
const OWN: [&str; 10] = [
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
    /// Processor time so far, in ticks.
    ticks: u64,
    state: char,
}

/// In words.
pub fn told(pid: u32) -> String {
    let before = threads(pid);
    thread::sleep(WATCHED);
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
        let own = OWN.iter().any(|own| now.name.starts_with(own));
        (used > 0 && !own).then_some((used, now))
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

/// `proc(5)`: id, name in brackets, state, …, user and system time as fields 14 and 15.
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
    fn a_thread_is_read_whatever_its_name() {
        let thread = parse("71 (a) (b) R 1 2 3 4 5 6 7 8 9 10 40 2 0 0").unwrap();
        assert_eq!(
            (thread.id, thread.name.as_str(), thread.ticks, thread.state),
            (71, "a) (b", 42, 'R')
        );
        assert!(parse("71 (a").is_none() && parse("").is_none());
    }

    #[test]
    fn a_thread_that_runs_on_is_named() {
        let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let seen = stop.clone();
        let busy = thread::Builder::new()
            .name("endless".into())
            .spawn(
                move || {
                    while !seen.load(std::sync::atomic::Ordering::Relaxed) {}
                },
            );
        let words = told(std::process::id());
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        busy.unwrap().join().unwrap();
        assert!(words.contains("`endless`"), "{words}");
    }
}
