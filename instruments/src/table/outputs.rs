//! The form of an entry in each output, by the kind of its table.
//!
//! ```text
//!   TallyEntry ─┬─▶ columns, cells ─────────▶ tables for people   (entries.rs)
//!               ├─▶ csv_columns, csv_cells ─▶ CSV                 (csv.rs)
//!               ├─▶ own_values ─────────────▶ rows of plans
//!               └─▶ metrics ────────────────▶ reports and exports
//! ```
//!
//! A [`TallyEntry`] has the numbers of all kinds of tables, because tables are added and
//! subtracted. [`EntryMetrics`] has the numbers of one kind, with the bounds of buckets.

use super::text::format_count;
use crate::{LinearBuckets, RATE_WINDOW_SECONDS, TallyEntry, TallyKind, bucket_start};
use veneer_measurements::{Bucket, EntryMetrics, SecondCount, bucket_range};

/// A value that only some kinds have, in the row of a plan.
#[derive(Clone, Debug, PartialEq)]
pub enum OwnValue {
    /// A number of values.
    Count(u64),
    /// A rate or another number with a fraction.
    Number(f64),
    /// Counts by the least value of a bucket, or by age in seconds.
    Pairs(Vec<(i64, u64)>),
}

/// The names of the value columns in tables for people, which precede the keys.
pub(super) fn columns(kind: TallyKind) -> &'static [&'static str] {
    match kind {
        TallyKind::Count | TallyKind::Numbers | TallyKind::Objects | TallyKind::PerObject => {
            &["count"]
        }
        TallyKind::Sums | TallyKind::Histogram | TallyKind::Linear(_) => {
            &["count", "avg", "min", "max"]
        }
        TallyKind::Rate => &["count", "1 s", "10 s", "60 s"],
        TallyKind::Distinct => &["distinct", "count"],
        TallyKind::Top => &["count", "error"],
        TallyKind::Last | TallyKind::Sample => &["ms", "thread"],
    }
}

/// The cells below [`columns`].
pub(super) fn cells(entry: &TallyEntry, kind: TallyKind) -> Vec<String> {
    match kind {
        TallyKind::Count | TallyKind::Numbers | TallyKind::Objects | TallyKind::PerObject => {
            vec![format_count(entry.count)]
        }
        TallyKind::Sums | TallyKind::Histogram | TallyKind::Linear(_) => {
            let avg = entry.sum as f64 / entry.count.max(1) as f64;
            let [min, max] = [entry.min, entry.max].map(|x| x.to_string());
            vec![format_count(entry.count), format!("{avg:.1}"), min, max]
        }
        TallyKind::Rate => {
            let rate = entry.rate.clone().unwrap_or_default();
            let per_second = [1, 10, 60].map(|seconds| format!("{:.1}", rate.per_second(seconds)));
            std::iter::once(format_count(entry.count))
                .chain(per_second)
                .collect()
        }
        TallyKind::Distinct => vec![format_count(entry.distinct), format_count(entry.count)],
        TallyKind::Top => vec![format_count(entry.count), format_count(entry.error)],
        TallyKind::Last | TallyKind::Sample => {
            let at = entry.at.unwrap_or_default();
            let ms = at.time_ns as f64 / 1e6;
            let name = entry.thread_name.as_ref().filter(|name| !name.is_empty());
            let thread = name.map_or_else(|| at.thread_id.to_string(), String::clone);
            vec![format!("{ms:.3}"), thread]
        }
    }
}

/// The names of the value columns in CSV, which follow the keys.
pub(super) fn csv_columns(kind: TallyKind) -> Vec<String> {
    let fixed: &[&str] = match kind {
        TallyKind::Sums | TallyKind::Histogram | TallyKind::Linear(_) => {
            &["count", "sum", "min", "max"]
        }
        TallyKind::Rate => &["count", "per_second"],
        TallyKind::Distinct => &["distinct", "count"],
        TallyKind::Top => &["count", "error"],
        TallyKind::Last | TallyKind::Sample => &["number", "time_ns", "thread_id"],
        TallyKind::Count | TallyKind::Numbers | TallyKind::Objects | TallyKind::PerObject => {
            &["count"]
        }
    };
    let mut names: Vec<String> = fixed.iter().map(ToString::to_string).collect();
    if let TallyKind::Linear(linear) = kind {
        names.push("below".into());
        names.extend((0..linear.buckets as usize).map(|n| linear.start(n).to_string()));
        names.push("above".into());
    }
    names
}

/// The cells below [`csv_columns`].
pub(super) fn csv_cells(entry: &TallyEntry, kind: TallyKind) -> Vec<String> {
    let count = entry.count.to_string();
    match kind {
        TallyKind::Sums | TallyKind::Histogram => sum_cells(entry),
        TallyKind::Linear(linear) => {
            let bucket = |n: usize| entry.buckets.get(n).copied().unwrap_or(0).to_string();
            let mut cells = sum_cells(entry);
            cells.extend((0..linear.buckets as usize + 2).map(bucket));
            cells
        }
        TallyKind::Rate => {
            let rate = entry.rate.clone().unwrap_or_default();
            vec![count, rate.per_second(RATE_WINDOW_SECONDS).to_string()]
        }
        TallyKind::Distinct => vec![entry.distinct.to_string(), count],
        TallyKind::Top => vec![count, entry.error.to_string()],
        TallyKind::Last | TallyKind::Sample => {
            let at = entry.at.unwrap_or_default();
            vec![
                at.number.to_string(),
                at.time_ns.to_string(),
                at.thread_id.to_string(),
            ]
        }
        TallyKind::Count | TallyKind::Numbers | TallyKind::Objects | TallyKind::PerObject => {
            vec![count]
        }
    }
}

fn sum_cells(entry: &TallyEntry) -> Vec<String> {
    let values = [entry.sum, entry.min, entry.max].map(|n| n.to_string());
    std::iter::once(entry.count.to_string())
        .chain(values)
        .collect()
}

/// The values of an entry that only tables of its kind have, by their names in rows of plans.
/// `is_whole`: whether the entry has all values so far; it is otherwise a difference, whose rates
/// are unknown.
pub fn own_values(
    entry: &TallyEntry,
    kind: TallyKind,
    is_whole: bool,
) -> Vec<(&'static str, OwnValue)> {
    let full = entry.buckets.iter().copied().enumerate();
    let full = full.filter(|(_, count)| *count > 0);
    match kind {
        TallyKind::Histogram => {
            let start =
                |n| bucket_start(n).map_or(-1, |start| i64::try_from(start).unwrap_or(i64::MAX));
            let pairs = full.map(|(n, count)| (start(n), count));
            vec![("buckets", OwnValue::Pairs(pairs.collect()))]
        }
        TallyKind::Linear(linear) => {
            let above = linear.buckets as usize + 1;
            let inside = full.filter(|(n, _)| (1..above).contains(n));
            let pairs = inside.map(|(n, count)| (linear.start(n - 1), count));
            let of = |n: usize| OwnValue::Count(entry.buckets.get(n).copied().unwrap_or(0));
            vec![
                ("buckets", OwnValue::Pairs(pairs.collect())),
                ("below", of(0)),
                ("above", of(above)),
            ]
        }
        TallyKind::Rate if is_whole => {
            let rate = entry.rate.clone().unwrap_or_default();
            let age = |(ago, count)| (i64::try_from(ago).unwrap_or(i64::MAX), count);
            let seconds = rate.counts_by_age().into_iter().map(age);
            vec![
                (
                    "per_second",
                    OwnValue::Number(rate.per_second(RATE_WINDOW_SECONDS)),
                ),
                ("seconds", OwnValue::Pairs(seconds.collect())),
            ]
        }
        TallyKind::Distinct => vec![("distinct", OwnValue::Count(entry.distinct))],
        TallyKind::Top => vec![("error", OwnValue::Count(entry.error))],
        TallyKind::Count
        | TallyKind::Sums
        | TallyKind::Rate
        | TallyKind::Last
        | TallyKind::Sample
        | TallyKind::Numbers
        | TallyKind::Objects
        | TallyKind::PerObject => Vec::new(),
    }
}

impl TallyEntry {
    /// Returns the metrics of an entry of a table of this kind.
    pub fn metrics(&self, kind: TallyKind) -> EntryMetrics {
        let TallyEntry {
            count,
            sum,
            min,
            max,
            ..
        } = *self;
        match kind {
            TallyKind::Sums => EntryMetrics::Sums {
                count,
                sum,
                min,
                max,
            },
            TallyKind::Histogram => EntryMetrics::Distribution {
                count,
                sum,
                min,
                max,
                buckets: filled_buckets(&self.buckets),
            },
            TallyKind::Linear(linear) => EntryMetrics::Distribution {
                count,
                sum,
                min,
                max,
                buckets: linear_buckets(&self.buckets, linear),
            },
            TallyKind::Rate => {
                let rate = self.rate.clone().unwrap_or_default();
                let second = |(ago, count)| SecondCount { ago, count };
                EntryMetrics::Rate {
                    count,
                    whole: rate.complete_seconds(RATE_WINDOW_SECONDS),
                    seconds: rate.counts_by_age().into_iter().map(second).collect(),
                }
            }
            TallyKind::Distinct => EntryMetrics::Distinct {
                count,
                distinct: self.distinct,
            },
            TallyKind::Top => EntryMetrics::UpperBound {
                count,
                error: self.error,
            },
            TallyKind::Last | TallyKind::Sample => {
                let at = self.at.unwrap_or_default();
                EntryMetrics::Occurrence {
                    number: at.number,
                    time_ns: at.time_ns,
                    thread: at.thread_id,
                }
            }
            TallyKind::Count | TallyKind::Numbers | TallyKind::Objects | TallyKind::PerObject => {
                EntryMetrics::Count { count }
            }
        }
    }

    /// Returns the metrics of [`Tally::rest`](crate::Tally::rest). For some kinds only the number of
    /// values is known.
    pub fn metrics_of_rest(&self, kind: TallyKind) -> EntryMetrics {
        let kind = match kind {
            TallyKind::Last | TallyKind::Sample | TallyKind::Top | TallyKind::Distinct => {
                TallyKind::Count
            }
            kind => kind,
        };
        self.metrics(kind)
    }
}

/// All buckets of a linear histogram, including empty ones, so that a reader knows their bounds.
fn linear_buckets(counts: &[u64], linear: LinearBuckets) -> Vec<Bucket> {
    let bucket = |(range, count): (Option<(i64, i64)>, &u64)| {
        let (from, to) = range?;
        let count = *count;
        Some(Bucket { from, to, count })
    };
    linear.ranges().zip(counts).filter_map(bucket).collect()
}

/// The buckets of an exponential histogram that are not empty, in ascending order. The last element
/// of `counts` is the bucket of negative values.
fn filled_buckets(counts: &[u64]) -> Vec<Bucket> {
    let filled = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    let bucket = |(n, count): (usize, &u64)| {
        let (from, to) = bucket_range(n);
        let count = *count;
        Bucket { from, to, count }
    };
    let mut buckets: Vec<Bucket> = filled.map(bucket).collect();
    buckets.sort_by_key(|bucket| bucket.from);
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HISTOGRAM_BUCKETS;

    #[test]
    fn buckets_of_a_histogram_are_ascending_with_negative_values_first() {
        let mut counts = vec![0; HISTOGRAM_BUCKETS];
        for (n, count) in [
            (HISTOGRAM_BUCKETS - 1, 2),
            (0, 1),
            (5, 7),
            (HISTOGRAM_BUCKETS - 2, 3),
        ] {
            counts[n] = count;
        }
        let found: Vec<_> = filled_buckets(&counts)
            .iter()
            .map(|b| (b.from, b.to, b.count))
            .collect();
        let largest = (i64::MAX - (1 << 60), i64::MAX, 3);
        assert_eq!(found[..3], [(i64::MIN, -1, 2), (0, 0, 1), (5, 5, 7)]);
        assert_eq!(
            (found[3].1, found[3].2, found.len()),
            (largest.1, largest.2, 4)
        );
    }

    #[test]
    fn linear_buckets_include_empty_ones_and_have_their_bounds() {
        let linear = LinearBuckets::new(-10, 5, 2).expect("buckets");
        let found: Vec<_> = linear_buckets(&[4, 0, 1, 2], linear)
            .iter()
            .map(|b| (b.from, b.to, b.count))
            .collect();
        let expected = [
            (i64::MIN, -11, 4),
            (-10, -6, 0),
            (-5, -1, 1),
            (0, i64::MAX, 2),
        ];
        assert_eq!(found, expected);
    }
}
