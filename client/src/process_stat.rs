//! The measurements that the kernel keeps for each process and thread, from `/proc/PID/stat`.
//!
//! The crate `procfs` parses this file. It does not parse `/proc/PID/status`, `maps`, `cmdline` and
//! `environ` for us: `procfs` rejects such a file if one byte of it is not UTF-8, and the name of a
//! process and the path of a mapped file may consist of any bytes.

use std::collections::BTreeMap;
use std::time::Duration;

use procfs::process::{Process, Stat, all_processes};
use procfs::{Current, Uptime};

/// Returns the measurements of a process. `None` if the process does not exist or the system hides
/// it.
fn of_process(pid: u32) -> Option<Stat> {
    process(pid)?.stat().ok()
}

/// Returns the measurements of all threads of a process.
pub(crate) fn of_threads(pid: u32) -> Vec<Stat> {
    let tasks = process(pid).and_then(|process| process.tasks().ok());
    let threads = tasks.into_iter().flatten();
    // A thread that ends meanwhile has no measurements.
    threads.filter_map(|task| task.ok()?.stat().ok()).collect()
}

fn process(pid: u32) -> Option<Process> {
    Process::new(i32::try_from(pid).ok()?).ok()
}

/// Returns the start of a process in clock ticks since the machine's start. `None` if the process
/// does not exist or the system hides it.
pub(crate) fn start_ticks(pid: u32) -> Option<u64> {
    Some(of_process(pid)?.starttime)
}

/// Returns the age of a process in seconds, by the kernel's clock.
pub(crate) fn age_seconds(pid: u32) -> Option<u64> {
    let start = start_ticks(pid)?.checked_div(procfs::ticks_per_second())?;
    let uptime = Uptime::current().ok()?.uptime_duration();
    Some(uptime.as_secs().saturating_sub(start))
}

/// Returns the processes that a process has started, and those that these have started. A process
/// whose parent has ended is not among them. The result is empty if the system hides `/proc`.
pub fn descendants(pid: u32) -> Vec<u32> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    let all = all_processes().into_iter().flatten();
    // A process that ends meanwhile has no measurements.
    for stat in all.filter_map(|process| process.ok()?.stat().ok()) {
        children.entry(stat.ppid).or_default().push(stat.pid);
    }
    let mut found = Vec::new();
    let mut open: Vec<i32> = i32::try_from(pid).into_iter().collect();
    while let Some(parent) = open.pop() {
        // Each parent is removed, so that the loop ends even if the kernel reuses ids meanwhile.
        for child in children.remove(&parent).into_iter().flatten() {
            found.extend(u32::try_from(child));
            open.push(child);
        }
    }
    found
}

/// Returns the processor time of a process so far: all threads, user and kernel mode. `None` if the
/// process does not exist or the system hides it.
pub fn processor_time(pid: u32) -> Option<Duration> {
    let stat = of_process(pid)?;
    let ticks = stat.utime.saturating_add(stat.stime);
    let seconds = ticks as f64 / procfs::ticks_per_second() as f64;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::time::Instant;

    #[test]
    fn this_process_has_a_start_and_an_age() {
        let pid = std::process::id();
        assert!(start_ticks(pid).is_some_and(|ticks| ticks > 0));
        assert!(age_seconds(pid).is_some_and(|seconds| seconds < 3_600));
        assert_eq!(start_ticks(u32::MAX), None);
    }

    #[test]
    fn the_processor_time_grows_with_work() {
        let pid = std::process::id();
        let before = processor_time(pid).unwrap();
        let worked = Duration::from_millis(50);
        let begin = Instant::now();
        // The clock of the processor time has a resolution of 10 ms on most machines.
        while processor_time(pid).unwrap() < before + worked {
            assert!(begin.elapsed() < Duration::from_secs(60));
        }
    }

    #[test]
    fn descendants_are_children_and_their_children() {
        let mut shell = Command::new("sh")
            .args(["-c", "sh -c 'sleep 60 & echo $!; wait' & echo $!; wait"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let output = std::io::BufReader::new(shell.stdout.take().unwrap());
        let lines = std::io::BufRead::lines(output).take(2);
        let mut expected: Vec<u32> = lines.map(|line| line.unwrap().parse().unwrap()).collect();
        let mut found = descendants(shell.id());
        let mut of_this_process = descendants(std::process::id());
        // The shells wait for their children, so the next process may have ended before its signal.
        for process in &expected {
            Command::new("kill")
                .arg(process.to_string())
                .status()
                .unwrap();
        }
        shell.kill().unwrap();
        shell.wait().unwrap();
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected);
        of_this_process.retain(|process| expected.contains(process));
        assert_eq!(of_this_process.len(), 2);
        assert!(descendants(u32::MAX).is_empty());
    }

    #[test]
    fn a_process_name_may_contain_any_bytes() {
        // The shell writes bytes that are not UTF-8, a space and parentheses into its own name.
        let script = r"printf 'a) (\377\376' > /proc/$$/comm; echo $$; read line";
        let mut child = Command::new("sh")
            .args(["-c", script])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut output, &mut line).unwrap();
        let threads = of_threads(child.id());
        assert!(start_ticks(child.id()).is_some_and(|ticks| ticks > 0));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(threads.len(), 1);
        assert_eq!(threads[0].comm, "a) (\u{fffd}\u{fffd}");
    }
}
