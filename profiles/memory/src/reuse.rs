//! Stack distances and miss-ratio curves.
//!
//! The *stack distance* of an access is the number of different lines that were accessed since the
//! last access to the same line. A fully associative cache with LRU replacement and `n` lines misses
//! exactly the accesses whose distance is `n` or more, and the first access to each line (Mattson,
//! Gecsei, Slutz, Traiger: *Evaluation techniques for storage hierarchies*, IBM Systems Journal 9(2),
//! 1970). One run therefore gives the misses of all sizes.
//!
//! **Algorithm.** A Fenwick tree over the time holds a 1 at the last access of each line (Bennett
//! and Kruskal, *LRU stack processing*, 1975). A distance is a sum over the times since the line's
//! last access. The times are renumbered when the tree is full, so that memory is proportional to
//! the number of lines and an access costs O(log lines).
//!
//! **Sampling.** SHARDS (Waldspurger et al., FAST 2015) keeps the lines whose hash is below a
//! threshold, and divides distances by the sampling rate. The error is that of [`crate::estimate`],
//! with lines instead of sets, plus the error of the scaled distances: see [`MissRatioCurve::misses`].

use std::collections::HashMap;

use ahash::RandomState;

use crate::access::{Access, AccessKind};
use crate::estimate::{Estimate, GroupCount, MAX_GROUPS, ratio_estimate};
use crate::hash::mix;

/// The two-sided 99.9 % quantile of the normal distribution.
const NORMAL_QUANTILE: f64 = 3.291;
/// The least number of times between two renumberings.
const MIN_TIMES: usize = 1024;

/// Measures the stack distances of a run.
#[derive(Clone, Debug)]
pub struct StackDistances {
    line_shift: u32,
    /// A line is sampled if its hash is a multiple of this.
    denominator: u64,
    seed: u64,
    /// The time of the last access of each sampled line.
    last: HashMap<u64, usize, RandomState>,
    tree: Fenwick,
    /// The next time.
    now: usize,
    /// Line references of the run, sampled or not.
    references: u64,
    groups: Vec<Distances>,
}

/// The distances of one group of lines.
#[derive(Clone, Debug, Default)]
struct Distances {
    references: u64,
    /// First accesses to a line.
    cold: u64,
    /// How often each distance occurred.
    counts: Vec<u64>,
}

impl StackDistances {
    /// Measures all lines of `1 << line_shift` bytes.
    pub fn exact(line_shift: u32) -> StackDistances {
        StackDistances::sampled(line_shift, 1, 0)
    }

    /// Measures one in `denominator` of the lines. The seed determines which.
    pub fn sampled(line_shift: u32, denominator: u32, seed: u64) -> StackDistances {
        StackDistances {
            line_shift: line_shift.min(63),
            denominator: u64::from(denominator.max(1)),
            seed,
            last: HashMap::with_hasher(RandomState::with_seeds(5, 6, 7, 8)),
            tree: Fenwick::new(MIN_TIMES),
            now: 0,
            references: 0,
            groups: vec![Distances::default(); MAX_GROUPS],
        }
    }

    /// Adds an access. Each line that it touches is one reference; fetches of instructions are
    /// ignored.
    pub fn access(&mut self, access: &Access) {
        if access.kind == AccessKind::Fetch {
            return;
        }
        for line in access.blocks(self.line_shift) {
            self.references += 1;
            self.sampled_line(line);
        }
    }

    /// Adds an access to a line, which is not counted as a reference of the run. Returns whether the line is in
    /// the sample.
    pub fn sampled_line(&mut self, line: u64) -> bool {
        let hash = mix(line ^ self.seed);
        let is_sampled = self.denominator == 1 || hash.is_multiple_of(self.denominator);
        if is_sampled {
            // The group must not depend on the remainder that selected the line.
            self.reference(line, (mix(hash) % MAX_GROUPS as u64) as usize);
        }
        is_sampled
    }

    /// The number of sampled lines that have been accessed.
    pub fn lines(&self) -> usize {
        self.last.len()
    }

    /// A line is sampled if its hash is a multiple of this.
    pub fn denominator(&self) -> u64 {
        self.denominator
    }

    /// Forgets which lines have been accessed. The next access to each one is its first. The counts stay.
    pub fn forget_lines(&mut self) {
        self.last.clear();
        self.tree = Fenwick::new(MIN_TIMES);
        self.now = 0;
    }

    fn reference(&mut self, line: u64, group: usize) {
        if self.now == self.tree.len() {
            self.renumber();
        }
        let previous = self.last.insert(line, self.now);
        let distances = &mut self.groups[group];
        distances.references += 1;
        match previous {
            None => distances.cold += 1,
            Some(previous) => {
                // The line's own mark at `previous` does not count.
                let distance = self.tree.sum(self.now) - self.tree.sum(previous + 1);
                self.tree.subtract(previous);
                if distances.counts.len() <= distance {
                    distances.counts.resize(distance + 1, 0);
                }
                distances.counts[distance] += 1;
            }
        }
        self.tree.add(self.now);
        self.now += 1;
    }

    /// Renumbers the last accesses from 0 in their order.
    fn renumber(&mut self) {
        let mut order: Vec<(usize, u64)> =
            self.last.iter().map(|(line, at)| (*at, *line)).collect();
        order.sort_unstable();
        self.tree = Fenwick::new((order.len() * 2).max(MIN_TIMES));
        for (time, (_, line)) in order.iter().enumerate() {
            self.last.insert(*line, time);
            self.tree.add(time);
        }
        self.now = order.len();
    }

    /// Returns the curve of the accesses so far.
    pub fn curve(&self) -> MissRatioCurve {
        self.curve_of(self.references)
    }

    /// Returns the curve of the accesses so far, if the run has this many references.
    pub fn curve_of(&self, references: u64) -> MissRatioCurve {
        let group = |distances: &Distances| {
            let mut at_least: Vec<u64> = distances.counts.clone();
            let mut sum = 0;
            for count in at_least.iter_mut().rev() {
                sum += *count;
                *count = sum;
            }
            CurveGroup {
                references: distances.references,
                cold: distances.cold,
                at_least,
            }
        };
        MissRatioCurve {
            denominator: self.denominator,
            references,
            groups: self.groups.iter().map(group).collect(),
        }
    }
}

#[derive(Clone, Debug)]
struct CurveGroup {
    references: u64,
    cold: u64,
    /// Element `d` is the number of references with the distance `d` or more.
    at_least: Vec<u64>,
}

/// The misses of a fully associative LRU cache, for every size.
#[derive(Clone, Debug)]
pub struct MissRatioCurve {
    denominator: u64,
    references: u64,
    groups: Vec<CurveGroup>,
}

impl MissRatioCurve {
    /// Returns the number of line references.
    pub fn references(&self) -> u64 {
        self.references
    }

    /// Returns the misses of a cache with this number of lines.
    ///
    /// In a sample, the number of sampled lines within a distance of `n` lines is binomial, so that
    /// scaled distances have the standard deviation `sqrt(n * (denominator - 1))`. The lines of all
    /// groups share this error. Therefore the margin also covers the misses of caches that are
    /// smaller or larger by 3.3 standard deviations (99.9 %).
    pub fn misses(&self, lines: u64) -> Estimate {
        let estimate = self.misses_at(lines);
        if self.denominator == 1 {
            return estimate;
        }
        let deviation = (lines as f64 * (self.denominator - 1) as f64).sqrt();
        let shift = (NORMAL_QUANTILE * deviation).ceil() as u64;
        let smaller = self.misses_at(lines.saturating_sub(shift));
        let larger = self.misses_at(lines.saturating_add(shift));
        let spread = (smaller.value - estimate.value).max(estimate.value - larger.value);
        Estimate {
            margin: estimate.margin.map(|margin| margin + spread),
            ..estimate
        }
    }

    fn misses_at(&self, lines: u64) -> Estimate {
        let distance = usize::try_from(lines.div_ceil(self.denominator)).unwrap_or(usize::MAX);
        let count = |group: &CurveGroup| GroupCount {
            arrivals: group.references,
            events: group.cold + group.at_least.get(distance).copied().unwrap_or(0),
        };
        let groups: Vec<GroupCount> = self.groups.iter().map(count).collect();
        ratio_estimate(&groups, self.references, 1.0 / self.denominator as f64)
    }

    /// Returns the estimated number of lines beyond which a larger cache has no fewer misses.
    pub fn largest_useful_size(&self) -> u64 {
        let longest = self.groups.iter().map(|group| group.at_least.len()).max();
        (longest.unwrap_or(0) as u64).saturating_mul(self.denominator)
    }
}

/// A Fenwick tree of counts (Fenwick, *A new data structure for cumulative frequency tables*, 1994).
#[derive(Clone, Debug)]
struct Fenwick {
    /// Element `i` covers `i & -i` positions that end at `i`; element 0 is unused.
    sums: Vec<u32>,
}

impl Fenwick {
    fn new(length: usize) -> Fenwick {
        Fenwick {
            sums: vec![0; length + 1],
        }
    }

    fn len(&self) -> usize {
        self.sums.len() - 1
    }

    fn add(&mut self, position: usize) {
        let mut i = position + 1;
        while let Some(sum) = self.sums.get_mut(i) {
            *sum += 1;
            i += i & i.wrapping_neg();
        }
    }

    fn subtract(&mut self, position: usize) {
        let mut i = position + 1;
        while let Some(sum) = self.sums.get_mut(i) {
            *sum -= 1;
            i += i & i.wrapping_neg();
        }
    }

    /// Returns the sum of all positions before `end`.
    fn sum(&self, end: usize) -> usize {
        let (mut i, mut sum) = (end, 0);
        while i > 0 {
            sum += self.sums[i] as usize;
            i &= i - 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(address: u64) -> Access {
        Access {
            address,
            bytes: 1,
            kind: AccessKind::Read,
        }
    }

    #[test]
    fn a_cyclic_walk_misses_until_the_cache_holds_the_whole_cycle() {
        let mut distances = StackDistances::exact(6);
        for round in 0..10 {
            for line in 0..100 {
                distances.access(&read(line * 64 + round));
            }
        }
        let curve = distances.curve();
        assert_eq!(curve.references(), 1000);
        assert!(curve.misses(99).covers(1000));
        assert!(curve.misses(100).covers(100));
        assert_eq!(curve.largest_useful_size(), 100);
    }

    #[test]
    fn renumbering_changes_no_distance() {
        let mut distances = StackDistances::exact(0);
        for i in 0..5000 {
            distances.access(&read(i % 3));
        }
        let curve = distances.curve();
        assert!(curve.misses(2).covers(5000) && curve.misses(3).covers(3));
    }
}
