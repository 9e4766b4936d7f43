//! The class part of a pattern: a dotted name with wildcards.

use super::glob::{self, Glob};
use std::fmt;

/// A dotted name with wildcards.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ClassPattern {
    pub(crate) steps: Vec<Step>,
}

/// An element of a dotted name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// Exactly one segment.
    Segment(Glob),
    /// `..`: any number of segments.
    Gap,
}

impl ClassPattern {
    pub(super) fn matches(&self, class: &str) -> bool {
        let segments: Vec<&str> = class.split('.').collect();
        glob::matches_sequence(
            &self.steps,
            &segments,
            |step| matches!(step, Step::Gap),
            |step, segment| match step {
                Step::Segment(glob) => glob.matches(segment),
                Step::Gap => false,
            },
        )
    }

    /// Whether the pattern is a lone `*`.
    pub(super) fn is_star(&self) -> bool {
        matches!(self.steps.as_slice(), [Step::Segment(glob)] if glob.text() == "*")
    }
}

impl fmt::Display for ClassPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut after_segment = false;
        for (i, step) in self.steps.iter().enumerate() {
            match step {
                // A leading gap is written `*..`: see `pattern.rs`.
                Step::Gap => f.write_str(if i == 0 { "*.." } else { ".." })?,
                Step::Segment(glob) => {
                    write!(f, "{}{}", if after_segment { "." } else { "" }, glob.text())?;
                }
            }
            after_segment = matches!(step, Step::Segment(_));
        }
        Ok(())
    }
}
