//! Edits of a method's flow graph.

use serde::{Deserialize, Serialize};
use std::fmt;
use veneer_names::FragmentId;

/// One edit of a flow graph.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "edit", rename_all = "lowercase")]
pub enum EditKind {
    /// Redirects the edge `from` → `to` to `target`.
    Redirect {
        /// The fragment at which the edge begins.
        from: FragmentId,
        /// The fragment to which the edge leads.
        to: FragmentId,
        /// The fragment to which the edge leads after the edit.
        target: FragmentId,
    },
    /// Skips the fragment: control continues at the fragment's successor.
    Skip {
        /// The skipped fragment.
        fragment: FragmentId,
    },
    /// Runs the code of another fragment instead of the fragment's own.
    Replace {
        /// The replaced fragment.
        fragment: FragmentId,
        /// The fragment whose code runs.
        by: FragmentId,
    },
    /// Splits the method into parts that the JIT compiler compiles. Changes no result.
    Split {
        /// The most bytes of the method's own code in a part.
        budget: u16,
    },
    /// Tests virtual calls for frequent classes of their receivers. Changes no result.
    Devirtualise {
        /// The calls: a pattern of the called method, `@` and the pc of one call, or `*` for all calls.
        calls: String,
        /// The classes with dots, in the order of the tests.
        receivers: Vec<String>,
    },
    /// Makes a parameter a constant for calls that have this value. Changes no result.
    Specialise {
        /// The number of the parameter, from 0.
        parameter: u16,
        /// The value that the parameter then has.
        value: i32,
    },
    /// Copies the fragments of a path from its first merge on. Changes no result.
    Duplicate {
        /// The fragments of the path, in the order in which control passes them. If there are none, the path
        /// that was passed most often is copied.
        path: Vec<FragmentId>,
    },
    /// Copies the innermost loop around a fragment, one copy for each outcome of the fragment's branch. Changes no
    /// result.
    Unswitch {
        /// The fragment that ends with the branch.
        fragment: FragmentId,
    },
}

impl fmt::Display for EditKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EditKind::Redirect { from, to, target } => {
                write!(f, "redirect {from}->{to} to {target}")
            }
            EditKind::Skip { fragment } => write!(f, "skip {fragment}"),
            EditKind::Replace { fragment, by } => write!(f, "replace {fragment} by {by}"),
            EditKind::Split { budget } => write!(f, "split into parts of {budget} bytes"),
            EditKind::Devirtualise { calls, receivers } => {
                write!(f, "test calls {calls} for {}", receivers.join(", "))
            }
            EditKind::Specialise { parameter, value } => {
                write!(f, "specialise parameter {parameter} for {value}")
            }
            EditKind::Unswitch { fragment } => write!(f, "unswitch {fragment}"),
            EditKind::Duplicate { path } if path.is_empty() => {
                write!(f, "duplicate the path that was passed most often")
            }
            EditKind::Duplicate { path } => {
                write!(f, "duplicate")?;
                path.iter()
                    .try_for_each(|fragment| write!(f, " {fragment}"))
            }
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
                    from: FragmentId(1),
                    to: FragmentId(2),
                    target: FragmentId(3),
                },
                r#"{"edit":"redirect","from":1,"to":2,"target":3}"#,
            ),
            (
                EditKind::Skip {
                    fragment: FragmentId(4),
                },
                r#"{"edit":"skip","fragment":4}"#,
            ),
            (
                EditKind::Replace {
                    fragment: FragmentId(4),
                    by: FragmentId(5),
                },
                r#"{"edit":"replace","fragment":4,"by":5}"#,
            ),
            (
                EditKind::Devirtualise {
                    calls: "*".into(),
                    receivers: vec!["a.B".into(), "a.C".into()],
                },
                r#"{"edit":"devirtualise","calls":"*","receivers":["a.B","a.C"]}"#,
            ),
            (
                EditKind::Specialise {
                    parameter: 1,
                    value: -8,
                },
                r#"{"edit":"specialise","parameter":1,"value":-8}"#,
            ),
            (
                EditKind::Duplicate {
                    path: [1, 3].map(FragmentId).to_vec(),
                },
                r#"{"edit":"duplicate","path":[1,3]}"#,
            ),
            (
                EditKind::Unswitch {
                    fragment: FragmentId(5),
                },
                r#"{"edit":"unswitch","fragment":5}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&edit).unwrap(), text);
            assert_eq!(serde_json::from_str::<EditKind>(text).unwrap(), edit);
        }
    }

    #[test]
    fn text_has_the_letter_of_fragments_once() {
        let [from, to, target] = [1, 2, 3].map(FragmentId);
        let redirect = EditKind::Redirect { from, to, target };
        assert_eq!(redirect.to_string(), "redirect f1->f2 to f3");
        assert_eq!(EditKind::Skip { fragment: to }.to_string(), "skip f2");
        let replace = EditKind::Replace {
            fragment: to,
            by: target,
        };
        assert_eq!(replace.to_string(), "replace f2 by f3");
        let devirtualise = EditKind::Devirtualise {
            calls: "@17".into(),
            receivers: vec!["a.B".into()],
        };
        assert_eq!(devirtualise.to_string(), "test calls @17 for a.B");
        let duplicate = |path: &[u32]| EditKind::Duplicate {
            path: path.iter().copied().map(FragmentId).collect(),
        };
        assert_eq!(duplicate(&[1, 3]).to_string(), "duplicate f1 f3");
        assert!(duplicate(&[]).to_string().contains("passed most often"));
    }
}
