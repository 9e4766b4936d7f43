//! What the words of keys mean.

/// What a key's word means; four bits for each key, the first in the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Tag {
    /// A number.
    Integer = 1,
    /// The bits of a `double`.
    Float = 2,
    /// 0 or 1.
    Bool = 3,
    /// The number of a string of the table, from 1; 0 for `()` and for strings that found no room.
    Text = 4,
    /// An identity hash.
    Object = 5,
    /// The number of a call stack; 0 where there was no room.
    Stack = 6,
}

impl Tag {
    /// The tag of a key, by its place; `None` where there is none.
    pub fn of(tags: u64, n: usize) -> Option<Self> {
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
