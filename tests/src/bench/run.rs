//! One run of a program, measured while it runs.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::process::{Process, ProcessError, end_group};

/// The line that a plan prints after it has detached its counters.
pub const DETACHED_LINE: &str = "the counters have left";
/// The text before the number of hits.
pub const HITS_PREFIX: &str = "hits: ";

/// Why a run has no figures.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The process could not be started, or it ended with an error.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// The process ran longer than its limit. Tables show the first line.
    #[error("no end within {seconds} s\n{program}\n{said}")]
    Late {
        program: String,
        seconds: u64,
        /// Standard error of the program.
        said: String,
    },
    /// The output of the program is not what the harness expects.
    #[error("{program}: {fault}\n{said}")]
    Strange {
        program: String,
        fault: String,
        /// Standard error of the program.
        said: String,
    },
}

/// The measurements of a run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Milliseconds of each round, by the program's own clock.
    pub rounds: Vec<f64>,
    /// Milliseconds of processor time that the main thread had used at the end of each round, if
    /// the kernel reports it. The value is missing once the thread has ended, which may happen
    /// before the last line is read.
    pub processor: Vec<Option<f64>>,
    /// Number of completed rounds when the plan had detached its counters.
    pub left_after: Option<usize>,
    /// Sum of all counters at the end.
    pub hits: Option<u64>,
    /// Standard output of the program.
    pub out: String,
}

impl Run {
    /// Runs a command to its end.
    pub fn measure(process: &Process, limit: Duration) -> Result<Self, RunError> {
        let begin = Instant::now();
        let mut child = process.start()?;
        drop(child.stdin.take());
        let mut stream = child.stdout.take();
        let out = std::thread::spawn(move || {
            let mut text = String::new();
            if let Some(stream) = &mut stream {
                // If the stream breaks, the output differs from that of the plain run, which is
                // reported.
                let _ = stream.read_to_string(&mut text);
            }
            text
        });
        let (send, lines) = mpsc::channel();
        let stream = child.stderr.take();
        let reader = std::thread::spawn(move || {
            let lines = stream.map(|s| BufReader::new(s).lines());
            for line in lines.into_iter().flatten().map_while(Result::ok) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        let mut run = Self {
            rounds: Vec::new(),
            processor: Vec::new(),
            left_after: None,
            hits: None,
            out: String::new(),
        };
        let mut said = String::new();
        let mut thread = None;
        loop {
            let rest = limit.saturating_sub(begin.elapsed());
            match lines.recv_timeout(rest) {
                Ok(line) => {
                    if line.starts_with("round ") && thread.is_none() {
                        thread = main_thread(child.id());
                    }
                    run.take(&line, thread.as_deref());
                    said.push_str(&line);
                    said.push('\n');
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    end_group(&mut child);
                    return Err(RunError::Late {
                        program: process.to_string(),
                        seconds: limit.as_secs(),
                        said,
                    });
                }
            }
        }
        let strange = |fault: String, said: String| RunError::Strange {
            program: process.to_string(),
            fault,
            said,
        };
        let status = child
            .wait()
            .map_err(|error| strange(error.to_string(), String::new()))?;
        run.out = out.join().unwrap_or_default();
        if reader.join().is_err() || !status.success() {
            return Err(strange(format!("ended with {status}"), said));
        }
        if run.rounds.len() < 3 {
            return Err(strange("less than three rounds".into(), said));
        }
        Ok(run)
    }

    fn take(&mut self, line: &str, thread: Option<&Path>) {
        if line == DETACHED_LINE {
            self.left_after = Some(self.rounds.len());
        } else if let Some(hits) = line.strip_prefix(HITS_PREFIX) {
            self.hits = hits.parse().ok();
        } else if let Some(time) = round(line) {
            self.rounds.push(time);
            self.processor.push(thread.and_then(processor_time));
        }
    }

    /// Index of the first round of the last third.
    pub fn steady(&self) -> usize {
        self.rounds.len() - self.rounds.len() / 3
    }

    /// The median time of a round in the last third, in milliseconds.
    pub fn round_time(&self) -> Option<f64> {
        super::statistics::median(self.rounds.get(self.steady()..)?)
    }

    /// The mean processor time of a round in the last third, in milliseconds.
    pub fn processor_time(&self) -> Option<f64> {
        let begin = self.steady().checked_sub(1)?;
        let first = self.processor.get(begin).copied().flatten()?;
        let end = self.processor.iter().rposition(Option::is_some)?;
        let last = self.processor.get(end).copied().flatten()?;
        (end > begin).then(|| (last - first) / (end - begin) as f64)
    }
}

/// Parses a line such as `round 3 512 ms` or `round 3 512.25 ms`, and returns the milliseconds.
fn round(line: &str) -> Option<f64> {
    let (number, time) = line.strip_prefix("round ")?.split_once(' ')?;
    number.parse::<u32>().ok()?;
    time.strip_suffix(" ms")?.parse().ok()
}

/// Returns the `schedstat` file of the main thread of a JVM, in which the kernel reports the
/// processor time. The JVM is the process `pid` itself or a process that `veneer` started. The
/// launcher runs `main` in the first thread that it creates, and this thread keeps the name of the
/// program.
fn main_thread(pid: u32) -> Option<PathBuf> {
    let process = Path::new("/proc").join(pid.to_string());
    let name = |folder: &Path| std::fs::read_to_string(folder.join("comm")).unwrap_or_default();
    let mut threads: Vec<u32> = std::fs::read_dir(process.join("task"))
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    threads.sort_unstable();
    if name(&process).trim() == "java" {
        return threads
            .iter()
            .filter(|thread| **thread != pid)
            .map(|thread| process.join("task").join(thread.to_string()))
            .find(|folder| name(folder).trim() == "java")
            .map(|folder| folder.join("schedstat"));
    }
    threads.iter().find_map(|thread| {
        let list = process
            .join("task")
            .join(thread.to_string())
            .join("children");
        let children = std::fs::read_to_string(list).ok()?;
        children
            .split_whitespace()
            .find_map(|child| main_thread(child.parse().ok()?))
    })
}

/// Reads the processor time from a `schedstat` file, in milliseconds.
fn processor_time(file: &Path) -> Option<f64> {
    let text = std::fs::read_to_string(file).ok()?;
    let nanoseconds: f64 = text.split(' ').next()?.parse().ok()?;
    Some(nanoseconds / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(rounds: &[f64], processor: &[f64]) -> Run {
        Run {
            rounds: rounds.to_vec(),
            processor: processor.iter().copied().map(Some).collect(),
            left_after: None,
            hits: None,
            out: String::new(),
        }
    }

    #[test]
    fn only_the_last_third_is_measured() {
        let mut run = run(
            &[9.0, 9.0, 5.0, 5.0, 1.0, 3.0],
            &[9.0, 18.0, 23.0, 28.0, 29.0, 31.0],
        );
        assert_eq!(run.round_time(), Some(2.0));
        assert_eq!(run.processor_time(), Some(1.5));
        run.processor[5] = None;
        assert_eq!(run.processor_time(), Some(1.0));
    }

    #[test]
    fn reads_lines() {
        assert_eq!(round("round 12 305.50 ms"), Some(305.5));
        assert_eq!(round("round 12 checksum 2 ms"), None);
        let mut run = run(&[1.0], &[]);
        run.take(DETACHED_LINE, None);
        run.take("hits: 77", None);
        assert_eq!((run.left_after, run.hits), (Some(1), Some(77)));
    }

    #[test]
    fn rejects_a_program_without_rounds() {
        let silent = Process::new("true");
        assert!(matches!(
            Run::measure(&silent, Duration::from_secs(5)),
            Err(RunError::Strange { .. })
        ));
    }
}
