//! Counters outside the Java heap, one copy (*shard*) per thread, so that application threads count
//! with plain stores and no count is lost.
//!
//! ```text
//!   thread table   tid & mask ─▶ | owner tid | shard address | ring address | unused |   versions read it, and
//!                                                                                        cache the first two words
//!   file           shard 0 (shared, atomic adds) | shard 1 | shard 2 | …                 the agent and the command read it
//! ```
//!
//! A platform thread owns a shard from its first count to its end. Then another thread can own the
//! shard, with all its counts. The value of a counter is its sum over all shards. Three kinds of
//! threads have no shard and add atomically in shard 0:
//!
//! * virtual threads;
//! * threads whose row of the table belongs to another live thread;
//! * threads that find no free shard.
//!
//! Application threads call [`Shards::assign`], [`Shards::set_ring`] and [`Shards::release`]; the
//! plan thread allocates and reads counters. A mutex protects the allocation and all stores to the
//! thread table.
//!
//! **Invariants:** a row whose owner is not 0 has the address of a shard that no other row has. A
//! slot that `allocate` has returned has disk blocks in every open shard.

use crate::data::memory::{Mapping, WordTable};
use crate::jvm::runtime_table;
use parking_lot::{Mutex, MutexGuard};
use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;
use veneer_names::CounterSlot;
use veneer_protocol::data::ShardLayout as Layout;

/// Rows of the thread table, a power of two.
const THREAD_ROWS: usize = runtime_table::THREAD_ROWS as usize;
/// Words in a row of the thread table.
const ROW_WORDS: usize = runtime_table::THREAD_ROW_BYTES as usize / 8;
/// Words of a row: the id of the thread that owns the row, 0 for none.
const OWNER: usize = 0;
/// The address of the owner's shard.
const SHARD: usize = runtime_table::THREAD_ROW_SHARD as usize / 8;
/// The address of the owner's ring buffer, 0 for none.
const RING: usize = runtime_table::THREAD_ROW_RING as usize / 8;

const SHARDS: u64 = Layout::COUNT;
/// The number of counters in a shard of `counters.bin`.
pub const SLOTS: u64 = Layout::SLOTS;
/// Disk blocks are claimed in steps of this many bytes.
const CLAIM_STEP_BYTES: u64 = 1 << 16;

/// Returns the row of a thread in the thread table.
pub fn thread_row(tid: i64) -> usize {
    tid as usize & (THREAD_ROWS - 1)
}

/// The index of a word of a thread's row in the thread table.
fn row_word(tid: i64, word: usize) -> usize {
    thread_row(tid) * ROW_WORDS + word
}

struct Allocation {
    /// Number of slots that [`Shards::allocate`] has returned.
    used_slots: u64,
    /// Bytes at the start of each open shard that have disk blocks.
    claimed_bytes: u64,
    /// Number of shards that have been opened, shard 0 included.
    open: u64,
    /// Opened shards without an owner.
    free: Vec<u64>,
}

/// The counters of all threads. See the module documentation.
pub struct Shards {
    file: Mapping,
    /// The number of counters in a shard.
    slots: u64,
    /// The counters of the agent's own threads, which nobody reads.
    unread: OnceLock<WordTable>,
    threads: WordTable,
    allocation: Mutex<Allocation>,
}

impl Shards {
    /// Creates the file, with shard 0 open.
    pub fn create(path: &Path) -> io::Result<Shards> {
        Shards::with_slots(path, SLOTS)
    }

    /// As [`Shards::create`], with another number of counters in a shard.
    pub fn with_slots(path: &Path, slots: u64) -> io::Result<Shards> {
        let file = Mapping::create(path, SHARDS * slots * 8)?;
        file.claim(0, CLAIM_STEP_BYTES)?;
        Ok(Shards {
            file,
            slots,
            unread: OnceLock::new(),
            threads: WordTable::new(THREAD_ROWS * ROW_WORDS),
            allocation: Mutex::new(Allocation {
                used_slots: 0,
                claimed_bytes: CLAIM_STEP_BYTES,
                open: 1,
                free: Vec::new(),
            }),
        })
    }

    /// Returns the address of the thread table.
    pub fn table(&self) -> i64 {
        self.threads.address()
    }

    /// The distance of two shards in bytes.
    fn stride(&self) -> u64 {
        self.slots * 8
    }

    fn allocation(&self) -> MutexGuard<'_, Allocation> {
        self.allocation.lock()
    }

    /// Allocates `n` consecutive counters, which are zero in every shard, and returns the first.
    /// Returns `None` if the shards are full or the disk is full.
    pub fn allocate(&self, n: u32) -> Option<CounterSlot> {
        let mut allocation = self.allocation();
        let end = allocation.used_slots + n as u64;
        if end > self.slots {
            return None;
        }
        if end * 8 > allocation.claimed_bytes {
            let claimed = (end * 8).next_multiple_of(CLAIM_STEP_BYTES);
            for shard in 0..allocation.open {
                let from = shard * self.stride() + allocation.claimed_bytes;
                let len = claimed - allocation.claimed_bytes;
                self.file.claim(from, len).ok()?;
            }
            allocation.claimed_bytes = claimed;
        }
        allocation.used_slots = end;
        Some(CounterSlot((end - n as u64) as u32))
    }

    /// Returns the number of counters allocated so far.
    pub fn used_slots(&self) -> u64 {
        self.allocation().used_slots
    }

    /// Sets a counter to zero in every shard. A thread that is just counting may restore its old
    /// value.
    pub fn clear(&self, slot: CounterSlot) {
        let open = self.allocation().open;
        for shard in 0..open {
            self.file
                .word(shard * self.stride() + slot.byte_offset())
                .store(0, Ordering::Relaxed);
        }
    }

    /// Sets consecutive counters of one shard to zero.
    pub fn clear_in(&self, shard: usize, first: CounterSlot, count: u32) {
        let first = shard as u64 * self.stride() + first.byte_offset();
        for at in (first..).step_by(8).take(count as usize) {
            self.file.word(at).store(0, Ordering::Relaxed);
        }
    }

    /// Sets all counters to zero. Counts of threads that are just counting may be lost or remain.
    pub fn clear_all(&self) {
        let used = self.used_slots();
        for slot in 0..used {
            self.clear(CounterSlot(slot as u32));
        }
    }

    /// Assigns a shard to a thread and returns its address. For a thread without a shard of its
    /// own, returns the negated address of shard 0.
    pub fn assign(&self, tid: i64, is_virtual: bool) -> i64 {
        let shared = -self.file.address();
        let mut allocation = self.allocation();
        let owner = self.threads.get(row_word(tid, OWNER));
        if is_virtual || (owner != 0 && owner != tid) {
            return shared;
        }
        let own = self.threads.get(row_word(tid, SHARD));
        if owner == tid && own != 0 {
            return own;
        }
        let shard = match allocation.free.pop() {
            Some(shard) => shard,
            None if allocation.open < SHARDS
                && self
                    .file
                    .claim(allocation.open * self.stride(), allocation.claimed_bytes)
                    .is_ok() =>
            {
                allocation.open += 1;
                allocation.open - 1
            }
            None => return shared,
        };
        let address = self.file.address() + (shard * self.stride()) as i64;
        // The thread finds its shard by its id in the row, so the id is stored last.
        self.threads.set(row_word(tid, SHARD), address);
        self.threads.set(row_word(tid, OWNER), tid);
        address
    }

    /// Gives a thread of the agent the shard that nobody reads, and returns its negated address. All
    /// threads of the agent share it. They execute methods of the JDK too, and nobody asks for that.
    pub fn assign_unread(&self, tid: i64) -> i64 {
        let table = self
            .unread
            .get_or_init(|| WordTable::new(self.slots as usize));
        let unread = -table.address();
        let _allocation = self.allocation();
        if self.threads.get(row_word(tid, OWNER)) == 0 {
            self.threads.set(row_word(tid, SHARD), unread);
            self.threads.set(row_word(tid, OWNER), tid);
        }
        unread
    }

    /// Stores the address of a ring buffer in the thread's row. Returns false if the thread owns no
    /// row.
    pub fn set_ring(&self, tid: i64, ring: i64) -> bool {
        let _allocation = self.allocation();
        if !self.owns(tid) {
            return false;
        }
        self.threads.set(row_word(tid, RING), ring);
        true
    }

    /// Returns whether a thread has a shard of its own.
    pub fn owns(&self, tid: i64) -> bool {
        tid != 0 && self.threads.get(row_word(tid, OWNER)) == tid
    }

    /// Returns the number of the shard that a thread owns.
    pub fn shard_of(&self, tid: i64) -> Option<usize> {
        let address = self
            .owns(tid)
            .then(|| self.threads.get(row_word(tid, SHARD)))?;
        self.shard_at(address)
    }

    /// Returns the number of the shard at an address; `None` for any other address, and for the
    /// negated address of shard 0.
    pub fn shard_at(&self, address: i64) -> Option<usize> {
        let offset = u64::try_from(address.checked_sub(self.file.address())?).ok()?;
        (offset % self.stride() == 0 && offset / self.stride() < SHARDS)
            .then_some((offset / self.stride()) as usize)
    }

    /// Returns the address of shard 0.
    pub fn address(&self) -> i64 {
        self.file.address()
    }

    /// Frees the row and the shard of a thread that has ended. The counts remain in the shard.
    /// Returns the address of the thread's ring buffer, 0 for none.
    pub fn release(&self, tid: i64) -> i64 {
        if !self.owns(tid) {
            return 0;
        }
        let mut allocation = self.allocation();
        let ring = self.threads.get(row_word(tid, RING));
        let shard = self.shard_at(self.threads.get(row_word(tid, SHARD)));
        for word in [OWNER, SHARD, RING] {
            self.threads.set(row_word(tid, word), 0);
        }
        if let Some(shard) = shard.filter(|shard| *shard != 0) {
            allocation.free.push(shard as u64);
        }
        ring
    }

    /// The value of a counter in each open shard.
    fn values(&self, slot: CounterSlot) -> impl Iterator<Item = i64> + '_ {
        let open = self.allocation().open;
        (0..open).map(move |shard| {
            self.file
                .word(shard * self.stride() + slot.byte_offset())
                .load(Ordering::Relaxed)
        })
    }

    /// Returns the value of a counter.
    pub fn sum(&self, slot: CounterSlot) -> u64 {
        self.values(slot).sum::<i64>() as u64
    }

    /// Returns the values of `n` consecutive counters. Sums wrap around.
    pub fn sums(&self, slot: CounterSlot, n: usize) -> Vec<i64> {
        let mut sums = vec![0i64; n];
        for shard in 0..self.allocation().open {
            let first = shard * self.stride() + slot.byte_offset();
            for (sum, at) in sums.iter_mut().zip((first..).step_by(8)) {
                *sum = sum.wrapping_add(self.file.word(at).load(Ordering::Relaxed));
            }
        }
        sums
    }

    /// Returns the largest value of a counter in any shard.
    pub fn max(&self, slot: CounterSlot) -> u64 {
        self.values(slot).max().unwrap_or(0) as u64
    }
}

#[cfg(test)]
impl Shards {
    /// Adds to a counter as `VeneerRuntime.add` does; `address` is what `assign` has returned.
    pub fn add_as_java(&self, address: i64, slot: CounterSlot, n: i64) {
        let shard = (address.abs() - self.file.address()) as u64;
        let word = self.file.word(shard + slot.byte_offset());
        word.fetch_add(n, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::scratch::ScratchDirectory;

    fn shards() -> (ScratchDirectory, Shards) {
        let directory = ScratchDirectory::new();
        let shards = Shards::create(&directory.join("counters")).expect("shards");
        (directory, shards)
    }

    #[test]
    fn slots_are_consecutive_and_end_at_the_size_of_a_shard() {
        let (_directory, shards) = shards();
        assert_eq!(shards.allocate(4), Some(CounterSlot(0)));
        assert_eq!(shards.allocate(1), Some(CounterSlot(4)));
        let rest = SLOTS as u32 - 5;
        assert_eq!(shards.allocate(rest + 1), None);
        assert_eq!(shards.used_slots(), 5);
        assert_eq!(shards.allocate(rest), Some(CounterSlot(5)));
        assert_eq!(shards.allocate(1), None);
        assert_eq!(shards.allocate(0), Some(CounterSlot(SLOTS as u32)));
    }

    #[test]
    fn a_thread_keeps_its_shard_and_other_threads_get_others() {
        let (_directory, shards) = shards();
        let (one, two) = (shards.assign(31, false), shards.assign(32, false));
        assert!(one > 0 && two > 0 && one != two);
        assert_eq!(shards.assign(31, false), one);
        assert_eq!(
            [31, 32, 33].map(|tid| shards.owns(tid)),
            [true, true, false]
        );
        assert!(!shards.owns(0), "an empty row has no owner");
        assert_eq!(shards.release(0), 0);
    }

    #[test]
    fn what_threads_of_the_agent_count_is_in_no_sum() {
        let (_directory, shards) = shards();
        let slot = shards.allocate(1).expect("a slot");
        let own = shards.assign(31, false);
        shards.add_as_java(own, slot, 2);
        let unread = shards.assign_unread(32);
        assert_eq!(
            (shards.assign_unread(33), shards.shard_of(32)),
            (unread, None)
        );
        assert!(unread < 0 && shards.owns(32));
        let index = slot.byte_offset() as usize / 8;
        shards.unread.get().expect("a table").set(index, 5);
        assert_eq!(shards.sum(slot), 2);
        assert_eq!(shards.release(32), 0);
        assert!(!shards.owns(32));
        assert_ne!(shards.assign(34, false), own, "no shard has become free");
    }

    #[test]
    fn a_thread_of_the_agent_leaves_the_row_of_another_thread_alone() {
        let (_directory, shards) = shards();
        let own = shards.assign(31, false);
        assert!(shards.assign_unread(31 + THREAD_ROWS as i64) < 0);
        assert!(shards.owns(31) && shards.assign(31, false) == own);
    }

    #[test]
    fn virtual_threads_and_colliding_threads_share_shard_0() {
        let (_directory, shards) = shards();
        let shared = -shards.file.address();
        let own = shards.assign(7, false);
        let colliding = 7 + THREAD_ROWS as i64;
        assert_eq!(thread_row(7), thread_row(colliding));
        assert_eq!(shards.assign(colliding, false), shared);
        assert_eq!(shards.assign(8, true), shared);
        assert!(!shards.owns(colliding) && !shards.owns(8));
        // The row of the table that Java reads still belongs to the first thread.
        assert_eq!(shards.threads.get(row_word(colliding, OWNER)), 7);
        assert_eq!(shards.threads.get(row_word(7, SHARD)), own);
        // Once the first thread has ended, the other one can have the row.
        shards.release(7);
        assert!(shards.assign(colliding, false) > 0);
    }

    #[test]
    fn a_released_shard_is_reused_and_keeps_its_counts() {
        let (_directory, shards) = shards();
        let slot = shards.allocate(1).expect("a slot");
        let first = shards.assign(5, false);
        shards.add_as_java(first, slot, 10);
        assert_eq!(shards.release(5), 0);
        assert_eq!(shards.release(5), 0, "a second release has no effect");
        let second = shards.assign(6, false);
        assert_eq!(second, first);
        shards.add_as_java(second, slot, 1);
        assert_eq!(shards.sum(slot), 11);
        let other = shards.assign(9, false);
        assert_ne!(other, second, "the shard was freed once only");
    }

    #[test]
    fn only_the_owner_of_a_row_has_a_ring() {
        let (_directory, shards) = shards();
        assert!(!shards.set_ring(5, 4096));
        shards.assign(5, false);
        assert!(shards.set_ring(5, 4096));
        assert!(!shards.set_ring(5 + THREAD_ROWS as i64, 8192));
        assert_eq!(shards.release(5 + THREAD_ROWS as i64), 0);
        assert_eq!(shards.release(5), 4096);
        shards.assign(5, false);
        assert_eq!(shards.release(5), 0, "a new owner begins without a ring");
    }

    #[test]
    fn values_are_summed_over_the_shards() {
        let (_directory, shards) = shards();
        let slot = shards.allocate(3).expect("slots");
        let threads = [1, 2].map(|tid| shards.assign(tid, false));
        let shared = shards.assign(3, true);
        for (n, address) in (1..).zip([threads[0], threads[1], shared]) {
            shards.add_as_java(address, slot, n);
            shards.add_as_java(address, slot.plus(2), 100 * n);
        }
        assert_eq!([0, 1, 2].map(|n| shards.sum(slot.plus(n))), [6, 0, 600]);
        assert_eq!([0, 1, 2].map(|n| shards.max(slot.plus(n))), [3, 0, 300]);
        assert_eq!(shards.sums(slot, 3), [6, 0, 600]);
        // Counters of external edges go below zero in one shard, and sums may wrap around.
        shards.add_as_java(threads[0], slot, -5);
        assert_eq!(shards.sum(slot), 1);
        shards.add_as_java(threads[0], slot.plus(1), i64::MAX);
        shards.add_as_java(threads[1], slot.plus(1), 1);
        assert_eq!(shards.sums(slot.plus(1), 1), [i64::MIN]);
        shards.clear(slot.plus(2));
        assert_eq!(shards.sums(slot, 3), [1, i64::MIN, 0]);
    }

    #[test]
    fn threads_beyond_the_number_of_shards_share_shard_0() {
        let (_directory, shards) = shards();
        let own = (1..SHARDS as i64).map(|tid| shards.assign(tid, false));
        assert!(own.into_iter().all(|address| address > 0));
        assert!(shards.assign(SHARDS as i64, false) < 0);
        // Slots that are allocated now have blocks in all of the open shards.
        let slot = shards
            .allocate(CLAIM_STEP_BYTES as u32 / 8 + 1)
            .expect("slots");
        assert_eq!(shards.sum(slot.plus(CLAIM_STEP_BYTES as u32 / 8)), 0);
        shards.release(1);
        assert!(shards.assign(SHARDS as i64, false) > 0);
    }
}
