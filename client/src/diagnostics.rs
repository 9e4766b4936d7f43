//! Diagnostics for `veneer doctor`: findings about this machine and about a JVM, with remedies.
//!
//! The findings come from `/proc` and the file system. The only process that receives a message is
//! a JVM in which an agent already runs; the agent is asked for its status. If the agent library is
//! embedded in this program, searching it may write it to a file; see [`agent::find`]. To find out
//! whether the JVM's `/tmp` is writable, a file is made there and removed.

use std::env;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Access, access, statvfs};
use rustix::process::{Signal, geteuid};
use veneer_protocol::socket_directory;

use crate::cache_folder::{cache_folder, diagnose_cache};
use crate::connection::Client;
use crate::perfdata;
use crate::processor_time::{self, ProcessorTimeSupport};
use crate::target::Target;
use crate::version::installed_feature_version;
use crate::{agent, version};

/// The disk space for the data files of a JVM with a large program, in bytes.
const MAX_DATA_BYTES: u64 = 64 << 20;
/// The first feature release of the JDK that jvm_warns when an agent is loaded into a running JVM
/// (JEP 451).
const FIRST_WARNING_JDK: u32 = 21;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The checked condition holds.
    Good,
    /// Attaching works, but the user should know about a side effect or a restriction.
    Note,
    /// The checked condition does not hold, so attaching or running fails.
    Bad,
}

impl Severity {
    /// The severity's name in the output: `good`, `note` or `bad`.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Good => "good",
            Severity::Note => "note",
            Severity::Bad => "bad",
        }
    }
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The checked subject, for instance `agent library`.
    pub what: &'static str,
    /// The severity of the finding.
    pub state: Severity,
    /// The observed fact or the problem.
    pub found: String,
    /// An action of the user that solves the problem; empty if there is none.
    pub remedy: String,
}

fn good(what: &'static str, found: impl Into<String>) -> Finding {
    Finding {
        what,
        state: Severity::Good,
        found: found.into(),
        remedy: String::new(),
    }
}

fn finding(
    state: Severity,
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

/// Checks this machine.
pub fn diagnose_machine() -> Vec<Finding> {
    vec![
        platform(),
        agent_library(),
        default_jdk(),
        socket_directory_access(),
        disk_space(Path::new("/tmp"), "room for data"),
        processor_times(&processor_time::of_this_program()),
        class_cache(),
    ]
}

/// Whether the calls of event traces have processor times.
fn processor_times(support: &ProcessorTimeSupport) -> Finding {
    let what = "processor times of calls";
    let remedy = "the line `processor_time clock` in a filter records them at 2 µs per event";
    let missing = match support {
        ProcessorTimeSupport::Rseq { glibc } => {
            let found = format!("almost free, by the restartable sequences of glibc {glibc}");
            return good(what, found);
        }
        ProcessorTimeSupport::OldGlibc { glibc } => {
            format!("none: glibc {glibc} has no restartable sequences, which 2.35 has")
        }
        ProcessorTimeSupport::NotRegistered { glibc } => {
            format!("none: glibc {glibc} has registered no restartable sequences")
        }
        ProcessorTimeSupport::NewKernel { kernel } => {
            let found = format!(
                "almost free, if Linux {kernel} marks threads that sleep; each recording tests it"
            );
            let remedy = "the line `processor-time` in the file `names` of a trace has the result";
            return finding(Severity::Note, what, found, remedy);
        }
        ProcessorTimeSupport::OtherLibrary => {
            "none: musl registers no restartable sequences".into()
        }
    };
    finding(Severity::Note, what, missing, remedy)
}

fn platform() -> Finding {
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let found = format!(
        "{} {} on {}",
        env::consts::OS,
        kernel.trim(),
        env::consts::ARCH
    );
    match (env::consts::OS, env::consts::ARCH) {
        ("linux", "x86_64") => good("system", found),
        _ => finding(
            Severity::Bad,
            "system",
            found,
            "Veneer is built and tested for Linux on x86-64; use such a machine",
        ),
    }
}

fn agent_library() -> Finding {
    match agent::find() {
        Err(error) => finding(
            Severity::Bad,
            "agent library",
            "not found",
            error.to_string(),
        ),
        Ok(path) => {
            let mode = fs::metadata(&path).map_or(0, |meta| meta.mode());
            let found = path.display().to_string();
            if geteuid().is_root() && mode & 0o004 == 0 {
                return finding(
                    Severity::Note,
                    "agent library",
                    format!("{found}, which other users cannot read"),
                    format!("chmod 644 {found}, so that JVMs of other users can load it"),
                );
            }
            good("agent library", found)
        }
    }
}

fn default_jdk() -> Finding {
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
        version::MIN_JAVA_VERSION
    );
    match home
        .as_deref()
        .map(|home| (home, installed_feature_version(home)))
    {
        None => finding(
            Severity::Note,
            "JDK for `veneer run`",
            "none on the PATH, and JAVA_HOME is not set",
            remedy,
        ),
        Some((home, None)) => finding(
            Severity::Note,
            "JDK for `veneer run`",
            format!("{}, which does not say its version", home.display()),
            remedy,
        ),
        Some((home, Some(feature))) if feature < version::MIN_JAVA_VERSION => finding(
            Severity::Bad,
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

/// Checks that the directory of control sockets is private to this user, or can be created.
fn socket_directory_access() -> Finding {
    let us = geteuid().as_raw();
    let directory = socket_directory(us);
    let what = "control sockets";
    match fs::symlink_metadata(&directory) {
        Err(_) => match writable(Path::new("/tmp")) {
            true => good(what, format!("{} can be made", directory.display())),
            false => finding(
                Severity::Bad,
                what,
                "/tmp cannot be written to",
                "make /tmp writable; the JVM looks there too, wherever TMPDIR points",
            ),
        },
        Ok(meta) if meta.is_dir() && meta.uid() == us && meta.mode() & 0o077 == 0 => {
            good(what, directory.display().to_string())
        }
        Ok(_) => finding(
            Severity::Bad,
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
    access(directory, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

fn disk_space(directory: &Path, what: &'static str) -> Finding {
    let Some(free) = free_bytes(directory) else {
        return finding(
            Severity::Note,
            what,
            format!("{} does not tell how much is free", directory.display()),
            "",
        );
    };
    let found = format!("{} MB free in {}", free >> 20, directory.display());
    match free >= MAX_DATA_BYTES {
        true => good(what, found),
        false => finding(
            Severity::Bad,
            what,
            found,
            format!(
                "make room: the counters and events of a JVM take up to {} MB",
                MAX_DATA_BYTES >> 20
            ),
        ),
    }
}

fn free_bytes(directory: &Path) -> Option<u64> {
    let system = statvfs(directory).ok()?;
    Some(system.f_bavail.saturating_mul(system.f_frsize))
}

/// Programs run without the class cache too, so no finding about it is bad.
fn class_cache() -> Finding {
    let diagnosis = diagnose_cache(cache_folder().as_deref());
    match diagnosis.remedy {
        None => good("class cache", diagnosis.found),
        Some(remedy) => finding(Severity::Note, "class cache", diagnosis.found, remedy),
    }
}

/// Checks a process. If the process is not a JVM to which this user can attach, the only finding is
/// the reason.
pub fn diagnose_process(pid: u32) -> Vec<Finding> {
    let target = match Target::inspect(pid) {
        Ok(target) => target,
        Err(error) => {
            return vec![finding(
                Severity::Bad,
                "process",
                error.problem(),
                error.remedy(),
            )];
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
    all.push(attachable(&target));
    all.extend(loading_warning(&target));
    all.extend(container(&target));
    all.extend(unwritable_tmp(&target));
    all.push(disk_space(
        &target.path_from_here(Path::new("/tmp")),
        "room for its data",
    ));
    if processor_time::uses_musl(pid) == Some(true) {
        all.push(processor_times(&ProcessorTimeSupport::OtherLibrary));
    }
    all.extend(other_agents(&target));
    all.extend(slow_compiler_options(&target));
    all.extend(agent_status(&target));
    all
}

fn attachable(target: &Target) -> Finding {
    let what = "attaching";
    let start = "start it under `veneer run`, or without that option";
    let with = |option: &str| format!("it was started with {option}");
    if target.has_option("-XX:+DisableAttachMechanism")
        || perfdata::attach_supported(target) == Some(false)
    {
        return finding(
            Severity::Bad,
            what,
            with("-XX:+DisableAttachMechanism"),
            start,
        );
    }
    if target.has_option("-XX:-EnableDynamicAgentLoading") {
        return finding(
            Severity::Bad,
            what,
            with("-XX:-EnableDynamicAgentLoading"),
            "start it with -XX:+EnableDynamicAgentLoading, or under `veneer run`",
        );
    }
    if target.is_stopped() {
        return finding(
            Severity::Bad,
            what,
            "it is stopped",
            format!("continue it: kill -CONT {}", target.pid),
        );
    }
    match target.handles_signal(Signal::QUIT) {
        Ok(true) => good(what, "the JVM takes agents while it runs"),
        Ok(false) if target.has_option("-Xrs") => finding(
            Severity::Note,
            what,
            with("-Xrs"),
            "its attach listener must be running already; if not, start it under `veneer run`",
        ),
        Ok(false) => finding(Severity::Bad, what, "it does not handle SIGQUIT", start),
        Err(error) => finding(Severity::Bad, what, error.to_string(), "try again"),
    }
}

fn loading_warning(target: &Target) -> Option<Finding> {
    let jvm_warns = target.feature.is_some_and(|f| f >= FIRST_WARNING_JDK)
        && !target.has_option("-XX:+EnableDynamicAgentLoading");
    jvm_warns.then(|| {
        finding(
            Severity::Note,
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
    // Attaching copies the library into that file system if it is missing there.
    Some(good(
        what,
        format!(
            "its own file system is reached through {}",
            target.root.display()
        ),
    ))
}

/// Reports if no file can be made in the JVM's `/tmp`, where the agent's socket and data are.
fn unwritable_tmp(target: &Target) -> Option<Finding> {
    let name = format!("/tmp/.veneer-doctor-{}", std::process::id());
    let path = target.path_from_here(Path::new(&name));
    let created = target.run_as_target_user(|| {
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)?;
        fs::remove_file(&path)
    });
    created.err().map(|error| {
        finding(
            Severity::Bad,
            "place for its files",
            format!("no file can be made in the /tmp of the process: {error}"),
            "give the process (or its container) a /tmp that its user can write to",
        )
    })
}

/// Names other agents of the JVM, because they may rewrite classes too.
fn other_agents(target: &Target) -> Option<Finding> {
    let line = fs::read(format!("/proc/{}/cmdline", target.pid)).ok()?;
    let words = line.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let agents: Vec<String> = words
        .filter(|word| {
            ["-javaagent:", "-agentpath:", "-agentlib:"]
                .iter()
                .any(|a| word.starts_with(a))
        })
        .filter(|word| !word.contains(agent::AGENT_FILE_NAME))
        .map(|word| word.into_owned())
        .collect();
    (!agents.is_empty()).then(|| {
        finding(
            Severity::Note,
            "other agents",
            agents.join(" "),
            "they may rewrite classes too: what is armed is the class as they leave it, and points are in that code",
        )
    })
}

/// Names options that disable the JVM's optimising compiler. Without this compiler, armed methods
/// are slower even when no instrument is attached.
fn slow_compiler_options(target: &Target) -> Option<Finding> {
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
        finding(
            Severity::Note,
            "compiler",
            format!("it was started with {}", found.join(" ")),
            "without the optimising compiler armed methods cost some time even when nothing is attached; leave the option away to measure",
        )
    })
}

/// The state of the agent in the JVM, and one finding for each error of the agent itself.
fn agent_status(target: &Target) -> Vec<Finding> {
    let what = "agent";
    let (state, problems) = match Client::connect(target)
        .map(|client| client.map(|mut client| client.status()))
    {
        Ok(None) => (
            good(what, "not loaded yet; `veneer attach` loads it"),
            Vec::new(),
        ),
        Ok(Some(Ok(status))) => {
            let instruments: usize = status.loads.iter().map(|load| load.instruments.len()).sum();
            let tables = &status.tables;
            let state = format!(
                "Veneer {} answers; {} classes armed, {instruments} instruments attached, {} of {} MiB of tables in use",
                status.version,
                status.classes_armed,
                tables.bytes.div_ceil(1 << 20),
                tables.room >> 20
            );
            (good(what, state), status.problems)
        }
        Ok(Some(Err(error))) | Err(error) => {
            let remedy = error.remedy().unwrap_or_default();
            let bad = finding(Severity::Bad, what, error.problem(), remedy);
            (bad, Vec::new())
        }
    };
    let remedy = "the application is not affected; the report may lack data (docs/faults.md)";
    let bad = |problem| finding(Severity::Bad, "agent", problem, remedy);
    std::iter::once(state)
        .chain(problems.into_iter().map(bad))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_other_than_a_jvm_has_one_finding_with_a_remedy() {
        let findings = diagnose_process(std::process::id());
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(
            findings[0].state == Severity::Bad && findings[0].remedy.contains("veneer ps"),
            "{findings:?}"
        );
    }

    #[test]
    fn every_problem_of_the_machine_has_a_remedy() {
        for finding in diagnose_machine() {
            assert!(
                finding.state == Severity::Good || !finding.remedy.is_empty(),
                "{finding:?}"
            );
        }
    }
}
