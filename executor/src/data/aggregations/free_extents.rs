//! The free parts of a file of fixed size.

use std::collections::BTreeMap;

/// The free parts of a file. **Invariant:** no two parts overlap or touch.
#[derive(Debug, PartialEq, Eq)]
pub struct FreeExtents {
    /// The length in bytes by the offset of the first byte.
    parts: BTreeMap<u64, u64>,
}

impl FreeExtents {
    /// A file of `size` bytes that is free as a whole.
    pub fn new(size: u64) -> FreeExtents {
        FreeExtents {
            parts: BTreeMap::from([(0, size)]),
        }
    }

    /// Takes `len` bytes from the first part that has so many, and returns their offset. Returns
    /// `None` if no part has so many.
    pub fn take(&mut self, len: u64) -> Option<u64> {
        let large_enough = |(_, free): &(&u64, &u64)| **free >= len;
        let (&offset, &free) = self.parts.iter().find(large_enough)?;
        self.parts.remove(&offset);
        if free > len {
            self.parts.insert(offset + len, free - len);
        }
        Some(offset)
    }

    /// Gives back bytes that [`FreeExtents::take`] has returned.
    pub fn give_back(&mut self, mut offset: u64, mut len: u64) {
        if let Some((&before, &free)) = self.parts.range(..offset).next_back()
            && before + free == offset
        {
            self.parts.remove(&before);
            (offset, len) = (before, free + len);
        }
        if let Some(behind) = self.parts.remove(&(offset + len)) {
            len += behind;
        }
        self.parts.insert(offset, len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_are_given_back_are_joined_with_their_neighbours() {
        let mut free = FreeExtents::new(100);
        let taken: Vec<u64> = (0..10).filter_map(|_| free.take(10)).collect();
        assert_eq!(taken, [0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
        assert_eq!((free.take(1), free.parts.len()), (None, 0));
        free.give_back(20, 10);
        free.give_back(40, 10);
        assert_eq!(free.take(20), None, "the two parts do not touch");
        free.give_back(30, 10);
        assert_eq!(free.take(30), Some(20));
        for offset in [90, 0, 50, 70, 10, 60, 80] {
            free.give_back(offset, 10);
        }
        free.give_back(20, 30);
        assert_eq!(free, FreeExtents::new(100));
    }

    #[test]
    fn the_first_part_that_is_large_enough_is_used() {
        let mut free = FreeExtents::new(100);
        assert_eq!(
            (free.take(30), free.take(30), free.take(40)),
            (Some(0), Some(30), Some(60))
        );
        free.give_back(0, 30);
        free.give_back(60, 40);
        assert_eq!(free.take(35), Some(60));
        assert_eq!(free.take(5), Some(0));
        assert_eq!(
            (free.take(26), free.take(25), free.take(5)),
            (None, Some(5), Some(95))
        );
        assert!(free.parts.is_empty());
    }
}
