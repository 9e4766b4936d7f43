//! The metrics of one combination of keys in a table.

use serde::{Deserialize, Serialize};

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
