//! Merges several tables of one kind, and several entries with the same keys.

use super::identity::KeyIdentity;
use crate::{Tally, TallyEntry, TallyKind};
use std::collections::HashMap;

/// The reason why tables cannot be merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// The list of tables is empty.
    #[error("there is no table to merge: write merge([t1, t2])")]
    NoTables,
    /// The tables are of different kinds.
    #[error(
        "only tables of one kind can be merged, and these are a {one}() and a {other}() that differ"
    )]
    DifferentKinds {
        /// The name of the first table's kind.
        one: &'static str,
        /// The name of the other table's kind.
        other: &'static str,
    },
    /// Merged tables of this kind would be wrong or meaningless.
    #[error("tables made by {kind}(…) cannot be merged: {why}")]
    UnmergeableKind {
        /// The name of the kind.
        kind: &'static str,
        /// The reason, as a clause after a colon.
        why: &'static str,
    },
}

/// Merges tables of one kind. Entries with the same keys are added up. In `distinct` tables, a
/// value that several tables contain counts once. The entries of `last` tables are sorted by time.
pub fn merge_tables(tables: Vec<(TallyKind, Tally)>) -> Result<(TallyKind, Tally), MergeError> {
    let kind = tables.first().ok_or(MergeError::NoTables)?.0;
    if let Some((other, _)) = tables.iter().find(|(other, _)| *other != kind) {
        return Err(MergeError::DifferentKinds {
            one: kind.plan_function(),
            other: other.plan_function(),
        });
    }
    let unsound = |why| {
        let kind = kind.plan_function();
        Err(MergeError::UnmergeableKind { kind, why })
    };
    match kind {
        TallyKind::Top => {
            return unsound(
                "a key that one of them has dropped may have come there, so no bound would hold",
            );
        }
        TallyKind::Sample => {
            return unsound(
                "they are drawn from different numbers of values, so together they are no even sample",
            );
        }
        kind if kind.is_probe_private() => return unsound("they are stacks"),
        _ => {}
    }
    let mut out = Tally::default();
    for (_, tally) in tables {
        add_entry(&mut out.rest, tally.rest);
        out.given = match (out.given, tally.given) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        out.entries.extend(tally.entries);
    }
    if !kind.has_occurrences() {
        out = out.merge_equal_keys();
    }
    // The numbers of different tables are independent, so only the times define an order.
    out.entries
        .sort_by_key(|entry| entry.at.map(|at| at.time_ns));
    Ok((kind, out))
}

impl Tally {
    /// Merges entries with equal keys. Threads that create an entry for the same keys at the same
    /// time may have created two.
    #[must_use]
    pub fn merge_equal_keys(self) -> Tally {
        let mut entries: Vec<TallyEntry> = Vec::with_capacity(self.entries.len());
        let mut known: HashMap<KeyIdentity, usize> = HashMap::with_capacity(self.entries.len());
        for entry in self.entries {
            let place = known.entry(KeyIdentity::of_all_keys(&entry));
            let n = *place.or_insert(entries.len());
            match entries.get_mut(n) {
                Some(both) => add_entry(both, entry),
                None => entries.push(entry),
            }
        }
        Tally { entries, ..self }
    }
}

fn add_entry(to: &mut TallyEntry, other: TallyEntry) {
    if to.count == 0 {
        (to.min, to.max) = (other.min, other.max);
    } else if other.count > 0 {
        (to.min, to.max) = (to.min.min(other.min), to.max.max(other.max));
    }
    to.count = to.count.saturating_add(other.count);
    to.sum = to.sum.wrapping_add(other.sum);
    to.distinct = to.distinct.max(other.distinct);
    to.error = to.error.saturating_add(other.error);
    if to.buckets.len() < other.buckets.len() {
        to.buckets.resize(other.buckets.len(), 0);
    }
    for (bucket, more) in to.buckets.iter_mut().zip(&other.buckets) {
        *bucket = bucket.saturating_add(*more);
    }
    match (&mut to.rate, other.rate) {
        (Some(rate), Some(more)) => rate.add(&more),
        (none, more) => *none = none.take().or(more),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LinearBuckets, Rate, TallyKey};

    fn entry(key: i64, count: u64, values: (i64, i64, i64), buckets: &[u64]) -> TallyEntry {
        TallyEntry {
            keys: vec![TallyKey::Integer(key)],
            marks: vec![[0, 0]],
            count,
            sum: values.0,
            min: values.1,
            max: values.2,
            buckets: buckets.to_vec(),
            ..TallyEntry::default()
        }
    }

    fn table(entries: Vec<TallyEntry>) -> Tally {
        Tally {
            entries,
            ..Tally::default()
        }
    }

    #[test]
    fn entries_of_the_same_keys_are_one() {
        let one = table(vec![
            entry(1, 2, (5, 2, 3), &[2]),
            entry(2, 1, (7, 7, 7), &[0, 1]),
        ]);
        let other = table(vec![entry(1, 1, (-9, -9, -9), &[0, 0, 1])]);
        let kind = TallyKind::Histogram;
        let (_, both) = merge_tables(vec![(kind, one), (kind, other)]).expect("one kind");
        let expected = [
            entry(1, 3, (-4, -9, 3), &[2, 0, 1]),
            entry(2, 1, (7, 7, 7), &[0, 1]),
        ];
        assert_eq!(both.entries, expected);
    }

    #[test]
    fn a_value_in_two_distinct_tables_counts_once() {
        let value = |n| TallyEntry {
            distinct: 1,
            ..entry(n, 2, (0, 0, 0), &[])
        };
        let kind = TallyKind::Distinct;
        let sets = vec![
            (kind, table(vec![value(1), value(2)])),
            (kind, table(vec![value(2), value(3)])),
        ];
        let (_, both) = merge_tables(sets).expect("one kind");
        let groups = both.count_distinct().entries;
        assert_eq!((groups[0].distinct, groups[0].count), (3, 8));
    }

    #[test]
    fn merged_rates_are_added_by_second() {
        let rate = |seconds: &[(u64, u64)]| TallyEntry {
            rate: Some(Rate {
                now: 50,
                first: 40,
                seconds: seconds.to_vec(),
            }),
            ..entry(1, 3, (0, 0, 0), &[])
        };
        let kind = TallyKind::Rate;
        let tables = vec![
            (kind, table(vec![rate(&[(49, 3)])])),
            (kind, table(vec![rate(&[(49, 1), (48, 2)])])),
        ];
        let (_, both) = merge_tables(tables).expect("one kind");
        let rate = both.entries[0].rate.clone().unwrap_or_default();
        assert_eq!(
            (both.entries[0].count, rate.counts_by_age()),
            (6, vec![(1, 4), (2, 2)])
        );
    }

    #[test]
    fn incompatible_tables_are_not_merged() {
        let linear = |step| TallyKind::Linear(LinearBuckets::new(0, step, 5).expect("buckets"));
        let two =
            |one, other| merge_tables(vec![(one, Tally::default()), (other, Tally::default())]);
        assert_eq!(merge_tables(Vec::new()), Err(MergeError::NoTables));
        assert!(matches!(
            two(TallyKind::Count, TallyKind::Sums),
            Err(MergeError::DifferentKinds { .. })
        ));
        assert!(matches!(
            two(linear(1), linear(2)),
            Err(MergeError::DifferentKinds { .. })
        ));
        assert!(two(linear(2), linear(2)).is_ok());
        for kind in [TallyKind::Top, TallyKind::Sample] {
            assert!(matches!(
                two(kind, kind),
                Err(MergeError::UnmergeableKind { .. })
            ));
        }
    }
}
