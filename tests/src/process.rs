//! Processes with a time limit whose output is captured.
//!
//! Each process is the leader of its own process group. So the limit ends exactly the processes
//! that it started, for example a JVM below the command `veneer`.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The default time limit of a process, on a machine that does nothing else.
pub const LIMIT: Duration = Duration::from_secs(180);

/// How long a test waits for an event that normally happens immediately, on a machine that does
/// nothing else.
const EVENT_TIMEOUT: Duration = Duration::from_secs(60);

/// The most times that a limit is extended.
const MAX_LOAD_FACTOR: f64 = 8.0;

/// Returns how long a test waits for an event that normally happens immediately. On a busy machine
/// the wait is longer.
pub fn event_timeout() -> Duration {
    EVENT_TIMEOUT.mul_f64(load_factor())
}

/// How many threads want each processor: an average of the last minute, and at least 1.
fn load_factor() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = text.split(' ').next().and_then(|load| load.parse().ok());
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    factor_of(load.unwrap_or(0.0), processors)
}

fn factor_of(load: f64, processors: usize) -> f64 {
    (load / processors as f64).clamp(1.0, MAX_LOAD_FACTOR)
}

#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The process could not be started, or its output could not be read.
    #[error("{program}: {cause}")]
    Failed {
        program: String,
        cause: std::io::Error,
    },
    /// The process ran longer than its limit.
    #[error("{program} was ended after {seconds} s; its output until then:\n{output}")]
    Late {
        program: String,
        seconds: u64,
        /// Standard output, standard error, and what the `late` function of the caller returned.
        output: String,
    },
    /// The process ended with an exit code other than 0.
    #[error("{program} ended with {code}:\n{output}")]
    Unsuccessful {
        /// A description of the process.
        program: String,
        code: i32,
        /// Standard output and standard error.
        output: String,
    },
}

/// The output and the exit code of a process that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The exit code, or 128 + n if signal n ended the process.
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Output {
    /// Returns this output if the exit code is 0, otherwise an error that contains the output.
    pub fn succeeded(self, what: &str) -> Result<Self, ProcessError> {
        if self.code == 0 {
            return Ok(self);
        }
        Err(ProcessError::Unsuccessful {
            program: what.to_string(),
            code: self.code,
            output: format!("{}{}", self.out, self.err),
        })
    }
}

/// The description of a process that can be started.
#[derive(Clone, Debug)]
pub struct Process {
    program: PathBuf,
    arguments: Vec<OsString>,
    variables: Vec<(String, String)>,
    folder: Option<PathBuf>,
    limit: Duration,
}

impl Process {
    /// A process without arguments.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            variables: Vec::new(),
            folder: None,
            limit: LIMIT.mul_f64(load_factor()),
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_os_string());
        self
    }

    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        for argument in arguments {
            self.arguments.push(argument.as_ref().to_os_string());
        }
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_string(), value.to_string()));
        self
    }

    /// Sets the working folder.
    #[must_use]
    pub fn folder(mut self, folder: &Path) -> Self {
        self.folder = Some(folder.to_path_buf());
        self
    }

    /// Sets the time limit.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Returns the process `veneer run OPTIONS -- THIS`.
    #[must_use]
    pub fn under_veneer(mut self, veneer: &Path, options: &[&str]) -> Self {
        let mut arguments: Vec<OsString> = vec!["run".into()];
        arguments.extend(options.iter().map(OsString::from));
        arguments.push("--".into());
        arguments.push(self.program.into());
        arguments.append(&mut self.arguments);
        self.program = veneer.to_path_buf();
        self.arguments = arguments;
        self
    }

    /// Returns a process in which another program, such as `setpriv`, starts this one.
    #[must_use]
    pub fn wrapped_in(mut self, program: &str, options: &[&str]) -> Self {
        let mut arguments: Vec<OsString> = options.iter().map(OsString::from).collect();
        arguments.push(self.program.into());
        arguments.append(&mut self.arguments);
        self.program = program.into();
        self.arguments = arguments;
        self
    }

    /// Starts the process with pipes for all three streams, as the leader of a process group.
    pub fn start(&self) -> Result<Child, ProcessError> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).process_group(0);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // The settings of a developer for other JVMs must not reach the JVMs under test.
        for name in [
            "JAVA_TOOL_OPTIONS",
            "_JAVA_OPTIONS",
            "JDK_JAVA_OPTIONS",
            "CLASSPATH",
        ] {
            command.env_remove(name);
        }
        // Cargo sets variables about the package whose test runs here. A cargo started below would
        // take them for a change of what the build scripts have read, and would build for a minute
        // what is up to date.
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(is_package_variable) {
                command.env_remove(name);
            }
        }
        for (name, value) in &self.variables {
            command.env(name, value);
        }
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        // SAFETY: between fork and exec the closure only calls `signal`, which is async-signal-safe
        // (POSIX.1-2017, 2.4.3).
        unsafe { command.pre_exec(receive_signals) };
        command.spawn().map_err(|cause| self.failed(cause))
    }

    /// Runs the process to its end with an empty standard input.
    pub fn run(&self) -> Result<Output, ProcessError> {
        self.run_watched(&|_| String::new())
    }

    /// Runs the process to its end with an empty standard input. If the limit passes, `late` gets
    /// the id of the process group before the group is killed. The text that `late` returns becomes
    /// part of the error.
    pub fn run_watched(&self, late: &dyn Fn(u32) -> String) -> Result<Output, ProcessError> {
        let mut child = self.start()?;
        drop(child.stdin.take());
        let out = collect(child.stdout.take());
        let err = collect(child.stderr.take());
        let mut dump = String::new();
        let status = self.wait(&mut child, &mut |group| dump = late(group));
        if status.is_err() {
            end_group(&mut child);
        }
        let texts = (
            out.join().unwrap_or_default(),
            err.join().unwrap_or_default(),
        );
        match status {
            Ok(Some(code)) => Ok(Output {
                code,
                out: texts.0,
                err: texts.1,
            }),
            Ok(None) => Err(ProcessError::Late {
                program: self.to_string(),
                seconds: self.limit.as_secs(),
                output: texts.0 + &texts.1 + &dump,
            }),
            Err(cause) => Err(self.failed(cause)),
        }
    }

    /// Waits for the end and returns the exit code. If the limit passes, the process group is
    /// killed and the result is `None`.
    fn wait(&self, child: &mut Child, late: &mut dyn FnMut(u32)) -> std::io::Result<Option<i32>> {
        let end = Instant::now() + self.limit;
        let mut pause = Duration::from_millis(1);
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Some(
                    status.code().unwrap_or(128 + status.signal().unwrap_or(0)),
                ));
            }
            if Instant::now() > end {
                late(child.id());
                end_group(child);
                return Ok(None);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    fn failed(&self, cause: std::io::Error) -> ProcessError {
        ProcessError::Failed {
            program: self.program.display().to_string(),
            cause,
        }
    }
}

impl std::fmt::Display for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.program.display())?;
        for argument in &self.arguments {
            write!(f, " {}", argument.to_string_lossy())?;
        }
        Ok(())
    }
}

/// Returns whether cargo sets this variable for the processes of one package.
fn is_package_variable(name: &str) -> bool {
    let of_the_package = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_"];
    let of_the_crate = ["CARGO_CRATE_NAME", "CARGO_PRIMARY_PACKAGE", "OUT_DIR"];
    of_the_package.iter().any(|p| name.starts_with(p)) || of_the_crate.contains(&name)
}

/// Kills a process that [`Process::start`] started, with its process group, and waits for its end.
pub fn end_group(child: &mut Child) {
    if let Ok(group) = libc::pid_t::try_from(child.id()) {
        // SAFETY: a plain system call. The group was made for this child. The child has not been
        // waited for, so the id has not been reused.
        unsafe { libc::kill(-group, libc::SIGKILL) };
    }
    let _ = child.wait();
}

fn collect(stream: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // The bytes that were read before an error are still worth showing.
            let _ = stream.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Gives the interrupt signals their default action. A shell starts a background job with them
/// ignored, and a process inherits that: Ctrl-C would then not end the command under test.
fn receive_signals() -> std::io::Result<()> {
    for signal in [libc::SIGINT, libc::SIGQUIT] {
        // SAFETY: the default action of a signal needs no handler.
        if unsafe { libc::signal(signal, libc::SIG_DFL) } == libc::SIG_ERR {
            return Err(std::io::Error::last_os_error());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_with_the_load_of_each_processor() {
        let factors = [0.0, 1.5, 5.0, 1_000.0].map(|load| factor_of(load, 2));
        assert_eq!(factors, [1.0, 1.0, 2.5, MAX_LOAD_FACTOR]);
    }

    #[test]
    fn output_and_exit_code_are_captured() -> Result<(), ProcessError> {
        let output = Process::new("sh")
            .args(["-c", "echo a; echo b >&2; exit 3"])
            .run()?;
        assert_eq!(
            output,
            Output {
                code: 3,
                out: "a\n".into(),
                err: "b\n".into()
            }
        );
        assert!(output.succeeded("sh").is_err());
        Ok(())
    }

    #[test]
    fn a_process_over_its_limit_is_killed_with_its_children() {
        let process = Process::new("sh")
            .args(["-c", "echo begun; sleep 60; echo never"])
            .limit(Duration::from_millis(200));
        match process.run() {
            Err(ProcessError::Late { output, .. }) => assert_eq!(output, "begun\n"),
            other => panic!("{other:?}"),
        }
    }
}
