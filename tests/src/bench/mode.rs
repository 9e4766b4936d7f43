//! The modes in which a workload runs under Veneer.

use std::path::Path;

use super::groups::{CheckError, Variant};
use super::prepare::{Compiled, plan};
use super::workload::Workload;
use crate::bench::run::Run;
use crate::bench::run::{DETACHED_LINE, HITS_PREFIX};
use crate::command;
use crate::process::Process;
use crate::trust::part::TrustError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Armed under the policy `loop`, without a plan.
    Armed,
    /// A counter on each basic block from the start.
    Counted,
    /// The counters of `Counted`, detached after a third of the rounds.
    Detached,
}

impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Armed => "armed, idle",
            Self::Counted => "every block counted",
            Self::Detached => "detached again",
        })
    }
}

impl Mode {
    /// The plan of the mode, or `None` if the mode has none.
    fn plan(self, workload: &Workload, rounds: usize) -> Option<String> {
        let methods = format!("methods({})", workload.pattern());
        let told = format!("at_exit(|| print(`{HITS_PREFIX}${{hits.hits()}}`));\n");
        match self {
            Self::Armed => None,
            Self::Counted => Some(format!(
                "let hits = {methods}.limit(10000000).blocks().before(counter());\n{told}"
            )),
            // The plan detaches by progress and not by time, because a time measured in another run
            // may be wrong for this one.
            Self::Detached => Some(format!(
                "let hits = {methods}.limit(10000000).blocks().before(counter());\n\
                 let rounds = methods({:?}).before(counter());\n\
                 let watch = ();\n\
                 watch = every(0.02, || if rounds.hits() > {} {{\n    \
                     watch.cancel();\n    rounds.detach();\n    hits.detach();\n    print(\"{DETACHED_LINE}\");\n}});\n{told}",
                workload.mark,
                rounds / 3
            )),
        }
    }

    /// The variant of a workload. The plan is written to the folder of `compiled`.
    pub fn variant(
        self,
        workload: &'static Workload,
        java: &Process,
        rounds: usize,
        compiled: &Compiled,
    ) -> Result<Variant, TrustError> {
        let options = self.options(workload, rounds, &compiled.join("plans"))?;
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let process = command::run(&options, java);
        Ok(Variant::new(&self.to_string(), process).checked(move |run| self.check(run)))
    }

    /// The options of `veneer run`.
    pub fn options(
        self,
        workload: &Workload,
        rounds: usize,
        folder: &Path,
    ) -> Result<Vec<String>, TrustError> {
        let mut options = workload.arming();
        if let Some(text) = self.plan(workload, rounds) {
            std::fs::create_dir_all(folder)?;
            let name = self.to_string().replace([' ', ','], "-");
            options.extend(plan(&folder.join(format!("{name}.rhai")), &text)?);
        }
        Ok(options)
    }

    /// Returns an error if the run did not do what its mode requires, because its figures would
    /// then be meaningless.
    fn check(self, run: &Run) -> Result<(), CheckError> {
        if self != Self::Armed && run.hits.unwrap_or(0) == 0 {
            return Err(CheckError::NoHits);
        }
        match run.left_after {
            None if self == Self::Detached => Err(CheckError::NotDetached),
            Some(rounds) if rounds >= run.steady() => Err(CheckError::DetachedLate(rounds)),
            _ => Ok(()),
        }
    }
}
