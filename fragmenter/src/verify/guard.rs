//! Runs the type checker before an armed class is handed to the JVM.
//!
//! Checking a class takes about half as long as arming it. So the agent checks only the classes
//! whose stack maps it computed itself, which are those below version 51. If its configuration asks
//! for checks, the agent checks every class. `veneer check` checks every class.

use super::class;
use crate::anchor;
use crate::arming::{self, Armed, Request};
use crate::classfile::ClassFile;
use crate::refusal::Refusal;
use crate::runtime;

/// Arms a parsed modern class ([`arming::arm_class_file`]) and checks the result ([`armed`]).
///
/// # Errors
/// The errors of arming, and [`Refusal::Unverifiable`].
pub fn arm(original: &ClassFile<'_>, request: &Request) -> Result<Armed, Refusal> {
    let outcome = arming::arm_class_file(original, request)?;
    if !outcome.methods.is_empty() {
        armed(original, &ClassFile::parse(&outcome.bytes)?)?;
    }
    Ok(outcome)
}

/// Checks that the JVM accepts an armed class if it accepts the original. The armed class must
/// verify, and its assumptions must be a subset of the original's assumptions.
///
/// # Errors
/// [`Refusal::Unverifiable`] with the method, or with the assumption that the original does not
/// have.
pub fn armed(original: &ClassFile<'_>, armed: &ClassFile<'_>) -> Result<(), Refusal> {
    let needed = class(armed).map_err(|failure| Refusal::Unverifiable(failure.to_string()))?;
    let granted = class(original).map_err(|failure| {
        Refusal::Unverifiable(format!("the class itself does not pass: {failure}"))
    })?;
    // No class of the application is a subclass of one of the agent's classes.
    let agents = |name: &[u8]| {
        [runtime::CELL, runtime::FRAME].contains(&&*String::from_utf8_lossy(name))
            || std::str::from_utf8(name).is_ok_and(anchor::is_anchor)
    };
    match needed.not_implied_by(&granted, &agents) {
        None => Ok(()),
        Some(assumption) => Err(Refusal::Unverifiable(format!(
            "the armed class needs that {assumption}, which the class itself does not need"
        ))),
    }
}
