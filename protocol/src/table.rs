//! Tallies in a report. A *tally* is an aggregation map that probes fill: metrics by keys.
//!
//! ```text
//!   let t = histogram(100).named("cost");
//!   methods("shop.Desk::serve(..)").before(|p| t.add(p.kind, p.cost))
//!                                              │
//!   {"id":"t1","name":"cost",            ◀─────┘
//!    "kind":"histogram","entries":[{"keys":["book"],"count":7,…}]}
//! ```

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The kind of a table: the metrics that it keeps for each combination of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TableKind {
    /// Number of values: `tally()`.
    Tally,
    /// Number, sum, minimum and maximum of the values: `sums()`.
    Sums,
    /// Like `Sums`, and the number of values in each of 249 logarithmic buckets: `histogram()`.
    Histogram,
    /// Like `Histogram`, with buckets of equal width: `linear()`.
    Linear,
    /// Number of values, in total and in each of the last 60 seconds: `rate()`.
    Rate,
    /// Number of different values: `distinct()`.
    Distinct,
    /// The most frequent combinations, with error bounds of their counts: `top()`.
    Top,
    /// The newest combinations: `last()`.
    Last,
    /// A uniform random sample of all combinations: `sample()`.
    Sample,
}

impl TableKind {
    /// The function that creates a table of this kind in a plan.
    pub fn plan_function(self) -> &'static str {
        match self {
            TableKind::Tally => "tally",
            TableKind::Sums => "sums",
            TableKind::Histogram => "histogram",
            TableKind::Linear => "linear",
            TableKind::Rate => "rate",
            TableKind::Distinct => "distinct",
            TableKind::Top => "top",
            TableKind::Last => "last",
            TableKind::Sample => "sample",
        }
    }
}

/// A table of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// For instance `t7`; unique in the run.
    pub id: String,
    /// The name in the plan, or the name of the kind.
    pub name: String,
    /// The kind of the table, which selects the variant of the entries' [`EntryMetrics`].
    pub kind: TableKind,
    /// The name of the plan that created the table.
    pub plan: String,
    /// Whether a probe that adds values was attached when the agent wrote the report.
    pub attached: bool,
    /// The entries, sorted by kind of table:
    ///
    /// * `last` and `sample`: the oldest entry first;
    /// * `distinct`: the entry with the most different values first;
    /// * other kinds: the entry with the highest count first.
    pub entries: Vec<TableEntry>,
    /// Number of entries that the report omits because its size is limited: the least frequent
    /// entries, or the oldest ones for `last` and `sample`.
    pub omitted: u64,
    /// Metrics, without keys, of the values that the full table could not store or that the sample
    /// did not select.
    pub rest: EntryMetrics,
}

/// The metrics of one combination of keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableEntry {
    /// Up to four keys: null, a number, a boolean, a string, or an array of frames for a call
    /// stack. An object is `@` and its identity hash in hexadecimal digits. For `last` and
    /// `sample`, the keys are the recorded values.
    pub keys: Vec<Value>,
    /// The metrics, written as members beside the keys.
    #[serde(flatten)]
    pub figures: EntryMetrics,
}

/// The metrics of an entry, by kind of table.
///
/// The JSON form has no tag: the parser selects the first variant whose fields are all present.
/// Therefore a variant must precede every variant that has a subset of its fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum EntryMetrics {
    /// For `histogram` and `linear`. If `count` is 0, the other numbers are 0.
    Distribution {
        /// Number of values.
        count: u64,
        /// Sum of the values; wraps around beyond 2⁶³.
        sum: i64,
        /// The smallest value.
        min: i64,
        /// The largest value.
        max: i64,
        /// Buckets in ascending order: the non-empty buckets of `histogram`, or all buckets of
        /// `linear`.
        buckets: Vec<Bucket>,
    },
    /// For `rate`.
    Rate {
        /// Number of values.
        count: u64,
        /// Number of whole seconds since the second of the first value, that second included, at
        /// most 60. An average rate is a mean over this number of seconds.
        whole: u64,
        /// Numbers of values in each of the last seconds, except zeros, the newest second first.
        seconds: Vec<SecondCount>,
    },
    /// For `distinct`.
    Distinct {
        /// Number of all values.
        count: u64,
        /// Number of different values.
        distinct: u64,
    },
    /// For `top`. The true number of values is between `count` − `error` and `count`.
    UpperBound {
        /// Upper bound of the number of values.
        count: u64,
        /// The largest part of `count` that may belong to other combinations.
        error: u64,
    },
    /// For `sums`. If `count` is 0, the other fields are 0.
    Sums {
        /// Number of values.
        count: u64,
        /// Sum of the values; wraps around beyond 2⁶³.
        sum: i64,
        /// The smallest value.
        min: i64,
        /// The largest value.
        max: i64,
    },
    /// For `last` and `sample`.
    Occurrence {
        /// Number of combinations that were recorded before this one.
        number: u64,
        /// Time since the agent's start, in nanoseconds.
        time_ns: u64,
        /// The Java thread's id.
        thread: i64,
    },
    /// For `tally`, and for the rest of kinds without other metrics.
    Count {
        /// Number of values.
        count: u64,
    },
}

impl EntryMetrics {
    /// How often the combination was recorded; 1 for [`EntryMetrics::Occurrence`].
    pub fn count(&self) -> u64 {
        match *self {
            EntryMetrics::Distribution { count, .. }
            | EntryMetrics::Sums { count, .. }
            | EntryMetrics::Rate { count, .. }
            | EntryMetrics::Distinct { count, .. }
            | EntryMetrics::UpperBound { count, .. }
            | EntryMetrics::Count { count } => count,
            EntryMetrics::Occurrence { .. } => 1,
        }
    }
}

/// The largest values of all histogram buckets for non-negative values, in ascending order. The
/// values 0 to 3 have a bucket each; above, each power of two has four buckets.
pub fn bucket_bounds() -> impl Iterator<Item = i64> {
    let quarters = (2..63u32).flat_map(|bits| (0..4i64).map(move |part| (bits, part)));
    let next = quarters.map(|(bits, part)| match (bits, part) {
        (62, 3) => i64::MAX,
        // (5 + part) << (bits - 2) is the smallest value of the next bucket.
        (bits, part) => ((5 + part) << (bits - 2)) - 1,
    });
    (0..4).chain(next)
}

/// A bucket of a histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    /// The smallest value in the bucket. −2⁶³ for the bucket of all negative values of a
    /// `histogram`, and for the bucket of all values below the range of a `linear` histogram.
    pub from: i64,
    /// The largest value in the bucket.
    pub to: i64,
    /// Number of values in the bucket.
    pub count: u64,
}

/// One second of a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecondCount {
    /// Age of the second, up to 60; the current second has age 0.
    pub ago: u64,
    /// Number of values in this second.
    pub count: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_four_for_each_power_of_two() {
        let bounds: Vec<i64> = bucket_bounds().collect();
        assert_eq!(bounds[..10], [0, 1, 2, 3, 4, 5, 6, 7, 9, 11]);
        assert!(bounds.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!((bounds.len(), bounds.last()), (248, Some(&i64::MAX)));
    }

    #[test]
    fn figures_read_back_as_what_they_were() {
        for (text, count) in [
            (r#"{"count":3}"#, 3),
            (r#"{"count":3,"sum":-1,"min":-2,"max":1}"#, 3),
            (
                r#"{"count":3,"sum":-1,"min":-2,"max":1,"buckets":[{"from":0,"to":0,"count":3}]}"#,
                3,
            ),
            (
                r#"{"count":3,"whole":2,"seconds":[{"ago":1,"count":3}]}"#,
                3,
            ),
            (r#"{"count":3,"distinct":2}"#, 3),
            (r#"{"count":3,"error":1}"#, 3),
            (r#"{"number":9,"time_ns":4,"thread":1}"#, 1),
        ] {
            let figures: EntryMetrics = serde_json::from_str(text).unwrap();
            assert_eq!(figures.count(), count);
            assert_eq!(serde_json::to_string(&figures).unwrap(), text);
        }
    }
}
