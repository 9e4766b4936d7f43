//! The thread-local parts of a table: counts, sums and buckets that each thread adds up among its
//! own counters (`shards.rs`).
//!
//! ```text
//!   shard of a thread   … | entry 0 (the rest): count, sum, … | entry 1 | entry 2 | …        plain stores
//!   the table itself        additions of threads without a shard, atomic; minima and maxima of all threads
//! ```
//!
//! Only sums can be split like this. A thread's part is never reset, because the thread may be
//! adding to it. Instead, [`ThreadLocalParts::clear`] remembers the sums, and later sums are
//! relative to them.

use crate::data::shards::{SLOTS, Shards};
use veneer_instruments::TallyKind;
use veneer_names::CounterSlot;

/// The most words that one table uses among the counters of a thread. Wider tables have no
/// thread-local parts.
const MAX_WORDS_PER_TABLE: u64 = 1 << 14;
/// The most words that all tables together use. The other counters are left to instruments.
const MAX_WORDS: u64 = SLOTS / 4;

/// The thread-local parts of one table.
pub struct ThreadLocalParts {
    /// The first counter.
    pub slot: CounterSlot,
    /// The sum of each word when the table was last cleared.
    cleared: Vec<i64>,
}

impl ThreadLocalParts {
    /// Allocates parts for a table of `entries` entries, the rest included. Takes parts of the same
    /// width from `free`, the parts of former tables, if there are any. `used_words` is the number
    /// of words of all other tables and of `free`. Returns `None` if tables of this kind cannot be
    /// split, the table is too wide, or too few counters are left.
    pub fn allocate(
        shards: &Shards,
        used_words: u64,
        kind: TallyKind,
        entries: u64,
        free: &mut Vec<ThreadLocalParts>,
    ) -> Option<ThreadLocalParts> {
        let is_sum = matches!(
            kind,
            TallyKind::Count | TallyKind::Sums | TallyKind::Histogram | TallyKind::Linear(_)
        );
        let words = entries * kind.value_words();
        if !is_sum || words > MAX_WORDS_PER_TABLE {
            return None;
        }
        if let Some(at) = free.iter().position(|parts| parts.words() == words) {
            let mut parts = free.swap_remove(at);
            parts.clear(shards);
            return Some(parts);
        }
        if used_words + words > MAX_WORDS {
            return None;
        }
        let slot = shards.allocate(words as u32)?;
        Some(ThreadLocalParts {
            slot,
            cleared: vec![0; words as usize],
        })
    }

    /// Returns the number of words.
    pub fn words(&self) -> u64 {
        self.cleared.len() as u64
    }

    /// Returns the sums over all threads since the last clear: the words of each entry, one entry
    /// after the other.
    pub fn sums(&self, shards: &Shards) -> Vec<i64> {
        let mut sums = shards.sums(self.slot, self.cleared.len());
        for (sum, before) in sums.iter_mut().zip(&self.cleared) {
            *sum = sum.wrapping_sub(*before);
        }
        sums
    }

    /// Sets all sums to zero.
    pub fn clear(&mut self, shards: &Shards) {
        self.cleared = shards.sums(self.slot, self.cleared.len());
    }
}
