//! The number of different values for each combination of keys.

use super::identity::KeyIdentity;
use crate::{Tally, TallyEntry};
use std::collections::HashMap;

impl Tally {
    /// Groups the entries of a [`TallyKind::Distinct`](crate::TallyKind::Distinct) table, whose
    /// last key is the value, by the other keys. Each resulting entry has the number of different
    /// values and the total count.
    #[must_use]
    pub fn count_distinct(self) -> Tally {
        let mut groups: Vec<TallyEntry> = Vec::new();
        let mut known: HashMap<KeyIdentity, usize> = HashMap::new();
        for mut entry in self.entries {
            let keys = entry.keys.len().saturating_sub(1);
            let place = known.entry(KeyIdentity::of_first_keys(&entry, keys));
            let n = *place.or_insert(groups.len());
            match groups.get_mut(n) {
                Some(group) => {
                    group.count = group.count.saturating_add(entry.count);
                    group.distinct = group.distinct.saturating_add(entry.distinct);
                }
                None => {
                    entry.keys.truncate(keys);
                    entry.marks.truncate(keys);
                    groups.push(entry);
                }
            }
        }
        Tally {
            entries: groups,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TallyKey;

    fn entry(keys: Vec<TallyKey>, mark: u64, count: u64) -> TallyEntry {
        let marks = keys.iter().map(|_| [mark, 0]).collect();
        TallyEntry {
            keys,
            marks,
            count,
            distinct: 1,
            ..TallyEntry::default()
        }
    }

    #[test]
    fn distinct_values_are_counted_by_their_keys() {
        let text = |text: &str| TallyKey::Text(Some(text.into()));
        let tally = Tally {
            entries: vec![
                entry(vec![text("ann"), TallyKey::Integer(1)], 1, 4),
                entry(vec![text("ann"), TallyKey::Integer(2)], 1, 2),
                // Another long string with the same beginning.
                entry(vec![text("ann"), TallyKey::Integer(1)], 2, 3),
                entry(vec![text("ann"), TallyKey::Float(f64::NAN)], 1, 1),
            ],
            ..Tally::default()
        };
        let mut groups = tally.count_distinct();
        groups.sort();
        let all = groups.entries.iter().map(|e| (e.distinct, e.count));
        assert_eq!(all.collect::<Vec<_>>(), [(3, 7), (1, 3)]);
        assert!(groups.entries.iter().all(|e| e.keys == [text("ann")]));
    }

    #[test]
    fn a_distinct_table_without_keys_is_one_group() {
        let value = |n| entry(vec![TallyKey::Integer(n)], 0, 5);
        let tally = Tally {
            entries: (0..3).map(value).collect(),
            ..Tally::default()
        };
        let groups = tally.count_distinct().entries;
        assert_eq!(
            (groups.len(), groups[0].distinct, groups[0].count),
            (1, 3, 15)
        );
    }
}
