//! A running process looked at from outside: is it a JVM that we may and can talk to?
//!
//! Everything is read from `/proc`; nothing is sent to the process. That comes first because the
//! attach protocol begins with SIGQUIT, which ends any program that does not expect it.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use libc::{c_int, gid_t, uid_t};
use thiserror::Error;

use crate::release::{OLDEST, release_feature};

/// A HotSpot JVM of version 17 or newer that belongs to us (or we are root).
#[derive(Debug)]
pub struct Target {
    /// Its process id here.
    pub pid: u32,
    /// Its process id as it knows it itself (it may run in a container).
    pub own_pid: u32,
    /// Its effective user.
    pub uid: uid_t,
    /// Its effective group.
    pub gid: gid_t,
    /// Its root directory as seen from here: `/`, or `/proc/PID/root` in a container.
    pub root: PathBuf,
    /// Its feature release, 17 or more; `None` where its JDK does not tell.
    pub feature: Option<u32>,
    /// Refers to this very process, even if its id is used again. Absent before Linux 5.3.
    handle: Option<OwnedFd>,
    /// When it began, in ticks since the machine did: tells it from a later process with its id. 0 where that was not to be seen.
    began: u64,
}

/// Why a process cannot be reached.
#[derive(Debug, Error)]
pub enum TargetError {
    /// No such process.
    #[error("there is no process {0}; `veneer ps` shows the JVMs that run")]
    NoProcess(u32),
    /// A zombie.
    #[error("process {0} has ended already; `veneer ps` shows the JVMs that run")]
    Ended(u32),
    /// The process that was looked at is gone, and its number is that of another one.
    #[error(
        "process {0} has ended meanwhile, and another process has its number now; that one was left alone; `veneer ps` shows the JVMs that run"
    )]
    Reused(u32),
    /// A thread's id was given.
    #[error("{pid} is a thread of process {process}; use {process}")]
    Thread {
        /// As given.
        pid: u32,
        /// Its process.
        process: u32,
    },
    /// Somebody else's process.
    #[error(
        "process {pid} belongs to user {uid}, not to you; run the command as that user (sudo -u '#{uid}' veneer …)"
    )]
    Foreign {
        /// As given.
        pid: u32,
        /// The owner.
        uid: uid_t,
    },
    /// Not a JVM.
    #[error("process {pid} ({name}) is no JVM; `veneer ps` shows the JVMs that run")]
    NoJvm {
        /// As given.
        pid: u32,
        /// The program's name.
        name: String,
    },
    /// A JVM of another make.
    #[error(
        "process {0} is a JVM, but not HotSpot; run the application on an OpenJDK build with HotSpot"
    )]
    NotHotSpot(u32),
    /// Too old.
    #[error(
        "process {pid} runs on JDK {feature}, and Veneer needs {OLDEST} or newer; start the application on a newer JDK"
    )]
    TooOld {
        /// As given.
        pid: u32,
        /// Its feature release.
        feature: u32,
    },
    /// `/proc` does not tell.
    #[error(
        "process {pid} cannot be looked at: {source}; if it is a JVM, run the command with more rights (as root, with CAP_SYS_PTRACE)"
    )]
    Hidden {
        /// As given.
        pid: u32,
        /// What the system said.
        source: io::Error,
    },
}

/// What `/proc/PID/status` says, as far as it matters here.
#[derive(Debug, Default, PartialEq, Eq)]
struct Status {
    name: String,
    state: char,
    process: u32,
    own_pid: u32,
    uid: uid_t,
    gid: gid_t,
    /// One bit for each signal that has a handler; signal 1 is bit 0.
    caught: u64,
}

impl Target {
    /// Looks at a process and says what is wrong with it, if anything.
    ///
    /// # Errors
    /// What is wrong. A `java` that has just started gets a second to become a JVM.
    pub fn inspect(pid: u32) -> Result<Target, TargetError> {
        Target::inspect_within(pid, Duration::from_secs(1))
    }

    /// The same with another time for a `java` that has just started.
    pub(crate) fn inspect_within(pid: u32, patience: Duration) -> Result<Target, TargetError> {
        // First of all, so that the checks and the signal later are about the same process.
        let handle = open_handle(pid);
        let began = beginning(pid);
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
        // SAFETY: always succeeds.
        let us = unsafe { libc::geteuid() };
        if us != 0 && us != status.uid {
            return Err(TargetError::Foreign {
                pid,
                uid: status.uid,
            });
        }
        let library = jvm_library(pid, &status.name, patience)?;
        let root = root_of(pid);
        let feature = feature_beside(&root, &library);
        if let Some(feature) = feature.filter(|feature| *feature < OLDEST) {
            return Err(TargetError::TooOld { pid, feature });
        }
        let target = Target {
            pid,
            own_pid: status.own_pid,
            uid: status.uid,
            gid: status.gid,
            root,
            feature,
            handle,
            began,
        };
        // What was read is about one process only if it is there still.
        target.still_there()?;
        Ok(target)
    }

    /// A path of the target's own file system, as it is reached from here.
    pub fn reach(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Does it have a handler for this signal? (A JVM with `-Xrs` or one that just starts has none for SIGQUIT.)
    pub fn catches(&self, signal: c_int) -> Result<bool, TargetError> {
        Ok(Status::read(self.pid)?.caught & (1 << (signal - 1)) != 0)
    }

    /// Was it started with this option, on its command line or in a variable that the JVM reads? False
    /// where that cannot be seen (files of options).
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

    /// Is it stopped (Ctrl-Z, a debugger), so that it cannot answer?
    pub fn is_stopped(&self) -> bool {
        Status::read(self.pid).is_ok_and(|status| matches!(status.state, 'T' | 't'))
    }

    /// Is it alive still? Not another process that has its id now.
    pub fn is_alive(&self) -> bool {
        self.still_there().is_ok()
    }

    /// Fails where the process that was inspected has ended, whoever has its id now.
    ///
    /// # Errors
    /// [`TargetError::Reused`] where there is another process under its id, else [`TargetError::Ended`].
    pub fn still_there(&self) -> Result<(), TargetError> {
        let there = Status::read(self.pid).is_ok_and(|s| !matches!(s.state, 'Z' | 'X'));
        let same = match &self.handle {
            Some(handle) => !has_ended(handle),
            None => beginning(self.pid) == self.began,
        };
        match (there, same) {
            (true, true) => Ok(()),
            (true, false) => Err(TargetError::Reused(self.pid)),
            (false, _) => Err(TargetError::Ended(self.pid)),
        }
    }

    /// Sends a signal to exactly the process that was inspected.
    pub fn signal(&self, signal: c_int) -> io::Result<()> {
        // SAFETY: plain system calls; a null `siginfo_t` means the same as `kill`.
        let result = match &self.handle {
            Some(handle) => unsafe {
                libc::syscall(
                    libc::SYS_pidfd_send_signal,
                    handle.as_raw_fd(),
                    signal,
                    std::ptr::null::<libc::siginfo_t>(),
                    0,
                ) as c_int
            },
            None => unsafe { libc::kill(self.pid as libc::pid_t, signal) },
        };
        if result == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }

    /// Does something with the rights of the target's user, so that files get the right owner and
    /// root is not led astray by links in that user's directories. Without root nothing changes.
    pub fn as_its_user<T>(&self, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let _borrowed = Identity::assume(self.uid, self.gid)?;
        work()
    }
}

/// Another user's effective identity, given back when dropped.
struct Identity {
    back: Option<(uid_t, gid_t)>,
}

impl Identity {
    fn assume(uid: uid_t, gid: gid_t) -> io::Result<Identity> {
        // SAFETY: plain system calls; the command has one thread.
        unsafe {
            let ours = (libc::geteuid(), libc::getegid());
            if ours.0 != 0 || uid == 0 {
                return Ok(Identity { back: None });
            }
            if libc::setegid(gid) != 0 {
                return Err(io::Error::last_os_error());
            }
            let identity = Identity { back: Some(ours) };
            if libc::seteuid(uid) != 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(identity)
        }
    }
}

impl Drop for Identity {
    fn drop(&mut self) {
        if let Some((uid, gid)) = self.back {
            // SAFETY: as above; the saved user id is still root, so both succeed.
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
            // ESRCH: it ended between open and read.
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
                // Real, effective, saved, file system.
                "Uid" => status.uid = number(1).unwrap_or(uid_t::MAX),
                "Gid" => status.gid = number(1).unwrap_or(gid_t::MAX),
                // From the outermost namespace to its own.
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

fn open_handle(pid: u32) -> Option<OwnedFd> {
    // SAFETY: a fresh descriptor, or an error that leaves us without one.
    unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_open, pid as libc::pid_t, 0) as c_int;
        (fd >= 0).then(|| OwnedFd::from_raw_fd(fd))
    }
}

/// Whether the process that a handle refers to has ended.
fn has_ended(handle: &OwnedFd) -> bool {
    let mut one = libc::pollfd {
        fd: handle.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one entry, and a look without waiting. A handle can be read from when its process has ended.
    unsafe { libc::poll(&mut one, 1, 0) > 0 }
}

/// The 22nd word of `/proc/PID/stat` (proc(5)); 0 where it cannot be read. The second word, in brackets, may have spaces in it.
fn beginning(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let behind = text.rsplit_once(')').map_or("", |(_, behind)| behind);
    let word = behind.split_whitespace().nth(19);
    word.and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// The path of `libjvm.so` in the process, which is what makes it a HotSpot JVM.
fn jvm_library(pid: u32, name: &str, patience: Duration) -> Result<PathBuf, TargetError> {
    // `java` maps the library some milliseconds after its start.
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
        // A JDK that was upgraded under the running JVM.
        let path = path.strip_suffix(" (deleted)").unwrap_or(path);
        path.ends_with("/libjvm.so").then(|| PathBuf::from(path))
    })
}

/// The feature release in the `release` file of the JDK that has this library; `None` where there is no such file.
fn feature_beside(root: &Path, library: &Path) -> Option<u32> {
    let reached = root.join(library.strip_prefix("/").unwrap_or(library));
    // HOME/lib/server/libjvm.so; before JDK 9 HOME/jre/lib/amd64/server/libjvm.so.
    reached
        .ancestors()
        .skip(3)
        .take(3)
        .find_map(release_feature)
}

fn root_of(pid: u32) -> PathBuf {
    let theirs = PathBuf::from(format!("/proc/{pid}/root"));
    let identity = |path: &Path| fs::metadata(path).map(|meta| (meta.dev(), meta.ino())).ok();
    let same = |below: &str| identity(&theirs.join(below)) == identity(&Path::new("/").join(below));
    // Not readable counts as the same: then the plain path is the only one there is.
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
        assert_eq!(feature_beside(root.path(), old), Some(8));
        let none = Path::new("/other/lib/server/libjvm.so");
        assert_eq!(feature_beside(root.path(), none), None);
    }
}
