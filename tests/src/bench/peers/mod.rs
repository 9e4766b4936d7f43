//! Other tools, at the versions of `tests/jars.txt`. They are configured to do what Veneer does, as
//! far as they can.
//!
//! Each module builds the command of its tool, and a check that the tool has really measured. If a
//! tool cannot run on a JDK or a workload, the table shows its error line.

pub mod aspectj;
pub mod async_profiler;
pub mod btrace;
pub mod byteman;
pub mod flight_recorder;
pub mod jacoco;

use std::path::{Path, PathBuf};

use super::groups::{Variant, first_line};
use super::prepare::Compiled;
use super::workload::Workload;
use super::{TrustError, other};
use crate::figures::run::Run;
use crate::figures::workload::HITS_PREFIX;
use crate::folder::workspace;
use crate::jdk::Jdk;
use crate::process::Process;

/// A program in which a tool is to time one method.
pub struct Timing<'a> {
    pub jdk: &'a Jdk,
    pub compiled: &'a Compiled,
    /// Number of rounds in a run.
    pub rounds: usize,
    /// Number of calls of the method in a run.
    pub calls: u64,
    pub program: &'a Workload,
}

impl Timing<'_> {
    /// The program, with more options of the JVM and more entries of the class path.
    pub fn java(&self, options: &[String], path: &[&Path]) -> Process {
        self.program
            .java(self.jdk, self.compiled, self.rounds, options, path)
    }

    /// Creates a folder, and returns its path.
    pub fn folder(&self, name: &str) -> Result<PathBuf, TrustError> {
        let folder = self.compiled.join(name);
        std::fs::create_dir_all(&folder).map_err(other)?;
        Ok(folder)
    }

    /// A variant whose process may be missing. The reason is then shown in the table.
    pub fn variant(&self, name: &str, process: Result<Process, TrustError>) -> Variant {
        Variant::peer(name, process.map_err(|e| first_line(&e.to_string())))
    }
}

/// The variants of all tools that time a method.
pub fn timers(timing: &Timing) -> Vec<Variant> {
    vec![
        aspectj::timer(timing),
        byteman::timer(timing),
        btrace::timer(timing),
        async_profiler::timer(timing),
        flight_recorder::timer(timing),
    ]
}

/// The path of a source in `tests/bench/peers`.
pub fn source(name: &str) -> PathBuf {
    workspace().join("tests/bench/peers").join(name)
}

/// Writes a source of `tests/bench/peers` to a folder, with `probe` in place of the comment `/*
/// probe */`.
pub fn written(name: &str, probe: &str, folder: &Path) -> Result<PathBuf, TrustError> {
    let text = std::fs::read_to_string(source(name)).map_err(other)?;
    let file = folder.join(name);
    std::fs::write(&file, text.replace("/* probe */", probe)).map_err(other)?;
    Ok(file)
}

/// Compiles a source of `tests/bench/peers` against a jar.
pub fn compile(jdk: &Jdk, name: &str, jar: &Path, into: &Path) -> Result<(), TrustError> {
    Process::new(jdk.tool("javac"))
        .args(["-g", "-nowarn", "-proc:none", "-cp"])
        .arg(jar)
        .arg("-d")
        .arg(into)
        .arg(source(name))
        .run()?
        .succeeded("javac")?;
    Ok(())
}

/// A check that a tool has counted every call.
fn all_calls(calls: u64) -> impl Fn(&Run) -> Result<(), String> {
    // Some tools print the number on standard error, others on standard output.
    let told = |run: &Run| {
        let mut lines = run.out.lines().rev();
        let out = lines.find_map(|line| line.strip_prefix(HITS_PREFIX)?.trim().parse().ok());
        run.hits.or(out)
    };
    move |run| match told(run) {
        Some(hits) if hits == calls => Ok(()),
        Some(hits) => Err(format!("failed: it saw {hits} of {calls} calls")),
        None => Err("failed: it has timed nothing, and does not say why".into()),
    }
}
