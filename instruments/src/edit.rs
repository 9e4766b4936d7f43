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
    Redirect {
        /// The fragment at which the edge begins.
        from: u32,
        /// The fragment to which the edge leads before the edit.
        to: u32,
        /// The fragment to which the edge leads after the edit.
        target: u32,
    },
    /// The code of `fragment` is removed. Control continues at its successor.
    Skip {
        /// The fragment that is skipped.
        fragment: u32,
    },
    /// `fragment` executes the code of fragment `by` instead of its own.
    Replace {
        /// The fragment that gets other code.
        fragment: u32,
        /// The fragment whose code is executed.
        by: u32,
    },
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
    /// The patterns of the methods to edit.
    pub patterns: Vec<MethodPattern>,
    /// The edits of each selected method, in the order of their application.
    pub edits: Vec<EditKind>,
}
