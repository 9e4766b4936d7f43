//! Other tools, at the versions of `tests/jars.txt`, doing as far as they can what Veneer does.
//!
//! Each module makes the command of its tool, and a check that the tool has really measured. What a tool cannot do on a JDK or a
//! workload comes out as the line of its error, in the table.

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
use crate::figures::workload::HITS;
use crate::folder::workspace;
use crate::jdk::Jdk;
use crate::process::Process;

/// A program under a tool that is to time one method of it.
pub struct Timing<'a> {
    /// The JDK that it runs on.
    pub jdk: &'a Jdk,
    /// The program.
    pub compiled: &'a Compiled,
    /// Rounds of a run.
    pub rounds: usize,
    /// Calls of the method in a run.
    pub calls: u64,
    /// The program that calls it.
    pub program: &'a Workload,
}

impl Timing<'_> {
    /// The program, with options for the JVM and more on the class path.
    pub fn java(&self, options: &[String], path: &[&Path]) -> Process {
        self.program
            .java(self.jdk, self.compiled, self.rounds, options, path)
    }

    /// An empty folder.
    pub fn folder(&self, name: &str) -> Result<PathBuf, TrustError> {
        let folder = self.compiled.join(name);
        std::fs::create_dir_all(&folder).map_err(other)?;
        Ok(folder)
    }

    /// A variant whose process may not be there, which then is what there is to tell.
    pub fn variant(&self, name: &str, process: Result<Process, TrustError>) -> Variant {
        Variant::peer(name, process.map_err(|e| first_line(&e.to_string())))
    }
}

/// All tools that time a method.
pub fn timers(timing: &Timing) -> Vec<Variant> {
    vec![
        aspectj::timer(timing),
        byteman::timer(timing),
        btrace::timer(timing),
        async_profiler::timer(timing),
        flight_recorder::timer(timing),
    ]
}

/// A source of `tests/bench/peers`.
pub fn source(name: &str) -> PathBuf {
    workspace().join("tests/bench/peers").join(name)
}

/// Such a source in a folder, with a text in the place of the comment `/* probe */`.
pub fn written(name: &str, probe: &str, folder: &Path) -> Result<PathBuf, TrustError> {
    let text = std::fs::read_to_string(source(name)).map_err(other)?;
    let file = folder.join(name);
    std::fs::write(&file, text.replace("/* probe */", probe)).map_err(other)?;
    Ok(file)
}

/// Compiles such a source against a jar, for those tools whose programs are Java.
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

/// A check that a tool has seen every call.
fn all_calls(calls: u64) -> impl Fn(&Run) -> Result<(), String> {
    // Some say so on standard error, some on standard output.
    let told = |run: &Run| {
        let mut lines = run.out.lines().rev();
        let out = lines.find_map(|line| line.strip_prefix(HITS)?.trim().parse().ok());
        run.hits.or(out)
    };
    move |run| match told(run) {
        Some(hits) if hits == calls => Ok(()),
        Some(hits) => Err(format!("failed: it saw {hits} of {calls} calls")),
        None => Err("failed: it has timed nothing, and does not say why".into()),
    }
}
