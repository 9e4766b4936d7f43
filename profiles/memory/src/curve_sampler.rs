//! The miss-ratio curve of a running program, in bounded memory.
//!
//! SHARDS measures the stack distances of the lines whose hash is a multiple of a denominator. The best
//! denominator depends on the number of lines that the program accesses, which nobody knows before. So several
//! samples are taken at a time, each of a quarter of the lines of the one before:
//!
//! ```text
//!   line ─▶ 1/4 ─▶ 1/16 ─▶ 1/64 ─▶ …        a sample with too many lines ends, and those after it go on
//! ```
//!
//! The result is the curve of the largest sample that is left. It has seen all accesses to its lines, and its
//! error is that of one sample with its denominator.

use crate::hash::mix;
use crate::miss_curve::MissCurve;
use crate::reuse::StackDistances;

/// The denominator of the first sample. A power of two.
const FIRST_DENOMINATOR: u32 = 4;
/// The denominator of the last sample: the lines of 128 GiB are within its limit.
const LAST_DENOMINATOR: u32 = 1 << 18;
/// The most lines of a sample.
const MAX_LINES: usize = 1 << 14;
/// Determines which lines belong to the samples. The code that filters accesses has the same number.
pub const CURVE_SEED: u64 = 0x5eed;

/// Measures the distances of one thread for one length of lines.
#[derive(Clone, Debug)]
pub struct CurveSampler {
    line_shift: u32,
    /// The samples that are left, the largest one first.
    samples: Vec<StackDistances>,
}

impl CurveSampler {
    /// A sampler for lines of `1 << line_shift` bytes.
    pub fn new(line_shift: u32) -> CurveSampler {
        let next = |denominator: &u32| denominator.checked_mul(4);
        let denominators = std::iter::successors(Some(FIRST_DENOMINATOR), next);
        let denominators = denominators.take_while(|one| *one <= LAST_DENOMINATOR);
        let sample = |one| StackDistances::sampled(line_shift, one, CURVE_SEED);
        CurveSampler {
            line_shift,
            samples: denominators.map(sample).collect(),
        }
    }

    /// The base-2 logarithm of the bytes of a line.
    pub fn line_shift(&self) -> u32 {
        self.line_shift
    }

    /// A line is in the largest sample if its hash has none of these bits.
    pub fn mask(&self) -> u64 {
        let largest = self.samples.first();
        largest.map_or(u64::MAX, |sample| sample.denominator() - 1)
    }

    /// Whether a line is in the largest sample.
    pub fn has(&self, line: u64) -> bool {
        mix(line ^ CURVE_SEED) & self.mask() == 0
    }

    /// Adds an access to a line. Lines that belong to no sample change nothing.
    pub fn access(&mut self, line: u64) {
        for sample in &mut self.samples {
            if !sample.sampled_line(line) {
                // The samples after it are parts of this one.
                break;
            }
        }
        let is_full = |sample: &StackDistances| sample.lines() > MAX_LINES;
        if self.samples.len() > 1 && self.samples.first().is_some_and(is_full) {
            self.samples.remove(0);
        }
    }

    /// The objects have moved: each line is as if it had never been accessed.
    pub fn forget_lines(&mut self) {
        self.samples
            .iter_mut()
            .for_each(StackDistances::forget_lines);
    }

    /// The curve, if there were this many accesses, sampled or not.
    pub fn curve(&self, references: u64) -> MissCurve {
        let line_bytes = 1 << self.line_shift;
        let Some(largest) = self.samples.first() else {
            return MissCurve::default();
        };
        MissCurve::measured(&largest.curve_of(references), line_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of a walk, half of it through many lines and half at random through fewer.
    fn lines(lines: u64, count: u64) -> impl Iterator<Item = u64> {
        let mut state = 1u64;
        (0..count).map(move |i| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            match state >> 60 & 1 {
                0 => i * 3 % lines,
                _ => (state >> 30) % (lines / 7 + 1),
            }
        })
    }

    /// An LRU cache of a number of lines, simulated by the times of the last accesses.
    fn misses(accesses: impl Iterator<Item = u64>, size: usize) -> u64 {
        let mut times = std::collections::HashMap::new();
        let mut order = std::collections::BTreeMap::new();
        let mut misses = 0;
        for (now, line) in accesses.enumerate() {
            match times.insert(line, now) {
                Some(last) => {
                    order.remove(&last);
                }
                None => misses += 1,
            }
            order.insert(now, line);
            if order.len() > size
                && let Some((_, oldest)) = order.pop_first()
            {
                times.remove(&oldest);
            }
        }
        misses
    }

    #[test]
    fn the_curve_of_a_sample_has_the_misses_of_simulated_caches() {
        let (mut compared, mut wrong) = (0, Vec::new());
        for (footprint, count) in [(3_000, 100_000), (40_000, 300_000), (300_000, 900_000)] {
            let mut sampler = CurveSampler::new(6);
            for line in lines(footprint, count) {
                sampler.access(line + (1 << 30));
            }
            let curve = sampler.curve(count);
            assert_eq!(curve.references, count);
            for size in [16, 64, 256, 1024, 4096, 16384, 65536, 262_144] {
                let exact = misses(lines(footprint, count), size);
                let found = curve.at(size as u64);
                compared += 1;
                if found.misses.abs_diff(exact) > found.margin {
                    wrong.push((footprint, size, exact, found));
                }
                // The error of a large footprint is small enough to be of use.
                if footprint == 300_000 && size >= 16384 {
                    assert!(found.margin < count / 5, "{found:?}");
                }
            }
        }
        assert_eq!(compared, 24);
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn samples_with_too_many_lines_end() {
        let mut sampler = CurveSampler::new(6);
        assert_eq!(sampler.mask(), 3);
        (0..400_000).for_each(|line| sampler.access(line));
        assert_eq!(sampler.mask(), 63);
        assert!(sampler.samples.iter().all(|one| one.lines() <= MAX_LINES));
        let sampled = (0..64_000).filter(|line| sampler.has(*line)).count();
        assert!((800..1200).contains(&sampled), "{sampled}");
    }

    #[test]
    fn lines_are_forgotten_when_objects_move() {
        let mut sampler = CurveSampler::new(6);
        for _ in 0..10 {
            (0..1000).for_each(|line| sampler.access(line));
            sampler.forget_lines();
        }
        assert_eq!(sampler.curve(10_000).at(1 << 20).misses, 10_000);
    }
}
