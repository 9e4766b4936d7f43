//! The identity of a combination of keys, comparable between tables.

use crate::{Entry, Key};

/// A hashable form of the keys of an entry, equal only for equal keys. Strings of which only the
/// beginning is stored are distinguished by their lengths and hashes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Identity(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Part {
    Integer(i64),
    Float(u64),
    Bool(bool),
    Text(Option<String>, [u64; 2]),
    Object(u32),
    Stack(Vec<String>),
}

impl Identity {
    /// Returns the identity of the first `keys` keys of an entry.
    pub(super) fn of_first_keys(entry: &Entry, keys: usize) -> Self {
        let part = |(n, key): (usize, &Key)| match key {
            Key::Integer(n) => Part::Integer(*n),
            Key::Float(x) => Part::Float(x.to_bits()),
            Key::Bool(b) => Part::Bool(*b),
            Key::Text(text) => {
                let mark = entry.marks.get(n).copied().unwrap_or_default();
                Part::Text(text.clone(), mark)
            }
            Key::Object(hash) => Part::Object(*hash),
            Key::Stack(lines) => Part::Stack(lines.clone()),
        };
        Self(entry.keys.iter().take(keys).enumerate().map(part).collect())
    }

    /// Returns the identity of all keys of an entry.
    pub(super) fn of_all_keys(entry: &Entry) -> Self {
        Self::of_first_keys(entry, entry.keys.len())
    }
}
