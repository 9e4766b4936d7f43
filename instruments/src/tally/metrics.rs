//! The metrics of an entry, as reports and exports show them.
//!
//! A [`TallyEntry`] has the numbers of all kinds of tables, because tables are added and
//! subtracted. [`EntryMetrics`] has the numbers of one kind, with the bounds of buckets.

use super::{LinearBuckets, RATE_WINDOW_SECONDS, TallyEntry, TallyKind};
use veneer_measurements::{Bucket, EntryMetrics, SecondCount, bucket_range};

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
