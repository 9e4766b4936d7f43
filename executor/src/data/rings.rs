//! Logged events: one ring buffer per thread in a mapped file. Versions write the events, and a
//! thread of the agent drains them.
//!
//! ```text
//!   ring    head | tail | unused | size | counted | counting, number …   data
//!   event   length(4) point(4) time(8) tid(8) unused(8)  value…      value: kind(8) word(8) [characters]
//!   point   drained | dropped
//! ```
//!
//! The application thread that owns a ring moves its head; only [`Rings::drain`] moves its tail.
//! Head and tail only grow, and a position is taken modulo the size of the data. A length of 0 means that
//! the writer continued at the start of the data. If a thread finds no room, it drops the event and
//! counts the drop under the event's point.
//!
//! The order of the steps of a drain keeps the files readable if the process is killed:
//!
//! 1. the events are written to the event log on disk ([`EventLog`]);
//! 2. for each event, the number of its point with this event and the position after it are noted; it
//!    is counted under its point, and `counted` moves behind it;
//! 3. `tail` moves behind all of them.
//!
//! A reader of the files treats events behind these positions as not yet logged, counted or
//! drained, except for the one that was noted, if its point already has the noted number.
//!
//! The thread `veneer-events` drains regularly; plans and client threads drain before they read. A
//! mutex orders them. **Invariant:** `tail ≤ counted ≤ head` in every ring between two drains.

use crate::data::event_log::EventLog;
use crate::data::memory::Mapping;
use crate::jvm::runtime_table;
use parking_lot::{Mutex, MutexGuard};
use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use veneer_instruments::EventValue;
use veneer_names::LogPoint;
use veneer_protocol::data::{self, EVENTS_FILE, RingLayout as Layout};

const RINGS: u64 = Layout::COUNT;
const HEADER: u64 = Layout::HEADER;
const DATA: u64 = Layout::DATA;
const STRIDE: u64 = Layout::STRIDE;
/// Disk blocks for the metrics of points are claimed in steps of this many bytes.
const CLAIM_STEP_BYTES: u64 = 1 << 16;
/// Bytes of the metrics of a point: the number of drained events, then the number of dropped ones.
const POINT_BYTES: u64 = 16;
/// Offset of the number of dropped events in the metrics of a point.
const DROPPED: u64 = 8;
/// Bytes of an event before its values.
const EVENT_HEADER_BYTES: u64 = runtime_table::EVENT_HEADER as u64;
/// The most events per point that stay in memory, so that a plan can read earlier events.
const MAX_KEPT_EVENTS: usize = 4096;

/// One drained event. The point knows which variables the values belong to.
#[derive(Clone, Debug)]
pub struct DrainedEvent {
    /// `System.nanoTime()` when the application thread passed the point.
    pub time_ns: u64,
    /// The Java thread's id.
    pub thread: u64,
    /// In the order of the log's variables.
    pub values: Vec<EventValue>,
}

struct RingsState {
    /// Number of rings that have been opened.
    open: u64,
    /// Addresses of opened rings without an owner.
    free: Vec<i64>,
    /// The newest events of each point, newest last.
    kept: HashMap<LogPoint, VecDeque<DrainedEvent>>,
    /// Bytes of the points' metrics that have disk blocks.
    claimed_bytes: u64,
    log: EventLog,
}

/// The ring buffers of all threads. See the module documentation.
pub struct Rings {
    file: Mapping,
    state: Mutex<RingsState>,
}

/// An event that a ring contains.
struct PendingEvent {
    point: LogPoint,
    bytes: Vec<u8>,
    /// The position after the event.
    end: u64,
}

impl Rings {
    /// Creates the files in a directory.
    pub fn create(directory: &Path) -> io::Result<Rings> {
        let file = Mapping::create(&directory.join(EVENTS_FILE), Layout::SIZE)?;
        file.claim(Layout::AGENT_AGE, Layout::SIZE - Layout::AGENT_AGE)?;
        Ok(Rings {
            file,
            state: Mutex::new(RingsState {
                open: 0,
                free: Vec::new(),
                kept: HashMap::new(),
                claimed_bytes: 0,
                log: EventLog::create(directory),
            }),
        })
    }

    fn state(&self) -> MutexGuard<'_, RingsState> {
        self.state.lock()
    }

    /// Records the age of the agent, in milliseconds, which shows that the agent is alive.
    pub fn record_agent_age(&self, millis: u64) {
        self.file
            .word(Layout::AGENT_AGE)
            .store(millis as i64, Ordering::Relaxed);
    }

    /// Makes room for the metrics of a point. Returns false if the table of points or the disk is
    /// full.
    pub fn open_point(&self, point: LogPoint) -> bool {
        let end = (u64::from(point.0) + 1) * POINT_BYTES;
        if u64::from(point.0) >= Layout::MAX_LOG_POINTS {
            return false;
        }
        let mut state = self.state();
        if end > state.claimed_bytes {
            let claimed = end.next_multiple_of(CLAIM_STEP_BYTES);
            if self.file.claim(Layout::POINT_METRICS, claimed).is_err() {
                return false;
            }
            state.claimed_bytes = claimed;
        }
        true
    }

    /// The offset of a point's metrics.
    fn metrics(point: LogPoint) -> u64 {
        Layout::POINT_METRICS + u64::from(point.0) * POINT_BYTES
    }

    /// Returns the address of a ring for a thread, or 0 if no ring is left.
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

    /// Counts an event of an open point that found no room in its ring. Called by the application
    /// thread.
    pub fn drop_one(&self, point: LogPoint) {
        if u64::from(point.0) < Layout::MAX_LOG_POINTS {
            self.file
                .word(Self::metrics(point) + DROPPED)
                .fetch_add(1, Ordering::Relaxed);
        }
    }

    /// One of the metrics of a point, at `offset` in them; 0 for a point that is not open.
    fn metric(&self, point: LogPoint, offset: u64) -> u64 {
        if (u64::from(point.0) + 1) * POINT_BYTES > self.state().claimed_bytes {
            return 0;
        }
        let word = self.file.word(Self::metrics(point) + offset);
        word.load(Ordering::Relaxed) as u64
    }

    /// Returns the number of events of a point that found no room.
    pub fn dropped_at(&self, point: LogPoint) -> u64 {
        self.metric(point, DROPPED)
    }

    /// Returns the number of drained events of a point.
    pub fn event_count(&self, point: LogPoint) -> u64 {
        self.metric(point, 0)
    }

    /// Frees a ring whose thread has ended. Its events remain until they are drained.
    pub fn release(&self, ring: i64) {
        self.state().free.push(ring);
    }

    /// The events of the ring at offset `base` that were not drained yet, and the position after
    /// them.
    fn pending(&self, base: u64) -> (Vec<PendingEvent>, u64) {
        let mut events = Vec::new();
        let word = |offset| self.file.word(base + offset);
        let head = word(Layout::HEAD).load(Ordering::Acquire) as u64;
        let mut tail = word(Layout::TAIL).load(Ordering::Relaxed) as u64;
        while tail < head {
            let at = tail % DATA;
            let start = base + HEADER + at;
            let len = self.file.half_word(start).load(Ordering::Relaxed) as u64;
            if len == 0 {
                tail += DATA - at;
                continue;
            }
            if len < EVENT_HEADER_BYTES || !len.is_multiple_of(8) || at + len > DATA {
                // No version writes such a length: something has overwritten the ring. The rest of
                // its content cannot be parsed.
                return (events, head);
            }
            tail += len;
            events.push(PendingEvent {
                point: LogPoint(self.file.half_word(start + 4).load(Ordering::Relaxed)),
                bytes: self.file.copy(start, len as usize),
                end: tail,
            });
        }
        (events, tail)
    }

    /// Moves all events out of the rings: to the event log, into the counts of their points, and
    /// into memory.
    pub fn drain(&self) {
        let mut state = self.state();
        for ring in 0..state.open {
            let base = ring * STRIDE;
            let (events, tail) = self.pending(base);
            if !events.is_empty() {
                self.record(&mut state, ring, events);
            }
            self.file
                .word(base + Layout::TAIL)
                .store(tail as i64, Ordering::Release);
        }
    }

    /// Logs, counts and keeps the events of one ring.
    fn record(&self, state: &mut RingsState, ring: u64, events: Vec<PendingEvent>) {
        let mut batch = Vec::new();
        for event in &events {
            let begin = event.end - event.bytes.len() as u64;
            data::append_event_record(&mut batch, ring as u32, begin, &event.bytes);
        }
        state.log.write(&batch);
        for event in events {
            let header = |offset| self.file.word(ring * STRIDE + offset);
            if u64::from(event.point.0) < Layout::MAX_LOG_POINTS {
                // The lock of `state` makes this the only thread that changes the number.
                let number = self.file.word(Self::metrics(event.point));
                let with_event = number.load(Ordering::Relaxed).wrapping_add(1);
                header(Layout::COUNTING_NUMBER).store(with_event, Ordering::Relaxed);
                header(Layout::COUNTING_POSITION).store(event.end as i64, Ordering::Release);
                number.store(with_event, Ordering::Release);
            }
            header(Layout::COUNTED_POSITION).store(event.end as i64, Ordering::Release);
            let kept = state.kept.entry(event.point).or_default();
            if kept.len() == MAX_KEPT_EVENTS {
                kept.pop_front();
            }
            kept.push_back(decode(&event.bytes));
        }
    }

    /// Returns the last `n` drained events of a point, newest last.
    pub fn last_events(&self, point: LogPoint, n: usize) -> Vec<DrainedEvent> {
        let state = self.state();
        state.kept.get(&point).map_or_else(Vec::new, |k| {
            k.iter().skip(k.len().saturating_sub(n)).cloned().collect()
        })
    }

    /// Returns the events of a point after its first `seen` ones, newest last, without those that
    /// are no longer kept; and the number of all drained events of the point.
    pub fn events_since(&self, point: LogPoint, seen: u64) -> (Vec<DrainedEvent>, u64) {
        let state = self.state();
        let Some(kept) = state.kept.get(&point) else {
            return (Vec::new(), seen);
        };
        // `record` counts and keeps an event under this lock, so both are of the same time.
        let word = self.file.word(Self::metrics(point));
        let count = word.load(Ordering::Relaxed) as u64;
        let new = usize::try_from(count.saturating_sub(seen)).unwrap_or(usize::MAX);
        let skip = kept.len().saturating_sub(new);
        (kept.iter().skip(skip).cloned().collect(), count)
    }

    /// Returns the number of dropped events of all points.
    pub fn dropped(&self) -> u64 {
        let count = self.state().claimed_bytes / POINT_BYTES;
        let points = (0..count as u32).map(LogPoint);
        points.map(|point| self.dropped_at(point)).sum()
    }

    /// Returns the error of the first event that could not be written to the event log since the
    /// last success. Each series of failures is returned once.
    pub fn take_log_error(&self) -> Option<io::Error> {
        self.state().log.take_error()
    }
}

fn decode(bytes: &[u8]) -> DrainedEvent {
    let event = data::decode_event(bytes);
    DrainedEvent {
        time_ns: event.time_ns,
        thread: event.thread,
        values: event.values,
    }
}

#[cfg(test)]
mod tests;
