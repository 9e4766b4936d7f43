//! What `veneer check` says of a corpus.

use std::time::Duration;

use serde::Deserialize;

use super::Corpus;
use crate::command::veneer;
use crate::trust::{Scope, TrustError};

/// The JSON of the command, as far as it is looked at.
#[derive(Clone, Debug, Deserialize)]
pub struct Checked {
    /// All paths together.
    pub total: Sum,
}

/// Figures of a corpus.
#[derive(Clone, Debug, Deserialize)]
pub struct Sum {
    /// Classes read.
    pub classes: u64,
    /// Those that are written byte for byte as they were.
    pub identical: u64,
    /// Methods with code.
    pub methods: u64,
    /// Static initialisers among them.
    pub initialisers: u64,
    /// Never armed by the agent.
    pub on_cell_path: OnCellPath,
    /// The least class-file version.
    pub oldest: Option<u16>,
    /// The greatest.
    pub newest: Option<u16>,
    /// Processor time.
    pub micros_per_class: f64,
    /// By policy.
    pub policies: Vec<ByPolicy>,
    /// What must not be.
    pub failures: Vec<Failure>,
}

/// Classes that a cell needs.
#[derive(Clone, Debug, Deserialize)]
pub struct OnCellPath {
    /// How many.
    pub classes: u64,
    /// Their methods with code.
    pub methods: u64,
}

/// Figures of a policy.
#[derive(Clone, Debug, Deserialize)]
pub struct ByPolicy {
    /// Its name.
    pub policy: String,
    /// Methods armed by themselves.
    pub armed: u64,
    /// Methods armed where a plan names them.
    pub named: u64,
    /// Methods with versions.
    pub emitted: u64,
    /// Capture points.
    pub points: u64,
    /// Versions with an edit.
    pub edited: u64,
    /// Bodies that the checker proved.
    pub proved: u64,
    /// What was refused.
    pub refusals: Vec<Refused>,
}

/// A refusal by name.
#[derive(Clone, Debug, Deserialize)]
pub struct Refused {
    /// The name.
    pub name: String,
    /// `arm`, `named`, `emit`, `edit`, `place`.
    #[serde(rename = "while")]
    pub stage: String,
    /// How often.
    pub count: u64,
    /// In words.
    pub explanation: String,
}

/// What must not be.
#[derive(Clone, Debug, Deserialize)]
pub struct Failure {
    /// The class.
    pub class: String,
    /// The method, or nothing.
    pub method: String,
    /// What was being done.
    pub doing: String,
    /// What is wrong.
    pub reason: String,
}

impl Sum {
    /// The figures of a policy.
    pub fn by(&self, policy: &str) -> Option<&ByPolicy> {
        self.policies.iter().find(|p| p.policy == policy)
    }

    /// What the checker could not prove.
    pub fn unproved(&self) -> usize {
        let unproved = |f: &&Failure| f.doing.starts_with("prove");
        self.failures.iter().filter(unproved).count()
    }
}

/// Runs the command over the corpus.
pub fn check(corpus: &Corpus, scope: &Scope) -> Result<Checked, TrustError> {
    let jobs = scope.workers.max(1).to_string();
    // Modules of a second JDK are much the same classes as those of the first one: there it is the edits that are new.
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
        .args(["--json", "--jobs", &jobs])
        .arg("--jdk")
        .arg(corpus.jdk.home())
        .limit(Duration::from_secs(3000))
        .run()?;
    // 1: something failed, and the JSON says what.
    if !matches!(output.code, 0 | 1) {
        output.succeeded(&format!("veneer check ({corpus})"))?;
        return Err(TrustError::Other(format!("{corpus}: no outcome")));
    }
    Ok(serde_json::from_str(&output.out)?)
}
