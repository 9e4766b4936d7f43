//! Quantiles of many numbers in bounded memory.
//!
//! Up to [`EXACT_VALUES`] numbers are kept, so their quantiles are exact. More numbers are counted
//! in buckets whose width is 1/64 of their lower bound, so a quantile differs from the true one by
//! at most 0.8 %. The idea is that of HdrHistogram (Tene, 2012).

/// Numbers that are kept exactly.
const EXACT_VALUES: usize = 256;
/// Buckets per power of two.
const SUB_BUCKETS: u64 = 64;
const SUB_BITS: u32 = 6;

/// Numbers, and their quantiles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Quantiles {
    exact: Vec<u64>,
    /// Buckets and their counts, by bucket.
    buckets: Vec<(u16, u64)>,
    count: u64,
}

impl Quantiles {
    /// Adds a number.
    pub fn add(&mut self, value: u64) {
        self.count += 1;
        if self.buckets.is_empty() {
            if self.exact.len() < EXACT_VALUES {
                self.exact.push(value);
                return;
            }
            self.begin_buckets();
        }
        self.add_to_bucket(bucket_of(value), 1);
    }

    /// Adds the numbers of another set. The result is that of adding them one by one.
    pub fn merge(&mut self, other: &Quantiles) {
        self.count += other.count;
        if self.count > EXACT_VALUES as u64 {
            self.begin_buckets();
            for value in &other.exact {
                self.add_to_bucket(bucket_of(*value), 1);
            }
            for (bucket, count) in &other.buckets {
                self.add_to_bucket(*bucket, *count);
            }
        } else {
            self.exact.extend(&other.exact);
        }
    }

    /// Moves the exact numbers into buckets.
    fn begin_buckets(&mut self) {
        for value in std::mem::take(&mut self.exact) {
            self.add_to_bucket(bucket_of(value), 1);
        }
    }

    fn add_to_bucket(&mut self, bucket: u16, count: u64) {
        match self.buckets.binary_search_by_key(&bucket, |b| b.0) {
            Ok(at) => self.buckets[at].1 += count,
            Err(at) => self.buckets.insert(at, (bucket, count)),
        }
    }

    /// The smallest number that at least `part` (0 to 1) of the numbers do not exceed. `None` if
    /// there are no numbers.
    pub fn quantile(&self, part: f64) -> Option<u64> {
        if self.count == 0 {
            return None;
        }
        let rank = (part.clamp(0.0, 1.0) * self.count as f64).ceil().max(1.0) as u64;
        if self.buckets.is_empty() {
            let mut sorted = self.exact.clone();
            sorted.sort_unstable();
            return sorted.get(rank as usize - 1).copied();
        }
        let mut seen = 0;
        let found = self.buckets.iter().find(|(_, count)| {
            seen += count;
            seen >= rank
        });
        found.or(self.buckets.last()).map(|(b, _)| middle_of(*b))
    }
}

fn bucket_of(value: u64) -> u16 {
    if value < 2 * SUB_BUCKETS {
        return value as u16;
    }
    let shift = 63 - value.leading_zeros() - SUB_BITS;
    (u64::from(shift) * SUB_BUCKETS + (value >> shift)) as u16
}

fn middle_of(bucket: u16) -> u64 {
    let bucket = u64::from(bucket);
    if bucket < 2 * SUB_BUCKETS {
        return bucket;
    }
    let shift = bucket / SUB_BUCKETS - 1;
    let low = (bucket - shift * SUB_BUCKETS) << shift;
    low + (1 << shift) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_numbers_have_exact_quantiles() {
        let mut numbers = Quantiles::default();
        assert_eq!(numbers.quantile(0.5), None);
        for n in 1..=100 {
            numbers.add(n * 1_000_003);
        }
        assert_eq!(numbers.quantile(0.5), Some(50 * 1_000_003));
        assert_eq!(numbers.quantile(0.99), Some(99 * 1_000_003));
        assert_eq!(numbers.quantile(1.0), Some(100 * 1_000_003));
        assert_eq!(numbers.quantile(0.0), Some(1_000_003));
    }

    #[test]
    fn many_numbers_have_quantiles_within_the_stated_error() {
        let mut numbers = Quantiles::default();
        let mut all: Vec<u64> = (0..20_000u64).map(|n| n * n * n + 7).collect();
        for value in &all {
            numbers.add(*value);
        }
        all.sort_unstable();
        for part in [0.01, 0.1, 0.5, 0.9, 0.99, 0.999] {
            let rank = (part * all.len() as f64).ceil() as usize - 1;
            let (found, exact) = (numbers.quantile(part).unwrap_or(0), all[rank]);
            let error = found.abs_diff(exact) as f64 / exact as f64;
            assert!(error <= 0.008, "{part}: {found} for {exact}");
        }
    }

    #[test]
    fn merged_sets_are_equal_to_one_set() {
        for (first, second) in [
            (0, 10),
            (100, 156),
            (100, 157),
            (256, 0),
            (300, 5),
            (5, 300),
        ] {
            let (mut one, mut merged, mut later) = (
                Quantiles::default(),
                Quantiles::default(),
                Quantiles::default(),
            );
            for n in 0..first + second {
                let value = n * n * 77 % 10_007;
                one.add(value);
                let part = if n < first { &mut merged } else { &mut later };
                part.add(value);
            }
            merged.merge(&later);
            assert_eq!(merged, one, "{first} and {second}");
        }
    }

    #[test]
    fn each_bucket_contains_its_middle() {
        for value in (0..64)
            .map(|bit| 1u64 << bit)
            .chain([u64::MAX, 127, 128, 129])
        {
            let bucket = bucket_of(value);
            assert_eq!(bucket_of(middle_of(bucket)), bucket, "{value}");
        }
    }
}
