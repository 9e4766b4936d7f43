//! Inspects a running process from outside: is it a JVM to which this user can attach?
//!
//! The inspection reads `/proc` only and sends nothing to the process. Clients inspect a process
//! before they attach, because the attach protocol begins with SIGQUIT, which ends every program
//! that does not pidfd it.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use libc::{gid_t, uid_t};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, geteuid, kill_process, pidfd_open, pidfd_send_signal,
};
use thiserror::Error;

use crate::error_text;
use crate::process_stat;
use crate::version::{MIN_JAVA_VERSION, installed_feature_version};

/// A HotSpot JVM of version 17 or newer that belongs to this user, or to any user if this process
/// is root.
#[derive(Debug)]
pub struct Target {
    /// The process id in our process namespace.
    pub pid: u32,
    /// The process id in the JVM's own process namespace, which differs in a container.
    pub own_pid: u32,
    /// The effective user of the process.
    pub uid: uid_t,
    /// The effective group of the process.
    pub gid: gid_t,
    /// The root directory of the process as seen by us: `/`, or `/proc/PID/root` for a container.
    pub root: PathBuf,
    /// The feature release of its JDK, 17 or more; `None` if the JDK has no `release` file.
    pub feature: Option<u32>,
    /// A pidfd, which refers to this process even if the kernel reuses its id. `None` before Linux
    /// 5.3.
    pidfd: Option<OwnedFd>,
    /// Start of the process in clock ticks since the machine's start. Distinguishes the process
    /// from a later process with the same id. 0 if the start is unknown.
    start_ticks: u64,
}

/// The remedy of all errors that name a wrong process.
const LIST_JVMS: &str = "`veneer ps` shows the JVMs that run";

/// Why this process cannot attach to another process. The text is the problem, `; ` and the remedy.
#[derive(Debug, Error)]
#[error("{}", error_text(self.problem(), Some(self.remedy())))]
pub enum TargetError {
    /// No process has this id.
    NoProcess(u32),
    /// The process is a zombie.
    Ended(u32),
    /// The inspected process has ended, and the kernel has reused its id for another process.
    Reused(u32),
    /// The id is the id of a thread, not of a process.
    Thread {
        /// The id, which belongs to a thread.
        pid: u32,
        /// The process of the thread.
        process: u32,
    },
    /// The process belongs to another user.
    Foreign {
        /// The inspected process.
        pid: u32,
        /// The owner of the process.
        uid: uid_t,
    },
    /// The process does not run a JVM.
    NoJvm {
        /// The inspected process.
        pid: u32,
        /// The name of the executable.
        name: String,
    },
    /// The process is a JVM with another implementation than HotSpot.
    NotHotSpot(u32),
    /// The JVM is older than [`MIN_JAVA_VERSION`].
    TooOld {
        /// The process of the JVM.
        pid: u32,
        /// The JVM's feature release, such as 11.
        feature: u32,
    },
    /// The system denies access to `/proc/PID`.
    Hidden {
        /// The inspected process.
        pid: u32,
        /// The error of reading from `/proc`.
        source: io::Error,
    },
}

impl TargetError {
    /// The problem, without the remedy.
    pub fn problem(&self) -> String {
        match self {
            TargetError::NoProcess(pid) => format!("there is no process {pid}"),
            TargetError::Ended(pid) => format!("process {pid} has ended already"),
            TargetError::Reused(pid) => format!(
                "process {pid} has ended meanwhile, and another process has its number now; that one was left alone"
            ),
            TargetError::Thread { pid, process } => {
                format!("{pid} is a thread of process {process}")
            }
            TargetError::Foreign { pid, uid } => {
                format!("process {pid} belongs to user {uid}, not to you")
            }
            TargetError::NoJvm { pid, name } => format!("process {pid} ({name}) is no JVM"),
            TargetError::NotHotSpot(pid) => format!("process {pid} is a JVM, but not HotSpot"),
            TargetError::TooOld { pid, feature } => {
                format!(
                    "process {pid} runs on JDK {feature}, and Veneer needs {MIN_JAVA_VERSION} or newer"
                )
            }
            TargetError::Hidden { pid, source } => {
                format!("process {pid} cannot be looked at: {source}")
            }
        }
    }

    /// An action of the user that solves the problem.
    pub fn remedy(&self) -> String {
        match self {
            TargetError::NoProcess(_)
            | TargetError::Ended(_)
            | TargetError::Reused(_)
            | TargetError::NoJvm { .. } => LIST_JVMS.into(),
            TargetError::Thread { process, .. } => format!("use {process}"),
            TargetError::Foreign { uid, .. } => {
                format!("run the command as that user (sudo -u '#{uid}' veneer …)")
            }
            TargetError::NotHotSpot(_) => {
                "run the application on an OpenJDK build with HotSpot".into()
            }
            TargetError::TooOld { .. } => "start the application on a newer JDK".into(),
            TargetError::Hidden { .. } => {
                "if it is a JVM, run the command as root with the capability CAP_SYS_PTRACE, which containers may lack"
                    .into()
            }
        }
    }
}

/// The fields of `/proc/PID/status` that this module uses.
#[derive(Debug, Default, PartialEq, Eq)]
struct Status {
    name: String,
    state: char,
    process: u32,
    own_pid: u32,
    uid: uid_t,
    gid: gid_t,
    /// The signals with a handler, as a bit set; signal 1 is bit 0.
    caught: u64,
}

impl Target {
    /// Inspects a process. Waits up to one second for a `java` process that has just started and
    /// has not yet loaded the JVM's library.
    ///
    /// # Errors
    /// The reason why this user cannot attach to the process.
    pub fn inspect(pid: u32) -> Result<Target, TargetError> {
        Target::inspect_within(pid, Duration::from_secs(1))
    }

    /// Like [`Target::inspect`], but waits up to `patience` for a `java` process that has just
    /// started.
    pub(crate) fn inspect_within(pid: u32, patience: Duration) -> Result<Target, TargetError> {
        // The pidfd is opened first, so that all checks and a later signal concern the same
        // process.
        let pidfd = open_pidfd(pid);
        let start_ticks = process_stat::start_ticks(pid).unwrap_or(0);
        let status = Status::read(pid)?;
        if status.process != pid {
            return Err(TargetError::Thread {
                pid,
                process: status.process,
            });
        }
        if matches!(status.state, 'Z' | 'X') {
            return Err(TargetError::Ended(pid));
        }
        let us = geteuid().as_raw();
        if us != 0 && us != status.uid {
            return Err(TargetError::Foreign {
                pid,
                uid: status.uid,
            });
        }
        let library = jvm_library(pid, &status.name, patience)?;
        let root = root_of(pid);
        let feature = feature_of_jdk(&root, &library);
        if let Some(feature) = feature.filter(|feature| *feature < MIN_JAVA_VERSION) {
            return Err(TargetError::TooOld { pid, feature });
        }
        let target = Target {
            pid,
            own_pid: status.own_pid,
            uid: status.uid,
            gid: status.gid,
            root,
            feature,
            pidfd,
            start_ticks,
        };
        // If the process is still alive, all data above belongs to this one process.
        target.check_alive()?;
        Ok(target)
    }

    /// Converts a path of the target's file system into a path that is valid for us.
    pub fn path_from_here(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Whether the process handles this signal. A JVM with `-Xrs`, or a JVM that is starting, does
    /// not pidfd SIGQUIT.
    pub fn handles_signal(&self, signal: Signal) -> Result<bool, TargetError> {
        Ok(Status::read(self.pid)?.caught & (1 << (signal.as_raw() - 1)) != 0)
    }

    /// Whether the JVM was started with this option, on its command line or in an environment
    /// variable that the JVM reads. Options in argument files are not visible; then the result is
    /// false.
    pub fn has_option(&self, option: &str) -> bool {
        let read = |name: &str| fs::read(format!("/proc/{}/{name}", self.pid)).unwrap_or_default();
        let is_option = |word: &[u8]| word == option.as_bytes();
        let variables: [&[u8]; 3] = [
            b"JAVA_TOOL_OPTIONS=",
            b"JDK_JAVA_OPTIONS=",
            b"_JAVA_OPTIONS=",
        ];
        read("cmdline").split(|byte| *byte == 0).any(is_option)
            || read("environ")
                .split(|byte| *byte == 0)
                .filter_map(|entry| variables.iter().find_map(|name| entry.strip_prefix(*name)))
                .any(|value| value.split(u8::is_ascii_whitespace).any(is_option))
    }

    /// Whether the process is stopped (by Ctrl-Z or a debugger), so that it cannot answer.
    pub fn is_stopped(&self) -> bool {
        Status::read(self.pid).is_ok_and(|status| matches!(status.state, 'T' | 't'))
    }

    /// Whether the inspected process is alive. A later process with the same id does not count.
    pub fn is_alive(&self) -> bool {
        self.check_alive().is_ok()
    }

    /// Succeeds if the inspected process is alive.
    ///
    /// # Errors
    /// [`TargetError::Reused`] if another process has its id now, [`TargetError::Ended`] otherwise.
    pub fn check_alive(&self) -> Result<(), TargetError> {
        let there = Status::read(self.pid).is_ok_and(|s| !matches!(s.state, 'Z' | 'X'));
        let same = match &self.pidfd {
            Some(pidfd) => !has_ended(pidfd),
            None => process_stat::start_ticks(self.pid).unwrap_or(0) == self.start_ticks,
        };
        match (there, same) {
            (true, true) => Ok(()),
            (true, false) => Err(TargetError::Reused(self.pid)),
            (false, _) => Err(TargetError::Ended(self.pid)),
        }
    }

    /// Sends a signal to exactly the process that was inspected.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        match (&self.pidfd, process_id(self.pid)) {
            (Some(pidfd), _) => pidfd_send_signal(pidfd, signal)?,
            (None, Some(pid)) => kill_process(pid, signal)?,
            (None, None) => return Err(Errno::SRCH.into()),
        }
        Ok(())
    }

    /// Runs `work` with the effective user and group of the target, if we are root. Then new files
    /// belong to the target's user, and symbolic links in that user's directories cannot make root
    /// write elsewhere. If we are not root, `work` runs unchanged.
    pub fn run_as_target_user<T>(&self, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let _borrowed = BorrowedIdentity::assume(self.uid, self.gid)?;
        work()
    }
}

/// A temporary effective user and group; dropping restores the previous ones.
struct BorrowedIdentity {
    previous: Option<(uid_t, gid_t)>,
}

impl BorrowedIdentity {
    fn assume(uid: uid_t, gid: gid_t) -> io::Result<BorrowedIdentity> {
        // SAFETY: the system calls take plain numbers and access no memory of ours. The C library
        // applies a new identity to all threads of the process, so other threads must not access
        // files until this value is dropped.
        unsafe {
            let ours = (libc::geteuid(), libc::getegid());
            if ours.0 != 0 || uid == 0 {
                return Ok(BorrowedIdentity { previous: None });
            }
            if libc::setegid(gid) != 0 {
                return Err(io::Error::last_os_error());
            }
            let identity = BorrowedIdentity {
                previous: Some(ours),
            };
            if libc::seteuid(uid) != 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(identity)
        }
    }
}

impl Drop for BorrowedIdentity {
    fn drop(&mut self) {
        if let Some((uid, gid)) = self.previous {
            // SAFETY: the system calls take plain numbers and access no memory of ours. The saved
            // user id is still root, so both calls succeed.
            unsafe {
                libc::seteuid(uid);
                libc::setegid(gid);
            }
        }
    }
}

impl Status {
    fn read(pid: u32) -> Result<Status, TargetError> {
        let text = fs::read(format!("/proc/{pid}/status")).map_err(|source| {
            // ESRCH: the process ended between `open` and `read`.
            let gone = source.kind() == io::ErrorKind::NotFound
                || source.raw_os_error() == Some(libc::ESRCH);
            if gone {
                TargetError::NoProcess(pid)
            } else {
                TargetError::Hidden { pid, source }
            }
        })?;
        Ok(Status::parse(&String::from_utf8_lossy(&text)))
    }

    fn parse(text: &str) -> Status {
        let mut status = Status::default();
        for line in text.lines() {
            let Some((key, value)) = line.split_once(':') else {
                continue;
            };
            let value = value.trim();
            let number = |index: usize| value.split_whitespace().nth(index)?.parse::<u32>().ok();
            match key {
                "Name" => status.name = value.to_owned(),
                "State" => status.state = value.chars().next().unwrap_or('X'),
                "Tgid" => status.process = number(0).unwrap_or(0),
                // The values are the real, effective, saved and file system id.
                "Uid" => status.uid = number(1).unwrap_or(uid_t::MAX),
                "Gid" => status.gid = number(1).unwrap_or(gid_t::MAX),
                // The ids in all namespaces, from the outermost one to the process's own.
                "NSpid" => {
                    let innermost = value.split_whitespace().next_back();
                    status.own_pid = innermost.and_then(|n| n.parse().ok()).unwrap_or(0);
                }
                "SigCgt" => status.caught = u64::from_str_radix(value, 16).unwrap_or(0),
                _ => {}
            }
        }
        if status.own_pid == 0 {
            status.own_pid = status.process;
        }
        status
    }
}

fn open_pidfd(pid: u32) -> Option<OwnedFd> {
    pidfd_open(process_id(pid)?, PidfdFlags::empty()).ok()
}

/// Converts a process id for system calls. `None` if no process can have this id.
fn process_id(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

/// Whether the process of this pidfd has ended.
fn has_ended(pidfd: &OwnedFd) -> bool {
    // A pidfd becomes readable when its process ends.
    let mut one = [PollFd::new(pidfd, PollFlags::IN)];
    poll(&mut one, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

/// The path of `libjvm.so` in the memory map of the process. A process that maps this library is a
/// HotSpot JVM.
fn jvm_library(pid: u32, name: &str, patience: Duration) -> Result<PathBuf, TargetError> {
    // `java` maps the library a few milliseconds after its start.
    let deadline = Instant::now() + patience;
    loop {
        let maps = fs::read(format!("/proc/{pid}/maps")).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => TargetError::NoProcess(pid),
            _ => TargetError::Hidden { pid, source },
        })?;
        let maps = String::from_utf8_lossy(&maps);
        if maps.lines().any(|line| line.contains("/libj9vm")) {
            return Err(TargetError::NotHotSpot(pid));
        }
        if let Some(path) = library_in(&maps) {
            return Ok(path);
        }
        if name != "java" || Instant::now() > deadline {
            return Err(TargetError::NoJvm {
                pid,
                name: name.to_owned(),
            });
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn library_in(maps: &str) -> Option<PathBuf> {
    maps.lines().find_map(|line| {
        let path = line.get(line.find('/')?..)?;
        // The kernel appends this if a JDK upgrade has replaced the file of the running JVM.
        let path = path.strip_suffix(" (deleted)").unwrap_or(path);
        path.ends_with("/libjvm.so").then(|| PathBuf::from(path))
    })
}

/// The feature release in the `release` file of the JDK that contains this library; `None` if there
/// is no such file.
fn feature_of_jdk(root: &Path, library: &Path) -> Option<u32> {
    let reached = root.join(library.strip_prefix("/").unwrap_or(library));
    // HOME/lib/server/libjvm.so; before JDK 9 HOME/jre/lib/amd64/server/libjvm.so.
    reached
        .ancestors()
        .skip(3)
        .take(3)
        .find_map(installed_feature_version)
}

/// `/` if the process has the same root file system as we, else `/proc/PID/root`.
fn root_of(pid: u32) -> PathBuf {
    let theirs = PathBuf::from(format!("/proc/{pid}/root"));
    let identity = |path: &Path| fs::metadata(path).map(|meta| (meta.dev(), meta.ino())).ok();
    let same = |below: &str| identity(&theirs.join(below)) == identity(&Path::new("/").join(below));
    // If `/proc/PID/root` is unreadable, only plain paths can work, so `/` is returned.
    if identity(&theirs).is_none() || (same("") && same("tmp")) {
        PathBuf::from("/")
    } else {
        theirs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_is_read_as_the_kernel_writes_it() {
        let text = "Name:\tjava\nState:\tS (sleeping)\nTgid:\t70\nNgid:\t0\nPid:\t70\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nNSpid:\t70\t9\nSigCgt:\t2000000181005ccf\n";
        let expected = Status {
            name: "java".into(),
            state: 'S',
            process: 70,
            own_pid: 9,
            uid: 2,
            gid: 6,
            caught: 0x2000_0001_8100_5ccf,
        };
        assert_eq!(Status::parse(text), expected);
        assert_eq!(Status::parse("Tgid:\t7\n").own_pid, 7);
    }

    #[test]
    fn an_error_is_its_problem_and_its_remedy() {
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        for (error, remedy, text) in [
            (
                TargetError::NoProcess(7),
                LIST_JVMS,
                "there is no process 7; `veneer ps` shows the JVMs that run",
            ),
            (
                TargetError::Reused(7),
                LIST_JVMS,
                "process 7 has ended meanwhile, and another process has its number now; that one was left alone; `veneer ps` shows the JVMs that run",
            ),
            (
                TargetError::Thread { pid: 8, process: 7 },
                "use 7",
                "8 is a thread of process 7; use 7",
            ),
            (
                TargetError::Foreign { pid: 7, uid: 1000 },
                "run the command as that user (sudo -u '#1000' veneer …)",
                "process 7 belongs to user 1000, not to you; run the command as that user (sudo -u '#1000' veneer …)",
            ),
            (
                TargetError::NoJvm {
                    pid: 7,
                    name: "a; b".into(),
                },
                LIST_JVMS,
                "process 7 (a; b) is no JVM; `veneer ps` shows the JVMs that run",
            ),
            (
                TargetError::TooOld { pid: 7, feature: 8 },
                "start the application on a newer JDK",
                "process 7 runs on JDK 8, and Veneer needs 17 or newer; start the application on a newer JDK",
            ),
            (
                TargetError::Hidden {
                    pid: 7,
                    source: denied(),
                },
                "if it is a JVM, run the command as root with the capability CAP_SYS_PTRACE, which containers may lack",
                "process 7 cannot be looked at: permission denied; if it is a JVM, run the command as root with the capability CAP_SYS_PTRACE, which containers may lack",
            ),
        ] {
            assert_eq!(error.to_string(), text);
            assert_eq!(error.remedy(), remedy);
            assert_eq!(text, format!("{}; {remedy}", error.problem()));
        }
    }

    #[test]
    fn the_library_is_found_in_the_map() {
        let maps = "7f00-7f01 r-xp 00000000 fe:00 12 /usr/lib/libc.so.6\n\
                    7f02-7f03 r-xp 00000000 fe:00 13                 /opt/my jdk/lib/server/libjvm.so (deleted)\n";
        let path = PathBuf::from("/opt/my jdk/lib/server/libjvm.so");
        assert_eq!(library_in(maps), Some(path));
        assert_eq!(library_in("7f00-7f01 rw-p 0 00:00 0 [heap]\n"), None);
    }

    #[test]
    fn the_release_file_is_found_above_the_library() {
        let root = tempfile::tempdir().unwrap();
        let home = root.path().join("jdk8");
        fs::create_dir_all(home.join("jre/lib/amd64/server")).unwrap();
        fs::write(home.join("release"), "JAVA_VERSION=\"1.8.0_392\"\n").unwrap();
        let old = Path::new("/jdk8/jre/lib/amd64/server/libjvm.so");
        assert_eq!(feature_of_jdk(root.path(), old), Some(8));
        let none = Path::new("/other/lib/server/libjvm.so");
        assert_eq!(feature_of_jdk(root.path(), none), None);
    }
}
