//! One set-associative memory with replacement of the least recently used line.

use crate::description::Geometry;

/// A slot without a line. No line has this value, because lines have at least 8 bytes.
const EMPTY: u64 = u64::MAX;

/// How the set of a line is found.
#[derive(Clone, Copy, Debug)]
enum SetIndex {
    /// The number of sets is a power of two; the value is that number minus one.
    Mask(u64),
    /// Any other number of sets. Processors hash the address then, and the hash is unpublished.
    Modulo(u64),
}

/// The lines of one level.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    /// The slots of all sets. The slots of a set are ordered from the most to the least recently
    /// used line. A slot holds `line << 1 | dirty`.
    slots: Vec<u64>,
    ways: usize,
    sets: SetIndex,
}

/// A line that had to leave its set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Evicted {
    pub(crate) line: u64,
    pub(crate) dirty: bool,
}

impl Cache {
    /// An empty cache. The geometry is one of a validated description.
    pub(crate) fn new(geometry: &Geometry) -> Cache {
        let sets = geometry.sets;
        Cache {
            slots: vec![EMPTY; geometry.lines() as usize],
            ways: geometry.ways as usize,
            sets: match sets.is_power_of_two() {
                true => SetIndex::Mask(sets - 1),
                false => SetIndex::Modulo(sets),
            },
        }
    }

    #[inline]
    fn set(&mut self, line: u64) -> &mut [u64] {
        let set = match self.sets {
            SetIndex::Mask(mask) => line & mask,
            SetIndex::Modulo(sets) => line % sets,
        };
        let first = set as usize * self.ways;
        &mut self.slots[first..first + self.ways]
    }

    /// Looks a line up. If it is present, it becomes the most recently used line of its set, and
    /// becomes dirty if `dirty` is set. Returns whether the line was present.
    #[inline]
    pub(crate) fn touch(&mut self, line: u64, dirty: bool) -> bool {
        let set = self.set(line);
        let dirty = u64::from(dirty);
        if set[0] >> 1 == line {
            set[0] |= dirty;
            return true;
        }
        // An empty slot does not compare equal: `EMPTY >> 1` is no line.
        let Some(way) = set.iter().position(|slot| *slot >> 1 == line) else {
            return false;
        };
        let slot = set[way] | dirty;
        set.copy_within(0..way, 1);
        set[0] = slot;
        true
    }

    /// Inserts a line that is not present as the most recently used line of its set. Returns the
    /// line that it replaces.
    #[inline]
    pub(crate) fn insert(&mut self, line: u64, dirty: bool) -> Option<Evicted> {
        let set = self.set(line);
        let last = set.len() - 1;
        let replaced = set[last];
        set.copy_within(0..last, 1);
        set[0] = line << 1 | u64::from(dirty);
        (replaced != EMPTY).then_some(Evicted {
            line: replaced >> 1,
            dirty: replaced & 1 == 1,
        })
    }

    /// Looks a line up and inserts it if it is missing, as clean. Returns whether it was present.
    #[inline]
    pub(crate) fn reference(&mut self, line: u64) -> bool {
        let present = self.touch(line, false);
        if !present {
            self.insert(line, false);
        }
        present
    }

    /// Removes all lines. Dirty lines are dropped.
    pub(crate) fn clear(&mut self) {
        self.slots.fill(EMPTY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(sets: u64, ways: u32) -> Cache {
        Cache::new(&Geometry {
            sets,
            ways,
            line_bytes: 64,
        })
    }

    #[test]
    fn the_least_recently_used_line_of_the_set_is_replaced() {
        let mut cache = cache(2, 2);
        assert_eq!(cache.insert(0, false), None);
        assert_eq!(cache.insert(2, true), None);
        assert_eq!(cache.insert(1, false), None, "the other set");
        assert!(cache.touch(0, false));
        assert_eq!(
            cache.insert(4, false),
            Some(Evicted {
                line: 2,
                dirty: true
            })
        );
        assert!(!cache.touch(2, false));
        assert!(cache.touch(0, false) && cache.touch(4, false) && cache.touch(1, false));
    }

    #[test]
    fn the_last_lines_of_the_address_space_are_lines() {
        let mut cache = cache(3, 1);
        let last = u64::MAX / 8;
        assert!(!cache.reference(last));
        assert!(cache.reference(last));
        cache.clear();
        assert!(!cache.touch(last, true));
    }
}
