//! What a rate has of a combination of keys; see `VeneerTables.countRate`.

use super::Tallies;
use crate::data::monotonic::monotonic;
use veneer_instruments::{RING, Rate};

impl Tallies {
    /// Reads the words from the count on.
    pub(super) fn rate(&self, values: u64) -> Rate {
        // What comes while this is read may be counted in a later second.
        let now = monotonic() / 1_000_000_000;
        let ring = (0..RING).map(|n| self.word(values + 16 + 8 * n) as u64);
        let seconds = ring.map(|word| (word >> 32, word & 0xffff_ffff));
        Rate {
            now,
            // Where it says nothing yet, the first is being counted.
            first: (self.word(values + 8) as u64).checked_sub(1).unwrap_or(now),
            seconds: seconds.filter(|(_, count)| *count > 0).collect(),
        }
    }
}
