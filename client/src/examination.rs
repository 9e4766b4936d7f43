//! What would work here and what would not: findings about this machine, and about a JVM, each with its remedy.
//!
//! Everything is read from `/proc` and the file system; the only thing that is asked is an agent that is in the JVM already.

use std::env;
use std::ffi::CString;
use std::fs;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use veneer_protocol::socket_directory;

use crate::connection::Client;
use crate::perfdata;
use crate::release::release_feature;
use crate::target::Target;
use crate::{agent, release};

/// Room that a JVM's data files take, in bytes, with counters of a large program.
const ROOM: u64 = 64 << 20;
/// JDKs from here on warn of agents that are loaded while they run (JEP 451).
const WARNS: u32 = 21;

/// How it stands with something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It works.
    Good,
    /// It works, and there is something to know.
    Note,
    /// It does not work.
    Bad,
}

impl State {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            State::Good => "good",
            State::Note => "note",
            State::Bad => "bad",
        }
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What.
    pub what: &'static str,
    /// How it stands with it.
    pub state: State,
    /// What was found.
    pub found: String,
    /// What to do about it; empty where there is nothing to do.
    pub remedy: String,
}

fn good(what: &'static str, found: impl Into<String>) -> Finding {
    Finding {
        what,
        state: State::Good,
        found: found.into(),
        remedy: String::new(),
    }
}

fn other(
    state: State,
    what: &'static str,
    found: impl Into<String>,
    remedy: impl Into<String>,
) -> Finding {
    Finding {
        what,
        state,
        found: found.into(),
        remedy: remedy.into(),
    }
}

/// This machine.
pub fn machine() -> Vec<Finding> {
    vec![
        system(),
        library(),
        jdk(),
        place(),
        room(Path::new("/tmp"), "room for data"),
    ]
}

fn system() -> Finding {
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let found = format!(
        "{} {} on {}",
        env::consts::OS,
        kernel.trim(),
        env::consts::ARCH
    );
    match (env::consts::OS, env::consts::ARCH) {
        ("linux", "x86_64") => good("system", found),
        _ => other(
            State::Bad,
            "system",
            found,
            "Veneer is built and tested for Linux on x86-64; use such a machine",
        ),
    }
}

fn library() -> Finding {
    match agent::find() {
        Err(error) => other(State::Bad, "agent library", "not found", error.to_string()),
        Ok(path) => {
            let mode = fs::metadata(&path).map_or(0, |meta| meta.mode());
            let found = path.display().to_string();
            // SAFETY: always succeeds.
            let us = unsafe { libc::geteuid() };
            if us == 0 && mode & 0o004 == 0 {
                return other(
                    State::Note,
                    "agent library",
                    format!("{found}, which other users cannot read"),
                    format!("chmod 644 {found}, so that JVMs of other users can load it"),
                );
            }
            good("agent library", found)
        }
    }
}

fn jdk() -> Finding {
    let home = env::var_os("JAVA_HOME").filter(|home| !home.is_empty());
    let home = home.map(Into::into).or_else(|| {
        let path = env::var_os("PATH")?;
        let java = env::split_paths(&path)
            .map(|dir| dir.join("java"))
            .find(|java| java.is_file())?;
        fs::canonicalize(java)
            .ok()?
            .ancestors()
            .nth(2)
            .map(Path::to_owned)
    });
    let remedy = format!(
        "install a JDK {} or newer, or set JAVA_HOME; running JVMs can be attached to without",
        release::OLDEST
    );
    match home.as_deref().map(|home| (home, release_feature(home))) {
        None => other(
            State::Note,
            "JDK for `veneer run`",
            "none on the PATH, and JAVA_HOME is not set",
            remedy,
        ),
        Some((home, None)) => other(
            State::Note,
            "JDK for `veneer run`",
            format!("{}, which does not say its version", home.display()),
            remedy,
        ),
        Some((home, Some(feature))) if feature < release::OLDEST => other(
            State::Bad,
            "JDK for `veneer run`",
            format!("JDK {feature} in {}", home.display()),
            remedy,
        ),
        Some((home, Some(feature))) => good(
            "JDK for `veneer run`",
            format!("JDK {feature} in {}", home.display()),
        ),
    }
}

/// The directory of control sockets, which must be this user's alone.
fn place() -> Finding {
    // SAFETY: always succeeds.
    let us = unsafe { libc::geteuid() };
    let directory = socket_directory(us);
    let what = "control sockets";
    match fs::symlink_metadata(&directory) {
        Err(_) => match writable(Path::new("/tmp")) {
            true => good(what, format!("{} can be made", directory.display())),
            false => other(
                State::Bad,
                what,
                "/tmp cannot be written to",
                "make /tmp writable; the JVM looks there too, wherever TMPDIR points",
            ),
        },
        Ok(meta) if meta.is_dir() && meta.uid() == us && meta.mode() & 0o077 == 0 => {
            good(what, directory.display().to_string())
        }
        Ok(_) => other(
            State::Bad,
            what,
            format!(
                "{} is not a private directory of this user",
                directory.display()
            ),
            format!("remove {}; it is made anew", directory.display()),
        ),
    }
}

fn writable(directory: &Path) -> bool {
    let Ok(path) = CString::new(directory.as_os_str().as_bytes()) else {
        return false;
    };
    // SAFETY: the path is NUL-terminated.
    unsafe { libc::access(path.as_ptr(), libc::W_OK | libc::X_OK) == 0 }
}

fn room(directory: &Path, what: &'static str) -> Finding {
    let Some(free) = free(directory) else {
        return other(
            State::Note,
            what,
            format!("{} does not tell how much is free", directory.display()),
            "",
        );
    };
    let found = format!("{} MB free in {}", free >> 20, directory.display());
    match free >= ROOM {
        true => good(what, found),
        false => other(
            State::Bad,
            what,
            found,
            format!(
                "make room: the counters and events of a JVM take up to {} MB",
                ROOM >> 20
            ),
        ),
    }
}

fn free(directory: &Path) -> Option<u64> {
    let path = CString::new(directory.as_os_str().as_bytes()).ok()?;
    let mut stat = MaybeUninit::<libc::statvfs>::zeroed();
    // SAFETY: the path is NUL-terminated, and `stat` may be written to.
    let stat = unsafe {
        if libc::statvfs(path.as_ptr(), stat.as_mut_ptr()) != 0 {
            return None;
        }
        stat.assume_init()
    };
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// A process.
pub fn process(pid: u32) -> Vec<Finding> {
    let target = match Target::inspect(pid) {
        Ok(target) => target,
        Err(error) => {
            let text = error.to_string();
            let (found, remedy) = text.split_once("; ").unwrap_or((&text, ""));
            return vec![other(State::Bad, "process", found, remedy)];
        }
    };
    let main = perfdata::command(&target).unwrap_or_else(|| "a HotSpot JVM".into());
    let feature = target.feature.map_or_else(
        || "of a version that it does not tell".into(),
        |f| f.to_string(),
    );
    let mut all = vec![good(
        "process",
        format!("{pid} runs {main} on JDK {feature}"),
    )];
    all.push(attaching(&target));
    all.extend(warning(&target));
    all.extend(container(&target));
    all.push(room(&target.reach(Path::new("/tmp")), "room for its data"));
    all.extend(others(&target));
    all.extend(modes(&target));
    all.push(inside(&target));
    all
}

fn attaching(target: &Target) -> Finding {
    let what = "attaching";
    let start = "start it under `veneer run`, or without that option";
    let with = |option: &str| format!("it was started with {option}");
    if target.has_option("-XX:+DisableAttachMechanism")
        || perfdata::attach_supported(target) == Some(false)
    {
        return other(State::Bad, what, with("-XX:+DisableAttachMechanism"), start);
    }
    if target.has_option("-XX:-EnableDynamicAgentLoading") {
        return other(
            State::Bad,
            what,
            with("-XX:-EnableDynamicAgentLoading"),
            "start it with -XX:+EnableDynamicAgentLoading, or under `veneer run`",
        );
    }
    if target.is_stopped() {
        return other(
            State::Bad,
            what,
            "it is stopped",
            format!("continue it: kill -CONT {}", target.pid),
        );
    }
    match target.catches(libc::SIGQUIT) {
        Ok(true) => good(what, "the JVM takes agents while it runs"),
        Ok(false) if target.has_option("-Xrs") => other(
            State::Note,
            what,
            with("-Xrs"),
            "its attach listener must be running already; if not, start it under `veneer run`",
        ),
        Ok(false) => other(State::Bad, what, "it does not handle SIGQUIT", start),
        Err(error) => other(State::Bad, what, error.to_string(), "try again"),
    }
}

fn warning(target: &Target) -> Option<Finding> {
    let warns = target.feature.is_some_and(|f| f >= WARNS)
        && !target.has_option("-XX:+EnableDynamicAgentLoading");
    warns.then(|| {
        other(
            State::Note,
            "warning of the JVM",
            "JDK 21 and newer write a warning to the application's standard error when an agent is loaded",
            "start it with -XX:+EnableDynamicAgentLoading, or under `veneer run`, if that disturbs",
        )
    })
}

fn container(target: &Target) -> Option<Finding> {
    if target.root == Path::new("/") {
        return None;
    }
    let what = "container";
    Some(match agent::find() {
        Ok(library) if !target.reach(&library).exists() => other(
            State::Bad,
            what,
            format!("its file system has no {}", library.display()),
            format!(
                "copy the library there: cp {} {}",
                library.display(),
                target.reach(&library).display()
            ),
        ),
        _ => good(
            what,
            format!(
                "its own file system is reached through {}",
                target.root.display()
            ),
        ),
    })
}

/// Agents that rewrite classes too.
fn others(target: &Target) -> Option<Finding> {
    let line = fs::read(format!("/proc/{}/cmdline", target.pid)).ok()?;
    let words = line.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let agents: Vec<String> = words
        .filter(|word| {
            ["-javaagent:", "-agentpath:", "-agentlib:"]
                .iter()
                .any(|a| word.starts_with(a))
        })
        .filter(|word| !word.contains(agent::LIBRARY))
        .map(|word| word.into_owned())
        .collect();
    (!agents.is_empty()).then(|| {
        other(
            State::Note,
            "other agents",
            agents.join(" "),
            "they may rewrite classes too: what is armed is the class as they leave it, and points are in that code",
        )
    })
}

/// Modes in which the JVM runs without its optimising compiler, where an armed class is not free.
fn modes(target: &Target) -> Option<Finding> {
    let slow = [
        "-Xint",
        "-XX:TieredStopAtLevel=1",
        "-client",
        "-XX:-UseOnStackReplacement",
    ];
    let found: Vec<&str> = slow
        .into_iter()
        .filter(|option| target.has_option(option))
        .collect();
    (!found.is_empty()).then(|| {
        other(
            State::Note,
            "compiler",
            format!("it was started with {}", found.join(" ")),
            "without the optimising compiler armed methods cost some time even when nothing is attached; leave the option away to measure",
        )
    })
}

fn inside(target: &Target) -> Finding {
    let what = "agent";
    match Client::connect(target).map(|client| client.map(|mut client| client.status())) {
        Ok(None) => good(what, "not loaded yet; `veneer attach` loads it"),
        Ok(Some(Ok(status))) => {
            let instruments: usize = status.loads.iter().map(|load| load.instruments.len()).sum();
            good(
                what,
                format!(
                    "Veneer {} answers; {} classes armed, {instruments} instruments attached",
                    status.version, status.classes_armed
                ),
            )
        }
        Ok(Some(Err(error))) | Err(error) => {
            let text = error.to_string();
            let (found, remedy) = text.rsplit_once("; ").unwrap_or((&text, ""));
            other(State::Bad, what, found, remedy)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_is_no_jvm_has_one_finding_with_its_remedy() {
        let findings = process(std::process::id());
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(
            findings[0].state == State::Bad && findings[0].remedy.contains("veneer ps"),
            "{findings:?}"
        );
    }

    #[test]
    fn what_is_not_good_says_what_to_do() {
        for finding in machine() {
            assert!(
                finding.state == State::Good || !finding.remedy.is_empty(),
                "{finding:?}"
            );
        }
    }
}
