//! Events: one ring a thread in a mapped file, written by versions, drained by a thread of the agent.
//!
//! ```text
//!   ring    head | tail | – | size | counted …   data
//!   event   length(4) point(4) time(8) tid(8) –(8)  value…      value: kind(8) word(8) [characters]
//!   point   drained | dropped
//! ```
//!
//! A thread that finds no room drops the event and counts that. Head and tail only grow; a length of 0 says that the writer
//! went on at the ring's beginning.
//!
//! Draining is done in an order that leaves a killed process readable: first the events go to the disk ([`Spill`]), then each
//! is counted under its point and `counted` moves behind it, then `tail` does. Who reads the files afterwards takes what lies
//! behind these positions for what was not done yet.

use crate::data::event_log::Spill;
use crate::data::memory::Mapping;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use veneer_instruments::Value;
use veneer_protocol::data::{self, EVENTS, Rings as Layout};

const RINGS: u64 = Layout::COUNT;
const HEADER: u64 = Layout::HEADER;
const DATA: u64 = Layout::DATA;
const STRIDE: u64 = Layout::STRIDE;
/// Figures of points are claimed in steps of this many bytes.
const STEP: u64 = 1 << 16;
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

struct State {
    open: u64,
    free: Vec<i64>,
    kept: HashMap<u32, VecDeque<Drained>>,
    /// Bytes of points' figures whose blocks are there.
    claimed: u64,
    spill: Spill,
}

/// See the module documentation.
pub struct Rings {
    file: Mapping,
    state: Mutex<State>,
}

/// An event where it stands in a ring.
struct Found {
    point: u32,
    bytes: Vec<u8>,
    /// The position behind it.
    end: u64,
}

impl Rings {
    /// Makes the files in a directory.
    pub fn create(directory: &Path) -> io::Result<Rings> {
        let file = Mapping::create(&directory.join(EVENTS), Layout::SIZE)?;
        file.claim(Layout::LIFE, Layout::SIZE - Layout::LIFE)?;
        Ok(Rings {
            file,
            state: Mutex::new(State {
                open: 0,
                free: Vec::new(),
                kept: HashMap::new(),
                claimed: 0,
                spill: Spill::create(directory),
            }),
        })
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Notes that the agent still lives.
    pub fn alive(&self, millis: u64) {
        self.file
            .word(Layout::LIFE)
            .store(millis as i64, Ordering::Relaxed);
    }

    /// Makes room for a point's figures. False where there is none, or none on the disk.
    pub fn open_point(&self, point: u32) -> bool {
        let end = (u64::from(point) + 1) * 16;
        if u64::from(point) >= Layout::POINTS {
            return false;
        }
        let mut state = self.state();
        if end > state.claimed {
            let claimed = end.next_multiple_of(STEP);
            if self.file.claim(Layout::FIGURES, claimed).is_err() {
                return false;
            }
            state.claimed = claimed;
        }
        true
    }

    /// A point's figures: events drained, and behind them events dropped.
    fn figures(point: u32) -> u64 {
        Layout::FIGURES + u64::from(point) * 16
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
            .word(offset + Layout::CAPACITY)
            .store(DATA as i64, Ordering::Release);
        self.file.address() + offset as i64
    }

    /// An event of this point, which is open, found no room.
    pub fn drop_one(&self, point: u32) {
        if u64::from(point) < Layout::POINTS {
            self.file
                .word(Self::figures(point) + 8)
                .fetch_add(1, Ordering::Relaxed);
        }
    }

    /// One of an open point's figures; 0 of a point that is not open.
    fn figure(&self, point: u32, offset: u64) -> u64 {
        if (u64::from(point) + 1) * 16 > self.state().claimed {
            return 0;
        }
        let word = self.file.word(Self::figures(point) + offset);
        word.load(Ordering::Relaxed) as u64
    }

    /// Events of a point that found no room.
    pub fn dropped_at(&self, point: u32) -> u64 {
        self.figure(point, 8)
    }

    /// How many events of a point came out.
    pub fn count(&self, point: u32) -> u64 {
        self.figure(point, 0)
    }

    /// The ring's thread is gone.
    pub fn release(&self, ring: i64) {
        self.state().free.push(ring);
    }

    /// What has come into a ring since it was drained last.
    fn waiting(&self, base: u64) -> (Vec<Found>, u64) {
        let mut found = Vec::new();
        let word = |offset| self.file.word(base + offset);
        let head = word(Layout::HEAD).load(Ordering::Acquire) as u64;
        let mut tail = word(Layout::TAIL).load(Ordering::Relaxed) as u64;
        while tail < head {
            let at = tail % DATA;
            let start = base + HEADER + at;
            let len = self.file.half(start).load(Ordering::Relaxed) as u64;
            if len == 0 {
                tail += DATA - at;
                continue;
            }
            tail += len;
            found.push(Found {
                point: self.file.half(start + 4).load(Ordering::Relaxed),
                bytes: self.file.copy(start, len.min(DATA - at) as usize),
                end: tail,
            });
        }
        (found, tail)
    }

    /// Takes out what has come.
    pub fn drain(&self) {
        let mut state = self.state();
        for ring in 0..state.open {
            let base = ring * STRIDE;
            let (found, tail) = self.waiting(base);
            if found.is_empty() {
                self.file
                    .word(base + Layout::TAIL)
                    .store(tail as i64, Ordering::Release);
                continue;
            }
            let mut batch = Vec::new();
            for event in &found {
                let begin = event.end - event.bytes.len() as u64;
                data::spill(&mut batch, ring as u32, begin, &event.bytes);
            }
            state.spill.write(&batch);
            for event in found {
                if u64::from(event.point) < Layout::POINTS {
                    self.file
                        .word(Self::figures(event.point))
                        .fetch_add(1, Ordering::Relaxed);
                }
                self.file
                    .word(base + Layout::COUNTED)
                    .store(event.end as i64, Ordering::Release);
                let kept = state.kept.entry(event.point).or_default();
                if kept.len() == KEPT {
                    kept.pop_front();
                }
                kept.push_back(drained(&event.bytes));
            }
            self.file
                .word(base + Layout::TAIL)
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

    /// The events of a point that came after the first `seen`, newest last, as far as they are kept; and how many came in all.
    pub fn since(&self, point: u32, seen: u64) -> (Vec<Drained>, u64) {
        let state = self.state();
        let Some(kept) = state.kept.get(&point) else {
            return (Vec::new(), seen);
        };
        // Counted and kept under the same lock.
        let word = self.file.word(Self::figures(point));
        let count = word.load(Ordering::Relaxed) as u64;
        let new = usize::try_from(count.saturating_sub(seen)).unwrap_or(usize::MAX);
        let skip = kept.len().saturating_sub(new);
        (kept.iter().skip(skip).cloned().collect(), count)
    }

    /// How many events were dropped, over all points.
    pub fn dropped(&self) -> u64 {
        let points = self.state().claimed / 16;
        (0..points as u32).map(|point| self.dropped_at(point)).sum()
    }

    /// Drained events that could not be written to the disk, and why; once for each time that it came to that.
    pub fn trouble(&self) -> Option<io::Error> {
        self.state().spill.trouble()
    }
}

fn drained(bytes: &[u8]) -> Drained {
    let event = data::decode(bytes);
    let value = |value| match value {
        data::Value::Null => Value::Null,
        data::Value::Int(n) => Value::Int(n),
        data::Value::Float(n) => Value::Float(n),
        data::Value::Text(text) => Value::Text(text),
    };
    Drained {
        time_ns: event.time_ns,
        thread: event.thread,
        values: event.values.into_iter().map(value).collect(),
    }
}
