//! Edits of a method's flow graph.
//!
//! The agent checks an edit before it changes any code: the live-in variables of the new target
//! must be available with matching types, and the held monitors and the active exception handlers
//! must be the same. An edit also takes effect in running activations, from their next capture
//! point.

use crate::MethodPattern;
use serde::{Deserialize, Serialize};
use veneer_measurements::{EditKind, PatchId};

/// Edits that take effect together or not at all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EditSpec {
    /// The file name of the plan that makes the edits.
    pub plan: String,
    /// The patterns of the methods to edit.
    pub patterns: Vec<MethodPattern>,
    /// The edits of each selected method, in the order of their application.
    pub edits: Vec<EditKind>,
}

/// The result of an edit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditSummary {
    /// The id of the new patch.
    pub id: PatchId,
    /// Warnings for the author of the plan, such as a method that cannot return any more.
    pub warnings: Vec<String>,
}
