//! A naive model of caches: a list of lines with the time of their last use for each set. It shares
//! no code with the simulator, which keeps lines in order of use.

use std::collections::VecDeque;

use veneer_memory::{
    Access, AccessKind, CacheDescription, Geometry, Level, Lookups, Outcome, Rules, WritePolicy,
};

/// A line with the time of its last use.
#[derive(Clone, Copy)]
struct Line {
    address: u64,
    used: u64,
    dirty: bool,
}

/// One level: the lines of each set, in no order.
struct Sets {
    geometry: Geometry,
    lines: Vec<Vec<Line>>,
}

impl Sets {
    fn new(geometry: Geometry) -> Sets {
        Sets {
            geometry,
            lines: vec![Vec::new(); geometry.sets as usize],
        }
    }

    /// The address of the line that holds a byte.
    fn line_of(&self, address: u64) -> u64 {
        address - address % self.geometry.line_bytes
    }

    fn set(&mut self, line: u64) -> &mut Vec<Line> {
        let set = line / self.geometry.line_bytes % self.geometry.sets;
        &mut self.lines[set as usize]
    }

    fn clear(&mut self) {
        self.lines.iter_mut().for_each(Vec::clear);
    }

    /// Uses a line that is present.
    fn use_line(&mut self, line: u64, now: u64, dirty: bool) -> bool {
        match self.set(line).iter_mut().find(|l| l.address == line) {
            None => false,
            Some(found) => {
                found.used = now;
                found.dirty |= dirty;
                true
            }
        }
    }

    /// Puts a line into its set. Returns the line that had to leave.
    fn put(&mut self, line: u64, now: u64, dirty: bool) -> Option<(u64, bool)> {
        let ways = self.geometry.ways as usize;
        let set = self.set(line);
        let mut left = None;
        if set.len() == ways {
            let oldest = (0..ways).min_by_key(|i| set[*i].used);
            left = oldest.map(|i| set.swap_remove(i));
        }
        set.push(Line {
            address: line,
            used: now,
            dirty,
        });
        left.map(|l| (l.address, l.dirty))
    }

    /// Uses a line and puts it there if it is missing.
    fn fetch(&mut self, line: u64, now: u64) -> bool {
        let present = self.use_line(line, now, false);
        if !present {
            self.put(line, now, false);
        }
        present
    }
}

/// The naive model of a description.
pub struct Naive {
    levels: Vec<(Sets, Level)>,
    instructions: Option<Sets>,
    tlbs: Vec<Sets>,
    rules: Rules,
    shortest: u64,
    now: u64,
    /// Messages that are not delivered yet.
    pending: VecDeque<Message>,
}

/// A message from one level to the next.
struct Message {
    to: usize,
    address: u64,
    bytes: u64,
    is_write: bool,
    is_demand: bool,
}

fn count(lookups: &mut Lookups, hit: bool) {
    lookups.lookups += 1;
    if !hit {
        lookups.misses += 1;
    }
}

impl Naive {
    pub fn new(description: &CacheDescription) -> Naive {
        let level = |l: &Level| (Sets::new(l.geometry), *l);
        Naive {
            levels: description.levels.iter().map(level).collect(),
            instructions: description.instructions.map(|l| Sets::new(l.geometry)),
            tlbs: description.tlbs.iter().map(|g| Sets::new(*g)).collect(),
            rules: description.rules,
            shortest: description.shortest_line(),
            now: 0,
            pending: VecDeque::new(),
        }
    }

    pub fn flush(&mut self) {
        for (sets, _) in &mut self.levels {
            sets.clear();
        }
        for sets in self.tlbs.iter_mut().chain(&mut self.instructions) {
            sets.clear();
        }
    }

    pub fn access(&mut self, access: &Access) -> Outcome {
        let mut outcome = Outcome::default();
        let is_fetch = access.kind == AccessKind::Fetch;
        let is_write = matches!(access.kind, AccessKind::Write | AccessKind::Modify);
        if !is_fetch && !self.tlbs.is_empty() {
            let pages = lines(access.address, u64::from(access.bytes), &self.tlbs[0]);
            for page in pages {
                for (tlb, lookups) in self.tlbs.iter_mut().zip(&mut outcome.tlbs) {
                    self.now += 1;
                    let hit = tlb.fetch(tlb.line_of(page), self.now);
                    count(lookups, hit);
                    if hit {
                        break;
                    }
                }
            }
        }
        match (self.rules, is_fetch) {
            (Rules::Cachegrind, _) => self.whole(access, &mut outcome),
            (Rules::Lines, true) => {
                let Some(first) = &self.instructions else {
                    return outcome;
                };
                let bytes = first.geometry.line_bytes;
                for line in lines(access.address, u64::from(access.bytes), first) {
                    self.now += 1;
                    let hit = self
                        .instructions
                        .as_mut()
                        .is_some_and(|c| c.fetch(line, self.now));
                    count(&mut outcome.instructions, hit);
                    if !hit {
                        self.deliver(message(1, line, bytes, false, true), &mut outcome);
                    }
                }
            }
            (Rules::Lines, false) => {
                let first = &self.levels[0].0;
                for line in lines(access.address, u64::from(access.bytes), first) {
                    // One byte of the line: the number of bytes only matters for written back lines.
                    self.deliver(message(0, line, 1, is_write, true), &mut outcome);
                }
            }
        }
        outcome
    }

    /// Delivers a message and, in order, all messages that follow from it.
    fn deliver(&mut self, first: Message, outcome: &mut Outcome) {
        self.pending.push_back(first);
        while let Some(m) = self.pending.pop_front() {
            let Some((sets, level)) = self.levels.get_mut(m.to) else {
                continue;
            };
            self.now += 1;
            let line = sets.line_of(m.address);
            let size = sets.geometry.line_bytes;
            let back = level.write == WritePolicy::Back;
            let hit = sets.use_line(line, self.now, m.is_write && back);
            if m.is_demand {
                count(&mut outcome.levels[m.to], hit);
            }
            // The messages to the next level. They go before everything that is pending.
            let mut next = Vec::new();
            let allocates = !hit && (!m.is_write || level.write_allocate);
            if allocates {
                let is_whole_line = !m.is_demand && m.is_write && m.bytes >= size;
                if !is_whole_line {
                    next.push(message(m.to + 1, line, size, false, m.is_demand));
                }
                if let Some((left, true)) = sets.put(line, self.now, m.is_write && back) {
                    next.push(message(m.to + 1, left, size, true, false));
                }
            }
            let passes = m.is_write && (!back || (!hit && !level.write_allocate));
            if passes {
                next.push(message(m.to + 1, m.address, m.bytes, true, m.is_demand));
            }
            for message in next.into_iter().rev() {
                self.pending.push_front(message);
            }
        }
    }

    /// The rules of Cachegrind.
    fn whole(&mut self, access: &Access, outcome: &mut Outcome) {
        let bytes = u64::from(access.bytes).min(self.shortest);
        let mut all = |sets: &mut Sets, lookups: &mut Lookups| {
            let mut hit = true;
            for line in lines(access.address, bytes, sets) {
                self.now += 1;
                hit = sets.fetch(line, self.now) && hit;
            }
            count(lookups, hit);
            hit
        };
        let mut from = 0;
        if access.kind == AccessKind::Fetch {
            let Some(first) = &mut self.instructions else {
                return;
            };
            if all(first, &mut outcome.instructions) {
                return;
            }
            from = 1;
        }
        let levels = self.levels.iter_mut().zip(&mut outcome.levels);
        for ((sets, _), lookups) in levels.skip(from) {
            if all(sets, lookups) {
                return;
            }
        }
    }
}

fn message(to: usize, address: u64, bytes: u64, is_write: bool, is_demand: bool) -> Message {
    Message {
        to,
        address,
        bytes,
        is_write,
        is_demand,
    }
}

/// The addresses of the lines that a range touches.
fn lines(address: u64, bytes: u64, sets: &Sets) -> impl Iterator<Item = u64> + use<> {
    let last = sets.line_of(address.saturating_add(bytes.max(1) - 1));
    (sets.line_of(address)..=last).step_by(sets.geometry.line_bytes as usize)
}
