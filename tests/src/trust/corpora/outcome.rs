//! A corpus with its results.

use super::corpus::Corpus;
use super::{linking, statics};

/// A corpus with its results.
pub struct Outcome {
    pub corpus: Corpus,
    /// The output of `veneer check`.
    pub check: statics::Checked,
    /// The results of the JVMs, piece by piece.
    pub linked: Vec<linking::Linked>,
}
