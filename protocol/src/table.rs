//! The tables that code at points fills, as a report has them: what was counted and summed up, by keys.
//!
//! ```text
//!   let t = histogram(100).named("cost");   methods("shop.Desk::serve(..)").before(|p| t.add(p.kind, p.cost))
//!                                                                                             │
//!   {"id":"t1","name":"cost","kind":"histogram","entries":[{"keys":["book"],"count":7,…}]}  ◀──┘
//! ```

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a table keeps for each combination of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TableKind {
    /// How often: `tally()`.
    Tally,
    /// Also sum, least and greatest: `sums()`.
    Sums,
    /// Also how often in each bucket: `histogram()`.
    Histogram,
    /// The same with buckets of one width: `linear()`.
    Linear,
    /// How often, and how often in each of the last seconds: `rate()`.
    Rate,
    /// How many different values: `distinct()`.
    Distinct,
    /// The most frequent, with bounds: `top()`.
    Top,
    /// The newest combinations themselves: `last()`.
    Last,
    /// Combinations drawn evenly from all: `sample()`.
    Sample,
}

impl TableKind {
    /// The word that makes one in a plan.
    pub fn word(self) -> &'static str {
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
    /// The name that the plan gave, else that of the kind.
    pub name: String,
    /// What it keeps; decides which figures the entries have.
    pub kind: TableKind,
    /// The plan that made it.
    pub plan: String,
    /// Code that gives values to it was attached when the report was made.
    pub attached: bool,
    /// The most frequent first, of `distinct` those with most values; of `last` and `sample` the oldest.
    pub entries: Vec<TableEntry>,
    /// Entries that are not among `entries`, since a report has room for so many only: the least frequent, or the oldest.
    pub omitted: u64,
    /// What found no room in the table, or was not drawn for the sample; no keys are known of it.
    pub rest: Figures,
}

/// What a table has for a combination of keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableEntry {
    /// Up to four: null, a number, a boolean or a text. An object is `@` and its identity hash in hexadecimal digits. Of `last` and `sample` they
    /// are the values themselves.
    pub keys: Vec<Value>,
    /// The figures themselves, beside the keys.
    #[serde(flatten)]
    pub figures: Figures,
}

/// The figures of an entry, by kind of table. (Read back, the first that has all its fields is taken.)
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Figures {
    /// Of `histogram` and `linear`; with `count` 0 the others are 0.
    Distribution {
        /// How many values.
        count: u64,
        /// Of the values; wraps around beyond 2⁶³.
        sum: i64,
        /// The least.
        min: i64,
        /// The greatest.
        max: i64,
        /// In order of the values: of `histogram` those that are not empty, of `linear` all.
        buckets: Vec<Bucket>,
    },
    /// Of `rate`.
    Rate {
        /// How often.
        count: u64,
        /// Whole seconds since the first came, that one among them, 60 at most: what an average is over.
        whole: u64,
        /// How often in each of the last seconds, as far as not 0, the latest first.
        seconds: Vec<Second>,
    },
    /// Of `distinct`.
    Distinct {
        /// How often any value came.
        count: u64,
        /// How many different values.
        distinct: u64,
    },
    /// Of `top`.
    Bound {
        /// How often at most; at least `count` − `error`.
        count: u64,
        /// How much of it may be others'.
        error: u64,
    },
    /// Of `sums`; with `count` 0 the others are 0.
    Sums {
        /// How many values.
        count: u64,
        /// Of the values; wraps around beyond 2⁶³.
        sum: i64,
        /// The least.
        min: i64,
        /// The greatest.
        max: i64,
    },
    /// Of `last` and `sample`.
    Moment {
        /// How many came before it.
        number: u64,
        /// Nanoseconds since the agent came in.
        time_ns: u64,
        /// The Java thread's id.
        thread: i64,
    },
    /// Of `tally`.
    Count {
        /// How often.
        count: u64,
    },
}

impl Figures {
    /// How often the combination came; a moment is one.
    pub fn count(&self) -> u64 {
        match *self {
            Figures::Distribution { count, .. }
            | Figures::Sums { count, .. }
            | Figures::Rate { count, .. }
            | Figures::Distinct { count, .. }
            | Figures::Bound { count, .. }
            | Figures::Count { count } => count,
            Figures::Moment { .. } => 1,
        }
    }
}

/// The greatest values of all buckets for values that are not negative, in order: 0 to 3 by themselves, then four for each power of two.
pub fn bucket_bounds() -> impl Iterator<Item = i64> {
    let quarters = (2..63u32).flat_map(|bits| (0..4i64).map(move |part| (bits, part)));
    let next = quarters.map(|(bits, part)| match (bits, part) {
        (62, 3) => i64::MAX,
        // (5 + part) << (bits - 2) is where the bucket behind begins.
        (bits, part) => ((5 + part) << (bits - 2)) - 1,
    });
    (0..4).chain(next)
}

/// A bucket of a histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    /// The least value in it; −2⁶³ for the one of all negative values, and of all that is below the others.
    pub from: i64,
    /// The greatest value in it.
    pub to: i64,
    /// How many.
    pub count: u64,
}

/// A second of a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Second {
    /// How many seconds ago, up to 60; 0 is the one that is running.
    pub ago: u64,
    /// How often in it.
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
            let figures: Figures = serde_json::from_str(text).unwrap();
            assert_eq!(figures.count(), count);
            assert_eq!(serde_json::to_string(&figures).unwrap(), text);
        }
    }
}
