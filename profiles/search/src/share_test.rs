//! The sequential decision whether a share of time exceeds the threshold.

use crate::batch::Batches;
use crate::betting::{Capital, Claim, ConfidenceSequence};
use crate::share::Share;

/// The decision about a hypothesis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The share exceeds the threshold.
    Yes,
    /// The share is below the threshold.
    No,
    /// The observations do not decide yet.
    Maybe,
}

/// Error probabilities of one decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorRates {
    /// The probability of `Yes` if the share is at most the threshold.
    pub false_yes: f64,
    /// The probability of `No` if the share is at least the threshold.
    pub false_no: f64,
    /// The probability that the reported interval ever misses the share.
    pub outside: f64,
}

/// The test of one share against the threshold.
#[derive(Clone, Debug)]
pub struct ShareTest {
    rates: ErrorRates,
    min_windows: u32,
    batches: Batches,
    above: Capital,
    below: Capital,
    interval: ConfidenceSequence,
    windows: u32,
    sum: Share,
}

impl ShareTest {
    /// Returns a test against `threshold`, a share from 0 to 1. The test says `Yes` only if at least
    /// `min_windows` windows have passed since its beginning, so that a shorter phase does not decide.
    /// Windows without evidence count too: if samples are rare, a second has few windows with one.
    pub fn new(threshold: f64, rates: ErrorRates, min_windows: u32) -> ShareTest {
        ShareTest {
            rates,
            min_windows,
            batches: Batches::default(),
            above: Capital::against(Claim::AtMost, threshold),
            below: Capital::against(Claim::AtLeast, threshold),
            interval: ConfidenceSequence::new(rates.outside),
            windows: 0,
            sum: Share {
                low: 0.0,
                high: 0.0,
            },
        }
    }

    /// Adds the share that was measured over a number of windows.
    pub fn add(&mut self, share: Share, windows: u32) {
        let count = f64::from(windows.max(1));
        self.windows = self.windows.saturating_add(windows.max(1));
        self.sum.low += share.low * count;
        self.sum.high += share.high * count;
        if let Some(batch) = self.batches.add(share, windows) {
            // A lower bound alone must not rule the place out, and an upper bound alone must not
            // find it.
            self.above.bet(batch.low);
            self.below.bet(batch.high);
            self.interval.add(batch.low, batch.high);
        }
    }

    /// Returns the decision from all windows until now. `passed` is the number of windows since the
    /// beginning of the test, with or without evidence.
    pub fn verdict(&self, passed: u64) -> Verdict {
        let is_long = passed >= u64::from(self.min_windows);
        let yes = self.above.rejects(self.rates.false_yes) && is_long;
        let no = self.below.rejects(self.rates.false_no);
        match (yes, no) {
            (true, _) => Verdict::Yes,
            (false, true) => Verdict::No,
            (false, false) => Verdict::Maybe,
        }
    }

    /// Returns the mean share of all windows. Nothing is known before the first window.
    pub fn mean(&self) -> Share {
        match self.windows {
            0 => Share::UNKNOWN,
            n => Share::between(self.sum.low / f64::from(n), self.sum.high / f64::from(n)),
        }
    }

    /// Returns the confidence interval of the share.
    pub fn bounds(&self) -> (f64, f64) {
        self.interval.bounds()
    }

    /// Returns the number of windows with evidence.
    pub fn windows(&self) -> u32 {
        self.windows
    }
}
