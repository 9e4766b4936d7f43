//! The hash table with which the builders of constants find an equal entry.
//!
//! The table is a plain open-addressing hash table of pool indices; the entries stay in the pool.
//! The hash is keyed at random, so no crafted class file can cause many collisions.
//!
//! The first bytes of an entry determine its length. So an entry of the pool equals a given one if
//! the bytes from its offset on begin with those of the given entry.

use ahash::RandomState;

/// Pool indices, hashed by entry bytes. 0 is not a valid index and marks a free position.
///
#[derive(Debug, Clone)]
pub(super) struct InternTable {
    hasher: RandomState,
    positions: Vec<u16>,
    used: usize,
}

impl InternTable {
    /// Makes an empty table with room for this number of entries.
    pub(super) fn with_room_for(entries: u16) -> InternTable {
        let positions = (2 * usize::from(entries)).next_power_of_two().max(64);
        InternTable {
            hasher: RandomState::new(),
            positions: vec![0; positions],
            used: 0,
        }
    }

    /// Returns the index of an equal entry, or the position at which to insert one. `bytes_at`
    /// returns the bytes from the start of a pool entry on.
    pub(super) fn find<'p>(
        &self,
        entry: &[u8],
        bytes_at: impl Fn(u16) -> Option<&'p [u8]>,
    ) -> Result<u16, usize> {
        let mask = self.positions.len() - 1;
        let mut position = self.hasher.hash_one(entry) as usize & mask;
        // The table is never more than half full, so the probe sequence ends at a free position.
        loop {
            match self.positions.get(position) {
                Some(&index) if index != 0 => {
                    if bytes_at(index).is_some_and(|found| found.starts_with(entry)) {
                        return Ok(index);
                    }
                }
                _ => return Err(position),
            }
            position = (position + 1) & mask;
        }
    }

    /// Inserts an index at a position that [`InternTable::find`] returned.
    pub(super) fn insert(&mut self, position: usize, index: u16) {
        if let Some(free) = self.positions.get_mut(position) {
            *free = index;
            self.used += 1;
        }
    }

    /// Returns whether the table must be doubled before the next insertion.
    pub(super) fn is_half_full(&self) -> bool {
        2 * self.used >= self.positions.len()
    }

    /// Removes all entries and doubles the number of positions.
    pub(super) fn clear_and_double(&mut self) {
        self.positions = vec![0; 2 * self.positions.len()];
        self.used = 0;
    }
}
