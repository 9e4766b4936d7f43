//! The error of counts from a sample of windows in time.
//!
//! A sampled recording counts lookups and misses in short windows, and not between them. A window `w`
//! has `a(w)` lookups, of which `m(w)` missed. The estimate of the misses among the `A = Σ a` lookups is
//! `M = Σ m`. The differences of the windows show how far the misses of other windows with as many lookups
//! would have been from that: the variance of a ratio estimate follows from the residuals
//! `m(w) − a(w) · M / A` (Cochran, *Sampling Techniques*, 3rd edition, 1977, section 2.11). Only windows
//! with a lookup count.
//!
//! **Stated error.** The margin is that of a 99.9 % interval of Student's distribution, because counts
//! by window are skewed. It is meant to hold in 99 of 100 samples, and a test verifies this for several
//! programs.
//!
//! **Limits.** A phase that no window meets is not in the sample. A program whose phases repeat at the
//! interval of the windows is always met in the same phase. A window begins with caches as the last one
//! left them, and simulates accesses for some milliseconds before it counts. In a cache that is not
//! replaced in this time, lines of the last window can count as present that are no longer there.

use crate::profile::UNKNOWN_MARGIN;

/// The fewest windows that give an error.
pub const MIN_WINDOWS: u64 = 8;
/// The two-sided 99.9 % quantile of the normal distribution.
const QUANTILE: f64 = 3.2905;
/// `-ln(0.01)`: a sample without an event has at least this margin (rule of three for 99 %: Hanley and
/// Lippman-Hand, JAMA 249(13), 1983).
const RULE_OF_THREE: f64 = 4.605;

/// Sums over the windows of a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowSums {
    /// The squares of the lookups of each window.
    pub lookups_squared: u64,
    /// The products of the lookups and the misses of each window.
    pub products: u64,
    /// The squares of the misses of each window.
    pub misses_squared: u64,
    /// The number of windows with a lookup.
    pub windows: u64,
}

impl WindowSums {
    /// Adds a window.
    pub fn add(&mut self, lookups: u64, misses: u64) {
        let add = |sum: &mut u64, a: u64, b: u64| *sum = sum.saturating_add(a.saturating_mul(b));
        add(&mut self.lookups_squared, lookups, lookups);
        add(&mut self.products, lookups, misses);
        add(&mut self.misses_squared, misses, misses);
        self.windows += u64::from(lookups > 0);
    }

    /// The stated error of the misses among all lookups: at most this much in 99 of 100 samples.
    /// [`UNKNOWN_MARGIN`] if there are fewer than [`MIN_WINDOWS`] windows.
    pub fn margin(&self, lookups: u64, misses: u64) -> u64 {
        if lookups == 0 {
            return 0;
        }
        if self.windows < MIN_WINDOWS {
            return UNKNOWN_MARGIN;
        }
        let (n, ratio) = (self.windows as f64, misses as f64 / lookups as f64);
        let squares = [self.lookups_squared, self.products, self.misses_squared];
        let [aa, am, mm] = squares.map(|sum| sum as f64);
        let residuals = (mm - 2.0 * ratio * am + ratio * ratio * aa).max(0.0);
        let variance = n / (n - 1.0) * residuals;
        let margin = student_quantile(n - 1.0) * variance.sqrt();
        margin.max(RULE_OF_THREE).ceil() as u64
    }
}

/// The two-sided 99.9 % quantile of Student's distribution with this many degrees of freedom, to two
/// digits from seven on (Abramowitz and Stegun, *Handbook of Mathematical Functions*, 26.7.5).
fn student_quantile(freedom: f64) -> f64 {
    let z = QUANTILE;
    let terms = [
        (z.powi(3) + z) / 4.0,
        (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0,
        (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0,
    ];
    let terms = terms.iter().zip(1..);
    let terms = terms.map(|(term, power)| term / freedom.powi(power));
    z + terms.sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    /// The lookups and the misses of a window with a number.
    type Windows<'p> = &'p dyn Fn(u64, &mut u64) -> (u64, u64);

    /// A number from 0 to 1.
    fn random(state: &mut u64) -> f64 {
        *state += 1;
        (mix(*state) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn sums(windows: &[(u64, u64)]) -> (WindowSums, u64, u64) {
        let mut sums = WindowSums::default();
        windows.iter().for_each(|(a, m)| sums.add(*a, *m));
        let total = |of: fn(&(u64, u64)) -> u64| windows.iter().map(of).sum::<u64>();
        (sums, total(|w| w.0), total(|w| w.1))
    }

    #[test]
    fn quantiles_are_those_of_the_table() {
        for (freedom, expected) in [(7.0, 5.408), (15.0, 4.073), (60.0, 3.460)] {
            let found = student_quantile(freedom);
            assert!((found - expected).abs() < 0.1, "{freedom}: {found}");
        }
    }

    #[test]
    fn few_windows_have_no_error_and_equal_ratios_a_small_one() {
        let (few, lookups, misses) = sums(&[(100, 10); 7]);
        assert_eq!(few.margin(lookups, misses), UNKNOWN_MARGIN);
        let windows: Vec<(u64, u64)> = (1..=20).map(|n| (100 * n, 10 * n)).collect();
        let (equal, lookups, misses) = sums(&windows);
        assert_eq!(equal.margin(lookups, misses), 5);
        assert_eq!(WindowSums::default().margin(0, 0), 0);
    }

    /// Programs with lookups and misses in each of many windows; some of the windows are the sample.
    #[test]
    fn the_misses_of_a_sample_are_within_their_error_in_99_of_100() {
        let with_ratio = |lookups: f64, ratio: f64| (lookups as u64, (lookups * ratio) as u64);
        let steady =
            |_: u64, s: &mut u64| with_ratio(1e4 + 3e4 * random(s), 0.1 + 0.02 * random(s));
        let phases = |window: u64, s: &mut u64| match window / 40 % 3 {
            0 => with_ratio(5e3 * (1.0 + random(s)), 0.01),
            1 => with_ratio(2e4 * (1.0 + random(s)), 0.3),
            _ => with_ratio(1e4, 0.05 + 0.1 * random(s)),
        };
        let skewed =
            |_: u64, s: &mut u64| with_ratio(2e4, (-(1.0 - random(s)).ln() / 20.0).min(1.0));
        let programs: [Windows; 3] = [&steady, &phases, &skewed];
        for (number, program) in programs.iter().enumerate() {
            let mut state = 7 + number as u64 * 1_000_003;
            let all: Vec<(u64, u64)> = (0..6000).map(|w| program(w, &mut state)).collect();
            let (_, lookups, misses) = sums(&all);
            let ratio = misses as f64 / lookups as f64;
            let mut within = 0;
            for _ in 0..2000 {
                let sample = (0..40).map(|_| all[(random(&mut state) * 6000.0) as usize]);
                let (sums, lookups, misses) = sums(&sample.collect::<Vec<_>>());
                let margin = sums.margin(lookups, misses) as f64;
                let error = (misses as f64 - ratio * lookups as f64).abs();
                within += u32::from(error <= margin);
            }
            assert!(within >= 1980, "program {number}: {within} of 2000");
        }
    }
}
