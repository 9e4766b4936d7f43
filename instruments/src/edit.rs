//! Edits of a method's flow graph.
//!
//! The agent checks an edit before it changes any code: the live-in variables of the new target
//! must be available with matching types, and the held monitors and the active exception handlers
//! must be the same. An edit also takes effect in running activations, from their next capture
//! point.

use crate::MethodPattern;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One change of the graph. The numbers are fragments, as in
/// [`PointSelector`](crate::PointSelector).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditKind {
    /// The edge `from`→`to` leads to `target` instead of `to`.
    Redirect { from: u32, to: u32, target: u32 },
    /// The code of `fragment` is removed. Control continues at its successor.
    Skip { fragment: u32 },
    /// `fragment` executes the code of fragment `by` instead of its own.
    Replace { fragment: u32, by: u32 },
}

impl fmt::Display for EditKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EditKind::Redirect { from, to, target } => {
                write!(f, "redirect f{from}->f{to} to f{target}")
            }
            EditKind::Skip { fragment } => write!(f, "skip f{fragment}"),
            EditKind::Replace { fragment, by } => write!(f, "replace f{fragment} by f{by}"),
        }
    }
}

/// Edits that take effect together or not at all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EditSpec {
    /// The file name of the plan that makes the edits.
    pub plan: String,
    pub patterns: Vec<MethodPattern>,
    pub edits: Vec<EditKind>,
}
