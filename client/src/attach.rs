//! Loading an agent into a running JVM: HotSpot's attach protocol, spoken directly.
//!
//! ```text
//!   us                                            the JVM
//!   create .attach_pid<pid> in its cwd or /tmp
//!   SIGQUIT ───────────────────────────────────▶  sees the file: starts its attach listener
//!                                                 (without the file it would print a thread dump)
//!   poll /tmp/.java_pid<pid>  ◀─────────────────  binds a socket there
//!   connect, remove .attach_pid<pid>
//!   "1\0load\0<library>\0true\0<options>\0" ───▶  dlopen, Agent_OnAttach(options)
//!   ◀───────────────────────── "<status>\n<text>" and the end of the stream
//! ```
//!
//! `<pid>` is the JVM's own view of its process id. This is what `jcmd` and `jattach` do; written
//! here because it needs no Java on our side, and so that each way of failing has its own message.
//! SIGQUIT kills a process that has no handler for it: it is only sent where [`Target`] has found
//! HotSpot's library and the kernel says that there is a handler.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::perfdata;
use crate::target::{Target, TargetError};
use crate::waiting;

/// How long the JVM may take to open its socket.
const LISTEN: Duration = Duration::from_secs(5);
/// How long a JVM that has just started may take until it can be attached to.
const START: Duration = Duration::from_secs(2);
/// Between two looks at a JVM that is starting.
const PAUSE: Duration = Duration::from_millis(20);
/// The longest argument that HotSpot takes, in bytes.
const ARGUMENT: usize = 1024;

/// Why no agent could be loaded.
#[derive(Debug, Error)]
pub enum AttachError {
    /// The process itself.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// `-XX:+DisableAttachMechanism`.
    #[error(
        "process {0} was started with -XX:+DisableAttachMechanism; start it under `veneer run`, or without that option"
    )]
    Disabled(u32),
    /// `-Xrs`.
    #[error(
        "process {0} does not handle SIGQUIT (started with -Xrs?), so nothing can be loaded into it; start it under `veneer run`, or without that option"
    )]
    NoHandler(u32),
    /// Stopped by a signal or a debugger.
    #[error("process {0} is stopped and cannot answer; continue it (kill -CONT {0}) and try again")]
    Stopped(u32),
    /// No socket appeared.
    #[error(
        "process {pid} did not answer within {seconds} s: {waits}; try again, or start it under `veneer run`"
    )]
    NoAnswer {
        /// The JVM.
        pid: u32,
        /// What it seems to wait for.
        waits: String,
        /// How long we waited.
        seconds: u64,
    },
    /// It took the request, and has not done it.
    #[error(
        "process {pid} took the agent but has not loaded it within {seconds} s: {waits}. It may do so still; `veneer detach {pid} --unload` takes it out again"
    )]
    Late {
        /// The JVM.
        pid: u32,
        /// How long we waited.
        seconds: u64,
        /// What it seems to wait for.
        waits: String,
    },
    /// The trigger file cannot be created.
    #[error("{path} cannot be created: {source}; the JVM needs it as a sign: make room in /tmp", path = .path.display())]
    Trigger {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The socket belongs to somebody else.
    #[error("{path} belongs to user {uid} and not to the JVM's; remove it and try again", path = .path.display())]
    Forged {
        /// The socket.
        path: PathBuf,
        /// Its owner.
        uid: u32,
    },
    /// A path that does not fit.
    #[error(
        "the path {0} is longer than the {ARGUMENT} bytes that the JVM takes; move the library or the data directory"
    )]
    TooLong(String),
    /// The JVM refused.
    #[error("the JVM {pid} did not load the agent: {message}")]
    Refused {
        /// The JVM.
        pid: u32,
        /// Its own words, in one line, and advice where we know some.
        message: String,
    },
    /// The connection broke.
    #[error("the connection to the JVM {pid} failed: {source}; look whether it is alive still")]
    Io {
        /// The JVM.
        pid: u32,
        /// What the system said.
        source: io::Error,
    },
}

/// Loads a native agent library with these options (both paths as the JVM sees them).
/// `timeout`: how long the JVM may take.
///
/// # Errors
/// Each way of failing, with its remedy.
pub fn load_agent(
    target: &Target,
    library: &Path,
    options: &Path,
    timeout: Duration,
) -> Result<(), AttachError> {
    let request = load_request(library, options)?;
    let deadline = Instant::now() + START;
    let reply = loop {
        let mut stream = open(target, timeout.min(LISTEN))?;
        let reply = exchange(&mut stream, &request, timeout);
        let reply = reply.map_err(|source| match source.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => AttachError::Late {
                pid: target.pid,
                seconds: timeout.as_secs(),
                waits: waiting::told(target.pid),
            },
            _ => AttachError::Io {
                pid: target.pid,
                source,
            },
        })?;
        // The listener of JDK 21 and later answers before the JVM has quite started.
        if !reply.contains("only permitted in the live phase") || Instant::now() > deadline {
            break reply;
        }
        thread::sleep(PAUSE);
    };
    parse_reply(&reply).map_err(|message| AttachError::Refused {
        pid: target.pid,
        message,
    })
}

/// Version, command and exactly three arguments, each with a NUL behind it.
fn load_request(library: &Path, options: &Path) -> Result<Vec<u8>, AttachError> {
    let mut request = b"1\0load\0".to_vec();
    for argument in [library.as_os_str(), "true".as_ref(), options.as_os_str()] {
        if argument.len() > ARGUMENT {
            return Err(AttachError::TooLong(argument.to_string_lossy().into()));
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

/// A first line with the status of the command, then `return code: N` of `Agent_OnAttach` or words
/// about what went wrong.
fn parse_reply(reply: &str) -> Result<(), String> {
    let (status, text) = reply.split_once('\n').unwrap_or((reply, ""));
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match (status.trim(), words.strip_prefix("return code: ")) {
        ("0", Some("0")) => Ok(()),
        ("0", Some(code)) => Err(format!(
            "it refused to start (code {code}); the JVM's standard error says why"
        )),
        ("", _) => {
            Err("it closed the connection without an answer; its standard error may say why".into())
        }
        (status, _) if words.is_empty() => Err(format!("status {status}")),
        _ if words.contains("Dynamic agent loading is not enabled") => Err(format!(
            "{words} Start it with -XX:+EnableDynamicAgentLoading, or under `veneer run`"
        )),
        _ if words.contains("Permission denied") || words.contains("No such file") => Err(format!(
            "{words} Put the library where the JVM's user can read it and set VENEER_AGENT"
        )),
        _ => Err(words),
    }
}

/// A connection to the JVM's attach listener, which is started where it does not run yet.
pub(crate) fn open(target: &Target, patience: Duration) -> Result<UnixStream, AttachError> {
    let path = target.reach(Path::new(&format!("/tmp/.java_pid{}", target.own_pid)));
    if let Some(stream) = connect(target, &path)? {
        return Ok(stream);
    }
    target.still_there()?;
    if target.is_stopped() {
        return Err(AttachError::Stopped(target.pid));
    }
    if let Some(stream) = wait_until_ready(target, &path)? {
        return Ok(stream);
    }
    let _trigger = Trigger::create(target)?;
    if let Err(source) = target.signal(libc::SIGQUIT) {
        target.still_there()?;
        let pid = target.pid;
        return Err(AttachError::Io { pid, source });
    }
    let deadline = Instant::now() + patience;
    let mut pause = Duration::from_millis(2);
    loop {
        if let Some(stream) = connect(target, &path)? {
            return Ok(stream);
        }
        target.still_there()?;
        if Instant::now() > deadline {
            return Err(AttachError::NoAnswer {
                pid: target.pid,
                seconds: patience.as_secs(),
                waits: waiting::told(target.pid),
            });
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(100));
    }
}

/// Makes sure that SIGQUIT will start the listener, and not end the process or print a thread dump
/// into the application's output. Gives a connection where the listener comes up by itself meanwhile,
/// as it does with `-Xrs`.
fn wait_until_ready(target: &Target, socket: &Path) -> Result<Option<UnixStream>, AttachError> {
    if target.has_option("-XX:+DisableAttachMechanism") {
        return Err(AttachError::Disabled(target.pid));
    }
    let keeps_counters = !target.has_option("-XX:-UsePerfData");
    let deadline = Instant::now() + START;
    loop {
        if let Some(stream) = connect(target, socket)? {
            return Ok(Some(stream));
        }
        let late = Instant::now() > deadline;
        let has_handler = target.catches(libc::SIGQUIT)?;
        match perfdata::attach_supported(target) {
            Some(false) => return Err(AttachError::Disabled(target.pid)),
            Some(true) if has_handler => return Ok(None),
            // No counters, not even late: what the command line says must do.
            None if has_handler && (late || !keeps_counters) => return Ok(None),
            _ if late => return Err(AttachError::NoHandler(target.pid)),
            _ => thread::sleep(PAUSE),
        }
    }
}

/// `None` where there is no socket, or a stale one of an earlier process with the same id.
fn connect(target: &Target, path: &Path) -> Result<Option<UnixStream>, AttachError> {
    let Ok(meta) = fs::symlink_metadata(path) else {
        return Ok(None);
    };
    if meta.uid() != target.uid {
        return Err(AttachError::Forged {
            path: path.to_owned(),
            uid: meta.uid(),
        });
    }
    match UnixStream::connect(path) {
        Ok(stream) => {
            // The path has no more than a number in it. As long as the process is there, nobody else has that.
            target.still_there()?;
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
        Err(source) => Err(AttachError::Io {
            pid: target.pid,
            source,
        }),
    }
}

/// The file `.attach_pid<pid>`, which tells the JVM that a SIGQUIT is meant for the attach listener.
struct Trigger<'a> {
    target: &'a Target,
    path: PathBuf,
    ours: bool,
}

impl<'a> Trigger<'a> {
    fn create(target: &'a Target) -> Result<Self, AttachError> {
        let name = format!(".attach_pid{}", target.own_pid);
        let first = PathBuf::from(format!("/proc/{}/cwd", target.pid)).join(&name);
        let second = target.reach(&Path::new("/tmp").join(&name));
        Self::create_at(target, first)
            .or_else(|_| Self::create_at(target, second.clone()))
            .map_err(|source| AttachError::Trigger {
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
        let ours = match target.as_its_user(create) {
            Ok(_) => true,
            // Left over by, or shared with, another tool; good enough if the JVM will believe it.
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
            let _ = self.target.as_its_user(|| fs::remove_file(&self.path));
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
        let long = "/x".repeat(ARGUMENT);
        let error = load_request(Path::new(&long), Path::new("/c")).unwrap_err();
        assert!(matches!(error, AttachError::TooLong(_)));
    }

    #[test]
    fn replies_of_all_releases_are_understood() {
        assert_eq!(parse_reply("0\nreturn code: 0\n"), Ok(()));
        let error = |reply| parse_reply(reply).unwrap_err();
        assert!(error("0\nreturn code: -1\n").contains("code -1"));
        assert!(error("").contains("without an answer"));
        assert_eq!(error("101\n"), "status 101");
        assert_eq!(
            error("0\nAgent_OnAttach is not\n available"),
            "Agent_OnAttach is not available"
        );
        let off = error(
            "100\nDynamic agent loading is not enabled. Use -XX:+EnableDynamicAgentLoading\n",
        );
        assert!(off.contains("veneer run"), "{off}");
        assert!(error("0\na.so: Permission denied\n").contains("VENEER_AGENT"));
    }
}
