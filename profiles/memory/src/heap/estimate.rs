//! Estimates of allocated objects and bytes from samples, with their error.
//!
//! HotSpot samples at points whose distances in allocated bytes have an exponential distribution with
//! the mean `T`, the sampling interval. The object that contains a point is sampled. So an object of
//! `s` bytes is sampled with the probability `p = 1 − exp(−s/T)`, whatever was allocated before it.
//!
//! **Estimate.** Each sample stands for `1/p` objects (Horvitz and Thompson, JASA 47(260), 1952). The
//! variance of their sum is estimated by `Σ (1−p)/p²`, summed over the samples.
//!
//! **Stated error.** The number of samples of a site is nearly Poisson distributed. If `N` objects have
//! the variance `c·N`, then `N` is within `z·√(c·N)` of its estimate `n`. The solution of this
//! inequality for `N` is the score interval, whose upper half is `z²c/2 + z·√(c·n + z²c²/4)`. The
//! margin is this half with the 99 % quantile `z` of the normal distribution. For a site without a
//! sample, it is `z²·c` with the `c` of one object.
//!
//! **Large objects.** An object that is sampled reaches beyond the point by `b` bytes. HotSpot subtracts
//! `b` from the next distance only if the distance is longer (`pick_next_sample`). Otherwise the next
//! point comes too early. This happens for at most half of `p` of the samples, so that a part `f` of the
//! samples, the mean of `p/2`, can be too many. They can only be samples of objects that would not have
//! been sampled. The margin is therefore larger by `f·(1−p)` of the estimate.
//!
//! **Limits.**
//! * If a site always allocates just after an object of more than an eighth of the interval, it gets more
//!   than its part of the early points, and the margin is too small. [`HeapScale::large_share`] tells how
//!   many samples are of such objects; a longer interval avoids them.
//! * A thread that has just begun to be sampled has no sample before its allocation buffer is full.

/// The two-sided 99 % quantile of the normal distribution.
const QUANTILE: f64 = 2.576;
/// The smallest object of HotSpot. An unknown object has this size in the margin of a site without a
/// sample, so that the margin is rather too large.
const MIN_OBJECT_BYTES: u64 = 16;

/// An object of more than this part of the interval is large.
const LARGE_PART: u64 = 8;

/// The samples of one allocation site and type.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HeapTally {
    /// The number of samples.
    samples: u64,
    objects: Moments,
    bytes: Moments,
}

/// A sum that is estimated, and the estimate of its variance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Moments {
    sum: f64,
    variance: f64,
    /// The part of the sum that would not have been sampled in another recording.
    unsampled: f64,
}

/// The sampler of a recording: its interval, and the errors of all its samples together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeapScale {
    /// The mean number of bytes between two samples.
    interval: u64,
    /// The part of the samples that may be too many.
    excess: f64,
    /// The part of the samples whose objects are larger than an eighth of the interval.
    large: f64,
}

impl HeapScale {
    /// The scale of a recording whose samples have these sizes and numbers.
    pub fn new(interval: u64, samples: impl IntoIterator<Item = (u64, u64)>) -> HeapScale {
        let (mut sum, mut large, mut count) = (0.0, 0.0, 0.0);
        for (bytes, samples) in samples {
            let samples = samples as f64;
            if bytes > interval / LARGE_PART {
                large += samples;
            }
            sum += samples * sampling_probability(bytes as f64, interval) / 2.0;
            count += samples;
        }
        HeapScale {
            interval,
            excess: if count > 0.0 { sum / count } else { 0.0 },
            large: if count > 0.0 { large / count } else { 0.0 },
        }
    }

    /// The part of the samples whose objects are larger than an eighth of the interval.
    pub fn large_share(&self) -> f64 {
        self.large
    }
}

impl Moments {
    fn add(&mut self, samples: f64, value: f64, probability: f64) {
        let left_out = 1.0 - probability;
        self.sum += samples * value / probability;
        self.variance += samples * value * value * left_out / (probability * probability);
        self.unsampled += samples * value * left_out / probability;
    }

    fn margin(self, of_one: f64, excess: f64) -> f64 {
        let variance_share = match self.sum > 0.0 {
            true => self.variance / self.sum,
            false => of_one,
        };
        let half = QUANTILE * QUANTILE * variance_share / 2.0;
        excess * self.unsampled + half + (QUANTILE * QUANTILE * self.variance + half * half).sqrt()
    }
}

/// The allocations of a site that reached the heap, with the most by which the numbers differ from the
/// exact ones in 99 of 100 recordings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeapEstimate {
    /// Objects on the heap.
    pub objects: u64,
    /// The stated error of `objects`.
    pub objects_margin: u64,
    /// Their total size in bytes.
    pub bytes: u64,
    /// The stated error of `bytes`.
    pub bytes_margin: u64,
}

impl HeapTally {
    /// Adds a number of samples of objects of this size.
    pub fn add(&mut self, object_bytes: u64, samples: u64, interval: u64) {
        let (size, count) = (object_bytes.max(1) as f64, samples as f64);
        let probability = sampling_probability(size, interval);
        self.samples = self.samples.saturating_add(samples);
        self.objects.add(count, 1.0, probability);
        self.bytes.add(count, size, probability);
    }

    /// The number of samples.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// The estimate. `object_bytes` is the size of an object of the site, if all have the same one.
    pub fn estimate(&self, object_bytes: Option<u64>, scale: HeapScale) -> HeapEstimate {
        let size = object_bytes.unwrap_or(MIN_OBJECT_BYTES).max(1) as f64;
        let probability = sampling_probability(size, scale.interval);
        let of_one = (1.0 - probability) / probability;
        HeapEstimate {
            objects: self.objects.sum.round() as u64,
            objects_margin: self.objects.margin(of_one, scale.excess).ceil() as u64,
            bytes: self.bytes.sum.round() as u64,
            bytes_margin: self.bytes.margin(of_one * size, scale.excess).ceil() as u64,
        }
    }
}

/// The probability that an object of this size is sampled.
fn sampling_probability(bytes: f64, interval: u64) -> f64 {
    -(-bytes / interval.max(1) as f64).exp_m1()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The interval of the simulated sampler.
    const INTERVAL: u64 = 512 << 10;
    /// The scale of a recording of small objects.
    const SMALL: HeapScale = HeapScale {
        interval: INTERVAL,
        excess: 0.0,
        large: 0.0,
    };

    /// Numbers between 0 and 1, without 0 (xorshift64*).
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> f64 {
            self.0 ^= self.0 >> 12;
            self.0 ^= self.0 << 25;
            self.0 ^= self.0 >> 27;
            let bits = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11;
            (bits + 1) as f64 / (1u64 << 53) as f64
        }
    }

    /// The sampler of a thread as HotSpot has it (`threadHeapSampler.cpp`), which this test states anew:
    /// it counts bytes down to the next point, and carries what an object has beyond the point.
    struct Sampler {
        random: Random,
        left: u64,
    }

    impl Sampler {
        fn new(seed: u64) -> Sampler {
            let mut sampler = Sampler {
                random: Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1),
                left: 0,
            };
            sampler.left = sampler.distance();
            sampler
        }

        fn distance(&mut self) -> u64 {
            (-self.random.next().ln() * INTERVAL as f64) as u64 + 1
        }

        fn is_sampled(&mut self, bytes: u64) -> bool {
            if bytes < self.left {
                self.left -= bytes;
                return false;
            }
            let beyond = bytes - self.left;
            self.left = self.distance();
            if beyond > 0 && self.left > beyond {
                self.left -= beyond;
            }
            true
        }
    }

    /// A program that allocates objects of these sizes in turn. Returns the estimate of each size.
    fn allocate(sizes: &[u64], rounds: u64, seed: u64) -> Vec<HeapEstimate> {
        let mut sampler = Sampler::new(seed);
        let mut tallies = vec![HeapTally::default(); sizes.len()];
        for _ in 0..rounds {
            for (size, tally) in sizes.iter().zip(&mut tallies) {
                if sampler.is_sampled(*size) {
                    tally.add(*size, 1, INTERVAL);
                }
            }
        }
        let samples = sizes.iter().zip(&tallies);
        let samples = samples.map(|(size, tally)| (*size, tally.samples()));
        let scale = HeapScale::new(INTERVAL, samples);
        let all = sizes.iter().zip(&tallies);
        all.map(|(size, tally)| tally.estimate(Some(*size), scale))
            .collect()
    }

    fn covers(estimate: u64, margin: u64, exact: u64) -> bool {
        estimate.abs_diff(exact) <= margin
    }

    /// In how many of 200 programs the stated error of each size holds.
    fn covered(sizes: &[u64], rounds: u64) -> Vec<usize> {
        let mut covered = vec![0; sizes.len()];
        for seed in 1..=200 {
            let estimates = allocate(sizes, rounds, seed);
            for ((size, estimate), count) in sizes.iter().zip(estimates).zip(&mut covered) {
                let holds = covers(estimate.objects, estimate.objects_margin, rounds)
                    && covers(estimate.bytes, estimate.bytes_margin, rounds * size);
                *count += usize::from(holds);
            }
        }
        covered
    }

    #[test]
    fn the_stated_error_holds_in_99_of_100_recordings() {
        // Many samples of each size, then a few, then hardly any.
        for (sizes, rounds) in [
            (&[24, 40, 4_000][..], 400_000),
            (&[16, 1 << 10, 16 << 10][..], 2_000),
            (&[24, 32][..], 20_000),
            // Objects of up to an eighth of the interval, with small ones between them.
            (&[32 << 10, 64 << 10][..], 300),
            (&[16 << 10, 64 << 10, 24][..], 10_000),
        ] {
            for (covered, size) in covered(sizes, rounds).iter().zip(sizes) {
                assert!(*covered >= 196, "{size} bytes: {covered} of 200");
            }
        }
    }

    #[test]
    fn the_mean_of_the_estimates_is_the_exact_number() {
        let rounds = 50_000;
        let sizes = [24, 1 << 10];
        let mut sums = [0.0; 2];
        for seed in 1..=200 {
            let estimates = allocate(&sizes, rounds, seed);
            for (sum, estimate) in sums.iter_mut().zip(estimates) {
                *sum += estimate.objects as f64 / 200.0;
            }
        }
        for (mean, margin) in sums.into_iter().zip([0.15, 0.03]) {
            assert!((mean / rounds as f64 - 1.0).abs() < margin, "{mean}");
        }
    }

    #[test]
    fn the_error_shrinks_with_the_square_root_of_the_samples() {
        let share = |samples| {
            let mut tally = HeapTally::default();
            tally.add(32, samples, INTERVAL);
            let estimate = tally.estimate(Some(32), SMALL);
            estimate.objects_margin as f64 / estimate.objects as f64
        };
        // z/√n for many samples.
        assert!((share(10_000) - 0.0261).abs() < 0.001, "{}", share(10_000));
        assert!((share(100) / share(10_000) - 10.0).abs() < 2.0);
    }

    #[test]
    fn a_site_without_a_sample_has_an_error_and_a_large_object_has_none() {
        let none = HeapTally::default().estimate(Some(24), SMALL);
        assert_eq!((none.objects, none.bytes), (0, 0));
        // z² intervals of bytes.
        assert!(
            (3_400_000..3_500_000).contains(&none.bytes_margin),
            "{none:?}"
        );
        assert_eq!(none.bytes_margin / 24, none.objects_margin - 1);
        let unknown = HeapTally::default().estimate(None, SMALL);
        assert!(unknown.objects_margin > none.objects_margin);
        let mut large = HeapTally::default();
        large.add(64 << 20, 5, INTERVAL);
        let large = large.estimate(Some(64 << 20), SMALL);
        assert_eq!((large.objects, large.objects_margin), (5, 0));
    }
}
