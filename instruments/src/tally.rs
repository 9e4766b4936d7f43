//! Tallies: the tables that probes fill. A *tally* is an aggregation map, like a BPF map or an
//! aggregation in DTrace: it stores a value for each combination of keys.

mod difference;
mod distinct;
mod identity;
mod kind;
mod linear;
mod merge;
mod rate;

pub use kind::{
    DEFAULT_TABLE_ENTRIES, PER_OBJECT_USAGE, RATE_RING_SECONDS, TOP_GROUP_SLOTS, TableUsageError,
    TallyKind,
};
pub use linear::{LinearBuckets, LinearError, MAX_LINEAR_BUCKETS};
pub use merge::{MergeError, merge_tables};
pub use rate::{RATE_WINDOW_SECONDS, Rate};

use serde::{Deserialize, Serialize};
use std::fmt;

/// A key of an entry.
#[derive(Clone, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TallyKey {
    /// An integer of at most 64 bits.
    Integer(i64),
    /// A floating-point number.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// The first 64 characters of a string; `None` for null and for a string that did not fit into
    /// the table.
    Text(Option<String>),
    /// The identity hash of an object that is not a string; 0 for null.
    Object(u32),
    /// A call stack: lines such as `shop.Desk.serve:41`, innermost first. Empty if the stack did
    /// not fit into the table.
    Stack(Vec<String>),
}

impl fmt::Display for TallyKey {
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

/// The keys and values of one combination of keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TallyEntry {
    /// The keys, in the order of the plan's call.
    pub keys: Vec<TallyKey>,
    /// For each string key, its hash and length, because strings of which only the beginning is
    /// stored would look equal. Zeros for other keys.
    #[serde(default)]
    pub marks: Vec<[u64; 2]>,
    /// The number of times that a probe has recorded the combination.
    pub count: u64,
    /// The sum of the values; 0 if the table only counts.
    pub sum: i64,
    /// The minimum of the values; 0 if there is none.
    pub min: i64,
    /// The maximum of the values; 0 if there is none.
    pub max: i64,
    /// The counts of the buckets. For [`TallyKind::Histogram`], up to the last bucket that is not
    /// empty. For [`TallyKind::Linear`], all: below, each bucket, above.
    pub buckets: Vec<u64>,
    /// The counts by second, for [`TallyKind::Rate`].
    #[serde(default)]
    pub rate: Option<Rate>,
    /// The number of different values, for [`TallyKind::Distinct`].
    #[serde(default)]
    pub distinct: u64,
    /// For [`TallyKind::Top`]: how much of the count may belong to other keys.
    #[serde(default)]
    pub error: u64,
    /// The time and thread, for [`TallyKind::Last`] and [`TallyKind::Sample`].
    pub at: Option<Occurrence>,
    /// The name that the thread of `at` had; `None` if it is unknown.
    #[serde(default)]
    pub thread_name: Option<String>,
}

/// The time and thread at which a combination was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Occurrence {
    /// The number of combinations recorded before this one since the table was cleared.
    pub number: u64,
    /// Nanoseconds since the agent was started.
    pub time_ns: u64,
    /// The id of the Java thread.
    pub thread_id: i64,
}

/// The content of a table at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// The entries, in no order.
    pub entries: Vec<TallyEntry>,
    /// The totals of the values that did not fit into the table or were not drawn. Their keys are
    /// unknown.
    pub rest: TallyEntry,
    /// For [`TallyKind::Last`] and [`TallyKind::Sample`]: the number of recorded combinations since
    /// the table was cleared.
    #[serde(default)]
    pub given: Option<u64>,
}

impl Tally {
    /// Returns the number of recorded combinations, including those that did not fit into the
    /// table.
    pub fn total(&self) -> u64 {
        let counts = self.entries.iter().map(|entry| entry.count);
        let all = || counts.fold(self.rest.count, u64::saturating_add);
        self.given.unwrap_or_else(all)
    }

    /// Sorts the entries in the order in which they are shown: by the number of different values,
    /// then by count, both descending, then by age, oldest first, then by keys.
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
