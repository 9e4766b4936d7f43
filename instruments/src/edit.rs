//! Edits of a method's flow graph.
//!
//! The agent checks an edit before it changes any code: the live-in variables of the new target
//! must be available with matching types, and the held monitors and the active exception handlers
//! must be the same. An edit also takes effect in running activations, from their next capture
//! point.

use crate::MethodPattern;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use veneer_measurements::{EditKind, PatchId};
use veneer_names::{FragmentId, MethodId};

/// Edits that take effect together or not at all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EditSpec {
    /// The file name of the plan that makes the edits.
    pub plan: String,
    /// The patterns of the methods to edit.
    pub patterns: Vec<MethodPattern>,
    /// The edits of each selected method, in the order of their application.
    pub edits: Vec<EditKind>,
    /// How often blocks were passed, for transformations that ask for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passes: Vec<MethodPasses>,
    /// If this is not empty, only methods with these ids are edited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<MethodId>,
}

/// How often the blocks of a method were passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MethodPasses {
    /// The class name with dots.
    pub class: String,
    /// The method's name and descriptor.
    pub method: String,
    /// The passes of each block.
    pub passes: BTreeMap<FragmentId, u64>,
}

/// An edit that a plan has made, as the function `edits()` of plans returns it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchSummary {
    /// The id of the patch.
    pub id: PatchId,
    /// The file name of the plan that has made the edits.
    pub plan: String,
    /// The patterns of the edited methods, as the plan wrote them.
    pub patterns: Vec<String>,
    /// The edits of each method, in the order of their application.
    pub edits: Vec<EditKind>,
    /// The number of edited methods.
    pub methods: u64,
    /// Whether the edits are in effect.
    pub active: bool,
}

/// The result of an edit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditSummary {
    /// The id of the new patch.
    pub id: PatchId,
    /// Warnings for the author of the plan, such as a method that cannot return any more.
    pub warnings: Vec<String>,
}
