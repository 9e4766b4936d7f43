//! What tells one combination of keys from all others, in any table.

use crate::{Entry, Key};

/// Equal for the same keys only. Strings of which only the beginning is known differ where their lengths or hashes do.
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
    /// That of the first so many keys of an entry.
    pub(super) fn of(entry: &Entry, keys: usize) -> Self {
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

    /// That of all its keys.
    pub(super) fn whole(entry: &Entry) -> Self {
        Self::of(entry, entry.keys.len())
    }
}
