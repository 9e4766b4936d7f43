//! The difference between two readings of a table.

use super::identity::KeyIdentity;
use crate::{Tally, TallyEntry, TallyKind};
use std::collections::HashMap;

impl Tally {
    /// Returns the values recorded since the reading `earlier` of the same table. Keys without new
    /// values are left out. The minimum, the maximum and the rates are left out too, because two
    /// readings do not determine them.
    #[must_use]
    pub fn difference_since(&self, earlier: &Tally, kind: TallyKind) -> Tally {
        let before = earlier.given.unwrap_or(0);
        // The table was cleared in between, so all its values are new.
        let whole = self.given.is_some_and(|given| given < before);
        let given = self
            .given
            .map(|given| if whole { given } else { given - before });
        let entries = if kind.has_occurrences() {
            let new = |entry: &&TallyEntry| whole || entry.at.is_some_and(|at| at.number >= before);
            self.entries.iter().filter(new).cloned().collect()
        } else {
            let keyed = |entry| (KeyIdentity::of_all_keys(entry), entry);
            let known: HashMap<KeyIdentity, &TallyEntry> =
                earlier.entries.iter().map(keyed).collect();
            let change = |entry: &TallyEntry| match known.get(&KeyIdentity::of_all_keys(entry)) {
                Some(before) => difference(entry, before, kind),
                None => entry.clone(),
            };
            let changes = self.entries.iter().map(change);
            changes.filter(|entry| entry.count > 0).collect()
        };
        Tally {
            entries,
            rest: difference(&self.rest, &earlier.rest, kind),
            given,
        }
    }
}

fn difference(now: &TallyEntry, before: &TallyEntry, kind: TallyKind) -> TallyEntry {
    // Either the table was cleared in between, or in a `top` table another key has used the slot in
    // between. In both cases the current values are the best answer.
    if now.count < before.count || kind == TallyKind::Top && now.error != before.error {
        return now.clone();
    }
    let bucket = |(n, count): (usize, &u64)| {
        let before = before.buckets.get(n).copied().unwrap_or(0);
        count.saturating_sub(before)
    };
    TallyEntry {
        keys: now.keys.clone(),
        marks: now.marks.clone(),
        count: now.count - before.count,
        sum: now.sum.wrapping_sub(before.sum),
        buckets: now.buckets.iter().enumerate().map(bucket).collect(),
        ..TallyEntry::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Occurrence, TallyKey};

    fn entry(key: i64, count: u64, sum: i64, buckets: &[u64]) -> TallyEntry {
        TallyEntry {
            keys: vec![TallyKey::Integer(key)],
            marks: vec![[0, 0]],
            count,
            sum,
            buckets: buckets.to_vec(),
            ..TallyEntry::default()
        }
    }

    fn tally(entries: Vec<TallyEntry>, rest: u64) -> Tally {
        let rest = TallyEntry {
            count: rest,
            ..TallyEntry::default()
        };
        Tally {
            entries,
            rest,
            given: None,
        }
    }

    #[test]
    fn since_returns_the_difference_by_keys() {
        let before = tally(vec![entry(1, 5, 50, &[1, 4]), entry(2, 3, -3, &[3])], 2);
        let now = tally(
            vec![
                entry(2, 3, -3, &[3]),
                entry(1, 7, 45, &[1, 4, 2]),
                entry(3, 1, 9, &[0, 1]),
            ],
            6,
        );
        let change = now.difference_since(&before, TallyKind::Histogram);
        let expected = [entry(1, 2, -5, &[0, 0, 2]), entry(3, 1, 9, &[0, 1])];
        assert_eq!(change.entries, expected);
        assert_eq!(change.rest.count, 4);
        // The table was cleared in between.
        let change = before.difference_since(&now, TallyKind::Histogram);
        assert_eq!(change.entries, [entry(1, 5, 50, &[1, 4])]);
    }

    #[test]
    fn a_reused_top_slot_keeps_its_current_values() {
        let top = |count, error| TallyEntry {
            error,
            ..entry(1, count, 0, &[])
        };
        let before = tally(vec![top(7, 2)], 0);
        let same = tally(vec![top(9, 2)], 0).difference_since(&before, TallyKind::Top);
        assert_eq!(same.entries, [top(2, 0)]);
        let again = tally(vec![top(12, 11)], 0).difference_since(&before, TallyKind::Top);
        assert_eq!(again.entries, [top(12, 11)]);
    }

    #[test]
    fn since_returns_single_values_with_later_numbers() {
        let moment = |number| TallyEntry {
            at: Some(Occurrence {
                number,
                ..Occurrence::default()
            }),
            ..entry(0, 1, 0, &[])
        };
        let last = |numbers: std::ops::Range<u64>| Tally {
            given: Some(numbers.end),
            entries: numbers.map(moment).collect(),
            rest: TallyEntry::default(),
        };
        let change = last(4..9).difference_since(&last(2..7), TallyKind::Last);
        assert_eq!(
            (change.entries, change.given),
            (vec![moment(7), moment(8)], Some(2))
        );
        // The table was cleared in between.
        let change = last(0..2).difference_since(&last(2..7), TallyKind::Last);
        assert_eq!((change.entries.len(), change.given), (2, Some(2)));
    }
}
