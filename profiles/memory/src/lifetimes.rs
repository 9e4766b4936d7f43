//! Lifetimes of objects by allocation site and type.
//!
//! ```text
//!   birth ───────── use ─────────▶ last use ── drag ──▶ death
//!   └──────────────────── life ─────────────────────────┘
//! ```
//!
//! The terms *drag* and *void* are those of Röjemo and Runciman (*Lag, drag, void and use*, ICFP
//! 1996): an object drags between its last use and its death; a void object is never used. Each
//! span is measured on three clocks: bytes allocated, memory accesses, and time. The death is the
//! moment at which the collector has found the object dead, so that life and drag are upper bounds.

use std::collections::HashMap;

use ahash::RandomState;
use indexmap::IndexMap;

use crate::histogram::LogHistogram;

/// Number of clocks.
pub const CLOCKS: usize = 3;
/// The names of the clocks, in the order of [`Moment::clocks`].
pub const CLOCK_NAMES: [&str; CLOCKS] = ["bytes", "accesses", "nanoseconds"];

/// A moment on all clocks, since the start of the measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Bytes that the program has allocated.
    pub bytes: u64,
    /// Memory accesses that were observed.
    pub accesses: u64,
    /// Time in nanoseconds that has passed since the start of the measurement.
    pub nanoseconds: u64,
}

impl Moment {
    /// Returns the values of all clocks.
    pub fn clocks(&self) -> [u64; CLOCKS] {
        [self.bytes, self.accesses, self.nanoseconds]
    }

    /// Returns the span from `earlier` to this moment. A clock that went backwards yields 0.
    fn since(&self, earlier: &Moment) -> [u64; CLOCKS] {
        let (now, then) = (self.clocks(), earlier.clocks());
        std::array::from_fn(|clock| now[clock].saturating_sub(then[clock]))
    }
}

/// The observed life of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectLife {
    /// Size on the heap in bytes.
    pub bytes: u64,
    /// The moment at which the object was allocated.
    pub birth: Moment,
    /// `None` if the object was never used.
    pub last_use: Option<Moment>,
    /// `None` if the object was alive when the measurement ended.
    pub death: Option<Moment>,
    /// The collections that the object survived.
    pub survived: u64,
}

/// Three histograms of one span, one for each clock.
pub type Span = [LogHistogram; CLOCKS];

/// The lives of the objects of one allocation site and type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lifetimes {
    /// Number of all objects, dead or alive, used or void.
    pub objects: u64,
    /// Total size of all objects on the heap in bytes.
    pub bytes: u64,
    /// Objects that were never used.
    pub void: u64,
    /// Objects that were alive at the end.
    pub alive: u64,
    /// Total size in bytes of the objects that were alive at the end.
    pub alive_bytes: u64,
    /// From birth to last use, of used objects. The paper of DJ calls this the lifetime.
    pub used: Span,
    /// From last use (or birth, for void objects) to death, of dead objects.
    pub drag: Span,
    /// From birth to death, of dead objects.
    pub life: Span,
    /// Collections that the objects survived.
    pub survived: LogHistogram,
}

impl Lifetimes {
    /// Counts one object.
    pub fn add(&mut self, object: &ObjectLife) {
        self.objects = self.objects.saturating_add(1);
        self.bytes = self.bytes.saturating_add(object.bytes);
        self.survived.add(object.survived);
        let last = object.last_use.unwrap_or(object.birth);
        match object.last_use {
            None => self.void = self.void.saturating_add(1),
            Some(last) => add_span(&mut self.used, last.since(&object.birth)),
        }
        match object.death {
            None => {
                self.alive = self.alive.saturating_add(1);
                self.alive_bytes = self.alive_bytes.saturating_add(object.bytes);
            }
            Some(death) => {
                add_span(&mut self.drag, death.since(&last));
                add_span(&mut self.life, death.since(&object.birth));
            }
        }
    }

    /// Adds the objects of another part of the run.
    pub fn merge(&mut self, other: &Lifetimes) {
        let sums = [
            (&mut self.objects, other.objects),
            (&mut self.bytes, other.bytes),
            (&mut self.void, other.void),
            (&mut self.alive, other.alive),
            (&mut self.alive_bytes, other.alive_bytes),
        ];
        for (sum, more) in sums {
            *sum = sum.saturating_add(more);
        }
        for clock in 0..CLOCKS {
            self.used[clock].merge(&other.used[clock]);
            self.drag[clock].merge(&other.drag[clock]);
            self.life[clock].merge(&other.life[clock]);
        }
        self.survived.merge(&other.survived);
    }
}

fn add_span(span: &mut Span, lengths: [u64; CLOCKS]) {
    for (histogram, length) in span.iter_mut().zip(lengths) {
        histogram.add(length);
    }
}

/// The place and the type of an allocation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AllocationKey {
    /// The allocation site, as an index into a table of the caller.
    pub site: u32,
    /// The type of the allocated object, as an index into a table of the caller.
    pub type_id: u32,
}

/// Follows objects from birth to death.
#[derive(Clone, Debug)]
pub struct LifetimeTracker {
    alive: HashMap<u64, Tracked, RandomState>,
    table: IndexMap<AllocationKey, Lifetimes, RandomState>,
    limit: usize,
    collections: u64,
    untracked: u64,
}

#[derive(Clone, Debug)]
struct Tracked {
    key: AllocationKey,
    life: ObjectLife,
    born_in: u64,
}

impl LifetimeTracker {
    /// Follows at most `limit` objects at a time. Further objects are only counted as untracked, so
    /// that a large heap cannot fill the memory of the observer.
    pub fn new(limit: usize) -> LifetimeTracker {
        LifetimeTracker {
            alive: HashMap::with_hasher(RandomState::with_seeds(9, 10, 11, 12)),
            table: IndexMap::with_hasher(RandomState::with_seeds(9, 10, 11, 12)),
            limit,
            collections: 0,
            untracked: 0,
        }
    }

    /// Notes the birth of an object. `id` is unique among the living objects. If an object with this
    /// id lives, its end was not observed, and it is counted as dead now.
    pub fn born(&mut self, id: u64, key: AllocationKey, bytes: u64, now: Moment) {
        self.died(id, now);
        if self.alive.len() >= self.limit {
            self.untracked += 1;
            return;
        }
        let life = ObjectLife {
            bytes,
            birth: now,
            last_use: None,
            death: None,
            survived: 0,
        };
        let born_in = self.collections;
        self.alive.insert(id, Tracked { key, life, born_in });
    }

    /// Notes a use. Objects that are not followed are ignored.
    pub fn used(&mut self, id: u64, now: Moment) {
        if let Some(object) = self.alive.get_mut(&id) {
            object.life.last_use = Some(now);
        }
    }

    /// Notes the end of a collection. All objects that do not die before the next event survived it.
    pub fn collected(&mut self) {
        self.collections += 1;
    }

    /// Notes a death. Objects that are not followed are ignored.
    pub fn died(&mut self, id: u64, now: Moment) {
        if let Some(mut object) = self.alive.remove(&id) {
            object.life.death = Some(now);
            // The collection that found the object dead is not one that it survived.
            let passed = self.collections - object.born_in;
            object.life.survived = passed.saturating_sub(1);
            self.table.entry(object.key).or_default().add(&object.life);
        }
    }

    /// Returns the number of objects that exceeded the limit.
    pub fn untracked(&self) -> u64 {
        self.untracked
    }

    /// Ends the measurement. The objects that are followed count as alive.
    pub fn finish(mut self) -> IndexMap<AllocationKey, Lifetimes, RandomState> {
        for (_, mut object) in self.alive.drain() {
            object.life.survived = self.collections - object.born_in;
            self.table.entry(object.key).or_default().add(&object.life);
        }
        self.table.sort_unstable_keys();
        self.table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(n: u64) -> Moment {
        Moment {
            bytes: n * 16,
            accesses: n,
            nanoseconds: n * 100,
        }
    }

    #[test]
    fn lives_are_those_of_the_construction() {
        let mut tracker = LifetimeTracker::new(10);
        let key = AllocationKey {
            site: 3,
            type_id: 1,
        };
        tracker.born(1, key, 16, at(0));
        tracker.born(2, key, 32, at(1));
        tracker.born(3, key, 64, at(2));
        tracker.used(1, at(3));
        tracker.used(1, at(7));
        tracker.used(3, at(9));
        tracker.collected();
        tracker.collected();
        tracker.died(1, at(20));
        tracker.died(2, at(20));
        tracker.died(99, at(20));
        let table = tracker.finish();
        let row = &table[&key];
        assert_eq!((row.objects, row.bytes, row.void), (3, 112, 1));
        assert_eq!((row.alive, row.alive_bytes), (1, 64));
        let only = |histogram: &LogHistogram| -> Vec<u64> {
            let filled = histogram
                .counts()
                .iter()
                .enumerate()
                .filter(|(_, n)| **n > 0);
            filled
                .map(|(bucket, _)| LogHistogram::lower_bound(bucket))
                .collect()
        };
        // Accesses: objects 1 and 3 were used for 7 each, 1 dragged for 13 and 2 for 19.
        assert_eq!(only(&row.used[1]), [4]);
        assert_eq!(only(&row.drag[1]), [8, 16]);
        assert_eq!(only(&row.life[1]), [16]);
        assert_eq!(only(&row.life[0]), [256]);
        assert_eq!(only(&row.survived), [1, 2]);
    }

    #[test]
    fn objects_above_the_limit_are_counted() {
        let mut tracker = LifetimeTracker::new(1);
        tracker.born(1, AllocationKey::default(), 16, at(0));
        tracker.born(2, AllocationKey::default(), 16, at(0));
        tracker.used(2, at(1));
        assert_eq!(tracker.untracked(), 1);
        let table = tracker.finish();
        assert_eq!(table[&AllocationKey::default()].objects, 1);
    }

    #[test]
    fn merged_parts_are_the_whole() {
        let life = |n: u64| ObjectLife {
            bytes: n,
            birth: at(n),
            last_use: (!n.is_multiple_of(3)).then(|| at(n * 2)),
            death: (!n.is_multiple_of(4)).then(|| at(n * 5)),
            survived: n % 6,
        };
        let (mut whole, mut a, mut b) = <(Lifetimes, Lifetimes, Lifetimes)>::default();
        for n in 0..100 {
            whole.add(&life(n));
            if n % 7 < 3 { &mut a } else { &mut b }.add(&life(n));
        }
        a.merge(&b);
        assert_eq!(a, whole);
    }
}
