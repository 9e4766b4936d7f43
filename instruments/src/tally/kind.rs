//! The kinds of tables: the layout of an entry, and the functions of plans.
//!
//! A new kind has its arms here and in `table/outputs.rs`, which has the form of an entry in each
//! output.

use super::{LinearBuckets, Rate, TallyEntry};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use veneer_measurements::HISTOGRAM_BUCKETS;

/// The value that a table stores for each combination of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TallyKind {
    /// A count of the given keys.
    Count,
    /// Count, sum, minimum and maximum.
    Sums,
    /// Count, sum, minimum, maximum, and a count for each of the exponential buckets of
    /// [`bucket_start`](crate::bucket_start).
    Histogram,
    /// Count, sum, minimum, maximum, and a count for each of the buckets of equal width. Two more
    /// buckets count the values below and above.
    Linear(LinearBuckets),
    /// A count, and a count for each of the last seconds.
    Rate,
    /// The number of different values. Each entry is a combination of keys with a value, which is
    /// the last key. See [`Tally::count_distinct`](crate::Tally::count_distinct).
    Distinct,
    /// The counts of the most frequent keys out of an unbounded number of keys (space-saving
    /// algorithm). A count is an upper bound, and [`TallyEntry::error`] says how much of it may
    /// belong to other keys.
    Top,
    /// The latest combinations themselves, with time and thread.
    Last,
    /// A uniform random sample of all combinations, with time and thread.
    Sample,
    /// For each thread, a stack of integers that probes push and pop. The stack has no output.
    Numbers,
    /// For each thread, a stack of objects that probes push and pop. The stack has no output.
    Objects,
    /// For each object, an integer. The integer is dropped when the object is collected.
    PerObject,
}

/// The maximum depth of a thread's stack, equal to `VeneerThreads.DEPTH`. Values pushed beyond it
/// are dropped.
const MAX_STACK_DEPTH: u64 = 32;
/// The number of words of the ring that counts a rate's seconds, equal to `VeneerTables.RING`. The
/// ring must be longer than [`RATE_WINDOW_SECONDS`](crate::RATE_WINDOW_SECONDS) plus the current second.
pub const RATE_RING_SECONDS: u64 = 64;
/// The number of slots in a group of a [`TallyKind::Top`] table, equal to `VeneerTables.GROUP`.
pub const TOP_GROUP_SLOTS: u64 = 8;

/// The number of entries of most tables, unless a plan names one.
pub const DEFAULT_TABLE_ENTRIES: u32 = 1_000;

/// Why a table has no method of a name in code at a point.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TableUsageError {
    /// Another kind of table has the method.
    #[error("{usage}")]
    OtherKind {
        /// How this kind of table is used.
        usage: &'static str,
    },
    /// No kind of table has the method.
    #[error(
        "a table takes no `.{name}(…)` in code at a point: there are .count(key, …), .add(key, …, value) and .put(value, …)"
    )]
    Unknown {
        /// The name of the method.
        name: String,
    },
}

/// The message for a wrong use of a `per_object(0)`.
pub const PER_OBJECT_USAGE: &str =
    "a per_object(0) takes .set(object, value), and gives values with .get(object)";

impl TallyKind {
    /// The size of an entry's values, in words of 8 bytes.
    pub fn value_words(self) -> u64 {
        match self {
            Self::Count => 1,
            Self::Sums => 4,
            Self::Histogram => 4 + HISTOGRAM_BUCKETS as u64,
            // One bucket below and one above.
            Self::Linear(linear) => 4 + u64::from(linear.buckets) + 2,
            // The count, the first second, and the ring of seconds.
            Self::Rate => 2 + RATE_RING_SECONDS,
            Self::Distinct => 1,
            // The count, and how much of it may belong to other keys. The third word is used only
            // in the first slot of a group: it says whether a thread is reassigning a slot of the
            // group.
            Self::Top => 3,
            // The time, the id of the thread, and the number of the string with its name.
            Self::Last | Self::Sample => 3,
            Self::Numbers | Self::Objects => MAX_STACK_DEPTH,
            Self::PerObject => 0,
        }
    }

    /// Whether the table stores the sum of its values.
    pub fn has_sums(self) -> bool {
        matches!(self, Self::Sums | Self::Histogram | Self::Linear(_))
    }

    /// Whether the table stores counts in buckets.
    pub fn has_buckets(self) -> bool {
        matches!(self, Self::Histogram | Self::Linear(_))
    }

    /// Whether the entries are the recorded combinations themselves, each with its [`Occurrence`].
    pub fn has_occurrences(self) -> bool {
        matches!(self, Self::Last | Self::Sample)
    }

    /// The name of the function that creates such a table in a plan.
    pub fn plan_function(self) -> &'static str {
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

    /// Whether the kind is a stack for each thread.
    pub fn is_stack(self) -> bool {
        matches!(self, Self::Numbers | Self::Objects)
    }

    /// Whether only the probes that fill the table can read it. Such a table has no output.
    pub fn is_probe_private(self) -> bool {
        self.is_stack() || self == Self::PerObject
    }

    /// The kinds that a plan creates with at most a number of entries.
    pub const PLAIN: [TallyKind; 8] = [
        Self::Count,
        Self::Sums,
        Self::Histogram,
        Self::Rate,
        Self::Distinct,
        Self::Last,
        Self::Top,
        Self::Sample,
    ];

    /// The number of entries of a table, unless the plan names one. `None` if the number determines
    /// the result, so that the plan must name it.
    pub fn default_entries(self) -> Option<u32> {
        match self {
            Self::Top | Self::Sample => None,
            Self::Distinct => Some(10_000),
            _ => Some(DEFAULT_TABLE_ENTRIES),
        }
    }

    /// The name of the probe operation that `.method(…)` of a table of this kind stands for.
    ///
    /// # Errors
    /// The kind has no such method.
    pub fn operation(self, method: &str) -> Result<&'static str, TableUsageError> {
        use TallyKind::*;
        let usage = match (method, self) {
            ("set", PerObject) => return Ok("set"),
            (_, PerObject) => PER_OBJECT_USAGE,
            ("push", Numbers) => return Ok("push"),
            ("push", Objects) => return Ok("keep"),
            (_, kind) if kind.is_stack() => "a per_thread(…) takes .push(value), .pop() and .top()",
            ("count", Count | Sums | Histogram | Linear(_)) => return Ok("count"),
            ("count", Rate) => return Ok("count_rate"),
            ("count", Top) => return Ok("count_top"),
            ("add", Sums | Histogram) => return Ok("add"),
            ("add", Linear(_)) => return Ok("add_linear"),
            ("add", Distinct) => return Ok("add_distinct"),
            ("put", Last) => return Ok("put"),
            ("put", Sample) => return Ok("put_sample"),
            ("count", Distinct) => {
                "a distinct() counts different values: write .add(key, …, value)"
            }
            ("count" | "add", Last) => {
                "a last(n) keeps the values themselves: write .put(value, …)"
            }
            ("count" | "add", Sample) => {
                "a sample(n) keeps the values themselves: write .put(value, …)"
            }
            ("add", Count) => "a tally() only counts: make the table with sums() or histogram()",
            ("add", Rate) => "a rate() only counts: write .count(key, …)",
            ("add", Top) => "a top(k) only counts: write .count(key, …)",
            ("put", _) => {
                "a table with keys takes .count(key, …) or .add(key, …, value); .put(…) is for last(n) and sample(n)"
            }
            (other, _) => {
                return Err(TableUsageError::Unknown { name: other.into() });
            }
        };
        Err(TableUsageError::OtherKind { usage })
    }

    /// The values of an entry by its words, without the keys. `second` returns the current second of
    /// the clock of `System.nanoTime()`. The kinds with occurrences have other words.
    pub fn decode(self, word: impl Fn(u64) -> i64, second: impl FnOnce() -> u64) -> TallyEntry {
        let mut out = TallyEntry {
            count: word(0) as u64,
            ..TallyEntry::default()
        };
        if self.has_sums() && out.count > 0 {
            // The extremes are stored as unsigned maxima, see `VeneerTables.sum`.
            (out.sum, out.max, out.min) = (word(1), word(2) ^ i64::MIN, !word(3) ^ i64::MIN);
        }
        if self.has_buckets() {
            out.buckets = (4..self.value_words()).map(|n| word(n) as u64).collect();
        }
        match self {
            Self::Rate if out.count > 0 => {
                // A value that is counted during this call may belong to a later second.
                let now = second();
                let ring = (2..self.value_words()).map(|n| word(n) as u64);
                out.rate = Some(Rate::decode(now, word(1) as u64, ring));
            }
            // An entry of a set is one value, with its keys.
            Self::Distinct if out.count > 0 => out.distinct = 1,
            Self::Histogram => {
                let last = out.buckets.iter().rposition(|n| *n > 0);
                out.buckets.truncate(last.map_or(0, |n| n + 1));
            }
            _ => {}
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(kind: TallyKind, words: &[i64]) -> TallyEntry {
        let word = |n: u64| words.get(n as usize).copied().unwrap_or_default();
        kind.decode(word, || 100)
    }

    #[test]
    fn extremes_are_decoded_from_unsigned_maxima() {
        let words = [2, 10, 7 ^ i64::MIN, !(3 ^ i64::MIN)];
        let entry = decode(TallyKind::Sums, &words);
        assert_eq!(
            (entry.count, entry.sum, entry.min, entry.max),
            (2, 10, 3, 7)
        );
        let empty = decode(TallyKind::Sums, &[0; 4]);
        assert_eq!((empty.sum, empty.min, empty.max), (0, 0, 0));
    }

    #[test]
    fn a_histogram_ends_with_its_last_value_and_linear_buckets_are_complete() {
        let mut words = vec![1, 5, 5 ^ i64::MIN, !(5 ^ i64::MIN)];
        words.extend([0, 0, 1, 0]);
        assert_eq!(decode(TallyKind::Histogram, &words).buckets, [0, 0, 1]);
        let linear = LinearBuckets::new(0, 10, 2).expect("buckets");
        let entry = decode(TallyKind::Linear(linear), &words);
        assert_eq!(entry.buckets, [0, 0, 1, 0]);
    }

    #[test]
    fn a_rate_has_the_seconds_of_its_ring() {
        let words = [5, 98 + 1, 99 << 32 | 2, 0, 100 << 32 | 3];
        let rate = decode(TallyKind::Rate, &words).rate.expect("a rate");
        assert_eq!((rate.now, rate.first), (100, 98));
        assert_eq!(rate.seconds, [(99, 2), (100, 3)]);
        assert_eq!(decode(TallyKind::Rate, &[0; 3]).rate, None);
    }

    #[test]
    fn each_value_of_a_set_is_one_different_value() {
        assert_eq!(decode(TallyKind::Distinct, &[7]).distinct, 1);
        assert_eq!(decode(TallyKind::Distinct, &[0]).distinct, 0);
    }

    #[test]
    fn a_method_of_another_kind_is_refused_with_the_usage_of_this_kind() {
        assert_eq!(TallyKind::Rate.operation("count"), Ok("count_rate"));
        let refused =
            |kind: TallyKind, name| kind.operation(name).expect_err("refused").to_string();
        assert_eq!(
            refused(TallyKind::Rate, "add"),
            "a rate() only counts: write .count(key, …)"
        );
        assert!(refused(TallyKind::Sums, "sum").contains("a table takes no `.sum(…)`"));
    }

    #[test]
    fn a_plan_must_name_the_number_of_entries_on_which_the_result_depends() {
        for kind in TallyKind::PLAIN {
            let is_free = matches!(kind, TallyKind::Top | TallyKind::Sample);
            assert_eq!(kind.default_entries().is_none(), is_free, "{kind:?}");
        }
    }
}
