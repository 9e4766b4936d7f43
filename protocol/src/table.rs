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
use veneer_measurements::EntryMetrics;

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
    /// All kinds, each once.
    pub const ALL: [TableKind; 9] = [
        TableKind::Tally,
        TableKind::Sums,
        TableKind::Histogram,
        TableKind::Linear,
        TableKind::Rate,
        TableKind::Distinct,
        TableKind::Top,
        TableKind::Last,
        TableKind::Sample,
    ];

    /// The kind that this function of plans creates. `None` if a report has no such table.
    pub fn of_function(name: &str) -> Option<TableKind> {
        let mut all = TableKind::ALL.into_iter();
        all.find(|kind| kind.plan_function() == name)
    }

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
    /// Whether the entries are the nodes of a call tree. Each has three keys: the number of its call
    /// path, the number of the caller's path (0 for the outermost), and the method.
    #[serde(default)]
    pub call_tree: bool,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_found_by_its_function() {
        for kind in TableKind::ALL {
            assert_eq!(TableKind::of_function(kind.plan_function()), Some(kind));
        }
        assert_eq!(TableKind::of_function("per_thread"), None);
    }
}
