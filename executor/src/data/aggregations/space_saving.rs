//! The slots of a table of the most frequent keys (space-saving algorithm). `VeneerTables.countTop`
//! writes them, and reassigns a slot from rare keys to new ones while it is being read here.

use super::{TableLayout, Tallies, VALUES};
use veneer_instruments::TallyEntry;

/// The most attempts to read a slot that a thread is reassigning. Miri needs 50 ms for an attempt.
const READ_ATTEMPTS: u32 = if cfg!(miri) { 10 } else { 10_000 };

impl Tallies {
    /// Reads the entry at this offset. Returns `Ok(None)` if the slot is free.
    ///
    /// # Errors
    /// Threads were reassigning the slot in all attempts: only its count is known.
    pub(super) fn space_saving_entry(
        &self,
        layout: &TableLayout,
        at: u64,
    ) -> Result<Option<TallyEntry>, u64> {
        for _ in 0..READ_ATTEMPTS {
            let state = self.word(at);
            if state == 0 {
                return Ok(None);
            }
            let error = self.word(at + VALUES + 8);
            let count = self.word(at + VALUES) as u64;
            let mut entry = TallyEntry {
                count,
                // If the table is being cleared, one of the two may still be the old one.
                error: (error as u64).min(count),
                ..TallyEntry::default()
            };
            self.read_keys(layout, at, &mut entry);
            // The error grows with each reassignment, so the keys belong to the count if neither
            // the state nor the error has changed.
            if state != 1 && self.word(at) == state && self.word(at + VALUES + 8) == error {
                return Ok((count > 0).then_some(entry));
            }
            std::hint::spin_loop();
        }
        Err(self.word(at + VALUES) as u64)
    }
}
