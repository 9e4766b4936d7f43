//! Batch means: values of neighbouring windows that resemble each other become one value.
//!
//! The windows of a program with phases are autocorrelated. The mean of a batch of windows that is
//! longer than a phase says more about the next batch than a window says about the next window (Law
//! and Carson, *A sequential procedure for determining the length of a steady-state simulation*,
//! Operations Research 27(5), 1979). The length of a batch depends only on earlier batches, so a
//! test by betting stays valid.

use crate::share::Share;

/// The most windows in a batch.
const MAX_LENGTH: u32 = 8;
/// The autocorrelation above which batches become longer.
const MAX_CORRELATION: f64 = 0.5;
/// The number of batches after which the autocorrelation is examined.
const EXAMINED: usize = 8;
/// The number of batches of which the autocorrelation is calculated.
const REMEMBERED: usize = 40;

/// Windows that wait to become a batch.
#[derive(Clone, Debug)]
pub struct Batches {
    length: u32,
    windows: u32,
    low: f64,
    high: f64,
    recent: Vec<f64>,
}

impl Default for Batches {
    fn default() -> Batches {
        Batches {
            length: 1,
            windows: 0,
            low: 0.0,
            high: 0.0,
            recent: Vec::new(),
        }
    }
}

impl Batches {
    /// Adds a share that was measured over a number of windows. Returns the mean of the batch, if
    /// the batch is full.
    pub fn add(&mut self, share: Share, windows: u32) -> Option<Share> {
        let windows = windows.max(1);
        self.low += share.low * f64::from(windows);
        self.high += share.high * f64::from(windows);
        self.windows = self.windows.saturating_add(windows);
        if self.windows < self.length {
            return None;
        }
        let count = f64::from(self.windows);
        let mean = Share::between(self.low / count, self.high / count);
        (self.windows, self.low, self.high) = (0, 0.0, 0.0);
        self.recent.push(mean.low);
        let is_due = self.recent.len().is_multiple_of(EXAMINED) && self.length < MAX_LENGTH;
        if is_due && autocorrelation(&self.recent) > MAX_CORRELATION {
            self.length *= 2;
            self.recent.clear();
        }
        if self.recent.len() >= REMEMBERED {
            self.recent.drain(..EXAMINED);
        }
        Some(mean)
    }

    /// Returns the present number of windows in a batch.
    pub fn length(&self) -> u32 {
        self.length
    }
}

/// Returns the autocorrelation of neighbours, from -1 to 1. Equal values have none.
fn autocorrelation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let variance: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    let product: f64 = values
        .windows(2)
        .map(|pair| (pair[0] - mean) * (pair[1] - mean))
        .sum();
    if variance < 1e-9 {
        0.0
    } else {
        product / variance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_grow_if_windows_have_phases_and_stay_if_not() {
        let (mut phases, mut noise) = (Batches::default(), Batches::default());
        for i in 0..1000u32 {
            phases.add(Share::exact(f64::from((i / 20) % 2)), 1);
            noise.add(Share::exact(f64::from(i * 7919 % 13) / 13.0), 1);
        }
        assert_eq!(phases.length(), 8);
        assert_eq!(noise.length(), 1);
    }

    #[test]
    fn a_reading_over_many_windows_is_one_batch() {
        let mut batches = Batches::default();
        let mean = batches.add(Share::exact(0.4), 30);
        assert_eq!(mean, Some(Share::exact(0.4)));
    }
}
