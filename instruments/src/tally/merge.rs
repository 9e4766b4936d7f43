//! Several tables of one kind as one, and several entries of the same keys.

use super::identity::Identity;
use crate::{Entry, Tally, TallyKind};
use std::collections::HashMap;

/// Why tables cannot be taken together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// None at all.
    #[error("there is no table to merge: write merge([t1, t2])")]
    Nothing,
    /// Their figures do not fit together.
    #[error(
        "only tables of one kind can be merged, and these are a {one}() and a {other}() that differ"
    )]
    Kinds {
        /// The word that makes the first.
        one: &'static str,
        /// That of another.
        other: &'static str,
    },
    /// Nothing can be said of both together.
    #[error("tables made by {kind}(…) cannot be merged: {why}")]
    Unsound {
        /// The word that makes them.
        kind: &'static str,
        /// What would be wrong.
        why: &'static str,
    },
}

/// The tables together: what has the same keys in several is one entry. Of sets, a value that is in several counts once. The latest of several
/// are in order of their times.
pub fn merged(tables: Vec<(TallyKind, Tally)>) -> Result<(TallyKind, Tally), MergeError> {
    let kind = tables.first().ok_or(MergeError::Nothing)?.0;
    if let Some((other, _)) = tables.iter().find(|(other, _)| *other != kind) {
        return Err(MergeError::Kinds {
            one: kind.word(),
            other: other.word(),
        });
    }
    let unsound = |why| {
        let kind = kind.word();
        Err(MergeError::Unsound { kind, why })
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
        kind if kind.is_own() => return unsound("they are stacks"),
        _ => {}
    }
    let mut out = Tally::default();
    for (_, tally) in tables {
        join(&mut out.rest, tally.rest);
        out.given = match (out.given, tally.given) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        out.entries.extend(tally.entries);
    }
    if !kind.has_moments() {
        out = out.joined();
    }
    // Numbers of several tables say nothing together.
    out.entries
        .sort_by_key(|entry| entry.at.map(|at| at.time_ns));
    Ok((kind, out))
}

impl Tally {
    /// The same with one entry for each combination of keys. Threads that make it at the same time may have made two.
    #[must_use]
    pub fn joined(self) -> Tally {
        let mut entries: Vec<Entry> = Vec::with_capacity(self.entries.len());
        let mut known: HashMap<Identity, usize> = HashMap::with_capacity(self.entries.len());
        for entry in self.entries {
            let place = known.entry(Identity::whole(&entry));
            let n = *place.or_insert(entries.len());
            match entries.get_mut(n) {
                Some(both) => join(both, entry),
                None => entries.push(entry),
            }
        }
        Tally { entries, ..self }
    }
}

fn join(to: &mut Entry, other: Entry) {
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
        (Some(rate), Some(more)) => rate.join(&more),
        (none, more) => *none = none.take().or(more),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Key, Linear, Rate};

    fn entry(key: i64, count: u64, values: (i64, i64, i64), buckets: &[u64]) -> Entry {
        Entry {
            keys: vec![Key::Integer(key)],
            marks: vec![[0, 0]],
            count,
            sum: values.0,
            min: values.1,
            max: values.2,
            buckets: buckets.to_vec(),
            ..Entry::default()
        }
    }

    fn of(entries: Vec<Entry>) -> Tally {
        Tally {
            entries,
            ..Tally::default()
        }
    }

    #[test]
    fn entries_of_the_same_keys_are_one() {
        let one = of(vec![
            entry(1, 2, (5, 2, 3), &[2]),
            entry(2, 1, (7, 7, 7), &[0, 1]),
        ]);
        let other = of(vec![entry(1, 1, (-9, -9, -9), &[0, 0, 1])]);
        let kind = TallyKind::Histogram;
        let (_, both) = merged(vec![(kind, one), (kind, other)]).expect("one kind");
        let expected = [
            entry(1, 3, (-4, -9, 3), &[2, 0, 1]),
            entry(2, 1, (7, 7, 7), &[0, 1]),
        ];
        assert_eq!(both.entries, expected);
    }

    #[test]
    fn a_value_in_two_sets_is_one() {
        let value = |n| Entry {
            distinct: 1,
            ..entry(n, 2, (0, 0, 0), &[])
        };
        let kind = TallyKind::Distinct;
        let sets = vec![
            (kind, of(vec![value(1), value(2)])),
            (kind, of(vec![value(2), value(3)])),
        ];
        let (_, both) = merged(sets).expect("one kind");
        let groups = both.distinct().entries;
        assert_eq!((groups[0].distinct, groups[0].count), (3, 8));
    }

    #[test]
    fn rates_are_added_by_seconds() {
        let rate = |seconds: &[(u64, u64)]| Entry {
            rate: Some(Rate {
                now: 50,
                first: 40,
                seconds: seconds.to_vec(),
            }),
            ..entry(1, 3, (0, 0, 0), &[])
        };
        let kind = TallyKind::Rate;
        let tables = vec![
            (kind, of(vec![rate(&[(49, 3)])])),
            (kind, of(vec![rate(&[(49, 1), (48, 2)])])),
        ];
        let (_, both) = merged(tables).expect("one kind");
        let rate = both.entries[0].rate.clone().unwrap_or_default();
        assert_eq!(
            (both.entries[0].count, rate.recent()),
            (6, vec![(1, 4), (2, 2)])
        );
    }

    #[test]
    fn what_says_nothing_together_is_refused_by_name() {
        let linear = |step| TallyKind::Linear(Linear::new(0, step, 5).expect("buckets"));
        let two = |one, other| merged(vec![(one, Tally::default()), (other, Tally::default())]);
        assert_eq!(merged(Vec::new()), Err(MergeError::Nothing));
        assert!(matches!(
            two(TallyKind::Count, TallyKind::Sums),
            Err(MergeError::Kinds { .. })
        ));
        assert!(matches!(
            two(linear(1), linear(2)),
            Err(MergeError::Kinds { .. })
        ));
        assert!(two(linear(2), linear(2)).is_ok());
        for kind in [TallyKind::Top, TallyKind::Sample] {
            assert!(matches!(two(kind, kind), Err(MergeError::Unsound { .. })));
        }
    }
}
