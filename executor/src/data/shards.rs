//! Counters off the heap, one copy a thread, so that application threads count with plain stores and no count is lost.
//!
//! ```text
//!   table   tid & mask ─▶ | owner tid | address of its shard | address of its ring | – |      read by versions, which keep the
//!                                                                                            first two in an array too
//!   file    shard 0 (shared, atomic adds) | shard 1 | shard 2 | …                             read by everybody
//! ```
//!
//! A platform thread owns a shard from its first count to its end; then the shard, figures and all, goes to another. A
//! counter's value is its sum over all shards. Virtual threads, and threads for which there is no shard left, add
//! atomically in shard 0.

use crate::data::memory::{Mapping, Table};
use crate::jvm::runtime_table::{THREAD_ROW_BYTES, THREAD_ROWS};
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use veneer_protocol::data::Shards as Layout;

/// Rows of the thread table.
const ROWS: usize = THREAD_ROWS as usize;
/// Words in a row.
const ROW: usize = THREAD_ROW_BYTES as usize / 8;
const SHARDS: u64 = Layout::COUNT;
/// Counters in a shard.
pub const SLOTS: u64 = Layout::SLOTS;
const STRIDE: u64 = Layout::STRIDE;
/// Blocks are claimed in steps of this many bytes.
const STEP: u64 = 1 << 16;

/// The row of a thread.
pub fn row(tid: i64) -> usize {
    tid as usize & (ROWS - 1)
}

struct State {
    /// Slots given out.
    used: u64,
    /// Bytes of each open shard whose blocks are claimed.
    claimed: u64,
    /// Shards that have been opened.
    open: u64,
    /// Opened shards without an owner.
    free: Vec<u64>,
}

/// See the module documentation.
pub struct Shards {
    file: Mapping,
    table: Table,
    state: Mutex<State>,
}

impl Shards {
    /// Makes the file.
    pub fn create(path: &Path) -> io::Result<Shards> {
        let file = Mapping::create(path, SHARDS * STRIDE)?;
        file.claim(0, STEP)?;
        Ok(Shards {
            file,
            table: Table::new(ROWS * ROW),
            state: Mutex::new(State {
                used: 0,
                claimed: STEP,
                open: 1,
                free: Vec::new(),
            }),
        })
    }

    /// Address of the thread table.
    pub fn table(&self) -> i64 {
        self.table.address()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Gives out `n` counters in a row, zero in every shard. `None` where there is no room, or none on the disk.
    pub fn allocate(&self, n: u32) -> Option<u32> {
        let mut state = self.state();
        let end = state.used + n as u64;
        if end > SLOTS {
            return None;
        }
        if end * 8 > state.claimed {
            let claimed = (end * 8).next_multiple_of(STEP);
            for shard in 0..state.open {
                let from = shard * STRIDE + state.claimed;
                self.file.claim(from, claimed - state.claimed).ok()?;
            }
            state.claimed = claimed;
        }
        state.used = end;
        Some((end - n as u64) as u32)
    }

    /// How many counters have been given out.
    pub fn used(&self) -> u64 {
        self.state().used
    }

    /// Sets a counter to zero in every shard. A thread that is just counting may put its old value back.
    pub fn clear(&self, slot: u32) {
        let open = self.state().open;
        for shard in 0..open {
            self.file
                .word(shard * STRIDE + slot as u64 * 8)
                .store(0, Ordering::Relaxed);
        }
    }

    /// The shard of a thread: its address, negative for the shared one. Called by a thread that has no row yet.
    pub fn assign(&self, tid: i64, is_virtual: bool) -> i64 {
        let shared = -self.file.address();
        let row = row(tid) * ROW;
        let mut state = self.state();
        if is_virtual || (self.table.get(row) != 0 && self.table.get(row) != tid) {
            return shared;
        }
        if self.table.get(row) == tid && self.table.get(row + 1) != 0 {
            return self.table.get(row + 1);
        }
        let shard = match state.free.pop() {
            Some(shard) => shard,
            None if state.open < SHARDS
                && self.file.claim(state.open * STRIDE, state.claimed).is_ok() =>
            {
                state.open += 1;
                state.open - 1
            }
            None => return shared,
        };
        let address = self.file.address() + (shard * STRIDE) as i64;
        self.table.set(row + 1, address);
        self.table.set(row, tid);
        address
    }

    /// Takes a ring's address into the thread's row. False where the thread has none of its own.
    pub fn set_ring(&self, tid: i64, ring: i64) -> bool {
        let row = row(tid) * ROW;
        let _state = self.state();
        if self.table.get(row) != tid {
            return false;
        }
        self.table.set(row + 2, ring);
        true
    }

    /// Whether a thread has counters of its own.
    pub fn owns(&self, tid: i64) -> bool {
        self.table.get(row(tid) * ROW) == tid
    }

    /// The thread is gone. Returns the ring that it had, 0 for none.
    pub fn release(&self, tid: i64) -> i64 {
        let row = row(tid) * ROW;
        if self.table.get(row) != tid {
            return 0;
        }
        let mut state = self.state();
        let ring = self.table.get(row + 2);
        let shard = (self.table.get(row + 1) - self.file.address()) as u64 / STRIDE;
        self.table.set(row, 0);
        self.table.set(row + 1, 0);
        self.table.set(row + 2, 0);
        if shard != 0 {
            state.free.push(shard);
        }
        ring
    }

    /// A counter's value in each shard.
    fn values(&self, slot: u32) -> impl Iterator<Item = i64> + '_ {
        let open = self.state().open;
        (0..open).map(move |shard| {
            self.file
                .word(shard * STRIDE + slot as u64 * 8)
                .load(Ordering::Relaxed)
        })
    }

    /// A counter's value.
    pub fn sum(&self, slot: u32) -> u64 {
        self.values(slot).sum::<i64>() as u64
    }

    /// The values of so many counters in a row.
    pub fn sums(&self, slot: u32, n: usize) -> Vec<i64> {
        let mut sums = vec![0i64; n];
        for shard in 0..self.state().open {
            let first = shard * STRIDE + u64::from(slot) * 8;
            for (sum, at) in sums.iter_mut().zip((first..).step_by(8)) {
                *sum = sum.wrapping_add(self.file.word(at).load(Ordering::Relaxed));
            }
        }
        sums
    }

    /// The largest of a counter's values over the shards.
    pub fn max(&self, slot: u32) -> u64 {
        self.values(slot).max().unwrap_or(0) as u64
    }
}
