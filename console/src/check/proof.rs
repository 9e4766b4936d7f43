//! The interface to the checker, which proves emitted code. No other file of this command uses the
//! checker.

use veneer_fragmenter::arming::Armed;
use veneer_fragmenter::check::{self, Checked, Expected};
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::version::{VersionClass, VersionPlan};
use veneer_names::MethodId;

/// The checker's result for one class.
pub struct ProofResult {
    /// Number of bodies that were proved.
    pub count: u64,
    /// Methods that were not proved, with the reasons.
    pub failures: Vec<(String, String)>,
}

/// Proves that each armed method behaves as its original. `written` is the parsed armed class.
pub fn armed(original: &ClassFile, written: &ClassFile, armed: &Armed) -> ProofResult {
    let Armed {
        anchor, methods, ..
    } = armed;
    proved(check::armed_class(original, written, anchor, methods))
}

/// Proves that each version behaves as the original with the version's edits.
pub fn version(
    host: &ClassFile,
    emitted: &ClassFile,
    anchor: &str,
    plans: &[VersionPlan],
    class: &VersionClass,
) -> ProofResult {
    let plan = |id: &MethodId| {
        plans
            .iter()
            .find(|p| p.id == *id)
            .map(Expected::version_contents)
    };
    let expected: Vec<Expected> = class.methods.iter().filter_map(plan).collect();
    proved(check::version_class(host, emitted, anchor, &expected))
}

fn proved(checked: Checked) -> ProofResult {
    let failed = checked.failures.len();
    let failures = checked.failures.into_iter();
    ProofResult {
        count: checked.methods.saturating_sub(failed) as u64,
        failures: failures
            .map(|(method, failure)| (method, failure.to_string()))
            .collect(),
    }
}
