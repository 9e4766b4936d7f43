//! The result of an experiment.

use serde::{Deserialize, Serialize};

/// The outcome of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The program is faster with the transformation.
    Faster,
    /// The program is slower with the transformation.
    Slower,
    /// The windows show no difference.
    NoDifference,
    /// The program made no progress in one of the variants.
    NoProgress,
}

/// The result of an experiment. Rates are units of progress per second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// The outcome of the experiment.
    pub verdict: Verdict,
    /// The rate without the transformation: the geometric mean over the blocks.
    pub before: f64,
    /// The rate with the transformation: the geometric mean over the blocks.
    pub after: f64,
    /// The median over the blocks of the ratio of the two rates.
    pub gain: f64,
    /// The lower end of the confidence interval of the median gain; 0 if it is not known.
    pub low: f64,
    /// The upper end; [`f64::MAX`] if it is not known.
    pub high: f64,
    /// The number of blocks.
    pub blocks: u32,
}

impl Decision {
    /// Whether the transformation is to be kept.
    pub fn is_kept(&self) -> bool {
        self.verdict == Verdict::Faster
    }
}
