//! Checks whether Veneer works with a JVM on this machine: the answers of `veneer doctor PID`.

use serde::Serialize;
use veneer_client::diagnostics::{Finding, diagnose_machine, diagnose_process};

/// The result of one check.
#[derive(Debug, Serialize)]
pub struct Diagnosis {
    /// Whether the check concerns this machine, and not the JVM.
    pub of_machine: bool,
    /// The checked subject.
    pub what: &'static str,
    /// `good`, `note` or `bad`.
    pub state: &'static str,
    pub found: String,
    /// An action of the user that solves the problem; empty if there is none.
    pub remedy: String,
}

/// The checks of a JVM, and then those of this machine.
pub fn of_jvm(pid: u32) -> Vec<Diagnosis> {
    let of = |of_machine: bool| {
        move |finding: Finding| Diagnosis {
            of_machine,
            what: finding.what,
            state: finding.state.name(),
            found: finding.found,
            remedy: finding.remedy,
        }
    };
    let jvm = diagnose_process(pid).into_iter().map(of(false));
    jvm.chain(diagnose_machine().into_iter().map(of(true)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_is_no_jvm_says_why() {
        let all = of_jvm(std::process::id());
        let first = &all[0];
        assert_eq!((first.what, first.state), ("process", "bad"));
        assert!(first.found.contains("is no JVM"), "{first:?}");
        assert!(all.iter().any(|one| one.of_machine && one.what == "system"));
    }
}
