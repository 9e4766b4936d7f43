//! Edits of a method's flow graph.
//!
//! An edit is checked before anything happens: the live-in set of the new target must be available with
//! matching types, and the monitors held and the handlers in force must be the same. It takes effect in
//! running activations too, from their next capture point.

use crate::MethodPattern;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One change of the graph; numbers are fragments, as in [`Place`](crate::Place).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditKind {
    /// The edge `from`→`to` leads to `target` instead.
    Redirect { from: u32, to: u32, target: u32 },
    /// The code of `fragment` is left out; control goes on at its successor.
    Skip { fragment: u32 },
    /// `fragment` runs the code of fragment `by`.
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
    /// The plan that makes them: its file name.
    pub plan: String,
    /// The methods to edit.
    pub patterns: Vec<MethodPattern>,
    /// The edits, in order.
    pub edits: Vec<EditKind>,
}
