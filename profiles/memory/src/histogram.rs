//! Histograms whose buckets are powers of two.

/// Number of buckets: one for 0, and one for each bit length of a 64-bit number.
pub const BUCKETS: usize = 65;

/// Counts of numbers by their bit length. Bucket 0 counts zeros; bucket `k` counts the numbers from
/// `2^(k-1)` to `2^k - 1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogHistogram {
    counts: [u64; BUCKETS],
}

impl Default for LogHistogram {
    fn default() -> LogHistogram {
        LogHistogram {
            counts: [0; BUCKETS],
        }
    }
}

impl LogHistogram {
    /// Counts one number.
    pub fn add(&mut self, number: u64) {
        self.add_to_bucket(Self::bucket(number), 1);
    }

    /// Returns the bucket of a number.
    pub fn bucket(number: u64) -> usize {
        (u64::BITS - number.leading_zeros()) as usize
    }

    /// Returns the smallest number of a bucket.
    pub fn lower_bound(bucket: usize) -> u64 {
        match bucket {
            0 => 0,
            bucket => 1u64.checked_shl(bucket as u32 - 1).unwrap_or(u64::MAX),
        }
    }

    /// Adds a count to a bucket. A bucket that does not exist is ignored.
    pub fn add_to_bucket(&mut self, bucket: usize, count: u64) {
        if let Some(sum) = self.counts.get_mut(bucket) {
            *sum = sum.saturating_add(count);
        }
    }

    /// Adds all counts of another histogram.
    pub fn merge(&mut self, other: &LogHistogram) {
        for (bucket, count) in other.counts.iter().enumerate() {
            self.add_to_bucket(bucket, *count);
        }
    }

    /// Returns the counts of all buckets.
    pub fn counts(&self) -> &[u64; BUCKETS] {
        &self.counts
    }

    /// Returns the number of counted numbers.
    pub fn total(&self) -> u64 {
        self.counts.iter().fold(0, |sum, n| sum.saturating_add(*n))
    }

    /// Returns the lower bound of the bucket in which the given part of all numbers is reached.
    /// `part` is from 0 to 1. Returns `None` for an empty histogram.
    pub fn quantile(&self, part: f64) -> Option<u64> {
        let wanted = (self.total() as f64 * part).ceil().max(1.0);
        let mut sum = 0.0;
        let reached = self.counts.iter().position(|count| {
            sum += *count as f64;
            sum >= wanted
        });
        reached.map(LogHistogram::lower_bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_begins_at_its_lower_bound() {
        for number in [0, 1, 2, 3, 4, 7, 8, 1 << 40, u64::MAX] {
            let bucket = LogHistogram::bucket(number);
            assert!(LogHistogram::lower_bound(bucket) <= number);
            assert!(bucket + 1 == BUCKETS || number < LogHistogram::lower_bound(bucket + 1));
        }
    }

    #[test]
    fn quantiles_are_those_of_the_counted_numbers() {
        let mut histogram = LogHistogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        (0..90).for_each(|_| histogram.add(5));
        (0..10).for_each(|_| histogram.add(1000));
        let mut twice = histogram.clone();
        twice.merge(&histogram);
        assert_eq!(twice.total(), 200);
        let quantiles = [0.0, 0.9, 0.91, 1.0].map(|part| twice.quantile(part));
        assert_eq!(quantiles, [Some(4), Some(4), Some(512), Some(512)]);
    }
}
