//! Estimates the cost of the instruments: the share of the process's processor time that is spent
//! in them.
//!
//! ```text
//!   passes in the last samples × cost of a pass       ns
//!   ─────────────────────────────────────────── = ─────────
//!   processor time of the process in that time        ns
//! ```
//!
//! The cost of a pass is the value that `docs/benchmarks.md` measured for each kind of instrument
//! on a small hot method. The estimate has two limits. It does not include compiler optimisations
//! that an instrument prevents, and the cost of a pass differs on other machines. The estimate
//! therefore only shows whether the cost is negligible, small or large.

use std::collections::VecDeque;

use super::location::ProbeKind;

/// Cost of one pass of a counter, in nanoseconds.
pub const COUNTER_NS: f64 = 1.0;
/// Cost of one interval of a timer (start and end), in nanoseconds.
pub const TIMER_NS: f64 = 35.0;
/// Cost of one pass of probe code, in nanoseconds.
pub const CODE_NS: f64 = 10.0;
/// Number of samples that are averaged. The kernel counts processor time in steps of 10 ms, which
/// is too coarse for one sample.
const AVERAGED_SAMPLES: usize = 5;

/// Returns the cost of one pass of an instrument, in nanoseconds.
pub fn pass_ns(kind: &ProbeKind) -> f64 {
    match kind {
        ProbeKind::Counter => COUNTER_NS,
        ProbeKind::Timer => TIMER_NS,
        ProbeKind::Watch(_) => CODE_NS,
    }
}

/// The estimated cost of all instruments.
#[derive(Debug, Clone, Default)]
pub struct Cost {
    /// For each of the last samples: nanoseconds spent in instruments, and processor time of the
    /// process.
    samples: VecDeque<(f64, f64)>,
    /// Nanoseconds spent in instruments since the last sample.
    spent: f64,
    /// Processor time of the process at the last sample, in nanoseconds.
    last: Option<f64>,
}

impl Cost {
    /// Adds passes that cost `ns` nanoseconds each.
    pub fn add_passes(&mut self, passes: u64, ns: f64) {
        self.spent += passes as f64 * ns;
    }

    /// Ends a sample. `processor` is the processor time that the process has used so far, in
    /// nanoseconds.
    pub fn end_sample(&mut self, processor: f64) {
        if let Some(last) = self.last {
            self.samples
                .push_back((std::mem::take(&mut self.spent), processor - last));
            if self.samples.len() > AVERAGED_SAMPLES {
                self.samples.pop_front();
            }
        }
        self.last = Some(processor);
    }

    /// The share, from 0 to 1. `None` if the process has used no processor time.
    pub fn share(&self) -> Option<f64> {
        let add = |(a, b): (f64, f64), (c, d): &(f64, f64)| (a + c, b + d);
        let (spent, processor) = self.samples.iter().fold((0.0, 0.0), add);
        (processor > 0.0).then(|| (spent / processor).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_that_of_the_last_looks() {
        let mut cost = Cost::default();
        assert_eq!(cost.share(), None);
        cost.end_sample(1e9);
        assert_eq!(cost.share(), None);
        cost.add_passes(10_000_000, TIMER_NS);
        cost.end_sample(2e9);
        assert!((cost.share().unwrap() - 0.35).abs() < 1e-9);
        for second in 3..8 {
            cost.end_sample(f64::from(second) * 1e9);
        }
        assert_eq!(cost.share(), Some(0.0));
        cost.add_passes(u64::MAX, CODE_NS);
        cost.end_sample(8e9);
        assert_eq!(cost.share(), Some(1.0));
    }
}
