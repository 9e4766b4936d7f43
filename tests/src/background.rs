//! A process that runs in the background of a test: a server, or a command that runs until it is
//! interrupted.

use parking_lot::Mutex;
use std::io::{BufRead, BufReader, Read};
use std::process::Child;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::live::{LiveError, event_timeout};
use crate::process::{Process, end_group};

/// A running process. It is killed when this value is dropped.
pub struct Background {
    child: Child,
    output: Arc<Mutex<Vec<String>>>,
    /// The threads that read the two streams.
    readers: [JoinHandle<()>; 2],
}

/// How long the output of a process that has ended may take to arrive. A child of the process that
/// still runs keeps the streams open.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(5);

impl Background {
    pub fn start(process: &Process) -> Result<Self, LiveError> {
        let mut child = process.start()?;
        drop(child.stdin.take());
        let output = Arc::new(Mutex::new(Vec::new()));
        let readers = [
            collect(child.stdout.take(), output.clone()),
            collect(child.stderr.take(), output.clone()),
        ];
        Ok(Self {
            child,
            output,
            readers,
        })
    }

    /// All lines that the process has written so far, on both streams.
    pub fn output(&self) -> Vec<String> {
        self.output.lock().clone()
    }

    /// Waits for a line that contains `text`, and returns the rest of the line after it.
    pub fn wait_for(&mut self, text: &str) -> Result<String, LiveError> {
        let end = Instant::now() + event_timeout();
        loop {
            // Read before the output: if the process has ended, the output read next is complete.
            let over = self.child.try_wait()?.is_some() || Instant::now() > end;
            let output = self.output();
            let found = output.iter().find_map(|line| line.split_once(text));
            if let Some((_, behind)) = found {
                return Ok(behind.to_string());
            }
            if over {
                return Err(LiveError::Silent(text.to_string(), output.join("\n")));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Sends a signal, waits for the end, and returns the exit code, or `None` if the signal ended
    /// the process.
    pub fn signal(&mut self, signal: i32) -> Result<Option<i32>, LiveError> {
        if let Ok(process) = libc::pid_t::try_from(self.child.id()) {
            // SAFETY: a plain system call. The child has not been waited for, so its process id has
            // not been reused.
            unsafe { libc::kill(process, signal) };
        }
        self.wait()
    }

    /// Waits for the end and for the whole output, and returns the exit code, or `None` if a signal ended
    /// the process.
    pub fn wait(&mut self) -> Result<Option<i32>, LiveError> {
        let end = Instant::now() + event_timeout();
        loop {
            if let Some(status) = self.child.try_wait()? {
                let end = Instant::now() + OUTPUT_TIMEOUT;
                while !self.readers.iter().all(JoinHandle::is_finished) && Instant::now() < end {
                    std::thread::sleep(Duration::from_millis(5));
                }
                return Ok(status.code());
            }
            if Instant::now() > end {
                return Err(LiveError::Silent("(end)".into(), self.output().join("\n")));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if self.is_running() {
            end_group(&mut self.child);
        }
    }
}

fn collect(
    stream: Option<impl Read + Send + 'static>,
    into: Arc<Mutex<Vec<String>>>,
) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let Some(stream) = stream else { return };
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            into.lock().push(line);
        }
    })
}
