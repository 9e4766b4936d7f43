//! The border between the JVM and the agent: no panic of the agent unwinds into the JVM.
//!
//! Every event function and native method of the agent runs in [`guarded`], on the thread that the
//! JVM calls it on.

use crate::agent::Agent;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `f`. If it panics, reports an error of the agent in `what`, and returns `otherwise`.
pub fn guarded<T>(what: &str, otherwise: T, f: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|_| {
        match Agent::get() {
            Some(agent) => agent.report_problem("", &format!("internal agent error in {what}; the application is not affected; please report this")),
            None => eprintln!("veneer: internal agent error in {what}; the application runs without Veneer"),
        }
        otherwise
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_the_other_value() {
        assert_eq!(guarded("a test", 7, || panic!("on purpose")), 7);
        assert_eq!(guarded("a test", 7, || 8), 8);
    }
}
