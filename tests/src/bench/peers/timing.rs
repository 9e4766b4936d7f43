//! A program in which a tool times one method, and the check of the number of calls.

use std::path::{Path, PathBuf};

use crate::bench::groups::{CheckError, Variant};
use crate::bench::prepare::Compiled;
use crate::bench::run::HITS_PREFIX;
use crate::bench::run::Run;
use crate::bench::workload::Workload;
use crate::jdk::Jdk;
use crate::process::Process;
use crate::trust::part::TrustError;

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
        std::fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// A variant whose process may be missing. The reason is then shown in the table.
    pub fn variant(&self, name: &str, process: Result<Process, TrustError>) -> Variant {
        Variant::peer(name, process)
    }
}

/// A check that a tool has counted every call.
pub(super) fn all_calls(calls: u64) -> impl Fn(&Run) -> Result<(), CheckError> {
    // Some tools print the number on standard error, others on standard output.
    let told = |run: &Run| {
        let mut lines = run.out.lines().rev();
        let out = lines.find_map(|line| line.strip_prefix(HITS_PREFIX)?.trim().parse().ok());
        run.hits.or(out)
    };
    move |run| match told(run) {
        Some(hits) if hits == calls => Ok(()),
        Some(seen) => Err(CheckError::MissedCalls { seen, calls }),
        None => Err(CheckError::NothingTimed),
    }
}
