//! Cache lines and fields that threads share, and the strides of sites.
//!
//! Each thread has a copy of a line until another thread writes to the line. The next access of the
//! thread then misses, because its copy is invalid. The miss is *true sharing* if the access touches
//! bytes that other threads have written since the thread's last access to the line. Otherwise it is
//! *false sharing*: only neighbours were written (Torrellas, Lam, Hennessy: *False sharing and
//! spatial locality in multiprocessor caches*, IEEE Transactions on Computers 43(6), 1994).
//!
//! ```text
//!   line of 64 bytes:  [ a: written by thread 1 | b: read by thread 2 | … ]
//!                        every write of a invalidates thread 2's copy: false sharing, sites (write a, read b)
//! ```
//!
//! The caches are unlimited here: a line that a real cache would have replaced still counts as
//! invalidated. The counts are therefore upper bounds.

use std::collections::HashMap;

use ahash::RandomState;

use crate::access::{Access, AccessKind};

/// The longest line in bytes. A line has one bit for each byte.
pub const MAX_SHARED_LINE_SHIFT: u32 = 7;
/// The most lines that are followed.
pub const MAX_SHARED_LINES: usize = 1 << 20;
/// The most threads that are followed for each line.
const MAX_THREADS_OF_LINE: usize = 64;
/// The most pairs of sites.
const MAX_PAIRS: usize = 1 << 16;

/// The state of one thread's copy of a line.
#[derive(Clone, Copy, Debug)]
struct ThreadCopy {
    thread: u32,
    /// Bytes that other threads have written since this thread's last access.
    foreign: u128,
    /// The last site that wrote them.
    writer: u32,
}

#[derive(Clone, Debug, Default)]
struct SharedLine {
    copies: Vec<ThreadCopy>,
    true_misses: u64,
    false_misses: u64,
}

/// Two sites that share lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SitePair {
    /// The site that wrote to the line.
    pub writer: u32,
    /// The site of another thread that found its copy invalid.
    pub other: u32,
}

/// Invalidation misses of two sites.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedMisses {
    /// The other site accessed bytes that were written.
    pub true_misses: u64,
    /// The other site accessed only neighbours of the bytes that were written.
    pub false_misses: u64,
}

/// Invalidation misses of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineMisses {
    /// The address of the line.
    pub address: u64,
    /// Number of threads that accessed the line.
    pub threads: usize,
    /// Number of accesses that found their copy of this line invalid, by true and false sharing.
    pub misses: SharedMisses,
}

/// Finds lines that several threads use and at least one writes.
#[derive(Clone, Debug)]
pub struct SharingDetector {
    shift: u32,
    lines: HashMap<u64, SharedLine, RandomState>,
    pairs: HashMap<SitePair, SharedMisses, RandomState>,
    unseen: u64,
}

impl SharingDetector {
    /// Lines of `1 << line_shift` bytes, at most `1 <<` [`MAX_SHARED_LINE_SHIFT`].
    pub fn new(line_shift: u32) -> SharingDetector {
        SharingDetector {
            shift: line_shift.min(MAX_SHARED_LINE_SHIFT),
            lines: HashMap::with_hasher(RandomState::with_seeds(13, 14, 15, 16)),
            pairs: HashMap::with_hasher(RandomState::with_seeds(13, 14, 15, 16)),
            unseen: 0,
        }
    }

    /// Adds an access of a thread. Fetches of instructions are ignored.
    pub fn access(&mut self, access: &Access, thread: u32, site: u32) {
        if access.kind == AccessKind::Fetch {
            return;
        }
        let is_write = access.kind != AccessKind::Read;
        let low = (1u64 << self.shift) - 1;
        let blocks = access.blocks(self.shift);
        let (first, last) = (*blocks.start(), *blocks.end());
        for line in blocks {
            let from = if line == first {
                access.address & low
            } else {
                0
            };
            let to = if line == last {
                access.last() & low
            } else {
                low
            };
            let bytes = (u128::MAX >> (127 - (to - from))) << from;
            self.access_line(line, bytes, is_write, thread, site);
        }
    }

    fn access_line(&mut self, number: u64, bytes: u128, is_write: bool, thread: u32, site: u32) {
        if self.lines.len() >= MAX_SHARED_LINES && !self.lines.contains_key(&number) {
            self.unseen += 1;
            return;
        }
        let line = self.lines.entry(number).or_default();
        let room = line.copies.len() < MAX_THREADS_OF_LINE;
        let copy = line.copies.iter_mut().find(|copy| copy.thread == thread);
        match copy {
            Some(copy) if copy.foreign != 0 => {
                let is_true = copy.foreign & bytes != 0;
                let pair = SitePair {
                    writer: copy.writer,
                    other: site,
                };
                copy.foreign = 0;
                line.true_misses += u64::from(is_true);
                line.false_misses += u64::from(!is_true);
                if self.pairs.len() < MAX_PAIRS || self.pairs.contains_key(&pair) {
                    let misses = self.pairs.entry(pair).or_default();
                    misses.true_misses += u64::from(is_true);
                    misses.false_misses += u64::from(!is_true);
                } else {
                    self.unseen += 1;
                }
            }
            Some(_) => {}
            None if room => line.copies.push(ThreadCopy {
                thread,
                foreign: 0,
                writer: site,
            }),
            None => self.unseen += 1,
        }
        if is_write {
            for copy in line.copies.iter_mut().filter(|copy| copy.thread != thread) {
                copy.foreign |= bytes;
                copy.writer = site;
            }
        }
    }

    /// Forgets all lines after a collection that moved objects, and keeps the counts of the sites.
    pub fn flush(&mut self) {
        self.lines.clear();
    }

    /// Returns the lines with invalidation misses, those with the most misses first.
    pub fn lines(&self) -> Vec<LineMisses> {
        let misses = |(number, line): (&u64, &SharedLine)| LineMisses {
            address: number << self.shift,
            threads: line.copies.len(),
            misses: SharedMisses {
                true_misses: line.true_misses,
                false_misses: line.false_misses,
            },
        };
        let total = |line: &LineMisses| line.misses.true_misses + line.misses.false_misses;
        let mut all: Vec<LineMisses> = self.lines.iter().map(misses).collect();
        all.retain(|line| total(line) > 0);
        all.sort_unstable_by_key(|line| (std::cmp::Reverse(total(line)), line.address));
        all
    }

    /// Returns the pairs of sites, those with the most misses first.
    pub fn pairs(&self) -> Vec<(SitePair, SharedMisses)> {
        let mut all: Vec<_> = self.pairs.iter().map(|(pair, n)| (*pair, *n)).collect();
        all.sort_unstable_by_key(|(pair, n)| {
            (std::cmp::Reverse(n.true_misses + n.false_misses), *pair)
        });
        all
    }

    /// Returns the number of accesses that exceeded a limit and were not followed.
    pub fn unseen(&self) -> u64 {
        self.unseen
    }
}

/// Number of candidates for the most frequent stride of a site.
const STRIDE_CANDIDATES: usize = 4;

/// The strides of one site in one thread: differences of successive addresses.
///
/// The most frequent strides are found in one pass (Misra and Gries, *Finding repeated elements*,
/// 1982): every stride with more than a fifth of all steps is among the four candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strides {
    last: Option<u64>,
    /// Number of differences.
    pub steps: u64,
    candidates: [(i64, u64); STRIDE_CANDIDATES],
}

impl Strides {
    /// Adds the next address.
    pub fn add(&mut self, address: u64) {
        let Some(last) = self.last.replace(address) else {
            return;
        };
        self.steps += 1;
        let stride = address.wrapping_sub(last) as i64;
        let candidates = &mut self.candidates;
        if let Some(same) = candidates.iter_mut().find(|c| c.1 > 0 && c.0 == stride) {
            same.1 += 1;
        } else if let Some(free) = candidates.iter_mut().find(|c| c.1 == 0) {
            *free = (stride, 1);
        } else {
            candidates.iter_mut().for_each(|c| c.1 -= 1);
        }
    }

    /// Returns the stride in bytes that certainly made up at least half of all steps.
    pub fn dominant(&self) -> Option<i64> {
        let most = self.candidates.iter().max_by_key(|c| c.1)?;
        (self.steps > 0 && most.1.saturating_mul(2) >= self.steps).then_some(most.0)
    }

    /// Whether the site walks memory in steps that use each line for one access only: the dominant
    /// stride is a line or more. An array of arrays that is walked in the wrong order does this.
    pub fn skips_lines(&self, line_bytes: u64) -> bool {
        self.dominant()
            .is_some_and(|stride| stride.unsigned_abs() >= line_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(address: u64, kind: AccessKind) -> Access {
        Access {
            address,
            bytes: 8,
            kind,
        }
    }

    #[test]
    fn neighbours_on_a_line_are_false_sharing_with_both_sites() {
        let mut detector = SharingDetector::new(6);
        for _ in 0..100 {
            detector.access(&access(0x1000, AccessKind::Write), 1, 10);
            detector.access(&access(0x1008, AccessKind::Modify), 2, 20);
        }
        let false_misses = |n| SharedMisses {
            true_misses: 0,
            false_misses: n,
        };
        let pair = |writer, other| SitePair { writer, other };
        assert_eq!(
            detector.pairs(),
            [
                (pair(10, 20), false_misses(99)),
                (pair(20, 10), false_misses(99))
            ]
        );
        let line = LineMisses {
            address: 0x1000,
            threads: 2,
            misses: false_misses(198),
        };
        assert_eq!(detector.lines(), [line]);
    }

    #[test]
    fn a_word_that_is_handed_over_is_true_sharing() {
        let mut detector = SharingDetector::new(7);
        for _ in 0..10 {
            detector.access(&access(0x2040, AccessKind::Write), 1, 10);
            detector.access(&access(0x2040, AccessKind::Read), 2, 20);
        }
        let pairs = detector.pairs();
        assert_eq!(pairs.len(), 1, "a read invalidates nothing");
        assert_eq!((pairs[0].1.true_misses, pairs[0].1.false_misses), (9, 0));
    }

    #[test]
    fn threads_on_their_own_lines_and_readers_share_nothing() {
        let mut detector = SharingDetector::new(6);
        for i in 0..100 {
            detector.access(&access(0x1000, AccessKind::Write), 1, 1);
            detector.access(&access(0x1040, AccessKind::Write), 2, 2);
            detector.access(&access(0x2000 + i % 8, AccessKind::Read), (i % 3) as u32, 3);
        }
        assert!(detector.lines().is_empty() && detector.pairs().is_empty());
    }

    #[test]
    fn an_access_across_two_lines_touches_both() {
        let mut detector = SharingDetector::new(6);
        detector.access(&access(0x1000, AccessKind::Read), 1, 1);
        detector.access(&access(0x1040, AccessKind::Read), 1, 1);
        detector.access(&access(0x103c, AccessKind::Write), 2, 2);
        detector.access(&access(0x1038, AccessKind::Read), 1, 1);
        detector.access(&access(0x1048, AccessKind::Read), 1, 1);
        let misses = detector.pairs()[0].1;
        assert_eq!((misses.true_misses, misses.false_misses), (1, 1));
    }

    #[test]
    fn the_dominant_stride_survives_noise() {
        let (mut columns, mut random, mut rows) = <(Strides, Strides, Strides)>::default();
        let mut state = 1u64;
        for i in 0..1000u64 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            columns.add(i % 100 * 800 + i / 100 * 8);
            rows.add(i * 8);
            random.add(state >> 40);
        }
        assert_eq!(columns.dominant(), Some(800));
        assert!(columns.skips_lines(64) && !rows.skips_lines(64) && !random.skips_lines(64));
        assert_eq!(random.dominant(), None);
    }
}
