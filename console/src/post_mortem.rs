//! Reads the data directory of a JVM: the measurements of its instruments. The JVM may run, have
//! ended, or have been killed.
//!
//! ```text
//!   catalogue ──▶ instruments and their points ─────┐
//!   counters.bin ─▶ sums over the shards ───────────┼─▶ rows
//!   events.bin ─▶ event counts of log points ───────┤
//!       └──────▶ events not drained yet ─┐          │
//!   drained.0/.1 ─▶ drained events ──────┴──────────┴─▶ events
//! ```
//!
//! The files are read and not mapped into memory. A truncated file then causes an error and no
//! signal.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{FlockOperation, SeekFrom, flock, seek};
use rustix::io::Errno;
use veneer_frequency::{CountedGraph, EdgeProfile, Endpoint};
use veneer_instruments::{LogEvent, Measurement, PointRow};
use veneer_names::{CounterSlot, LogPoint, PointSlot};
use veneer_protocol::InstrumentKind;
use veneer_protocol::data::{
    self, COUNTERS_FILE, DataError, DecodedEvent, EVENT_LOG_FILES, EVENTS_FILE, JOURNAL_FILE,
    JournalContent, RecordedInstrument, RecordedPoint, RingLayout, ShardLayout, is_data_directory,
    read_journal, read_segment,
};

/// The state of the process that writes the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessState {
    /// The JVM runs. The measurements are the current ones.
    Running,
    /// The JVM ended normally. The measurements are final.
    Ended,
    /// The JVM was killed or crashed.
    Killed,
}

/// An instrument with its measurements.
#[derive(Debug)]
pub struct MeasuredInstrument {
    /// The instrument's record in the metadata journal.
    pub recorded: RecordedInstrument,
    /// One row for each point.
    pub rows: Vec<PointRow>,
    /// For a log: the events that are still stored, the oldest first.
    pub events: Vec<LogEvent>,
}

/// Everything that a data directory contains about one JVM.
#[derive(Debug)]
pub struct DataDirectory {
    pub directory: PathBuf,
    pub state: ProcessState,
    /// Time in milliseconds between the start of the agent and its last sign of life in the
    /// directory.
    pub millis: u64,
    /// The contents of the metadata journal.
    pub catalogue: JournalContent,
    /// In the order in which they were attached.
    pub instruments: Vec<MeasuredInstrument>,
    /// Descriptions of data that may be missing.
    pub missing: Vec<String>,
}

/// Returns the data directories of single JVMs that a path denotes: the path itself, or the
/// directories in it, sorted by name.
pub fn directories(path: &Path) -> Result<Vec<PathBuf>, DataError> {
    if is_data_directory(path) {
        return Ok(vec![path.to_owned()]);
    }
    let unreadable = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            DataError::NoData(path.to_owned())
        }
        _ => DataError::Unreadable {
            path: path.to_owned(),
            source,
        },
    };
    let mut found = Vec::new();
    // The default directory of `veneer run` contains its data in the subdirectory `data`.
    for place in [path.to_owned(), path.join("data")] {
        if place != path && !place.is_dir() {
            continue;
        }
        for entry in fs::read_dir(&place).map_err(unreadable)? {
            let inner = entry.map_err(unreadable)?.path();
            if is_data_directory(&inner) {
                found.push(inner);
            }
        }
    }
    if found.is_empty() {
        return Err(DataError::NoData(path.to_owned()));
    }
    found.sort();
    Ok(found)
}

impl DataDirectory {
    /// Reads a data directory.
    pub fn read(directory: &Path) -> Result<DataDirectory, DataError> {
        // The lock is checked before anything is read. Otherwise a JVM that ends during the reading
        // would be reported as killed.
        let running = holds_lock(directory)?;
        let catalogue = read_journal(directory)?;
        let counters = Counters::read(directory, &catalogue)?;
        let (logs, millis, torn) = Logs::read(directory)?;
        let state = match (catalogue.ended, running) {
            (true, _) => ProcessState::Ended,
            (false, true) => ProcessState::Running,
            (false, false) => ProcessState::Killed,
        };
        let mut missing = Vec::new();
        if catalogue.torn && state != ProcessState::Running {
            missing.push("the last record of the metadata journal is incomplete: an attachment or detachment at the moment when the process was killed".to_owned());
        }
        if torn && state != ProcessState::Running {
            missing.push("the last drained events, whose record is incomplete".to_owned());
        }
        if state == ProcessState::Killed {
            if catalogue
                .instruments
                .iter()
                .flat_map(|i| &i.points)
                .any(|p| p.flow.is_some())
            {
                missing.push("the positions of running activations: counts of all fragments or edges of a running method may be off by one for each activation, and by 16,384 iterations in loops without calls".to_owned());
            }
            missing.push("measurements that threads had not stored yet: events that were being written, and durations of calls that had not ended".to_owned());
        }
        missing.push(
            "refusals, and tables that probes filled (both are kept in the JVM only)".to_owned(),
        );
        let mut logs = logs;
        let measured = |recorded: &RecordedInstrument| {
            let mut solved = None;
            let rows = recorded
                .points
                .iter()
                .map(|point| row(point, recorded.kind, (&counters, &mut solved), &logs));
            rows.collect::<Vec<PointRow>>()
        };
        let rows: Vec<Vec<PointRow>> = catalogue.instruments.iter().map(measured).collect();
        let mut instruments = Vec::new();
        for (recorded, rows) in catalogue.instruments.iter().zip(rows) {
            instruments.push(MeasuredInstrument {
                recorded: recorded.clone(),
                rows,
                events: logs.take_events(recorded, catalogue.began_ns),
            });
        }
        Ok(DataDirectory {
            directory: directory.to_owned(),
            state,
            millis,
            catalogue,
            instruments,
            missing,
        })
    }
}

/// Whether the process that writes the directory runs. False if that cannot be determined.
pub fn is_running(directory: &Path) -> bool {
    holds_lock(directory).unwrap_or(false)
}

/// Whether the process that writes the directory runs. A running process holds a lock on the
/// metadata journal.
fn holds_lock(directory: &Path) -> Result<bool, DataError> {
    let path = directory.join(JOURNAL_FILE);
    let file = File::open(&path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => DataError::NoData(directory.to_owned()),
        _ => DataError::Unreadable {
            path: path.clone(),
            source,
        },
    })?;
    // A lock that this call acquires is released when `file` is closed.
    let locked = flock(&file, FlockOperation::NonBlockingLockShared);
    Ok(locked == Err(Errno::WOULDBLOCK))
}

/// Returns the count of a point that is derived from the spanning-tree counters of its method. The
/// positions of running activations are not stored, so they are not added.
fn derived_count(point: &RecordedPoint, solved: &mut SolvedFlow, counters: &Counters) -> u64 {
    let Some(flow) = &point.flow else {
        return 0;
    };
    if solved.as_ref().is_none_or(|s| !Arc::ptr_eq(&s.0, flow)) {
        let counts = flow.solve(|counter| counters.sum(CounterSlot(counter)), &[]);
        *solved = Some((flow.clone(), counts));
    }
    let Some((_, counts)) = solved else {
        return 0;
    };
    match (point.at.node, point.at.fragment, point.at.to) {
        (Some(node), ..) => counts.node_count(node),
        (None, Some(from), Some(to)) => {
            counts.edge_count(Endpoint::Node(from.0), Endpoint::Node(to.0))
        }
        (None, Some(f), None) => counts.node_count(f.0),
        _ => 0,
    }
}

/// The flow that was solved last. Points with the same flow are stored one after another, so each
/// flow is solved once.
type SolvedFlow = Option<(Arc<CountedGraph>, EdgeProfile)>;

fn row(
    point: &RecordedPoint,
    kind: InstrumentKind,
    (counters, flows): (&Counters, &mut SolvedFlow),
    logs: &Logs,
) -> PointRow {
    let at = &point.at;
    let data = point.last.unwrap_or_else(|| match (point.slot, kind) {
        (PointSlot::Log(log), _) => {
            let (events, dropped) = logs.event_counts(log);
            Measurement::Log {
                events: events.saturating_add(dropped),
                dropped,
            }
        }
        (PointSlot::Counter(first), InstrumentKind::Timer) => {
            let count = counters.sum(first).wrapping_sub(at.base[0]);
            Measurement::Time {
                count,
                total_ns: counters.sum(first.plus(1)).wrapping_sub(at.base[1]),
                min_ns: match count {
                    0 => 0,
                    _ => (i64::MAX as u64).saturating_sub(counters.max(first.plus(3))),
                },
                max_ns: counters.max(first.plus(2)),
            }
        }
        (PointSlot::Counter(slot), _) => Measurement::Count {
            hits: counters
                .sum(slot)
                .wrapping_sub(at.base[0])
                .wrapping_add(derived_count(point, flows, counters)),
        },
    });
    PointRow {
        class: point.class.clone(),
        method: point.method.clone(),
        fragment: at.fragment,
        to: at.to,
        what: at.what.clone(),
        line: at.line,
        data,
    }
}

/// Opens a file that must have at least the size `expected`, in bytes.
fn open(directory: &Path, name: &str, expected: u64) -> Result<(PathBuf, File), DataError> {
    let path = directory.join(name);
    let file = File::open(&path).and_then(|file| Ok((file.metadata()?.len(), file)));
    match file {
        Ok((found, file)) if found >= expected => Ok((path, file)),
        Ok((found, _)) => Err(DataError::Truncated {
            path,
            expected,
            found,
        }),
        Err(source) => Err(DataError::Unreadable { path, source }),
    }
}

/// Sums and maxima over all shards, for the slots that are in use.
struct Counters {
    sums: Vec<u64>,
    maxima: Vec<u64>,
}

impl Counters {
    fn read(directory: &Path, catalogue: &JournalContent) -> Result<Counters, DataError> {
        let (path, file) = open(directory, COUNTERS_FILE, ShardLayout::SIZE)?;
        let end = |p: &RecordedPoint| {
            let own = p.slot.counter()?.0 as usize + 4;
            let flow = p.flow.iter().flat_map(|f| f.counters().max());
            Some(flow.map(|c| c as usize + 1).fold(own, usize::max))
        };
        let points = catalogue.instruments.iter().flat_map(|i| &i.points);
        let slots = points.filter_map(end);
        let slots = slots.max().unwrap_or(0).min(ShardLayout::SLOTS as usize);
        let mut counters = Counters {
            sums: vec![0; slots],
            maxima: vec![0; slots],
        };
        let mut bytes = vec![0; slots * 8];
        for shard in 0..ShardLayout::COUNT {
            let from = shard * ShardLayout::STRIDE;
            // The range of a shard that no thread has used is a hole in the file.
            if !has_data(&file, from, bytes.len() as u64) {
                continue;
            }
            let read = file.read_exact_at(&mut bytes, from);
            read.map_err(|source| DataError::Unreadable {
                path: path.clone(),
                source,
            })?;
            for (slot, word) in bytes.chunks_exact(8).enumerate() {
                let word = word.try_into().map_or(0, u64::from_ne_bytes);
                counters.sums[slot] = counters.sums[slot].wrapping_add(word);
                counters.maxima[slot] = counters.maxima[slot].max(word);
            }
        }
        Ok(counters)
    }

    fn sum(&self, slot: CounterSlot) -> u64 {
        self.sums.get(slot.0 as usize).copied().unwrap_or(0)
    }

    fn max(&self, slot: CounterSlot) -> u64 {
        self.maxima.get(slot.0 as usize).copied().unwrap_or(0)
    }
}

/// Whether a range of a file contains data, and not only a hole.
fn has_data(file: &File, from: u64, length: u64) -> bool {
    // A file system without support for holes returns the requested offset.
    seek(file, SeekFrom::Data(from)).is_ok_and(|found| found < from + length)
}

/// The event counts and the events of log points.
#[derive(Default)]
struct Logs {
    /// Number of events that the agent drained and counted, by point.
    counted: HashMap<LogPoint, u64>,
    /// Number of events that were written, by point.
    written: HashMap<LogPoint, u64>,
    /// Number of events that were dropped, by point. An event is dropped if its ring is full or its
    /// thread has no ring.
    dropped: HashMap<LogPoint, u64>,
    /// The events that are still stored, by point.
    events: HashMap<LogPoint, Vec<DecodedEvent>>,
}

impl Logs {
    /// Reads the files of events. Also returns the agent's lifetime in milliseconds, and whether a
    /// record is torn.
    fn read(directory: &Path) -> Result<(Logs, u64, bool), DataError> {
        let mut logs = Logs::default();
        let mut segments = Vec::new();
        let mut torn = false;
        for name in EVENT_LOG_FILES {
            let path = directory.join(name);
            match fs::read(&path) {
                Ok(bytes) => {
                    let (number, events, broken) = read_segment(&bytes);
                    torn |= broken;
                    segments.push((number, events));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(source) => return Err(DataError::Unreadable { path, source }),
            }
        }
        segments.sort_by_key(|(number, _)| *number);
        // For each ring: the position up to which its events were already read from the segments.
        let mut ends: HashMap<u32, u64> = HashMap::new();
        for drained in segments.into_iter().flat_map(|(_, events)| events) {
            ends.insert(drained.ring, drained.end);
            logs.add_event(drained.event);
        }
        let (path, file) = open(directory, EVENTS_FILE, RingLayout::SIZE)?;
        let unreadable = |source| DataError::Unreadable {
            path: path.clone(),
            source,
        };
        let mut counts = vec![0; (RingLayout::MAX_LOG_POINTS * 16) as usize];
        if has_data(&file, RingLayout::POINT_METRICS, counts.len() as u64) {
            file.read_exact_at(&mut counts, RingLayout::POINT_METRICS)
                .map_err(unreadable)?;
            for (point, words) in counts.chunks_exact(16).enumerate() {
                let (written, dropped) = (word(words, 0), word(words, 8));
                if written + dropped > 0 {
                    let point = LogPoint(point as u32);
                    logs.counted.insert(point, written);
                    logs.written.insert(point, written);
                    logs.dropped.insert(point, dropped);
                }
            }
        }
        let mut ring = vec![0; RingLayout::STRIDE as usize];
        for n in 0..RingLayout::COUNT {
            if has_data(&file, n * RingLayout::STRIDE, RingLayout::STRIDE) {
                file.read_exact_at(&mut ring, n * RingLayout::STRIDE)
                    .map_err(unreadable)?;
                logs.add_ring(&ring, ends.get(&(n as u32)).copied().unwrap_or(0));
            }
        }
        let mut life = [0; 8];
        file.read_exact_at(&mut life, RingLayout::AGENT_AGE)
            .map_err(unreadable)?;
        Ok((logs, u64::from_ne_bytes(life), torn))
    }

    fn add_event(&mut self, event: DecodedEvent) {
        self.events.entry(event.point).or_default().push(event);
    }

    /// Reads the events of a ring that were not drained yet. Events up to the position `end` were
    /// already read from the segments.
    fn add_ring(&mut self, ring: &[u8], end: u64) {
        let head = word(ring, RingLayout::HEAD as usize);
        let counted = word(ring, RingLayout::COUNTED_POSITION as usize);
        let counting = word(ring, RingLayout::COUNTING_POSITION as usize);
        let number = word(ring, RingLayout::COUNTING_NUMBER as usize);
        let mut at = word(ring, RingLayout::TAIL as usize);
        // A distance larger than the data area would be damage: the writer never gets further ahead
        // of the reader than that.
        while at < head && head - at <= RingLayout::DATA {
            let place = at % RingLayout::DATA;
            let start = (RingLayout::HEADER + place) as usize;
            let room = (RingLayout::DATA - place) as usize;
            let length = word(ring, start) as u32 as usize;
            if length == 0 {
                at += room as u64;
                continue;
            }
            if !(32..=room).contains(&length) {
                return;
            }
            at += length as u64;
            let Some(event) = ring.get(start..start + length).map(data::decode_event) else {
                return;
            };
            let is_counted =
                at <= counted || at == counting && self.counted.get(&event.point) == Some(&number);
            if !is_counted {
                *self.written.entry(event.point).or_default() += 1;
            }
            if at > end {
                self.add_event(event);
            }
        }
    }

    fn event_counts(&self, point: LogPoint) -> (u64, u64) {
        let of = |map: &HashMap<LogPoint, u64>| map.get(&point).copied().unwrap_or(0);
        (of(&self.written), of(&self.dropped))
    }

    /// Returns the events of an instrument, the oldest first, and removes them.
    fn take_events(&mut self, instrument: &RecordedInstrument, began_ns: u64) -> Vec<LogEvent> {
        let mut all = Vec::new();
        for point in &instrument.points {
            let Some(log) = point.slot.log_point() else {
                continue;
            };
            for event in self.events.remove(&log).unwrap_or_default() {
                all.push(LogEvent {
                    class: point.class.clone(),
                    method: point.method.clone(),
                    fragment: point.at.fragment,
                    line: point.at.line,
                    thread: event.thread,
                    time_ns: event.time_ns.saturating_sub(began_ns),
                    values: point.at.values.iter().cloned().zip(event.values).collect(),
                });
            }
        }
        all.sort_by_key(|event| event.time_ns);
        all
    }
}

fn word(bytes: &[u8], at: usize) -> u64 {
    let bytes = bytes.get(at..at.saturating_add(8));
    bytes
        .and_then(|b| b.try_into().ok())
        .map_or(0, u64::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a ring with two events of one log point: the agent counted the first one, and was killed
    /// while it counted the second one.
    fn ring_of_a_killed_process(point: u32, number: u64) -> Vec<u8> {
        let mut ring = vec![0; RingLayout::STRIDE as usize];
        let mut set = |at: u64, bytes: &[u8]| {
            let at = at as usize;
            ring[at..at + bytes.len()].copy_from_slice(bytes);
        };
        let header = [
            (RingLayout::HEAD, 64),
            (RingLayout::COUNTED_POSITION, 32),
            (RingLayout::COUNTING_POSITION, 64),
            (RingLayout::COUNTING_NUMBER, number),
        ];
        for (at, value) in header {
            set(at, &u64::to_ne_bytes(value));
        }
        for event in [0, 32] {
            set(RingLayout::HEADER + event, &u32::to_ne_bytes(32));
            set(RingLayout::HEADER + event + 4, &point.to_ne_bytes());
        }
        ring
    }

    #[test]
    fn an_event_is_counted_once_wherever_the_kill_falls() {
        let point = LogPoint(3);
        // The number of the point before and after the agent has counted the second event.
        for counted in [5, 6] {
            let mut logs = Logs::default();
            logs.counted.insert(point, counted);
            logs.written.insert(point, counted);
            logs.add_ring(&ring_of_a_killed_process(point.0, 6), 0);
            assert_eq!(logs.event_counts(point), (6, 0), "{counted} were counted");
            assert_eq!(logs.events.get(&point).map(Vec::len), Some(2));
        }
    }
}
