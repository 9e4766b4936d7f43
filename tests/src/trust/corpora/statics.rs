//! The results of `veneer check` for a corpus.

use std::time::Duration;

use serde::Deserialize;

use super::corpus::Corpus;
use crate::command::veneer;
use crate::trust::{Scope, TrustError};

/// The parts of the command's JSON that are used.
#[derive(Clone, Debug, Deserialize)]
pub struct Checked {
    /// The sum over all paths.
    pub total: Sum,
}

/// The results of a corpus.
#[derive(Clone, Debug, Deserialize)]
pub struct Sum {
    /// Number of classes read.
    pub classes: u64,
    /// Number of classes whose rewritten form is identical to the input, byte for byte.
    pub identical: u64,
    /// Number of methods with code.
    pub methods: u64,
    /// Number of static initialisers among these methods.
    pub initialisers: u64,
    /// The classes that the agent never arms.
    pub on_cell_path: OnCellPath,
    /// The lowest class-file version.
    pub oldest: Option<u16>,
    /// The highest class-file version.
    pub newest: Option<u16>,
    /// Mean processor time per class in microseconds.
    pub micros_per_class: f64,
    /// One entry for each policy.
    pub policies: Vec<ByPolicy>,
    pub failures: Vec<Failure>,
}

/// The classes that a cell needs when it is called.
#[derive(Clone, Debug, Deserialize)]
pub struct OnCellPath {
    /// Number of classes.
    pub classes: u64,
    /// Number of methods with code.
    pub methods: u64,
}

/// The results for a policy.
#[derive(Clone, Debug, Deserialize)]
pub struct ByPolicy {
    pub policy: String,
    /// Number of methods that are armed by default.
    pub armed: u64,
    /// Number of methods that are armed if a plan names them.
    pub named: u64,
    /// Number of methods with versions.
    pub emitted: u64,
    /// Number of capture points.
    pub points: u64,
    /// Number of versions with an edit.
    pub edited: u64,
    /// Number of bodies that the checker proved.
    pub proved: u64,
    pub refusals: Vec<Refused>,
}

/// A code of refusals, with its frequency.
#[derive(Clone, Debug, Deserialize)]
pub struct Refused {
    pub name: String,
    /// The stage: `arm`, `named`, `emit`, `edit` or `place`.
    #[serde(rename = "while")]
    pub stage: String,
    /// Number of refusals.
    pub count: u64,
    /// The explanation of the code in words.
    pub explanation: String,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Failure {
    pub class: String,
    /// The method. Empty if the whole class failed.
    pub method: String,
    /// The operation that failed.
    pub doing: String,
    pub reason: String,
}

impl Sum {
    /// The results for a policy.
    pub fn by(&self, policy: &str) -> Option<&ByPolicy> {
        self.policies.iter().find(|p| p.policy == policy)
    }

    /// Number of bodies that the checker could not prove.
    pub fn unproved(&self) -> usize {
        let unproved = |f: &&Failure| f.doing.starts_with("prove");
        self.failures.iter().filter(unproved).count()
    }
}

/// Runs the command on the corpus, with this number of threads.
pub fn check(corpus: &Corpus, scope: &Scope, jobs: usize) -> Result<Checked, TrustError> {
    // Most modules of a second JDK have the same classes as those of the first. So the second JDK
    // is checked with edits instead.
    let first = scope.jdks.first() == Some(&corpus.jdk);
    let two = format!("{},block", corpus.policy);
    let options: &[&str] = match first && !scope.quick {
        true => &["--policy", &two],
        false => &["--policy", "block", "--edits"],
    };
    let output = veneer()
        .arg("check")
        .args(&corpus.sources)
        .args(options)
        .args(["--json", "--jobs", &jobs.max(1).to_string()])
        .arg("--jdk")
        .arg(corpus.jdk.home())
        .limit(Duration::from_secs(3000))
        .run()?;
    // Exit code 1 means that something failed. The JSON has the details.
    if !matches!(output.code, 0 | 1) {
        output.succeeded(&format!("veneer check ({corpus})"))?;
        return Err(TrustError::Missing {
            wanted: "outcome",
            found: corpus.to_string(),
        });
    }
    Ok(serde_json::from_str(&output.out)?)
}
