//! What threads add up for themselves: counts, sums and buckets of a table, among the counters of each thread (`shards.rs`).
//!
//! ```text
//!   shard of a thread   … | place 0 (the rest): count, sum, … | place 1 | place 2 | …        plain stores
//!   the table itself        what threads without counters of their own add, atomically; the greatest and the least of all
//! ```
//!
//! Only what is added up can be split like that. A thread's part is never set back, since it may be just adding to it: what has been cleared is
//! remembered here and taken off.

use crate::data::shards::{SLOTS, Shards};
use veneer_instruments::TallyKind;

/// Words of a table at most, in the counters of each thread.
const WIDEST: u64 = 1 << 14;
/// All tables together, so that instruments do not lack counters because of them.
const MOST: u64 = SLOTS / 4;

/// Those of one table.
pub struct Parts {
    /// The first counter.
    pub slot: u32,
    /// What each had come to when the table was cleared.
    cleared: Vec<i64>,
}

/// Makes room for the parts of a table with so many places, the rest among them. `None` where it is of a kind that is not split, too wide, or there is no
/// room.
pub fn make(
    shards: &Shards,
    others: &[Option<Parts>],
    kind: TallyKind,
    places: u64,
) -> Option<Parts> {
    let is_sum = matches!(
        kind,
        TallyKind::Count | TallyKind::Sums | TallyKind::Histogram | TallyKind::Linear(_)
    );
    let width = places * kind.words();
    let used: usize = others.iter().flatten().map(|p| p.cleared.len()).sum();
    if !is_sum || width > WIDEST || used as u64 + width > MOST {
        return None;
    }
    let slot = shards.allocate(width as u32)?;
    Some(Parts {
        slot,
        cleared: vec![0; width as usize],
    })
}

impl Parts {
    /// What they come to since they were cleared, over all threads: the words of each place, one after the other.
    pub fn now(&self, shards: &Shards) -> Vec<i64> {
        let mut now = shards.sums(self.slot, self.cleared.len());
        for (now, before) in now.iter_mut().zip(&self.cleared) {
            *now = now.wrapping_sub(*before);
        }
        now
    }

    /// They come to nothing from here on.
    pub fn clear(&mut self, shards: &Shards) {
        self.cleared = shards.sums(self.slot, self.cleared.len());
    }
}
