//! The type checker before the JVM gets an armed class.

use super::class;
use crate::classfile::ClassFile;
use crate::refusal::Refusal;
use crate::runtime;

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
    // The agent's classes are final and have no subclass in the application.
    let agents = |name: &[u8]| name == runtime::CELL.as_bytes();
    match needed.beyond(&granted, &agents) {
        None => Ok(()),
        Some(assumption) => Err(Refusal::Unverifiable(format!(
            "the armed class needs that {assumption}, which the class itself does not need"
        ))),
    }
}
