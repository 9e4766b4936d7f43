//! The exponential buckets of a histogram.
//!
//! ```text
//!   bucket       0  1  2  3   4  5  6  7   8    9      10     …    247          248
//!   values       0  1  2  3   4  5  6  7   8–9  10–11  12–13  …    up to 2⁶³−1  negative
//! ```

/// The number of buckets of a histogram. The last bucket counts negative values.
pub const HISTOGRAM_BUCKETS: usize = 4 * 62 + 1;

/// Returns the least value of a bucket. The values 0 to 3 have a bucket each, and each power of two
/// from 4 has four buckets. Returns `None` for the bucket of negative values.
pub fn bucket_start(n: usize) -> Option<u64> {
    match n {
        0..=3 => Some(n as u64),
        n if n < HISTOGRAM_BUCKETS - 1 => {
            let (bits, part) = (n as u64 / 4 + 1, n as u64 % 4);
            Some((4 + part) << (bits - 2))
        }
        _ => None,
    }
}

/// Returns the least and the greatest value of a bucket.
pub fn bucket_range(n: usize) -> (i64, i64) {
    let bound = |start: u64| i64::try_from(start).unwrap_or(i64::MAX);
    match bucket_start(n) {
        Some(from) => {
            let next = bucket_start(n + 1);
            (bound(from), next.map_or(i64::MAX, |next| bound(next) - 1))
        }
        None => (i64::MIN, -1),
    }
}

/// Returns the greatest values of all buckets for non-negative values, in ascending order.
pub fn bucket_bounds() -> impl Iterator<Item = i64> {
    (0..HISTOGRAM_BUCKETS - 1).map(|n| bucket_range(n).1)
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

    /// The bucket of a value, as in `VeneerTables.bucket`.
    fn bucket(value: i64) -> usize {
        match value {
            ..0 => HISTOGRAM_BUCKETS - 1,
            0..4 => value as usize,
            _ => {
                let bits = 63 - value.leading_zeros() as usize;
                4 * (bits - 1) + (value >> (bits - 2) & 3) as usize
            }
        }
    }

    #[test]
    fn buckets_are_contiguous() {
        for n in 0..HISTOGRAM_BUCKETS - 1 {
            let start = bucket_start(n).expect("a bucket") as i64;
            assert_eq!(bucket(start), n);
            assert!(n == 0 || bucket(start - 1) == n - 1);
        }
        assert_eq!(bucket(i64::MAX), HISTOGRAM_BUCKETS - 2);
        assert_eq!(bucket(-1), HISTOGRAM_BUCKETS - 1);
        assert_eq!(bucket_start(HISTOGRAM_BUCKETS - 1), None);
    }

    #[test]
    fn ranges_have_no_gaps_and_negative_values_have_one_bucket() {
        assert_eq!(bucket_range(HISTOGRAM_BUCKETS - 1), (i64::MIN, -1));
        for n in 0..HISTOGRAM_BUCKETS - 1 {
            let (from, to) = bucket_range(n);
            assert!(from <= to, "bucket {n}");
            assert_eq!((bucket(from), bucket(to)), (n, n));
        }
    }
}
