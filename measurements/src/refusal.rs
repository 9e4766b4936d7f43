//! Classes and methods that the agent did not change.

use serde::{Deserialize, Serialize};

/// A class or method that the agent refused to change, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RefusalRow {
    /// The class name with dots.
    pub class: String,
    /// The method's name and descriptor; empty if the whole class was refused. If only one
    /// instruction was refused, `@` and its bytecode index follow: `m(I)I@12`.
    pub method: String,
    /// The refusal code, for instance `MethodTooLarge`.
    pub reason: String,
    /// The reason as a sentence, with the values that led to it.
    #[serde(default)]
    pub detail: String,
}
