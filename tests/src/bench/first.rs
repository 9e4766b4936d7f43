//! Measures the time from the start of a process to the first line of its result.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::process::{Process, ProcessError, end_group};

/// Time limit until the first result.
const FIRST_RESULT_TIMEOUT: Duration = Duration::from_secs(120);

/// The measurements of one start.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstResult {
    /// Elapsed time in milliseconds.
    pub time: f64,
    /// Processor time of all threads until then, in milliseconds.
    pub processor: f64,
    /// The line of the result.
    pub line: String,
}

/// Why a start has no result.
#[derive(Debug, thiserror::Error)]
pub enum FirstResultError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// The program ended, or ran for too long, without the line.
    #[error("{program}: no line `{start}…` came\n{said}")]
    NoLine {
        program: String,
        /// The beginning of the line.
        start: String,
        /// Standard error of the program.
        said: String,
    },
}

/// Starts a program, waits for a line of its standard output that begins with `start`, and kills
/// the program.
pub fn first_result(process: &Process, start: &str) -> Result<FirstResult, FirstResultError> {
    let begin = Instant::now();
    let mut child = process.start()?;
    drop(child.stdin.take());
    let (send, lines) = mpsc::channel();
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let wanted = start.to_string();
    let pid = child.id();
    let reader = std::thread::spawn(move || {
        let lines = out.map(|s| BufReader::new(s).lines());
        for line in lines.into_iter().flatten().map_while(Result::ok) {
            if line.starts_with(&wanted) {
                let time = begin.elapsed().as_secs_f64() * 1e3;
                let _ = send.send((time, processor_time(pid), line));
                return;
            }
        }
    });
    let errors = std::thread::spawn(move || {
        let lines = err.map(|s| BufReader::new(s).lines());
        let kept: Vec<String> = lines
            .into_iter()
            .flatten()
            .map_while(Result::ok)
            .take(1000)
            .collect();
        kept.join("\n")
    });
    let found = lines.recv_timeout(FIRST_RESULT_TIMEOUT);
    end_group(&mut child);
    let (_, said) = (reader.join(), errors.join().unwrap_or_default());
    match found {
        Ok((time, processor, line)) => Ok(FirstResult {
            time,
            processor,
            line,
        }),
        Err(_) => Err(FirstResultError::NoLine {
            program: process.to_string(),
            start: start.to_string(),
            said,
        }),
    }
}

/// Returns the processor time of a process and its child processes in milliseconds. The resolution
/// is the kernel's tick (10 ms).
fn processor_time(pid: u32) -> f64 {
    let folder = Path::new("/proc").join(pid.to_string());
    let own = ticks(&folder);
    let threads = std::fs::read_dir(folder.join("task"));
    let below: f64 = threads
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok())
        .flat_map(|list| {
            list.split_whitespace()
                .filter_map(|child| child.parse().ok())
                .collect::<Vec<u32>>()
        })
        .map(processor_time)
        .sum();
    own + below
}

/// Returns the processor time, in milliseconds, of the threads of a process that have this name.
/// The resolution is the kernel's tick (10 ms).
pub fn thread_time(pid: u32, name: &str) -> f64 {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task"));
    let folders = tasks.into_iter().flatten().flatten().map(|t| t.path());
    let named = |folder: &std::path::PathBuf| {
        std::fs::read_to_string(folder.join("comm")).is_ok_and(|comm| comm.trim() == name)
    };
    folders.filter(named).map(|folder| ticks(&folder)).sum()
}

/// Returns the processor time, in milliseconds, from the file `stat` in a folder of `/proc`, or 0
/// if the folder is gone.
fn ticks(folder: &Path) -> f64 {
    let text = std::fs::read_to_string(folder.join("stat")).unwrap_or_default();
    // The name in brackets can contain any character. After it, utime and stime are the fields 14
    // and 15 of the line.
    let rest = text.rsplit(')').next().unwrap_or_default();
    let fields = rest.split_whitespace().skip(11).take(2);
    let ticks: f64 = fields.filter_map(|word| word.parse::<f64>().ok()).sum();
    // SAFETY: a plain query without pointers.
    let rate = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as f64;
    ticks * 1e3 / rate
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_for_the_line_and_ends_the_program() -> Result<(), FirstResultError> {
        let begun = Instant::now();
        let script = "echo noise; echo result 7; sleep 100";
        let found = first_result(&Process::new("sh").args(["-c", script]), "result ")?;
        assert_eq!(found.line, "result 7");
        assert!(begun.elapsed() < Duration::from_secs(90));
        Ok(())
    }

    #[test]
    fn tells_what_a_program_said_that_gave_no_result() {
        let found = first_result(
            &Process::new("sh").args(["-c", "echo broken >&2"]),
            "result ",
        );
        assert!(found.is_err_and(|e| e.to_string().contains("broken")));
    }
}
