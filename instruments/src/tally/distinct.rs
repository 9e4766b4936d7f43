//! The number of different values for each combination of keys.

use super::identity::Identity;
use crate::{Entry, Tally};
use std::collections::HashMap;

impl Tally {
    /// Groups the entries of a [`TallyKind::Distinct`](crate::TallyKind::Distinct) table, whose
    /// last key is the value, by the other keys. Each resulting entry has the number of different
    /// values and the total count.
    #[must_use]
    pub fn distinct(self) -> Tally {
        let mut groups: Vec<Entry> = Vec::new();
        let mut known: HashMap<Identity, usize> = HashMap::new();
        for mut entry in self.entries {
            let keys = entry.keys.len().saturating_sub(1);
            let place = known.entry(Identity::of_first_keys(&entry, keys));
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
    use crate::Key;

    fn entry(keys: Vec<Key>, mark: u64, count: u64) -> Entry {
        let marks = keys.iter().map(|_| [mark, 0]).collect();
        Entry {
            keys,
            marks,
            count,
            distinct: 1,
            ..Entry::default()
        }
    }

    #[test]
    fn distinct_values_are_counted_by_their_keys() {
        let text = |text: &str| Key::Text(Some(text.into()));
        let tally = Tally {
            entries: vec![
                entry(vec![text("ann"), Key::Integer(1)], 1, 4),
                entry(vec![text("ann"), Key::Integer(2)], 1, 2),
                // Another long string with the same beginning.
                entry(vec![text("ann"), Key::Integer(1)], 2, 3),
                entry(vec![text("ann"), Key::Float(f64::NAN)], 1, 1),
            ],
            ..Tally::default()
        };
        let mut groups = tally.distinct();
        groups.sort();
        let all = groups.entries.iter().map(|e| (e.distinct, e.count));
        assert_eq!(all.collect::<Vec<_>>(), [(3, 7), (1, 3)]);
        assert!(groups.entries.iter().all(|e| e.keys == [text("ann")]));
    }

    #[test]
    fn a_distinct_table_without_keys_is_one_group() {
        let value = |n| entry(vec![Key::Integer(n)], 0, 5);
        let tally = Tally {
            entries: (0..3).map(value).collect(),
            ..Tally::default()
        };
        let groups = tally.distinct().entries;
        assert_eq!(
            (groups.len(), groups[0].distinct, groups[0].count),
            (1, 3, 15)
        );
    }
}
