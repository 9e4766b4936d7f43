//! Tests and confidence sequences for the mean of a bounded sequence, by betting.
//!
//! **Test.** To test the hypothesis that the mean of a sequence `x` in [0, 1] is at most `m`, a
//! gambler bets the fraction `f` of the capital on each value: the capital is multiplied by
//! `1 + (f / m)(x - m)`. The factor is positive, and if the hypothesis holds its expectation given
//! the past is at most 1. The capital is then a non-negative supermartingale, and by Ville's
//! inequality (1939) the probability that it *ever* reaches `1 / α` is at most `α`. So the test may
//! look after every value and stop at any time. The mean of several gamblers' capitals has the same
//! property, and it grows almost as fast as that of the best one.
//!
//! **Confidence sequence.** The capital falls if `m` grows, so the rejected means are the ones below
//! a bound. Tests on a grid of means, in both directions, enclose the mean at all times at once.
//!
//! Source: Waudby-Smith and Ramdas, *Estimating means of bounded random variables by betting*,
//! Journal of the Royal Statistical Society B 86(1), 2024. The gamblers are a fixed grid of
//! fractions, a mixture as in their section on diversified betting.
//!
//! **Why this method.** The values need not be independent, normal, or equally distributed. The only
//! premise is a bound of the conditional mean. A sequential probability ratio test (Wald, 1945)
//! needs the distribution, which phases and rare long calls do not have.

/// The fractions of the capital that the gamblers bet.
const FRACTIONS: [f64; 4] = [0.05, 0.2, 0.5, 0.95];
/// The capital above which a gambler stops; it prevents overflow, and every level is passed long
/// before.
const MAX_CAPITAL: f64 = 1e200;
/// The number of means of a confidence sequence.
const GRID: u32 = 48;

/// A claim about the mean, which a test tries to reject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The mean is at most this large.
    AtMost,
    /// The mean is at least this large.
    AtLeast,
}

/// The capital of gamblers who bet against a hypothesis about the mean.
#[derive(Clone, Debug)]
pub struct Capital {
    claim: Claim,
    mean: f64,
    gamblers: [f64; FRACTIONS.len()],
    largest: f64,
}

impl Capital {
    /// Returns a capital of 1 against the hypothesis about `mean`, which is clamped to the open
    /// interval from 0 to 1.
    pub fn against(claim: Claim, mean: f64) -> Capital {
        Capital {
            claim,
            mean: mean.clamp(1e-9, 1.0 - 1e-9),
            gamblers: [1.0; FRACTIONS.len()],
            largest: 1.0,
        }
    }

    /// Bets on the next value, from 0 to 1.
    pub fn bet(&mut self, value: f64) {
        let gain = match self.claim {
            Claim::AtMost => (value - self.mean) / self.mean,
            Claim::AtLeast => (self.mean - value) / (1.0 - self.mean),
        };
        for (capital, fraction) in self.gamblers.iter_mut().zip(FRACTIONS) {
            *capital = (*capital * (1.0 + fraction * gain)).clamp(0.0, MAX_CAPITAL);
        }
        let mean = self.gamblers.iter().sum::<f64>() / FRACTIONS.len() as f64;
        self.largest = self.largest.max(mean);
    }

    /// Returns whether the capital ever reached `1 / level`. If the hypothesis holds, that happens
    /// with at most the probability `level`.
    pub fn rejects(&self, level: f64) -> bool {
        self.largest * level >= 1.0
    }
}

/// An interval that encloses the mean at all times with a stated probability.
#[derive(Clone, Debug)]
pub struct ConfidenceSequence {
    level: f64,
    below: Vec<Capital>,
    above: Vec<Capital>,
}

impl ConfidenceSequence {
    /// Returns a sequence that encloses the mean at all times with probability `1 - level`.
    pub fn new(level: f64) -> ConfidenceSequence {
        // The grid is finer near zero, at which thresholds are.
        let grid = |i: u32| (f64::from(i) / f64::from(GRID + 1)).powf(1.5);
        let all = |claim| {
            (1..=GRID)
                .map(|i| Capital::against(claim, grid(i)))
                .collect()
        };
        ConfidenceSequence {
            level,
            below: all(Claim::AtMost),
            above: all(Claim::AtLeast),
        }
    }

    /// Adds a value of which only bounds are known. The interval encloses the mean of any values
    /// between the bounds.
    pub fn add(&mut self, low: f64, high: f64) {
        self.below.iter_mut().for_each(|c| c.bet(low));
        self.above.iter_mut().for_each(|c| c.bet(high));
    }

    /// Returns the bounds of the mean.
    pub fn bounds(&self) -> (f64, f64) {
        let half = self.level / 2.0;
        let low = self.below.iter().rev().find(|c| c.rejects(half));
        let high = self.above.iter().find(|c| c.rejects(half));
        (low.map_or(0.0, |c| c.mean), high.map_or(1.0, |c| c.mean))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small generator of pseudo-random numbers (SplitMix64), so that the figures are the same in
    /// every run.
    struct Draw(u64);

    impl Draw {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    /// Counts the runs in which `hypothesis` about 0.1 is ever rejected although it holds with
    /// equality. Half of the runs have rare large values, half have many small ones.
    fn false_rejections(claim: Claim, level: f64) -> usize {
        (0..400u64)
            .filter(|seed| {
                let mut draw = Draw(*seed);
                let mut capital = Capital::against(claim, 0.1);
                for _ in 0..300 {
                    let rare = f64::from(draw.next() < 0.1);
                    let small = 0.2 * draw.next();
                    capital.bet(if seed % 2 == 0 { rare } else { small });
                }
                capital.rejects(level)
            })
            .count()
    }

    #[test]
    fn a_true_hypothesis_is_rejected_at_most_as_often_as_stated() {
        for claim in [Claim::AtMost, Claim::AtLeast] {
            let rejected = false_rejections(claim, 0.05);
            assert!(rejected <= 20, "{claim:?}: {rejected} of 400");
        }
    }

    #[test]
    fn a_confidence_sequence_encloses_the_mean_and_shrinks() {
        let mut outside = 0;
        for seed in 0..60 {
            let (mut draw, mut sequence) = (Draw(seed), ConfidenceSequence::new(0.05));
            let mut left = false;
            for _ in 0..100 {
                let value = 0.3 + 0.4 * draw.next();
                sequence.add(value, value);
                let (low, high) = sequence.bounds();
                left |= low > 0.5 || high < 0.5;
            }
            let (low, high) = sequence.bounds();
            assert!(high - low < 0.25, "{low} to {high}");
            outside += usize::from(left);
        }
        assert!(outside <= 3, "{outside} of 60");
    }

    #[test]
    fn sixty_percent_needs_few_values_and_zero_needs_about_sixty() {
        let mut most = Capital::against(Claim::AtMost, 0.05);
        let mut least = Capital::against(Claim::AtLeast, 0.05);
        (0..4).for_each(|_| most.bet(0.6));
        assert!(most.rejects(0.05));
        (0..100).for_each(|_| least.bet(0.0));
        assert!(least.rejects(0.05));
    }
}
