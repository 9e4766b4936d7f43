//! Tables that compiled probes fill: what was counted and summed up, by keys.

mod change;
mod distinct;
mod identity;
mod linear;
mod merge;
mod rate;

pub use linear::{Linear, LinearError, MOST_BUCKETS};
pub use merge::{MergeError, merged};
pub use rate::{Rate, WINDOW};

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
    /// The same with buckets of one width, and two for what lies below and above them.
    Linear(Linear),
    /// How often, and how often in each of the last seconds.
    Rate,
    /// How many different values: each entry is a combination of keys with a value, the last of the keys. See [`Tally::distinct`].
    Distinct,
    /// How often, of the most frequent of unboundedly many: an upper bound, and how much of it may be others'.
    Top,
    /// The latest combinations themselves, with time and thread.
    Last,
    /// Combinations drawn evenly from all that came, with time and thread.
    Sample,
    /// For each thread a stack of whole numbers: nothing to be shown.
    Numbers,
    /// For each thread a stack of objects.
    Objects,
    /// For each object a whole number, which goes with it.
    PerObject,
}

/// Values that a thread has on its stack at most, as `VeneerThreads.DEPTH`; what comes on top is not kept.
pub const DEPTH: u64 = 32;

impl TallyKind {
    /// Values of an entry, in words of 8 bytes.
    pub fn words(self) -> u64 {
        match self {
            Self::Count => 1,
            Self::Sums => 4,
            Self::Histogram => 4 + BUCKETS as u64,
            // One below and one above.
            Self::Linear(linear) => 4 + u64::from(linear.buckets) + 2,
            // How often, the first second, and the ring of seconds.
            Self::Rate => 2 + RING,
            Self::Distinct => 1,
            // How often, how much of it may be others', and of the first place of a group whether one of them is being given to another.
            Self::Top => 3,
            Self::Last | Self::Sample => 2,
            Self::Numbers | Self::Objects => DEPTH,
            Self::PerObject => 0,
        }
    }

    /// Whether its values are summed up.
    pub fn has_sums(self) -> bool {
        matches!(self, Self::Sums | Self::Histogram | Self::Linear(_))
    }

    /// Whether its values are counted in buckets.
    pub fn has_buckets(self) -> bool {
        matches!(self, Self::Histogram | Self::Linear(_))
    }

    /// Whether its entries are what was given itself, each with its [`Moment`].
    pub fn has_moments(self) -> bool {
        matches!(self, Self::Last | Self::Sample)
    }

    /// The word that makes one in a plan.
    pub fn word(self) -> &'static str {
        match self {
            Self::Count => "tally",
            Self::Sums => "sums",
            Self::Histogram => "histogram",
            Self::Linear(_) => "linear",
            Self::Rate => "rate",
            Self::Distinct => "distinct",
            Self::Top => "top",
            Self::Last => "last",
            Self::Sample => "sample",
            Self::Numbers | Self::Objects => "per_thread",
            Self::PerObject => "per_object",
        }
    }

    /// Whether it is a stack for each thread instead of a table.
    pub fn is_stack(self) -> bool {
        matches!(self, Self::Numbers | Self::Objects)
    }

    /// Whether it belongs to the code that fills it alone, and there is nothing in it to be shown.
    pub fn is_own(self) -> bool {
        self.is_stack() || self == Self::PerObject
    }
}

/// Words of the ring in which a rate has a count for each second, as `VeneerTables.RING`: more than [`WINDOW`] and the second that runs.
pub const RING: u64 = 64;
/// Places of a group of a table of the most frequent, as `VeneerTables.GROUP`.
pub const GROUP: u64 = 8;

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
    /// A call stack: lines such as `shop.Desk.serve:41`, the innermost first; none where it found no room.
    Stack(Vec<String>),
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
            Self::Stack(lines) if lines.is_empty() => {
                f.write_str("(a call stack for which there was no room)")
            }
            Self::Stack(lines) => f.write_str(&lines.join(" < ")),
        }
    }
}

/// What a table has for a combination of keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The keys.
    pub keys: Vec<Key>,
    /// For each key what tells strings apart that look the same here (of which only the beginning is known); zeros for other keys.
    #[serde(default)]
    pub marks: Vec<[u64; 2]>,
    /// How often.
    pub count: u64,
    /// Of the values; 0 where the table only counts.
    pub sum: i64,
    /// The least value; 0 where there is none.
    pub min: i64,
    /// The greatest.
    pub max: i64,
    /// Of a histogram: how often in each bucket, as far as the last that is not 0. Of a linear one all: below, each bucket, above.
    pub buckets: Vec<u64>,
    /// Of a rate: when.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// Of a set: how many different values.
    #[serde(default)]
    pub distinct: u64,
    /// Of the most frequent: how much of the count may be others'.
    #[serde(default)]
    pub error: u64,
    /// Of the latest and of a sample: when and where.
    pub at: Option<Moment>,
}

/// When and where a combination of values was given to a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Moment {
    /// How many came before, since the table was cleared.
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
    /// What found no room, or was not drawn: no keys are known of it.
    pub rest: Entry,
    /// Of the latest and of a sample: how many were given to it in all, since it was cleared.
    #[serde(default)]
    pub given: Option<u64>,
}

impl Tally {
    /// How often something was given to it, whether it found room or not.
    pub fn total(&self) -> u64 {
        let counts = self.entries.iter().map(|entry| entry.count);
        let all = || counts.fold(self.rest.count, u64::saturating_add);
        self.given.unwrap_or_else(all)
    }

    /// Puts the entries in the order in which they are shown: the most frequent first, of sets the largest, of single values the oldest.
    pub fn sort(&mut self) {
        self.entries.sort_by(|a, b| {
            let keys = || {
                let keys = a.keys.partial_cmp(&b.keys);
                keys.unwrap_or(std::cmp::Ordering::Equal)
            };
            let larger = b.distinct.cmp(&a.distinct);
            let more = || b.count.cmp(&a.count);
            let older = || a.at.cmp(&b.at);
            larger.then_with(more).then_with(older).then_with(keys)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `VeneerTables.bucket`.
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
