//! Counts for each of the last seconds.

use serde::{Deserialize, Serialize};

/// The number of whole seconds for which a rate is available.
pub const RATE_WINDOW_SECONDS: u64 = 60;

/// The counts of one combination of keys by second. Seconds are those of the clock of
/// `System.nanoTime()`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// The current second, which is incomplete.
    pub now: u64,
    /// The second of the first recorded value.
    pub first: u64,
    /// Pairs of a second and its count. No second appears twice.
    pub seconds: Vec<(u64, u64)>,
}

impl Rate {
    /// Reads the words of an entry, which `VeneerTables.countRate` writes. `first` is the second of
    /// the first value, plus 1. Each word of `ring` has a second in its upper half, and its count in
    /// its lower half.
    pub(super) fn decode(now: u64, first: u64, ring: impl Iterator<Item = u64>) -> Rate {
        let seconds = ring.map(|word| (word >> 32, word & 0xffff_ffff));
        Rate {
            now,
            // Still 0 while a thread counts the first value.
            first: first.checked_sub(1).unwrap_or(now),
            seconds: seconds.filter(|(_, count)| *count > 0).collect(),
        }
    }

    /// Returns pairs of age in seconds and count, latest first. Age 0 is the current second, and
    /// the greatest age is [`RATE_WINDOW_SECONDS`].
    pub fn counts_by_age(&self) -> Vec<(u64, u64)> {
        let ago = |(second, count): &(u64, u64)| (self.now.saturating_sub(*second), *count);
        let mut all: Vec<(u64, u64)> = self.seconds.iter().map(ago).collect();
        all.retain(|(ago, count)| *ago <= RATE_WINDOW_SECONDS && *count > 0);
        all.sort_unstable();
        all
    }

    /// Returns the number of whole seconds since the first value, including its second, but at most
    /// `at_most`.
    pub fn complete_seconds(&self, at_most: u64) -> u64 {
        self.now.saturating_sub(self.first).min(at_most)
    }

    /// Returns the average count per second over the last whole seconds, at most `at_most`; 0 if no
    /// whole second has passed.
    pub fn per_second(&self, at_most: u64) -> f64 {
        let whole = self.complete_seconds(at_most);
        if whole == 0 {
            return 0.0;
        }
        let inside = self.counts_by_age().into_iter();
        let inside = inside.filter(|(ago, _)| (1..=whole).contains(ago));
        let sum = inside.fold(0u64, |sum, (_, count)| sum.saturating_add(count));
        sum as f64 / whole as f64
    }

    /// Adds the counts of another table.
    pub(super) fn add(&mut self, other: &Rate) {
        self.now = self.now.max(other.now);
        self.first = self.first.min(other.first);
        for (second, count) in &other.seconds {
            match self.seconds.iter_mut().find(|known| known.0 == *second) {
                Some(known) => known.1 = known.1.saturating_add(*count),
                None => self.seconds.push((*second, *count)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(first: u64) -> Rate {
        let seconds = vec![(100, 7), (99, 10), (98, 20), (90, 70), (40, 600), (39, 5)];
        Rate {
            now: 100,
            first,
            seconds,
        }
    }

    #[test]
    fn the_running_second_is_shown_and_not_averaged() {
        let rate = rate(10);
        assert_eq!(
            rate.counts_by_age(),
            [(0, 7), (1, 10), (2, 20), (10, 70), (60, 600)]
        );
        assert_eq!(rate.per_second(1), 10.0);
        assert_eq!(rate.per_second(10), 10.0);
        assert_eq!(rate.per_second(60), 700.0 / 60.0);
    }

    #[test]
    fn a_short_history_is_averaged_over_its_own_length() {
        assert_eq!(
            (rate(98).complete_seconds(60), rate(98).per_second(60)),
            (2, 15.0)
        );
        assert_eq!(
            (rate(100).complete_seconds(60), rate(100).per_second(60)),
            (0, 0.0)
        );
    }

    #[test]
    fn rates_are_merged_by_second() {
        let mut one = rate(50);
        let other = Rate {
            now: 101,
            first: 45,
            seconds: vec![(100, 1), (97, 2)],
        };
        one.add(&other);
        assert_eq!((one.now, one.first), (101, 45));
        let recent = one.counts_by_age();
        assert_eq!(recent[..4], [(1, 8), (2, 10), (3, 20), (4, 2)]);
    }
}
