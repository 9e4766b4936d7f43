//! The allocator of method ids.
//!
//! A class reserves one range of consecutive ids for all its methods. Released ranges are reused,
//! and adjacent released ranges are merged, so that a program which loads and unloads classes for
//! ever needs no new ids.

use std::collections::BTreeMap;
use std::ops::Range;
use veneer_names::MethodId;

/// Ids are below this number. Cells, anchors and tables of the runtime classes are indexed by
/// method id.
pub const MAX_METHOD_IDS: u32 = 1 << 24;

/// The free and the unused ids.
#[derive(Default)]
pub struct MethodIds {
    /// Released ranges: the first id and the length. The ranges are neither empty nor adjacent.
    free: BTreeMap<u32, u32>,
    /// The first id that was never reserved.
    next: u32,
}

impl MethodIds {
    /// Reserves `count` consecutive ids and returns the first. Takes them from the first released
    /// range that is long enough, or else from the unused ids. Returns `None` if there are not
    /// enough.
    pub fn reserve(&mut self, count: u32) -> Option<MethodId> {
        if let Some(first) = self.reuse(count) {
            return Some(MethodId(first));
        }
        let first = self.next;
        let end = first.checked_add(count);
        self.next = end.filter(|end| *end <= MAX_METHOD_IDS)?;
        Some(MethodId(first))
    }

    fn reuse(&mut self, count: u32) -> Option<u32> {
        if count == 0 {
            return None;
        }
        let (&first, &length) = self.free.iter().find(|(_, length)| **length >= count)?;
        self.free.remove(&first);
        if length > count {
            self.free.insert(first + count, length - count);
        }
        Some(first)
    }

    /// Releases a reserved range. The caller must release each range at most once.
    pub fn release(&mut self, ids: Range<MethodId>) {
        let (mut first, mut end) = (ids.start.0, ids.end.0);
        if first == end {
            return;
        }
        if let Some(length) = self.free.remove(&end) {
            end += length;
        }
        if let Some((&before, &length)) = self.free.range(..first).next_back()
            && before + length == first
        {
            first = before;
        }
        self.free.insert(first, end - first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(ids: Range<u32>) -> Range<MethodId> {
        MethodId(ids.start)..MethodId(ids.end)
    }

    fn free(ids: &MethodIds) -> Vec<(u32, u32)> {
        ids.free
            .iter()
            .map(|(first, length)| (*first, *length))
            .collect()
    }

    #[test]
    fn new_ids_are_consecutive() {
        let mut ids = MethodIds::default();
        assert_eq!(ids.reserve(4), Some(MethodId(0)));
        assert_eq!(ids.reserve(2), Some(MethodId(4)));
        assert_eq!(ids.reserve(3), Some(MethodId(6)));
    }

    #[test]
    fn a_released_range_is_reused_from_its_beginning() {
        let mut ids = MethodIds::default();
        ids.reserve(4);
        ids.reserve(1);
        ids.release(range(0..4));
        assert_eq!(
            (ids.reserve(3), ids.reserve(1)),
            (Some(MethodId(0)), Some(MethodId(3)))
        );
        assert!(free(&ids).is_empty());
    }

    #[test]
    fn a_range_that_is_too_short_is_not_reused() {
        let mut ids = MethodIds::default();
        ids.reserve(9);
        ids.release(range(0..4));
        ids.release(range(6..9));
        assert_eq!(ids.reserve(5), Some(MethodId(9)));
        assert_eq!(free(&ids), [(0, 4), (6, 3)]);
    }

    #[test]
    fn adjacent_ranges_are_merged_on_both_sides() {
        let mut ids = MethodIds::default();
        ids.reserve(9);
        ids.release(range(0..4));
        ids.release(range(6..9));
        ids.release(range(4..6));
        assert_eq!(free(&ids), [(0, 9)]);
        assert_eq!(ids.reserve(7), Some(MethodId(0)));
        assert_eq!(ids.reserve(2), Some(MethodId(7)));
    }

    #[test]
    fn ranges_with_a_gap_are_not_merged() {
        let mut ids = MethodIds::default();
        ids.reserve(9);
        ids.release(range(0..2));
        ids.release(range(3..5));
        assert_eq!(free(&ids), [(0, 2), (3, 2)]);
    }

    #[test]
    fn a_class_without_methods_gets_an_empty_range() {
        let mut ids = MethodIds::default();
        ids.reserve(3);
        ids.release(range(0..2));
        assert_eq!(ids.reserve(0), Some(MethodId(3)));
        ids.release(range(3..3));
        assert_eq!(free(&ids), [(0, 2)]);
    }

    #[test]
    fn a_reservation_over_the_limit_fails_and_takes_no_ids() {
        let mut ids = MethodIds::default();
        assert_eq!(ids.reserve(MAX_METHOD_IDS - 1), Some(MethodId(0)));
        assert_eq!(ids.reserve(2), None);
        assert_eq!(ids.reserve(u32::MAX), None);
        assert_eq!(ids.reserve(1), Some(MethodId(MAX_METHOD_IDS - 1)));
        assert_eq!(ids.reserve(1), None);
        ids.release(range(10..11));
        assert_eq!(ids.reserve(1), Some(MethodId(10)));
    }
}
