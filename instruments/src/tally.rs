//! Tables that compiled probes fill: what was counted and summed up, by keys.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What a table keeps for each combination of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TallyKind {
    /// How often.
    Count,
    /// How often, sum, least and greatest.
    Sums,
    /// The same, and how often in each of the buckets of [`bucket_start`].
    Histogram,
    /// The latest combinations themselves, with time and thread.
    Last,
    /// For each thread a stack of whole numbers: nothing to be shown.
    Numbers,
    /// For each thread a stack of objects.
    Objects,
}

/// Values that a thread has on its stack at most, as `VeneerProbe.DEPTH`; what comes on top is not kept.
pub const DEPTH: u64 = 32;

impl TallyKind {
    /// Values of an entry, in words of 8 bytes.
    pub fn words(self) -> u64 {
        match self {
            Self::Count => 1,
            Self::Sums => 4,
            Self::Histogram => 4 + BUCKETS as u64,
            Self::Last => 2,
            Self::Numbers | Self::Objects => DEPTH,
        }
    }

    /// Whether it is a stack for each thread instead of a table.
    pub fn is_stack(self) -> bool {
        matches!(self, Self::Numbers | Self::Objects)
    }
}

/// Buckets of a histogram; the last one has what is negative.
pub const BUCKETS: usize = 4 * 62 + 1;

/// The least value of a bucket: 0 to 3 by themselves, then four for each power of two. `None` of that for negative values.
pub fn bucket_start(n: usize) -> Option<u64> {
    match n {
        0..=3 => Some(n as u64),
        n if n < BUCKETS - 1 => {
            let (bits, part) = (n as u64 / 4 + 1, n as u64 % 4);
            Some((4 + part) << (bits - 2))
        }
        _ => None,
    }
}

/// A key of an entry.
#[derive(Clone, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Key {
    /// A whole number.
    Integer(i64),
    /// One with a point.
    Float(f64),
    /// A boolean.
    Bool(bool),
    /// A string, its first 64 characters; `None` for null and for what found no room.
    Text(Option<String>),
    /// Another object, by its identity hash; 0 is null.
    Object(u32),
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(n) => write!(f, "{n}"),
            Self::Float(x) => write!(f, "{x}"),
            Self::Bool(b) => write!(f, "{b}"),
            Self::Text(Some(text)) => f.write_str(text),
            Self::Text(None) | Self::Object(0) => f.write_str("()"),
            Self::Object(hash) => write!(f, "@{hash:x}"),
        }
    }
}

/// What a table has for a combination of keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The keys.
    pub keys: Vec<Key>,
    /// How often.
    pub count: u64,
    /// Of the values; 0 where the table only counts.
    pub sum: i64,
    /// The least value; 0 where there is none.
    pub min: i64,
    /// The greatest.
    pub max: i64,
    /// Of a histogram: how often in each bucket, as far as the last that is not 0.
    pub buckets: Vec<u64>,
    /// Of the latest: when and where.
    pub at: Option<Moment>,
}

/// When and where a combination of values was given to a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Moment {
    /// How many came before.
    pub number: u64,
    /// Nanoseconds since the agent began.
    pub time_ns: u64,
    /// The thread.
    pub thread_id: i64,
}

/// A table as it is now.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// In no order.
    pub entries: Vec<Entry>,
    /// What found no room: no keys are known of it.
    pub rest: Entry,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `VeneerProbe.bucket`.
    fn bucket(value: i64) -> usize {
        match value {
            ..0 => BUCKETS - 1,
            0..4 => value as usize,
            _ => {
                let bits = 63 - value.leading_zeros() as usize;
                4 * (bits - 1) + (value >> (bits - 2) & 3) as usize
            }
        }
    }

    #[test]
    fn buckets_begin_where_the_one_before_ends() {
        for n in 0..BUCKETS - 1 {
            let start = bucket_start(n).expect("a bucket") as i64;
            assert_eq!(bucket(start), n);
            assert!(n == 0 || bucket(start - 1) == n - 1);
        }
        assert_eq!(bucket(i64::MAX), BUCKETS - 2);
        assert_eq!(bucket(-1), BUCKETS - 1);
        assert_eq!(bucket_start(BUCKETS - 1), None);
    }
}
