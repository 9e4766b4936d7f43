//! Edits of a method's flow graph.

use serde::{Deserialize, Serialize};
use std::fmt;

/// One edit of a flow graph. All numbers are fragment numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "edit", rename_all = "lowercase")]
pub enum EditKind {
    /// Redirects the edge `from` → `to` to `target`.
    Redirect {
        /// The fragment at which the edge begins.
        from: u32,
        /// The fragment to which the edge leads.
        to: u32,
        /// The fragment to which the edge leads after the edit.
        target: u32,
    },
    /// Skips the fragment: control continues at the fragment's successor.
    Skip {
        /// The skipped fragment.
        fragment: u32,
    },
    /// Runs the code of another fragment instead of the fragment's own.
    Replace {
        /// The replaced fragment.
        fragment: u32,
        /// The fragment whose code runs.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_the_kind_of_the_edit_as_a_field() {
        for (edit, text) in [
            (
                EditKind::Redirect {
                    from: 1,
                    to: 2,
                    target: 3,
                },
                r#"{"edit":"redirect","from":1,"to":2,"target":3}"#,
            ),
            (
                EditKind::Skip { fragment: 4 },
                r#"{"edit":"skip","fragment":4}"#,
            ),
            (
                EditKind::Replace { fragment: 4, by: 5 },
                r#"{"edit":"replace","fragment":4,"by":5}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&edit).unwrap(), text);
            assert_eq!(serde_json::from_str::<EditKind>(text).unwrap(), edit);
        }
    }
}
