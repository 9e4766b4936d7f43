//! The checker's verdict on what was written. All that this command knows about the checker is here.

use veneer_fragmenter::arming::Armed;
use veneer_fragmenter::check::{self, Checked, Expected};
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::version::{Plan, VersionClass};

/// What the checker said of a class.
pub struct Proved {
    /// Bodies for which there is a proof.
    pub count: u64,
    /// Methods for which there is none, and why.
    pub failures: Vec<(String, String)>,
}

/// Is each armed method the original? `written` is what was armed, read again.
pub fn armed(original: &ClassFile, written: &ClassFile, armed: &Armed) -> Proved {
    let Armed {
        anchor, methods, ..
    } = armed;
    proved(check::armed_class(original, written, anchor, methods))
}

/// Is each version the original with its edits?
pub fn version(
    host: &ClassFile,
    emitted: &ClassFile,
    anchor: &str,
    plans: &[Plan],
    class: &VersionClass,
) -> Proved {
    let plan = |id: &u32| plans.iter().find(|p| p.id == *id).map(Expected::of);
    let expected: Vec<Expected> = class.methods.iter().filter_map(plan).collect();
    proved(check::version_class(host, emitted, anchor, &expected))
}

fn proved(checked: Checked) -> Proved {
    let failed = checked.failures.len();
    let failures = checked.failures.into_iter();
    Proved {
        count: checked.methods.saturating_sub(failed) as u64,
        failures: failures
            .map(|(method, failure)| (method, failure.to_string()))
            .collect(),
    }
}
