//! Histogram buckets of equal width.

use serde::{Deserialize, Serialize};

/// The maximum number of buckets of a linear histogram.
pub const MAX_LINEAR_BUCKETS: u32 = 1_000;

/// The buckets of a linear histogram. Two more buckets count the values below the first bucket and
/// above the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LinearBuckets {
    /// The least value of the first bucket.
    pub from: i64,
    /// The number of values in each bucket; at least 1.
    pub step: i64,
    /// The number of buckets, from 1 to [`MAX_LINEAR_BUCKETS`].
    pub buckets: u32,
}

/// The reason why the arguments describe no buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinearError {
    /// The width is less than 1.
    #[error("{step} is no width of a bucket: write 1 or more")]
    InvalidWidth {
        /// The width that the plan asks for.
        step: i64,
    },
    /// The number of buckets is less than 1 or too large.
    #[error("{buckets} is no number of buckets: write 1 to {MAX_LINEAR_BUCKETS}")]
    InvalidCount {
        /// The number of buckets that the plan asks for.
        buckets: i64,
    },
    /// The buckets end beyond the range of 64-bit integers.
    #[error(
        "{buckets} buckets of {step} from {from} on end beyond 2^63: write fewer, or narrower ones"
    )]
    OutOfRange {
        /// The least value of the first bucket.
        from: i64,
        /// The width of a bucket.
        step: i64,
        /// The number of buckets.
        buckets: i64,
    },
}

impl LinearBuckets {
    /// Creates `buckets` buckets of the width `step`, the first of which begins at `from`. The
    /// total width and the end of the last bucket must be less than 2⁶³.
    pub fn new(from: i64, step: i64, buckets: i64) -> Result<Self, LinearError> {
        if step < 1 {
            return Err(LinearError::InvalidWidth { step });
        }
        let number = u32::try_from(buckets).ok();
        let Some(number) = number.filter(|n| (1..=MAX_LINEAR_BUCKETS).contains(n)) else {
            return Err(LinearError::InvalidCount { buckets });
        };
        let end = step
            .checked_mul(buckets)
            .and_then(|all| from.checked_add(all));
        if end.is_none() {
            return Err(LinearError::OutOfRange {
                from,
                step,
                buckets,
            });
        }
        let buckets = number;
        Ok(Self {
            from,
            step,
            buckets,
        })
    }

    /// Returns the first value above all buckets.
    pub fn end(self) -> i64 {
        self.start(self.buckets as usize)
    }

    /// Returns the least value of the bucket with index `n`.
    pub fn start(self, n: usize) -> i64 {
        // `new` has checked that this is in range for all existing buckets.
        let n = i64::try_from(n).unwrap_or(i64::MAX);
        self.from.saturating_add(self.step.saturating_mul(n))
    }

    /// Returns the least and the greatest value of each element of an entry's buckets: below, each
    /// bucket, above. The first element is `None` if no value is below the first bucket.
    pub fn ranges(self) -> impl Iterator<Item = Option<(i64, i64)>> {
        let below = self.from.checked_sub(1).map(|to| (i64::MIN, to));
        let inside =
            (0..self.buckets as usize).map(move |n| Some((self.start(n), self.start(n + 1) - 1)));
        let above = Some((self.end(), i64::MAX));
        std::iter::once(below).chain(inside).chain([above])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_all_values() {
        for (from, step, buckets) in [
            (0, 10, 5),
            (-7, 1, 3),
            (i64::MIN, 1 << 53, 1000),
            (i64::MAX - 20, 10, 2),
        ] {
            let linear = LinearBuckets::new(from, step, buckets).expect("buckets");
            let ranges: Vec<_> = linear.ranges().collect();
            assert_eq!(ranges.len(), buckets as usize + 2);
            assert_eq!(ranges[0].is_none(), from == i64::MIN);
            let all: Vec<_> = ranges.into_iter().flatten().collect();
            assert_eq!((all[0].0, all[all.len() - 1].1), (i64::MIN, i64::MAX));
            assert!(
                all.windows(2).all(|two| two[0].1 + 1 == two[1].0),
                "{all:?}"
            );
        }
    }

    #[test]
    fn invalid_buckets_are_refused() {
        assert_eq!(
            LinearBuckets::new(0, 0, 5),
            Err(LinearError::InvalidWidth { step: 0 })
        );
        assert_eq!(
            LinearBuckets::new(0, -1, 5),
            Err(LinearError::InvalidWidth { step: -1 })
        );
        for buckets in [0, -1, 1001, 1 << 32] {
            assert_eq!(
                LinearBuckets::new(0, 1, buckets),
                Err(LinearError::InvalidCount { buckets })
            );
        }
        let from = i64::MAX - 20;
        let beyond = LinearError::OutOfRange {
            from,
            step: 11,
            buckets: 2,
        };
        assert_eq!(LinearBuckets::new(from, 11, 2), Err(beyond));
        assert!(LinearBuckets::new(i64::MIN, 1 << 62, 3).is_err());
    }
}
