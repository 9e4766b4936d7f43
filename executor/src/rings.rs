//! Events: one ring a thread in a mapped file, written by versions, drained by a thread of the agent.
//!
//! ```text
//!   ring    head | tail | – | size | …   data
//!   event   length(4) point(4) time(8) tid(8) –(8)   value…      value: kind(8) word(8) [characters]
//! ```
//!
//! A thread that finds no room drops the event and counts that. Head and tail only grow; a length of 0 says that the writer
//! went on at the ring's beginning.

use crate::memory::Mapping;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use veneer_instruments::Value;

const RINGS: u64 = 128;
const HEADER: u64 = 64;
const DATA: u64 = (1 << 18) - 4096;
const STRIDE: u64 = 1 << 18;
/// Points whose dropped events are counted apart.
const POINTS: usize = 1 << 16;
/// Events kept for each point, so that a plan can look back.
const KEPT: usize = 4096;

/// One drained event; which variables the values belong to is known to the point.
#[derive(Clone, Debug)]
pub struct Drained {
    /// `System.nanoTime()`.
    pub time_ns: u64,
    /// The Java thread's id.
    pub thread: u64,
    /// In the order of the log's variables.
    pub values: Vec<Value>,
}

#[derive(Default)]
struct State {
    open: u64,
    free: Vec<i64>,
    kept: HashMap<u32, VecDeque<Drained>>,
    counts: HashMap<u32, u64>,
}

/// See the module documentation.
pub struct Rings {
    file: Mapping,
    /// Events of each point that found no room.
    dropped: Box<[AtomicU64]>,
    state: Mutex<State>,
}

impl Rings {
    /// Makes the file.
    pub fn create(path: &Path) -> io::Result<Rings> {
        Ok(Rings {
            file: Mapping::create(path, RINGS * STRIDE)?,
            dropped: (0..POINTS).map(|_| AtomicU64::new(0)).collect(),
            state: Mutex::default(),
        })
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// A ring for a thread; 0 where there is none left.
    pub fn assign(&self) -> i64 {
        let mut state = self.state();
        if let Some(ring) = state.free.pop() {
            return ring;
        }
        let offset = state.open * STRIDE;
        if state.open == RINGS || self.file.claim(offset, STRIDE).is_err() {
            return 0;
        }
        state.open += 1;
        self.file
            .word(offset + 24)
            .store(DATA as i64, Ordering::Release);
        self.file.address() + offset as i64
    }

    /// An event of this point found no room. (Points beyond the table share its last place.)
    pub fn drop_one(&self, point: u32) {
        let place = (point as usize).min(POINTS - 1);
        self.dropped[place].fetch_add(1, Ordering::Relaxed);
    }

    /// Events of a point that found no room.
    pub fn dropped_at(&self, point: u32) -> u64 {
        self.dropped
            .get(point as usize)
            .map_or(0, |d| d.load(Ordering::Relaxed))
    }

    /// The ring's thread is gone.
    pub fn release(&self, ring: i64) {
        self.state().free.push(ring);
    }

    /// Takes out what has come.
    pub fn drain(&self) {
        let mut state = self.state();
        for ring in 0..state.open {
            let base = ring * STRIDE;
            let head = self.file.word(base).load(Ordering::Acquire) as u64;
            let mut tail = self.file.word(base + 8).load(Ordering::Relaxed) as u64;
            while tail < head {
                let at = tail % DATA;
                let start = base + HEADER + at;
                let len = self.file.half(start).load(Ordering::Relaxed) as u64;
                if len == 0 {
                    tail += DATA - at;
                    continue;
                }
                let point = self.file.half(start + 4).load(Ordering::Relaxed);
                let event = decode(&self.file.copy(start, len.min(DATA - at) as usize));
                tail += len;
                *state.counts.entry(point).or_default() += 1;
                let kept = state.kept.entry(point).or_default();
                if kept.len() == KEPT {
                    kept.pop_front();
                }
                kept.push_back(event);
            }
            self.file
                .word(base + 8)
                .store(tail as i64, Ordering::Release);
        }
    }

    /// The last events of a point, newest last.
    pub fn last(&self, point: u32, n: usize) -> Vec<Drained> {
        let state = self.state();
        state.kept.get(&point).map_or_else(Vec::new, |k| {
            k.iter().skip(k.len().saturating_sub(n)).cloned().collect()
        })
    }

    /// How many events of a point came out.
    pub fn count(&self, point: u32) -> u64 {
        self.state().counts.get(&point).copied().unwrap_or(0)
    }

    /// How many events were dropped, over all points.
    pub fn dropped(&self) -> u64 {
        self.dropped.iter().map(|d| d.load(Ordering::Relaxed)).sum()
    }
}

fn decode(bytes: &[u8]) -> Drained {
    let word = |at: usize| {
        bytes
            .get(at..at + 8)
            .and_then(|b| b.try_into().ok())
            .map_or(0, u64::from_ne_bytes)
    };
    let mut values = Vec::new();
    let mut at = 32;
    while at + 16 <= bytes.len() {
        let (kind, w) = (word(at), word(at + 8));
        at += 16;
        values.push(match kind {
            0 => Value::Null,
            1 => Value::Int(w as i64),
            2 => Value::Float(f64::from_bits(w)),
            _ => {
                let n = (w & 0xFFFF_FFFF) as usize;
                let chars: Vec<u16> = bytes
                    .get(at..at + 2 * n)
                    .unwrap_or_default()
                    .chunks_exact(2)
                    .map(|c| u16::from_ne_bytes([c[0], c[1]]))
                    .collect();
                at += (2 * n).next_multiple_of(8);
                let text = String::from_utf16_lossy(&chars);
                Value::Text(if kind == 3 {
                    text
                } else {
                    format!("{text}@{:x}", w >> 32)
                })
            }
        });
    }
    Drained {
        time_ns: word(8),
        thread: word(16),
        values,
    }
}
