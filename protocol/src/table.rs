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
    /// The newest combinations themselves: `last()`.
    Last,
}

impl TableKind {
    /// The word that makes one in a plan.
    pub fn word(self) -> &'static str {
        match self {
            TableKind::Tally => "tally",
            TableKind::Sums => "sums",
            TableKind::Histogram => "histogram",
            TableKind::Last => "last",
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
    /// The most frequent first; of `last` the oldest.
    pub entries: Vec<TableEntry>,
    /// Entries that are not among `entries`, since a report has room for so many only: the least frequent, or the oldest.
    pub omitted: u64,
    /// What found no room in the table; no keys are known of it.
    pub rest: Figures,
}

/// What a table has for a combination of keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableEntry {
    /// Up to four: null, a number, a boolean or a text. An object is `@` and its identity hash in hexadecimal digits. Of `last` they are the
    /// values themselves.
    pub keys: Vec<Value>,
    /// The figures themselves, beside the keys.
    #[serde(flatten)]
    pub figures: Figures,
}

/// The figures of an entry, by kind of table. (Read back, the first that has all its fields is taken.)
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Figures {
    /// Of `histogram`; with `count` 0 the others are 0.
    Distribution {
        /// How many values.
        count: u64,
        /// Of the values; wraps around beyond 2⁶³.
        sum: i64,
        /// The least.
        min: i64,
        /// The greatest.
        max: i64,
        /// Those that are not empty, in order of the values.
        buckets: Vec<Bucket>,
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
    /// Of `last`.
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
    /// The least value in it; −2⁶³ for the one of all negative values.
    pub from: i64,
    /// The greatest value in it.
    pub to: i64,
    /// How many.
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
            (r#"{"number":9,"time_ns":4,"thread":1}"#, 1),
        ] {
            let figures: Figures = serde_json::from_str(text).unwrap();
            assert_eq!(figures.count(), count);
            assert_eq!(serde_json::to_string(&figures).unwrap(), text);
        }
    }
}
