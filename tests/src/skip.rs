//! Tests that skip themselves, because the machine lacks something that they need.
//!
//! `cargo test` cannot mark a test as ignored while it runs. So [`skip`] prints a line that
//! `cargo test` does not capture. In continuous integration, it fails instead, because the machines
//! there have everything that the tests need, except the items of [`Need::is_optional_in_ci`].

use std::io::Write;

use crate::downloads::MissingTool;

/// The environment variables that mark continuous integration. Any value but an empty one counts.
const CI_VARIABLES: [&str; 2] = ["CI", "VENEER_CI"];

/// Something that a test needs and that this machine lacks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Need {
    /// The rights of root, with the reason.
    #[error("only root {0}")]
    Root(&'static str),
    /// The right to mount a file system in a namespace of the test.
    #[error("this user may not mount a file system of its own")]
    Mount,
    #[error("only one JDK is installed; VENEER_JDKS names more")]
    SecondJdk,
    #[error("no JDK with virtual threads (21 or newer) is installed; VENEER_JDKS names more")]
    VirtualThreads,
    /// A JDK that the agent does not support.
    #[error("no JDK older than 17 is installed; VENEER_OLD_JDKS names some")]
    OldJdk,
    /// A program on the PATH.
    #[error("{0} is not installed")]
    Program(&'static str),
    /// A program that a download needs.
    #[error(transparent)]
    Download(#[from] MissingTool),
}

impl Need {
    /// Whether continuous integration may lack this, too. Distributions no longer package JDKs
    /// before 17.
    fn is_optional_in_ci(&self) -> bool {
        *self == Need::OldJdk
    }
}

/// A test would have been skipped in continuous integration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this test must not be skipped where CI or VENEER_CI is set: {need}")]
pub struct SkippedInCi {
    pub need: Need,
}

/// Reports that the current test is skipped. The test returns the result.
pub fn skip(need: impl Into<Need>) -> Result<(), SkippedInCi> {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    decide(need.into(), CI_VARIABLES.into_iter().any(is_set))
}

fn decide(need: Need, is_ci: bool) -> Result<(), SkippedInCi> {
    if is_ci && !need.is_optional_in_ci() {
        return Err(SkippedInCi { need });
    }
    announce(&need.to_string());
    Ok(())
}

/// Prints that the current test is skipped. In continuous integration, only tests that a setting of
/// the user excludes call this function directly.
pub fn announce(reason: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    // `eprintln!` would be captured by `cargo test`. A failure to print is no failure of the test.
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {reason}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skipped_test_fails_in_continuous_integration_only() {
        let need = Need::Root("can be two users");
        assert_eq!(decide(need.clone(), false), Ok(()));
        assert_eq!(
            decide(need, true).map_err(|e| e.to_string()),
            Err("this test must not be skipped where CI or VENEER_CI is set: only root can be two users".into())
        );
    }

    #[test]
    fn an_old_jdk_is_optional() {
        assert_eq!(decide(Need::OldJdk, true), Ok(()));
    }
}
