//! A running JVM that a test talks to: through its standard streams, through `veneer exec`, and
//! through the agent's control socket.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::command::veneer;
pub use crate::process::event_timeout;
use crate::process::{Output, Process, ProcessError, end_group};
use crate::report::Report;

/// Why a conversation failed.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("talking to the JVM: {0}")]
    Stream(#[from] std::io::Error),
    /// The expected line did not arrive within [`event_timeout`].
    #[error("no line that starts with `{0}` came within {wait:?}; so far: {1}", wait = event_timeout())]
    Silent(String, String),
    /// The agent's answer does not follow the protocol.
    #[error("the agent answered {0}")]
    Answer(String),
}

/// A running program. It is killed when this value is dropped, unless it has ended by itself.
pub struct Live {
    child: Child,
    input: Option<ChildStdin>,
    out: Receiver<String>,
    err: Receiver<String>,
    seen: String,
    pid: u32,
}

impl Live {
    /// Starts a program whose first line is `pid N`.
    pub fn start(process: &Process) -> Result<Self, LiveError> {
        let mut child = process.start()?;
        let input = child.stdin.take();
        let out = lines(child.stdout.take());
        let err = lines(child.stderr.take());
        let mut live = Self {
            child,
            input,
            out,
            err,
            seen: String::new(),
            pid: 0,
        };
        let first = live.line("pid ")?;
        live.pid = first.parse().map_err(|_| LiveError::Answer(first))?;
        Ok(live)
    }

    /// The process id of the JVM, as the program printed it.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Sends a line to the program's standard input.
    pub fn say(&mut self, line: &str) -> Result<(), LiveError> {
        if let Some(input) = &mut self.input {
            writeln!(input, "{line}")?;
            input.flush()?;
        }
        Ok(())
    }

    /// Waits for the next line of output that begins with `start`, and returns the rest of this
    /// line.
    pub fn line(&mut self, start: &str) -> Result<String, LiveError> {
        let end = Instant::now() + event_timeout();
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.out.recv_timeout(left) {
                Ok(line) => {
                    self.seen.push_str(&line);
                    self.seen.push('\n');
                    if let Some(rest) = line.strip_prefix(start) {
                        return Ok(rest.to_string());
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    let errors: Vec<String> = self.err.try_iter().collect();
                    let seen = format!("{}{}", self.seen, errors.join("\n"));
                    return Err(LiveError::Silent(start.to_string(), seen));
                }
            }
        }
    }

    /// Waits until this line appears on standard error.
    pub fn error_line(&mut self, wanted: &str) -> Result<(), LiveError> {
        let end = Instant::now() + event_timeout();
        let mut last = String::new();
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.err.recv_timeout(left) {
                Ok(line) if line == wanted => return Ok(()),
                Ok(line) => last = line,
                Err(_) => return Err(LiveError::Silent(wanted.to_string(), last)),
            }
        }
    }

    /// Sends `stop`, waits for the end, and returns the whole output with the exit code.
    pub fn stop(mut self) -> Result<Output, LiveError> {
        // The program may have ended already and closed its input.
        let _ = self.say("stop");
        self.input = None;
        let end = Instant::now() + event_timeout();
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            if Instant::now() > end {
                return Err(LiveError::Silent("(end)".into(), self.seen.clone()));
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        for line in self.out.iter() {
            self.seen.push_str(&line);
            self.seen.push('\n');
        }
        let err: Vec<String> = self.err.iter().map(|line| line + "\n").collect();
        Ok(Output {
            code: status.code().unwrap_or(-1),
            out: std::mem::take(&mut self.seen),
            err: err.concat(),
        })
    }

    /// Runs `veneer exec PID -e CODE`.
    pub fn exec(&self, code: &str) -> Result<Output, LiveError> {
        let pid = self.pid.to_string();
        Ok(veneer()
            .args(["exec", &pid, "-e", code])
            .limit(event_timeout())
            .run()?)
    }

    /// Runs `veneer exec PID -e CODE`, which must succeed, and returns its last line of output: the
    /// value of the code.
    pub fn value(&self, code: &str) -> Result<String, LiveError> {
        let output = self
            .exec(code)?
            .succeeded(&format!("veneer exec -e '{code}'"))?;
        Ok(output.out.lines().last().unwrap_or_default().to_string())
    }

    /// The path of the agent's control socket in this JVM, if the JVM belongs to the user who runs
    /// the tests.
    pub fn socket(&self) -> PathBuf {
        private_directory(user()).join(format!("{}.sock", self.pid))
    }

    /// Opens a connection to the agent. Each read and each write on it fails after
    /// [`event_timeout`].
    pub fn connect(&self) -> std::io::Result<UnixStream> {
        let stream = UnixStream::connect(self.socket())?;
        stream.set_read_timeout(Some(event_timeout()))?;
        stream.set_write_timeout(Some(event_timeout()))?;
        Ok(stream)
    }

    /// Requests the report from the agent.
    pub fn report(&self) -> Result<Report, LiveError> {
        let mut socket = self.connect()?;
        writeln!(socket, "{{\"report\":{{}}}}")?;
        let mut line = String::new();
        BufReader::new(socket).read_line(&mut line)?;
        let answer: serde_json::Value =
            serde_json::from_str(&line).map_err(|_| LiveError::Answer(line.clone()))?;
        let report = answer
            .get("report")
            .ok_or_else(|| LiveError::Answer(line.clone()))?;
        Report::parse(&report.to_string())
            .map_err(|error| LiveError::Answer(format!("{error}: {line}")))
    }

    /// Returns the current hits of an instrument, one entry (fragment, hits) for each point.
    pub fn hits(&self, id: &str) -> Result<Vec<(Option<u32>, u64)>, LiveError> {
        let report = self.report()?;
        let found = report
            .instruments
            .iter()
            .find(|one| one.id.as_str() == Some(id));
        let instrument = found.ok_or_else(|| LiveError::Answer(format!("no instrument {id}")))?;
        Ok(instrument
            .points
            .iter()
            .map(|point| (point.fragment, point.hits))
            .collect())
    }

    /// Returns the current sum of the hits of an instrument.
    pub fn sum(&self, id: &str) -> Result<u64, LiveError> {
        Ok(self.hits(id)?.iter().map(|(_, hits)| hits).sum())
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            end_group(&mut self.child);
        }
    }
}

fn lines(stream: Option<impl std::io::Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let Some(stream) = stream else { return };
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// The id of the user who runs the tests.
pub fn user() -> u32 {
    // SAFETY: a system call without arguments that always succeeds.
    unsafe { libc::geteuid() }
}

/// The folder that contains the control sockets of the JVMs of a user.
pub fn private_directory(user: u32) -> PathBuf {
    PathBuf::from(format!("/tmp/veneer-{user}"))
}

/// Repeats `ask` until `yes` accepts the answer. After [`event_timeout`] it returns an error with
/// `what` and the last answer.
pub fn until<T: std::fmt::Debug>(
    what: &str,
    mut ask: impl FnMut() -> Result<T, LiveError>,
    yes: impl Fn(&T) -> bool,
) -> Result<T, LiveError> {
    let end = Instant::now() + event_timeout();
    loop {
        let answer = ask()?;
        if yes(&answer) {
            return Ok(answer);
        }
        if Instant::now() > end {
            return Err(LiveError::Silent(what.to_string(), format!("{answer:?}")));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The number after a word: `number("left 3 right 4", "right")` is 4.
pub fn number(text: &str, word: &str) -> Option<i64> {
    let mut words = text.split_whitespace();
    words.find(|one| *one == word)?;
    words.next()?.parse().ok()
}
