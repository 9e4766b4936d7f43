//! The caches and TLBs of one description, and what an access does to them.
//!
//! ```text
//!   access ─▶ L1 ── misses, writes passed on, dirty victims ─▶ L2 ─▶ … ─▶ memory
//!        └──▶ TLB ── misses ─▶ TLB2 ─▶ page walk
//! ```
//!
//! **Rules of a level** (for [`Rules::Lines`]). A request reads or writes within one line.
//!
//! | | read | write |
//! | --- | --- | --- |
//! | hit | done | write-back: the line becomes dirty. Write-through: the write goes to the next level |
//! | miss, with allocation | the line is read from the next level and inserted | the same, then as a hit |
//! | miss, without allocation | (reads always allocate) | the write goes to the next level |
//!
//! * The missing line is read first. Then the replaced line, if dirty, is written to the next level.
//! * A whole line that is written back is inserted without a read, if the next level's lines have
//!   the same length.
//! * The levels are neither inclusive nor exclusive: replacing a line in L2 does not remove it from
//!   L1. Cachegrind has the same rule. There is no prefetcher and no other processor.
//! * A *demand* request is caused by an access that waits for it. A line that is written back is no
//!   demand request: it changes the next level and is counted apart.
//!
//! For [`Rules::Cachegrind`] see there.

use crate::access::{Access, AccessKind};
use crate::cache::Cache;
use crate::description::{CacheDescription, Level, MAX_LEVELS, MAX_TLB_LEVELS, Rules, WritePolicy};

/// Counted lookups of one level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lookups {
    /// Number of lookups in this level, hits and misses together.
    pub lookups: u64,
    /// The lookups that found nothing.
    pub misses: u64,
}

impl Lookups {
    #[inline]
    fn count(&mut self, hit: bool) {
        self.lookups += 1;
        self.misses += u64::from(!hit);
    }

    /// Adds the lookups of another part of the run.
    pub fn add(&mut self, other: Lookups) {
        self.lookups = self.lookups.saturating_add(other.lookups);
        self.misses = self.misses.saturating_add(other.misses);
    }
}

/// The demand lookups that one access caused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The data caches, from L1 on.
    pub levels: [Lookups; MAX_LEVELS],
    /// The first-level cache for instructions.
    pub instructions: Lookups,
    /// The data TLBs. A miss in the first TLB causes one lookup in the second TLB, if there is one.
    pub tlbs: [Lookups; MAX_TLB_LEVELS],
}

impl Outcome {
    /// Adds the lookups of another access.
    pub fn add(&mut self, other: &Outcome) {
        for (sum, more) in self.levels.iter_mut().zip(other.levels) {
            sum.add(more);
        }
        for (sum, more) in self.tlbs.iter_mut().zip(other.tlbs) {
            sum.add(more);
        }
        self.instructions.add(other.instructions);
    }
}

/// A read or write of bytes within one line, as one level passes it to the next. A filter that
/// simulates the first levels elsewhere, for example inside compiled code, produces these too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// An address within the line.
    pub address: u64,
    /// Number of bytes: the line length of the level that sends the request, or the length of the
    /// access.
    pub bytes: u32,
    /// Whether the bytes are written.
    pub is_write: bool,
    /// Whether an access waits for the request. A line that is written back has `false`.
    pub is_demand: bool,
}

/// Requests without a demand that reached each level, and requests to the memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Lines that were written back to each level and the reads that they caused. L1 receives none.
    pub written_back: [u64; MAX_LEVELS],
    /// Requests that the last level sent to the memory.
    pub memory_reads: u64,
    /// Number of write requests that the last level sent to the memory, including dirty lines that
    /// were written back.
    pub memory_writes: u64,
}

#[derive(Clone, Debug)]
struct CacheLevel {
    cache: Cache,
    shift: u32,
    back: bool,
    write_allocate: bool,
}

impl CacheLevel {
    fn new(level: &Level) -> CacheLevel {
        CacheLevel {
            cache: Cache::new(&level.geometry),
            shift: level.geometry.line_shift(),
            back: level.write == WritePolicy::Back,
            write_allocate: level.write_allocate,
        }
    }
}

/// The state of the caches of a description.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    /// Index of the first simulated level. The levels before it are simulated elsewhere.
    first: usize,
    /// The levels from `first` on.
    levels: Vec<CacheLevel>,
    /// Base-2 logarithm of the line length by which accesses are divided into requests.
    first_shift: u32,
    instructions: Option<CacheLevel>,
    tlbs: Vec<(Cache, u32)>,
    rules: Rules,
    /// Length to which [`Rules::Cachegrind`] cuts accesses.
    shortest_line: u64,
    traffic: Traffic,
    /// If set, requests that leave the last level are kept for the caller.
    outgoing: Option<Vec<Request>>,
}

impl Hierarchy {
    /// All caches of a description, empty. The description is valid: see
    /// [`CacheDescription::validate`].
    pub fn new(description: &CacheDescription) -> Hierarchy {
        Hierarchy::of_levels(description, 0, description.levels.len())
    }

    /// The levels from `first` on (0 is L1), without TLBs and without the cache for instructions.
    /// [`Hierarchy::request`] passes them the misses of the levels before.
    pub fn below(description: &CacheDescription, first: usize) -> Hierarchy {
        let mut hierarchy = Hierarchy::of_levels(description, first, description.levels.len());
        hierarchy.instructions = None;
        hierarchy.tlbs.clear();
        hierarchy
    }

    /// The levels before `end`, with TLBs. If `end` is 0, every access leaves as one request for each
    /// line of L1. [`Hierarchy::take_outgoing`] returns the requests that
    /// leave the last of them.
    pub fn above(description: &CacheDescription, end: usize) -> Hierarchy {
        let mut hierarchy = Hierarchy::of_levels(description, 0, end);
        hierarchy.instructions = None;
        hierarchy.outgoing = Some(Vec::new());
        hierarchy
    }

    fn of_levels(description: &CacheDescription, first: usize, end: usize) -> Hierarchy {
        let levels = description.levels.iter().take(end).skip(first);
        let tlbs = description.tlbs.iter();
        Hierarchy {
            first,
            levels: levels.map(CacheLevel::new).collect(),
            first_shift: description
                .levels
                .get(first)
                .map_or(0, |level| level.geometry.line_shift()),
            instructions: description.instructions.as_ref().map(CacheLevel::new),
            tlbs: tlbs
                .map(|tlb| (Cache::new(tlb), tlb.line_shift()))
                .collect(),
            rules: description.rules,
            shortest_line: description.shortest_line(),
            traffic: Traffic::default(),
            outgoing: None,
        }
    }

    /// Simulates one access and returns its lookups. Fetches of instructions change nothing if the
    /// description has no L1I.
    pub fn access(&mut self, access: &Access) -> Outcome {
        let mut outcome = Outcome::default();
        if access.kind != AccessKind::Fetch {
            self.translate(access, &mut outcome);
        }
        match self.rules {
            Rules::Cachegrind => self.access_whole(access, &mut outcome),
            Rules::Lines if access.kind == AccessKind::Fetch => self.fetch(access, &mut outcome),
            Rules::Lines => self.access_lines(access, &mut outcome),
        }
        outcome
    }

    /// Passes a request of the level before [`Hierarchy::below`] to the first level here.
    pub fn request(&mut self, request: &Request) -> Outcome {
        let mut outcome = Outcome::default();
        match self.rules {
            Rules::Cachegrind if request.is_demand => {
                let access = Access {
                    address: request.address,
                    bytes: request.bytes,
                    kind: AccessKind::Read,
                };
                self.whole_from(0, &access, &mut outcome);
            }
            Rules::Cachegrind => {}
            Rules::Lines => self.pass(0, *request, &mut outcome),
        }
        outcome
    }

    /// Returns the requests that left the last level since the last call. They are kept only by a
    /// hierarchy of [`Hierarchy::above`].
    pub fn take_outgoing(&mut self, into: &mut Vec<Request>) {
        into.clear();
        if let Some(outgoing) = &mut self.outgoing {
            into.append(outgoing);
        }
    }

    /// Empties all caches and TLBs, after a collection that moved objects. The addresses of the
    /// lines mean other objects then. Dirty lines are dropped and not written back.
    pub fn flush(&mut self) {
        for level in self.levels.iter_mut().chain(&mut self.instructions) {
            level.cache.clear();
        }
        for (tlb, _) in &mut self.tlbs {
            tlb.clear();
        }
    }

    /// Returns the traffic that no access waited for, and the traffic to the memory.
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    fn translate(&mut self, access: &Access, outcome: &mut Outcome) {
        let Some((first, rest)) = self.tlbs.split_first_mut() else {
            return;
        };
        let (tlb, shift) = first;
        for page in access.blocks(*shift) {
            let hit = tlb.reference(page);
            outcome.tlbs[0].count(hit);
            let Some((second, second_shift)) = rest.first_mut().filter(|_| !hit) else {
                continue;
            };
            let hit = second.reference(page << *shift >> *second_shift);
            outcome.tlbs[1].count(hit);
        }
    }

    #[inline]
    fn access_lines(&mut self, access: &Access, outcome: &mut Outcome) {
        let (shift, last) = (self.first_shift, access.last());
        for line in access.blocks(shift) {
            let start = access.address.max(line << shift);
            let end = last.min((line << shift) | ((1 << shift) - 1));
            let bytes = (end - start) as u32 + 1;
            self.pass(0, request_of(access, start, bytes), outcome);
        }
    }

    fn fetch(&mut self, access: &Access, outcome: &mut Outcome) {
        let Some(level) = &mut self.instructions else {
            return;
        };
        let shift = level.shift;
        for line in access.blocks(shift) {
            let hit = match &mut self.instructions {
                Some(level) => level.cache.reference(line),
                None => true,
            };
            outcome.instructions.count(hit);
            if !hit {
                let request = Request {
                    address: line << shift,
                    bytes: 1 << shift,
                    is_write: false,
                    is_demand: true,
                };
                self.pass(1, request, outcome);
            }
        }
    }

    /// Handles a request at the level with index `at` in `self.levels`.
    fn pass(&mut self, at: usize, request: Request, outcome: &mut Outcome) {
        let number = self.first + at;
        let Some(level) = self.levels.get_mut(at) else {
            self.leave(request);
            return;
        };
        let line = request.address >> level.shift;
        let dirty = request.is_write && level.back;
        let pass_on = request.is_write && !level.back;
        let hit = level.cache.touch(line, dirty);
        match request.is_demand {
            true => outcome.levels[number].count(hit),
            false => self.traffic.written_back[number] += 1,
        }
        if hit {
            if pass_on {
                self.pass(at + 1, request, outcome);
            }
            return;
        }
        if request.is_write && !level.write_allocate {
            self.pass(at + 1, request, outcome);
            return;
        }
        let (address, bytes) = (line << level.shift, 1u32 << level.shift);
        if request.is_demand || !request.is_write || request.bytes < bytes {
            let read = Request {
                address,
                bytes,
                is_write: false,
                is_demand: request.is_demand,
            };
            self.pass(at + 1, read, outcome);
        }
        let level = &mut self.levels[at];
        let replaced = level.cache.insert(line, dirty);
        if let Some(replaced) = replaced.filter(|replaced| replaced.dirty) {
            let written_back = Request {
                address: replaced.line << level.shift,
                bytes,
                is_write: true,
                is_demand: false,
            };
            self.pass(at + 1, written_back, outcome);
        }
        if pass_on {
            self.pass(at + 1, request, outcome);
        }
    }

    fn leave(&mut self, request: Request) {
        match request.is_write {
            true => self.traffic.memory_writes += 1,
            false => self.traffic.memory_reads += 1,
        }
        if let Some(outgoing) = &mut self.outgoing {
            outgoing.push(request);
        }
    }

    /// An access by the rules of Cachegrind.
    fn access_whole(&mut self, access: &Access, outcome: &mut Outcome) {
        let access = &Access {
            bytes: access.bytes.min(self.shortest_line as u32),
            ..*access
        };
        if access.kind == AccessKind::Fetch {
            let Some(level) = &mut self.instructions else {
                return;
            };
            let hit = reference_all(level, access);
            outcome.instructions.count(hit);
            if !hit {
                self.whole_from(1, access, outcome);
            }
            return;
        }
        self.whole_from(0, access, outcome);
    }

    fn whole_from(&mut self, at: usize, access: &Access, outcome: &mut Outcome) {
        for (index, level) in self.levels.iter_mut().enumerate().skip(at) {
            let hit = reference_all(level, access);
            outcome.levels[self.first + index].count(hit);
            if hit {
                return;
            }
        }
        self.leave(request_of(access, access.address, access.bytes.max(1)));
    }
}

/// Looks up all lines of an access. Returns whether all were present.
fn reference_all(level: &mut CacheLevel, access: &Access) -> bool {
    let mut hit = true;
    for line in access.blocks(level.shift) {
        hit &= level.cache.reference(line);
    }
    hit
}

fn request_of(access: &Access, address: u64, bytes: u32) -> Request {
    Request {
        address,
        bytes,
        is_write: matches!(access.kind, AccessKind::Write | AccessKind::Modify),
        is_demand: true,
    }
}
