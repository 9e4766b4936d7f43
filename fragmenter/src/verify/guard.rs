//! The type checker before the JVM gets an armed class.
//!
//! To check a class takes about half as long as to arm it. So the agent checks classes whose stack maps are its own, which are those
//! of a version below 51, and every class if its configuration asks for checks. `veneer check` checks every class.

use super::class;
use crate::anchor;
use crate::arming::{self, Armed, Request};
use crate::classfile::ClassFile;
use crate::inference;
use crate::refusal::Refusal;
use crate::runtime;

/// Arms a class ([`arming::arm`]) and checks the outcome ([`armed`]).
///
/// # Errors
/// Those of arming, and [`Refusal::Unverifiable`].
pub fn arm(bytes: &[u8], request: &Request) -> Result<Armed, Refusal> {
    let modern = inference::modern(bytes)?;
    let outcome = arming::arm(&modern, request)?;
    if !outcome.methods.is_empty() {
        armed(
            &ClassFile::parse(&modern)?,
            &ClassFile::parse(&outcome.bytes)?,
        )?;
    }
    Ok(outcome)
}

/// Checks that the JVM accepts an armed class if it accepts the original: the armed class passes, and assumes nothing beyond what the
/// original assumes.
///
/// # Errors
/// [`Refusal::Unverifiable`] with the method, or with the assumption that the original does not need.
pub fn armed(original: &ClassFile<'_>, armed: &ClassFile<'_>) -> Result<(), Refusal> {
    let needed = class(armed).map_err(|failure| Refusal::Unverifiable(failure.to_string()))?;
    let granted = class(original).map_err(|failure| {
        Refusal::Unverifiable(format!("the class itself does not pass: {failure}"))
    })?;
    // No class of the application is below one of the agent's classes.
    let agents = |name: &[u8]| {
        [runtime::CELL, runtime::FRAME].contains(&&*String::from_utf8_lossy(name))
            || std::str::from_utf8(name).is_ok_and(anchor::is_anchor)
    };
    match needed.beyond(&granted, &agents) {
        None => Ok(()),
        Some(assumption) => Err(Refusal::Unverifiable(format!(
            "the armed class needs that {assumption}, which the class itself does not need"
        ))),
    }
}
