//! The types of a table's keys, encoded in one word.

/// The type of a key's word. The tag word of a table entry has four bits for each key; the first
/// key has the lowest four bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum KeyTag {
    /// An integer, in 64 bits.
    Integer = 1,
    /// The bits of a `double`.
    Float = 2,
    /// A boolean: 0 or 1.
    Bool = 3,
    /// The number of a string of the table, from 1; 0 for `()` and for strings that did not fit
    /// into the table.
    Text = 4,
    /// The identity hash of an object.
    Object = 5,
    /// The number of a call stack; 0 for stacks that did not fit into the table.
    Stack = 6,
}

impl KeyTag {
    /// Returns the tag of the key with index `n`; `None` if the entry has no such key.
    pub fn decode(tags: u64, n: usize) -> Option<Self> {
        let all = [
            Self::Integer,
            Self::Float,
            Self::Bool,
            Self::Text,
            Self::Object,
            Self::Stack,
        ];
        let bits = tags >> (4 * n) & 15;
        all.into_iter().find(|tag| *tag as u64 == bits)
    }
}
