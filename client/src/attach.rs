//! Loads an agent into a running JVM by HotSpot's attach protocol.
//!
//! ```text
//!   client                                        JVM
//!   create .attach_pid<pid> in its cwd or /tmp
//!   SIGQUIT ───────────────────────────────────▶  finds the file: starts its attach listener
//!                                                 (without the file it would print a thread dump)
//!   poll /tmp/.java_pid<pid>  ◀─────────────────  binds a socket there
//!   connect, remove .attach_pid<pid>
//!   "1\0load\0<library>\0true\0<options>\0" ───▶  dlopen, Agent_OnAttach(options)
//!   ◀───────────────────────── "<status>\n<text>" and the end of the stream
//! ```
//!
//! `<pid>` is the process id in the JVM's own process namespace. `jcmd` and `jattach` use the same
//! protocol. Veneer has its own implementation, because this implementation needs no Java on the
//! client's side and has a separate message for each cause of failure.
//!
//! SIGQUIT kills a process without a handler for it. The client sends SIGQUIT only if [`Target`]
//! has found HotSpot's library in the process and the kernel reports a handler.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use thiserror::Error;

use crate::error_text;
use crate::hang;
use crate::perfdata;
use crate::target::{Target, TargetError};

/// The longest wait for the socket of the JVM's attach listener.
const LISTENER_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest wait for a JVM that is starting until it accepts attach requests.
const STARTUP_TIMEOUT: Duration = Duration::from_secs(2);
/// The interval between two checks of a JVM that is starting.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The longest argument that HotSpot accepts, in bytes.
const MAX_ARGUMENT_BYTES: usize = 1024;

/// Why the JVM has not loaded the agent. The text is the problem, `; ` and the remedy.
#[derive(Debug, Error)]
#[error("{}", self.text())]
pub enum JvmAttachError {
    /// The process has ended, or is not the inspected process.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The JVM was started with `-XX:+DisableAttachMechanism`.
    Disabled(u32),
    /// The JVM has no handler for SIGQUIT, for instance because of `-Xrs`.
    NoHandler(u32),
    /// A signal or a debugger has stopped the process.
    Stopped(u32),
    /// The JVM did not open its socket within the timeout.
    NoAnswer {
        /// The process that did not answer.
        pid: u32,
        /// The likely cause, from `hang::describe_hang`.
        waits: String,
        /// The length of the wait in seconds.
        seconds: u64,
    },
    /// The JVM accepted the request but did not answer within the timeout. It may still load the
    /// agent.
    Late {
        /// The process that took the agent.
        pid: u32,
        /// The length of the wait in seconds.
        seconds: u64,
        /// The likely cause, from `hang::describe_hang`.
        waits: String,
    },
    /// The trigger file cannot be created.
    Trigger {
        /// The path of the trigger file.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// Another user owns the file at the path of the JVM's socket.
    Forged {
        /// The path of the JVM's socket.
        path: PathBuf,
        /// The owner of the file.
        uid: u32,
    },
    /// A path is longer than HotSpot's limit for arguments.
    TooLong(String),
    /// The JVM answered that it did not load the agent.
    Refused {
        /// The process of the JVM.
        pid: u32,
        /// The JVM's answer.
        reason: LoadRefusal,
    },
    /// The connection to the attach listener failed.
    Io {
        /// The process of the JVM.
        pid: u32,
        /// The error of the connection.
        source: io::Error,
    },
}

impl JvmAttachError {
    /// The problem, without the remedy.
    pub fn problem(&self) -> String {
        match self {
            JvmAttachError::Target(error) => error.problem(),
            JvmAttachError::Disabled(pid) => {
                format!("process {pid} was started with -XX:+DisableAttachMechanism")
            }
            JvmAttachError::NoHandler(pid) => format!(
                "process {pid} does not handle SIGQUIT (started with -Xrs?), so nothing can be loaded into it"
            ),
            JvmAttachError::Stopped(pid) => {
                format!("process {pid} is stopped and cannot answer")
            }
            JvmAttachError::NoAnswer {
                pid,
                waits,
                seconds,
            } => format!("process {pid} did not answer within {seconds} s: {waits}"),
            JvmAttachError::Late {
                pid,
                seconds,
                waits,
            } => format!(
                "process {pid} took the agent but has not loaded it within {seconds} s: {waits}. It may do so still"
            ),
            JvmAttachError::Trigger { path, source } => {
                format!("{} cannot be created: {source}", path.display())
            }
            JvmAttachError::Forged { path, uid } => format!(
                "{} belongs to user {uid} and not to the JVM's",
                path.display()
            ),
            JvmAttachError::TooLong(path) => format!(
                "the path {path} is longer than the {MAX_ARGUMENT_BYTES} bytes that the JVM takes"
            ),
            JvmAttachError::Refused { pid, reason } => {
                format!("the JVM {pid} did not load the agent: {}", reason.problem())
            }
            JvmAttachError::Io { pid, source } => {
                format!("the connection to the JVM {pid} failed: {source}")
            }
        }
    }

    /// An action of the user that solves or explains the problem, if one is known.
    pub fn remedy(&self) -> Option<String> {
        let fixed = match self {
            JvmAttachError::Target(error) => return Some(error.remedy()),
            JvmAttachError::Stopped(pid) => {
                return Some(format!("continue it (kill -CONT {pid}) and try again"));
            }
            JvmAttachError::Late { pid, .. } => {
                return Some(format!("`veneer detach {pid} --unload` takes it out again"));
            }
            JvmAttachError::Refused { reason, .. } => return reason.remedy().map(str::to_string),
            JvmAttachError::Disabled(_) | JvmAttachError::NoHandler(_) => {
                "start it under `veneer run`, or without that option"
            }
            JvmAttachError::NoAnswer { .. } => "try again, or start it under `veneer run`",
            JvmAttachError::Trigger { .. } => "the JVM needs it as a sign: make room in /tmp",
            JvmAttachError::Forged { .. } => "remove it and try again",
            JvmAttachError::TooLong(_) => "move the library or the data directory",
            JvmAttachError::Io { .. } => "look whether it is alive still",
        };
        Some(fixed.to_string())
    }

    fn text(&self) -> String {
        match self {
            // The text of a refusal may be sentences of the JVM.
            JvmAttachError::Refused { pid, reason } => {
                format!("the JVM {pid} did not load the agent: {reason}")
            }
            _ => error_text(self.problem(), self.remedy()),
        }
    }
}

/// Why the JVM refused to load the agent. The text is the problem and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}", self.text())]
pub enum LoadRefusal {
    /// `Agent_OnAttach` returned this code.
    NotStarted(String),
    /// The JVM closed the connection without a reply.
    NoReply,
    /// The JVM replied with this status and without a message.
    Status(String),
    /// The JVM permits no agents after its start. The field is the JVM's message.
    DynamicLoadingDisabled(String),
    /// The JVM cannot open the library. The field is the JVM's message.
    UnreadableLibrary(String),
    /// Another message of the JVM.
    Message(String),
}

impl LoadRefusal {
    /// The problem as one line, without the remedy.
    pub fn problem(&self) -> String {
        match self {
            LoadRefusal::NotStarted(code) => format!("it refused to start (code {code})"),
            LoadRefusal::NoReply => "it closed the connection without an answer".into(),
            LoadRefusal::Status(status) => format!("status {status}"),
            LoadRefusal::DynamicLoadingDisabled(message)
            | LoadRefusal::UnreadableLibrary(message)
            | LoadRefusal::Message(message) => message.clone(),
        }
    }

    /// An action of the user that solves or explains the problem, if one is known.
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            LoadRefusal::NotStarted(_) => Some("the JVM's standard error says why"),
            LoadRefusal::NoReply => Some("its standard error may say why"),
            LoadRefusal::DynamicLoadingDisabled(_) => {
                Some("Start it with -XX:+EnableDynamicAgentLoading, or under `veneer run`")
            }
            LoadRefusal::UnreadableLibrary(_) => {
                Some("Put the library where the JVM's user can read it and set VENEER_AGENT")
            }
            LoadRefusal::Status(_) | LoadRefusal::Message(_) => None,
        }
    }

    fn text(&self) -> String {
        match (self, self.remedy()) {
            // The JVM's messages are sentences, so the remedy is another sentence.
            (
                LoadRefusal::DynamicLoadingDisabled(message)
                | LoadRefusal::UnreadableLibrary(message),
                Some(remedy),
            ) => format!("{message} {remedy}"),
            (_, remedy) => error_text(self.problem(), remedy),
        }
    }
}

/// Loads a native agent library with these options. Both paths must be valid in the JVM's file
/// system. `timeout` limits the wait for the JVM's answer.
///
/// # Errors
/// The text of each error contains a remedy, if one is known.
pub fn load_agent(
    target: &Target,
    library: &Path,
    options: &Path,
    timeout: Duration,
) -> Result<(), JvmAttachError> {
    let request = load_request(library, options)?;
    let deadline = Instant::now() + STARTUP_TIMEOUT;
    let reply = loop {
        let mut stream = open(target, timeout.min(LISTENER_TIMEOUT))?;
        let reply = exchange(&mut stream, &request, timeout);
        let reply = reply.map_err(|source| match source.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => JvmAttachError::Late {
                pid: target.pid,
                seconds: timeout.as_secs(),
                waits: hang::describe_hang(target.pid),
            },
            _ => JvmAttachError::Io {
                pid: target.pid,
                source,
            },
        })?;
        // The listener of JDK 21 and later already answers while the JVM is starting. Then the
        // request is repeated.
        if !reply.contains("only permitted in the live phase") || Instant::now() > deadline {
            break reply;
        }
        thread::sleep(POLL_INTERVAL);
    };
    parse_reply(&reply).map_err(|reason| JvmAttachError::Refused {
        pid: target.pid,
        reason,
    })
}

/// Encodes a `load` request: version, command and exactly three arguments, each terminated by NUL.
fn load_request(library: &Path, options: &Path) -> Result<Vec<u8>, JvmAttachError> {
    let mut request = b"1\0load\0".to_vec();
    for argument in [library.as_os_str(), "true".as_ref(), options.as_os_str()] {
        if argument.len() > MAX_ARGUMENT_BYTES {
            return Err(JvmAttachError::TooLong(argument.to_string_lossy().into()));
        }
        request.extend_from_slice(argument.as_bytes());
        request.push(0);
    }
    Ok(request)
}

fn exchange(stream: &mut UnixStream, request: &[u8], timeout: Duration) -> io::Result<String> {
    stream.set_read_timeout(Some(timeout))?;
    stream.write_all(request)?;
    let mut reply = Vec::new();
    stream.take(64 << 10).read_to_end(&mut reply)?;
    Ok(String::from_utf8_lossy(&reply).into_owned())
}

/// Parses a reply: the first line is the status of the command, the rest is `return code: N` of
/// `Agent_OnAttach` or an error message.
fn parse_reply(reply: &str) -> Result<(), LoadRefusal> {
    let (status, text) = reply.split_once('\n').unwrap_or((reply, ""));
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match (status.trim(), words.strip_prefix("return code: ")) {
        ("0", Some("0")) => Ok(()),
        ("0", Some(code)) => Err(LoadRefusal::NotStarted(code.into())),
        ("", _) => Err(LoadRefusal::NoReply),
        (status, _) if words.is_empty() => Err(LoadRefusal::Status(status.into())),
        _ if words.contains("Dynamic agent loading is not enabled") => {
            Err(LoadRefusal::DynamicLoadingDisabled(words))
        }
        _ if words.contains("Permission denied") || words.contains("No such file") => {
            Err(LoadRefusal::UnreadableLibrary(words))
        }
        _ => Err(LoadRefusal::Message(words)),
    }
}

/// Connects to the JVM's attach listener. Starts the listener if it is not running.
pub(crate) fn open(target: &Target, patience: Duration) -> Result<UnixStream, JvmAttachError> {
    let path = target.path_from_here(Path::new(&format!("/tmp/.java_pid{}", target.own_pid)));
    if let Some(stream) = connect(target, &path)? {
        return Ok(stream);
    }
    target.check_alive()?;
    if target.is_stopped() {
        return Err(JvmAttachError::Stopped(target.pid));
    }
    if let Some(stream) = wait_until_ready(target, &path)? {
        return Ok(stream);
    }
    let _trigger = Trigger::create(target)?;
    if let Err(source) = target.signal(Signal::QUIT) {
        target.check_alive()?;
        let pid = target.pid;
        return Err(JvmAttachError::Io { pid, source });
    }
    let deadline = Instant::now() + patience;
    let mut repeated_at = Some(Instant::now() + patience / 2);
    let mut pause = Duration::from_millis(2);
    loop {
        if let Some(stream) = connect(target, &path)? {
            return Ok(stream);
        }
        target.check_alive()?;
        // A JVM that starts removes a socket file with its process id. If the JVM removes the file of
        // the listener that the first signal has started, a second signal starts another listener.
        // `jcmd` repeats its signal at the same time.
        if repeated_at.is_some_and(|at| Instant::now() > at) && !path.exists() {
            repeated_at = None;
            // A failure shows in the next checks of the loop.
            let _ = target.signal(Signal::QUIT);
        }
        if Instant::now() > deadline {
            return Err(JvmAttachError::NoAnswer {
                pid: target.pid,
                seconds: patience.as_secs(),
                waits: hang::describe_hang(target.pid),
            });
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(100));
    }
}

/// Waits until SIGQUIT is certain to start the listener, and not to end the process or to print a
/// thread dump into the application's output.
///
/// Returns a connection if the listener starts by itself during the wait, as it does with `-Xrs`;
/// returns `None` if the caller may send SIGQUIT.
fn wait_until_ready(target: &Target, socket: &Path) -> Result<Option<UnixStream>, JvmAttachError> {
    if target.has_option("-XX:+DisableAttachMechanism") {
        return Err(JvmAttachError::Disabled(target.pid));
    }
    let keeps_counters = !target.has_option("-XX:-UsePerfData");
    let deadline = Instant::now() + STARTUP_TIMEOUT;
    loop {
        if let Some(stream) = connect(target, socket)? {
            return Ok(Some(stream));
        }
        let late = Instant::now() > deadline;
        let has_handler = target.handles_signal(Signal::QUIT)?;
        match perfdata::attach_supported(target) {
            Some(false) => return Err(JvmAttachError::Disabled(target.pid)),
            Some(true) if has_handler => return Ok(None),
            // The JVM has no performance counters, even at the end of the wait. Then the options on
            // the command line decide.
            None if has_handler && (late || !keeps_counters) => return Ok(None),
            _ if late => return Err(JvmAttachError::NoHandler(target.pid)),
            _ => thread::sleep(POLL_INTERVAL),
        }
    }
}

/// Connects to the listener's socket. Returns `None` if there is no socket, or only a stale one of
/// an earlier process with the same id.
fn connect(target: &Target, path: &Path) -> Result<Option<UnixStream>, JvmAttachError> {
    let Ok(meta) = fs::symlink_metadata(path) else {
        return Ok(None);
    };
    if meta.uid() != target.uid {
        return Err(JvmAttachError::Forged {
            path: path.to_owned(),
            uid: meta.uid(),
        });
    }
    match UnixStream::connect(path) {
        Ok(stream) => {
            // The path contains only the process id. If the inspected process is still alive, no
            // other process can have this id, so the socket belongs to the inspected process.
            target.check_alive()?;
            Ok(Some(stream))
        }
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound
            ) =>
        {
            Ok(None)
        }
        Err(source) => Err(JvmAttachError::Io {
            pid: target.pid,
            source,
        }),
    }
}

/// The file `.attach_pid<pid>`, from which the JVM recognises that a SIGQUIT is an attach request.
/// Dropping removes the file if we created it.
struct Trigger<'a> {
    target: &'a Target,
    path: PathBuf,
    ours: bool,
}

impl<'a> Trigger<'a> {
    fn create(target: &'a Target) -> Result<Self, JvmAttachError> {
        let name = format!(".attach_pid{}", target.own_pid);
        let first = PathBuf::from(format!("/proc/{}/cwd", target.pid)).join(&name);
        let second = target.path_from_here(&Path::new("/tmp").join(&name));
        Self::create_at(target, first)
            .or_else(|_| Self::create_at(target, second.clone()))
            .map_err(|source| JvmAttachError::Trigger {
                path: second,
                source,
            })
    }

    fn create_at(target: &'a Target, path: PathBuf) -> io::Result<Self> {
        let create = || -> io::Result<File> {
            OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&path)
        };
        let ours = match target.run_as_target_user(create) {
            Ok(_) => true,
            // Another tool has created the file. The JVM accepts the file if the JVM's user or root
            // owns it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let owner = fs::symlink_metadata(&path)?.uid();
                if owner != target.uid && owner != 0 {
                    return Err(error);
                }
                false
            }
            Err(error) => return Err(error),
        };
        Ok(Trigger { target, path, ours })
    }
}

impl Drop for Trigger<'_> {
    fn drop(&mut self) {
        if self.ours {
            let _ = self
                .target
                .run_as_target_user(|| fs::remove_file(&self.path));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_three_arguments() {
        let request = load_request(Path::new("/l/a.so"), Path::new("/t/c.json")).unwrap();
        assert_eq!(request, b"1\0load\0/l/a.so\0true\0/t/c.json\0");
        let long = "/x".repeat(MAX_ARGUMENT_BYTES);
        let error = load_request(Path::new(&long), Path::new("/c")).unwrap_err();
        assert!(matches!(error, JvmAttachError::TooLong(_)));
    }

    #[test]
    fn the_text_of_an_error_is_the_problem_and_the_remedy() {
        let late = JvmAttachError::Late {
            pid: 7,
            seconds: 5,
            waits: "it is stopped".into(),
        };
        let refused = |reason| JvmAttachError::Refused { pid: 7, reason };
        let texts = [
            (
                JvmAttachError::Stopped(7),
                "process 7 is stopped and cannot answer; continue it (kill -CONT 7) and try again",
            ),
            (
                late,
                "process 7 took the agent but has not loaded it within 5 s: it is stopped. It may do so still; `veneer detach 7 --unload` takes it out again",
            ),
            (
                refused(LoadRefusal::NoReply),
                "the JVM 7 did not load the agent: it closed the connection without an answer; its standard error may say why",
            ),
            // The JVM's message is a sentence.
            (
                refused(LoadRefusal::DynamicLoadingDisabled("No agents.".into())),
                "the JVM 7 did not load the agent: No agents. Start it with -XX:+EnableDynamicAgentLoading, or under `veneer run`",
            ),
        ];
        for (error, text) in texts {
            assert_eq!(error.to_string(), text);
            let remedy = error.remedy().expect("a remedy");
            assert!(text.ends_with(&remedy), "{remedy}");
            assert!(text.starts_with(&error.problem()), "{}", error.problem());
        }
        assert_eq!(refused(LoadRefusal::Status("101".into())).remedy(), None);
    }

    #[test]
    fn replies_of_all_releases_are_understood() {
        assert_eq!(parse_reply("0\nreturn code: 0\n"), Ok(()));
        let error = |reply| parse_reply(reply).unwrap_err().to_string();
        assert_eq!(
            error("0\nreturn code: -1\n"),
            "it refused to start (code -1); the JVM's standard error says why"
        );
        assert_eq!(
            error(""),
            "it closed the connection without an answer; its standard error may say why"
        );
        assert_eq!(error("101\n"), "status 101");
        assert_eq!(
            error("0\nAgent_OnAttach is not\n available"),
            "Agent_OnAttach is not available"
        );
        let off = error(
            "100\nDynamic agent loading is not enabled. Use -XX:+EnableDynamicAgentLoading\n",
        );
        assert_eq!(
            off,
            "Dynamic agent loading is not enabled. Use -XX:+EnableDynamicAgentLoading \
             Start it with -XX:+EnableDynamicAgentLoading, or under `veneer run`"
        );
        assert_eq!(
            error("0\na.so: Permission denied\n"),
            "a.so: Permission denied Put the library where the JVM's user can read it and set VENEER_AGENT"
        );
    }
}
