//! Compiles and starts the Java programs of `tests/java/hostile`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::command;
use crate::folder::{Folder, files, workspace};
use crate::jdk::Jdk;
use crate::process::{Output, Process, ProcessError};
use crate::trust::TrustError;
use crate::trust::programs::mode::storm;

/// The compiled programs for one JDK.
pub struct Compiled {
    /// The JDK that compiled the programs and runs them.
    pub jdk: Jdk,
    folder: Folder,
}

/// The folder of the sources.
pub fn sources() -> PathBuf {
    workspace().join("tests/java/hostile")
}

impl Compiled {
    /// Compiles `programs` and `guests`. The guests are not on the class path.
    pub fn new(jdk: &Jdk) -> Result<Self, TrustError> {
        let folder = Folder::new("hostile")?;
        for part in ["programs", "guests"] {
            let into = folder.join(part);
            std::fs::create_dir_all(&into)?;
            jdk.compile(&files(&sources().join(part), "java")?, &into)?;
        }
        Ok(Self {
            jdk: jdk.clone(),
            folder,
        })
    }

    /// The folder of the classes that only the programs' own loaders find.
    pub fn guests(&self) -> PathBuf {
        self.folder.join("guests")
    }

    /// The temporary folder with all compiled classes.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The process `java OPTIONS -cp … PROGRAM`, with full verification.
    pub fn java(&self, options: &[&str], program: &str) -> Process {
        self.jdk
            .verifying_java()
            .args(options)
            .arg("-cp")
            .arg(self.folder.join("programs"))
            .arg(program)
    }
}

/// A plan that runs from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// The patch storm with this seed.
    Storm(u32),
    /// A plan with this source.
    Source(&'static str),
}

/// The plan that uses every kind of instrument and edit on the guests.
pub const EVERYTHING: &str = include_str!("../../../java/hostile/everything.rhai");

impl std::fmt::Display for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Plan::Storm(_) => "storm",
            Plan::Source(EVERYTHING) => "everything",
            Plan::Source(_) => "plan",
        })
    }
}

/// Runs a process under a plan. If the process does not end in time, the error has a dump of all
/// threads.
pub fn run_under_plan(
    jdk: &Jdk,
    plan: Plan,
    process: &Process,
    limit: Duration,
) -> Result<Output, TrustError> {
    let folder = Folder::new("plan")?;
    let file = folder.join("plan.rhai");
    let text = match plan {
        Plan::Storm(seed) => storm(seed),
        Plan::Source(text) => text.to_string(),
    };
    std::fs::write(&file, text)?;
    let file = file.display().to_string();
    let options = ["--policy", "loop", "--plan", &file];
    run_with_thread_dump(jdk, &command::run(&options, process), limit)
}

/// Runs a process. If it does not end in time, the error has a dump of all threads of its JVMs.
pub fn run_with_thread_dump(
    jdk: &Jdk,
    process: &Process,
    limit: Duration,
) -> Result<Output, TrustError> {
    let result = process
        .clone()
        .limit(limit)
        .run_watched(&|group| thread_dumps(jdk, group));
    match result {
        Err(ProcessError::Late {
            seconds, output, ..
        }) => Err(TrustError::Late {
            seconds,
            output,
            process: process.to_string(),
        }),
        other => Ok(other?),
    }
}

/// Returns the output of `jstack` for each JVM in a process group.
fn thread_dumps(jdk: &Jdk, group: u32) -> String {
    let mut text = String::new();
    for process in java_processes(group) {
        let dump = Process::new(jdk.tool("jstack"))
            .args(["-l", &process.to_string()])
            .limit(Duration::from_secs(20))
            .run();
        text += &format!("\nThreads of process {process}:\n");
        text += &dump.map_or_else(|error| error.to_string(), |output| output.out + &output.err);
    }
    text
}

/// Returns the processes of a group whose program is `java`.
fn java_processes(group: u32) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let Some(process) = entry
            .file_name()
            .to_str()
            .and_then(|n| n.parse::<u32>().ok())
        else {
            continue;
        };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // The format is `pid (name) state parent group …`.
        let Some((name, rest)) = stat.rsplit_once(") ") else {
            continue;
        };
        let of_group = rest
            .split(' ')
            .nth(2)
            .and_then(|text| text.parse::<u32>().ok());
        if of_group == Some(group) && name.ends_with("(java") {
            found.push(process);
        }
    }
    found
}

/// Describes how a run differs from the plain run: the exit code, and the lines that only one of
/// the two has. Returns `None` if there is no difference.
pub fn difference(plain: &Output, output: &Output) -> Option<String> {
    if plain.code == output.code && plain.out == output.out {
        return None;
    }
    let mut text = String::new();
    if plain.code != output.code {
        text += &format!("exit code {} instead of {}; ", output.code, plain.code);
    }
    let lines = |of: &Output, without: &Output| -> Vec<String> {
        let known: std::collections::BTreeSet<&str> = without.out.lines().collect();
        let new = of.out.lines().filter(|line| !known.contains(line));
        new.take(20).map(str::to_string).collect()
    };
    text += &format!(
        "lines that only this run has: {:?}; only the plain run: {:?}",
        lines(output, plain),
        lines(plain, output)
    );
    // The messages of a plan, or the stack trace of a call from another thread.
    Some(format!("{text}\n{}", first_errors(&output.err)))
}

/// The first lines of error output, and of the rest the causes of exceptions with their first
/// frames: the last cause is usually the reason.
fn first_errors(text: &str) -> String {
    const FIRST: usize = 40;
    const FRAMES: usize = 4;
    let mut kept: Vec<&str> = text.lines().take(FIRST).collect();
    let mut wanted = 0;
    for line in text.lines().skip(FIRST) {
        if line.starts_with("Caused by") {
            wanted = 1 + FRAMES;
        }
        if wanted > 0 {
            wanted -= 1;
            kept.push(line);
        }
    }
    kept.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_of_exceptions_are_kept_from_long_output() {
        let noise = "line\n".repeat(100);
        let text = format!("{noise}Caused by: X\n at a\n at b\n at c\n at d\n at e\n{noise}");
        let kept = first_errors(&text);
        assert_eq!(kept.lines().count(), 45);
        assert!(kept.ends_with("line\nCaused by: X\n at a\n at b\n at c\n at d"));
    }

    #[test]
    fn the_threads_of_a_jvm_over_its_limit_are_dumped() -> Result<(), TrustError> {
        let jdk = crate::jdk::oldest();
        let compiled = Compiled::new(&jdk)?;
        let late = compiled
            .java(&[], "LockedLoader")
            .arg(compiled.guests())
            .limit(Duration::from_secs(1));
        match run_with_thread_dump(&jdk, &late, Duration::from_millis(1500)) {
            Err(TrustError::Late { output, .. }) => {
                assert!(output.contains("LockedLoader.main"), "{output}");
                Ok(())
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_difference_names_code_and_lines() {
        let of = |code, out: &str| Output {
            code,
            out: out.into(),
            err: String::new(),
        };
        assert_eq!(difference(&of(0, "a\n"), &of(0, "a\n")), None);
        let text = difference(&of(0, "a\nb\n"), &of(99, "a\nc\n")).unwrap_or_default();
        assert!(
            text.starts_with("exit code 99 instead of 0; lines that only this run has: [\"c\"]"),
            "{text}"
        );
        // A different order of the same lines is a difference too.
        assert!(difference(&of(0, "a\nb\n"), &of(0, "b\na\n")).is_some());
    }
}
