//! The values of an entry of a rate: counts by second. `VeneerTables.countRate` writes them.

use super::Tallies;
use crate::data::monotonic::monotonic;
use veneer_instruments::{RATE_RING_SECONDS, Rate};

impl Tallies {
    /// Reads the counts by second of an entry. `values` is the offset of its values:
    ///
    /// * the count;
    /// * the second of the first value, plus 1;
    /// * a ring of words, each with a second in the upper half and its count in the lower half.
    pub(super) fn rate(&self, values: u64) -> Rate {
        // A value that is counted during this call may belong to a later second.
        let now = monotonic() / 1_000_000_000;
        let ring = (0..RATE_RING_SECONDS).map(|n| self.word(values + 16 + 8 * n) as u64);
        let seconds = ring.map(|word| (word >> 32, word & 0xffff_ffff));
        Rate {
            now,
            // Still 0 while a thread counts the first value.
            first: (self.word(values + 8) as u64).checked_sub(1).unwrap_or(now),
            seconds: seconds.filter(|(_, count)| *count > 0).collect(),
        }
    }
}
