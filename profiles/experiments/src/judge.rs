//! The judge: chooses the variant of each window, and decides when the windows are enough.

use crate::decision::{Decision, Verdict};
use veneer_search::betting::{Capital, Claim};

/// A variant of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Without the transformation.
    Plain,
    /// With the transformation.
    Transformed,
}

/// The order of the variants in a block.
const BLOCK: [Variant; 4] = [
    Variant::Plain,
    Variant::Transformed,
    Variant::Transformed,
    Variant::Plain,
];

/// The measurement of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// The length of the window.
    pub seconds: f64,
    /// The progress of the program: passes of a point, or requests.
    pub progress: f64,
}

/// The limits of an experiment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The probability that a transformation without a gain is kept.
    pub false_keep: f64,
    /// The probability that the interval of the gain ever misses it.
    pub outside: f64,
    /// The most blocks before the judge gives up.
    pub max_blocks: u32,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            false_keep: 0.05,
            outside: 0.05,
            max_blocks: 30,
        }
    }
}

/// See the module documentation.
pub struct Judge {
    settings: Settings,
    windows: Vec<Window>,
    /// The logarithms of the rates of each block: plain, and transformed.
    rates: Vec<(f64, f64)>,
}

impl Judge {
    /// A judge without windows.
    pub fn new(settings: Settings) -> Judge {
        Judge {
            settings,
            windows: Vec::new(),
            rates: Vec::new(),
        }
    }

    /// The variant of the next window.
    pub fn next_variant(&self) -> Variant {
        BLOCK[self.windows.len() % BLOCK.len()]
    }

    /// Adds the window of [`Judge::next_variant`]. Returns the decision when there is one.
    pub fn add(&mut self, window: Window) -> Option<Decision> {
        if !(window.progress > 0.0 && window.seconds > 0.0) {
            return Some(self.decide(Verdict::NoProgress));
        }
        self.windows.push(window);
        if self.windows.len() < BLOCK.len() {
            return None;
        }
        let block = std::mem::take(&mut self.windows);
        let rate = |variant: Variant| {
            let windows = block.iter().zip(BLOCK).filter(|(_, of)| *of == variant);
            let sums = windows.fold((0.0, 0.0), |sum, (window, _)| {
                (sum.0 + window.progress, sum.1 + window.seconds)
            });
            (sums.0 / sums.1).ln()
        };
        let rates = (rate(Variant::Plain), rate(Variant::Transformed));
        self.rates.push(rates);
        let verdict = if self.exceeds(0.0, self.settings.false_keep) {
            Verdict::Faster
        } else if self.is_below(0.0, self.settings.false_keep) {
            Verdict::Slower
        } else if self.rates.len() as u32 >= self.settings.max_blocks {
            Verdict::NoDifference
        } else {
            return None;
        };
        Some(self.decide(verdict))
    }

    /// The decision from the blocks so far, for an experiment that ends early.
    pub fn give_up(&self) -> Decision {
        self.decide(Verdict::NoDifference)
    }

    fn decide(&self, verdict: Verdict) -> Decision {
        let count = self.rates.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| match self.rates.is_empty() {
            true => 0.0,
            false => (self.rates.iter().map(of).sum::<f64>() / count).exp(),
        };
        let (before, after) = (mean(|rates| rates.0), mean(|rates| rates.1));
        let (low, high) = self.interval();
        Decision {
            verdict,
            before,
            after,
            gain: self.median(),
            low,
            high,
            blocks: self.rates.len() as u32,
        }
    }

    /// The logarithms of the gains of the blocks.
    fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.rates
            .iter()
            .map(|(plain, transformed)| transformed - plain)
    }

    /// The median of the gains; 1 without blocks.
    fn median(&self) -> f64 {
        let mut values: Vec<f64> = self.values().collect();
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let median = match values.len() {
            0 => 0.0,
            count if count % 2 == 0 => (values[middle - 1] + values[middle]) / 2.0,
            _ => values[middle],
        };
        median.exp()
    }

    /// Whether the median of the values is shown to exceed `m`.
    fn exceeds(&self, m: f64, level: f64) -> bool {
        rejects_even_odds(self.values().map(|value| value > m), level)
    }

    /// Whether the median of the values is shown to be below `m`.
    fn is_below(&self, m: f64, level: f64) -> bool {
        rejects_even_odds(self.values().map(|value| value < m), level)
    }

    /// The confidence interval of the gain. An end that is not known is 0 or the largest number.
    fn interval(&self) -> (f64, f64) {
        let half = self.settings.outside / 2.0;
        let mut ends: Vec<f64> = self.values().collect();
        ends.sort_by(f64::total_cmp);
        let low = ends.iter().rev().find(|end| self.exceeds(**end, half));
        let high = ends.iter().find(|end| self.is_below(**end, half));
        (
            low.map_or(0.0, |end| end.exp()),
            high.map_or(f64::MAX, |end| end.exp()),
        )
    }
}

/// Rejects the hypothesis that each sign is true with a probability of at most a half.
fn rejects_even_odds(signs: impl Iterator<Item = bool>, level: f64) -> bool {
    let mut capital = Capital::against(Claim::AtMost, 0.5);
    signs.for_each(|sign| capital.bet(if sign { 1.0 } else { 0.0 }));
    capital.rejects(level)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(progress: f64) -> Window {
        Window {
            seconds: 1.0,
            progress,
        }
    }

    #[test]
    fn a_block_has_both_variants_twice_in_mirrored_order() {
        let mut judge = Judge::new(Settings::default());
        let mut order = Vec::new();
        for _ in 0..8 {
            order.push(judge.next_variant() == Variant::Transformed);
            judge.add(window(10.0));
        }
        let block = [false, true, true, false];
        assert_eq!(order, [block, block].concat());
    }

    #[test]
    fn a_program_that_stands_still_is_no_evidence() {
        let mut judge = Judge::new(Settings::default());
        let decision = judge.add(window(0.0)).expect("a decision");
        assert_eq!(
            (decision.verdict, decision.is_kept()),
            (Verdict::NoProgress, false)
        );
    }

    #[test]
    fn a_load_that_rises_steadily_is_no_gain() {
        let mut judge = Judge::new(Settings::default());
        let decision = (0..).find_map(|n| judge.add(window(100.0 + f64::from(n))));
        let decision = decision.expect("a decision");
        assert_eq!(decision.verdict, Verdict::NoDifference);
        assert!((decision.gain - 1.0).abs() < 1e-3, "{decision:?}");
    }

    #[test]
    fn giving_up_early_keeps_nothing() {
        let judge = Judge::new(Settings::default());
        assert!(!judge.give_up().is_kept());
    }
}
