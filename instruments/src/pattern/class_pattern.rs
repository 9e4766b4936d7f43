//! The class part of a pattern: a dotted name with wildcards.

use super::glob::Glob;
use std::fmt;
use veneer_text::matches_sequence;

/// A dotted name with wildcards.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ClassPattern {
    pub(crate) elements: Vec<PackageElement>,
}

/// An element of a dotted name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PackageElement {
    /// Exactly one segment.
    Segment(Glob),
    /// `..`: any number of segments.
    Gap,
}

impl ClassPattern {
    pub(super) fn matches(&self, class: &str) -> bool {
        let segments: Vec<&str> = class.split('.').collect();
        matches_sequence(
            &self.elements,
            &segments,
            |step| matches!(step, PackageElement::Gap),
            |step, segment| match step {
                PackageElement::Segment(glob) => glob.matches(segment),
                PackageElement::Gap => false,
            },
        )
    }

    /// Whether the pattern is a lone `*`.
    pub(super) fn is_star(&self) -> bool {
        matches!(self.elements.as_slice(), [PackageElement::Segment(glob)] if glob.text() == "*")
    }
}

impl fmt::Display for ClassPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut after_segment = false;
        for (i, step) in self.elements.iter().enumerate() {
            match step {
                // A leading gap is written `*..`: see `pattern.rs`.
                PackageElement::Gap => f.write_str(if i == 0 { "*.." } else { ".." })?,
                PackageElement::Segment(glob) => {
                    write!(f, "{}{}", if after_segment { "." } else { "" }, glob.text())?;
                }
            }
            after_segment = matches!(step, PackageElement::Segment(_));
        }
        Ok(())
    }
}
