//! Places of a table of the most frequent, which go from keys to keys; see `VeneerTables.countTop`.

use super::{Place, Tallies, VALUES};
use veneer_instruments::Entry;

/// How often a place is read again that is just going to other keys.
const TRIES: u32 = 10_000;

impl Tallies {
    /// What stands at a place, if anything does; its count alone where it is going to other keys all the while.
    pub(super) fn shared(&self, place: &Place, at: u64) -> Result<Option<Entry>, u64> {
        for _ in 0..TRIES {
            let state = self.word(at);
            if state == 0 {
                return Ok(None);
            }
            let error = self.word(at + VALUES + 8);
            let count = self.word(at + VALUES) as u64;
            let mut entry = Entry {
                count,
                // Where the table is being cleared, one may be known and not the other.
                error: (error as u64).min(count),
                ..Entry::default()
            };
            self.keys(place, at, &mut entry);
            // The error rises each time the place goes to other keys.
            if state != 1 && self.word(at) == state && self.word(at + VALUES + 8) == error {
                return Ok((count > 0).then_some(entry));
            }
            std::hint::spin_loop();
        }
        Err(self.word(at + VALUES) as u64)
    }
}
