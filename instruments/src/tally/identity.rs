//! The identity of a combination of keys, comparable between tables.

use crate::{TallyEntry, TallyKey};

/// A hashable form of the keys of an entry, equal only for equal keys. Strings of which only the
/// beginning is stored are distinguished by their lengths and hashes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct KeyIdentity(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Part {
    Integer(i64),
    Float(u64),
    Bool(bool),
    Text(Option<String>, [u64; 2]),
    Object(u32),
    Stack(Vec<String>),
}

impl KeyIdentity {
    /// Returns the identity of the first `keys` keys of an entry.
    pub(super) fn of_first_keys(entry: &TallyEntry, keys: usize) -> Self {
        let part = |(n, key): (usize, &TallyKey)| match key {
            TallyKey::Integer(n) => Part::Integer(*n),
            TallyKey::Float(x) => Part::Float(x.to_bits()),
            TallyKey::Bool(b) => Part::Bool(*b),
            TallyKey::Text(text) => {
                let mark = entry.marks.get(n).copied().unwrap_or_default();
                Part::Text(text.clone(), mark)
            }
            TallyKey::Object(hash) => Part::Object(*hash),
            TallyKey::Stack(lines) => Part::Stack(lines.clone()),
        };
        Self(entry.keys.iter().take(keys).enumerate().map(part).collect())
    }

    /// Returns the identity of all keys of an entry.
    pub(super) fn of_all_keys(entry: &TallyEntry) -> Self {
        Self::of_first_keys(entry, entry.keys.len())
    }
}
