//! Unit tests of the ring buffers. [`Writer`] writes events as `VeneerEvents.begin`, `put` and
//! `end` do.

use super::*;
use crate::data::scratch::ScratchDirectory;
use crate::jvm::runtime_table::{
    EVENT_HEADER, EVENT_POINT, EVENT_TEXT, EVENT_THREAD, EVENT_TIME, EVENT_VALUE, VALUE_INT,
};
use veneer_protocol::data::{EVENT_LOG_FILES, read_segment};

/// Bytes before the values of an event.
const EVENT_BYTES: u64 = EVENT_HEADER as u64;
/// Bytes of a logged integer.
const INTEGER_BYTES: u64 = EVENT_VALUE as u64;
/// Bytes for which a writer needs room for each value, which might be a text.
const VALUE_ROOM: u64 = INTEGER_BYTES + 2 * EVENT_TEXT as u64;

struct Writer<'r> {
    rings: &'r Rings,
    /// The offset of the ring in the file.
    base: u64,
}

impl<'r> Writer<'r> {
    fn new(rings: &'r Rings) -> Writer<'r> {
        let ring = rings.assign();
        assert!(ring > 0);
        let base = (ring - rings.file.address()) as u64;
        Writer { rings, base }
    }

    fn word(&self, offset: u64) -> i64 {
        self.rings
            .file
            .word(self.base + offset)
            .load(Ordering::Acquire)
    }

    fn set(&self, offset: u64, value: u64) {
        let word = self.rings.file.word(self.base + offset);
        word.store(value as i64, Ordering::Release);
    }

    /// Logs integers. Returns false and counts a drop if the ring has no room.
    fn log(&self, point: LogPoint, time: u64, values: &[i64]) -> bool {
        let head = self.word(Layout::HEAD) as u64;
        let size = self.word(Layout::CAPACITY) as u64;
        let need = EVENT_BYTES + values.len() as u64 * VALUE_ROOM;
        let at = head % size;
        let skip = if at + need > size { size - at } else { 0 };
        if head + skip + need - self.word(Layout::TAIL) as u64 > size {
            self.rings.drop_one(point);
            return false;
        }
        if skip != 0 {
            let end = self.rings.file.half_word(self.base + HEADER + at);
            end.store(0, Ordering::Relaxed);
            self.set(Layout::HEAD, head + skip);
        }
        let head = head + skip;
        let event = HEADER + head % size;
        let half = |offset, value| {
            let half = self.rings.file.half_word(self.base + event + offset);
            half.store(value, Ordering::Relaxed);
        };
        half(EVENT_POINT as u64, point.0);
        self.set(event + EVENT_TIME as u64, time);
        self.set(event + EVENT_THREAD as u64, 77);
        let first = event + EVENT_BYTES;
        for (at, value) in (first..).step_by(EVENT_VALUE as usize).zip(values) {
            self.set(at, VALUE_INT as u64);
            self.set(at + 8, *value as u64);
        }
        let length = EVENT_BYTES + INTEGER_BYTES * values.len() as u64;
        half(0, length as u32);
        self.set(Layout::HEAD, head + length);
        true
    }
}

fn rings() -> (ScratchDirectory, Rings) {
    let directory = ScratchDirectory::new();
    let rings = Rings::create(directory.path()).expect("rings");
    (directory, rings)
}

fn times(events: &[DrainedEvent]) -> Vec<u64> {
    events.iter().map(|event| event.time_ns).collect()
}

#[test]
fn a_released_ring_is_assigned_again_with_the_events_that_it_holds() {
    let (_directory, rings) = rings();
    assert!(rings.open_point(LogPoint(1)));
    let one = Writer::new(&rings);
    let two = Writer::new(&rings);
    assert_ne!(one.base, two.base);
    assert!(one.log(LogPoint(1), 10, &[5]));
    rings.release(rings.file.address() + one.base as i64);
    let three = Writer::new(&rings);
    assert_eq!(three.base, one.base);
    assert!(three.log(LogPoint(1), 11, &[6]));
    rings.drain();
    assert_eq!(times(&rings.last_events(LogPoint(1), 9)), [10, 11]);
}

#[test]
fn drained_events_have_their_values_and_are_counted_by_point() {
    let (_directory, rings) = rings();
    assert!(rings.open_point(LogPoint(3)));
    let writer = Writer::new(&rings);
    assert!(writer.log(LogPoint(3), 100, &[-1, 2]));
    assert!(writer.log(LogPoint(2), 101, &[]));
    assert_eq!(rings.event_count(LogPoint(3)), 0, "not drained yet");
    rings.drain();
    rings.drain();
    assert_eq!(
        [1, 2, 3].map(|point| rings.event_count(LogPoint(point))),
        [0, 1, 1]
    );
    let event = rings.last_events(LogPoint(3), 1).remove(0);
    assert_eq!((event.time_ns, event.thread), (100, 77));
    assert!(matches!(
        event.values[..],
        [EventValue::Int(-1), EventValue::Int(2)]
    ));
    let positions = [Layout::HEAD, Layout::TAIL, Layout::COUNTED_POSITION];
    assert_eq!(positions.map(|at| writer.word(at)), [96, 96, 96]);
    // The last event belongs to point 2.
    let noted = [Layout::COUNTING_POSITION, Layout::COUNTING_NUMBER];
    assert_eq!(noted.map(|at| writer.word(at)), [96, 1]);
}

#[test]
fn events_are_drained_once_each_while_the_ring_wraps_around() {
    let (_directory, rings) = rings();
    assert!(rings.open_point(LogPoint(1)));
    let writer = Writer::new(&rings);
    let mut seen = 0;
    let mut time = 0;
    // Miri needs minutes for a whole round, so it begins shortly before the end of the data.
    let (first, end, drain_every) = match cfg!(miri) {
        true => (DATA - 8192, DATA + 8192, 20),
        false => (0, 3 * DATA, 500),
    };
    for at in [Layout::HEAD, Layout::TAIL, Layout::COUNTED_POSITION] {
        writer.set(at, first);
    }
    while (writer.word(Layout::HEAD) as u64) < end {
        // The size of 48 + 16 k does not divide the size of the data.
        for values in [1, 2, 5, 0, 3] {
            assert!(writer.log(LogPoint(1), time, &vec![time as i64; values]));
            time += 1;
        }
        if time % drain_every == 0 {
            rings.drain();
            let (events, count) = rings.events_since(LogPoint(1), seen);
            assert_eq!(times(&events), (seen..time).collect::<Vec<u64>>());
            assert_eq!(count, time);
            let texts = |e: &DrainedEvent| {
                e.values
                    .iter()
                    .all(|v| matches!(v, EventValue::Int(n) if *n as u64 == e.time_ns))
            };
            assert!(events.iter().all(texts));
            seen = count;
        }
    }
    rings.drain();
    assert_eq!(rings.event_count(LogPoint(1)), time);
    assert_eq!(writer.word(Layout::TAIL), writer.word(Layout::HEAD));
}

#[test]
fn events_that_a_thread_logs_during_drains_arrive_whole_and_in_order() {
    let (_directory, rings) = rings();
    assert!(rings.open_point(LogPoint(1)));
    // The ring has room for all of them, also if no drain happens meanwhile.
    let all = if cfg!(miri) { 100 } else { 3000 };
    std::thread::scope(|scope| {
        let logging = scope.spawn(|| {
            let writer = Writer::new(&rings);
            for time in 0..all {
                assert!(writer.log(LogPoint(1), time, &[time as i64, -(time as i64)]));
            }
        });
        let mut seen = 0;
        loop {
            let has_ended = logging.is_finished();
            rings.drain();
            let (events, count) = rings.events_since(LogPoint(1), seen);
            assert_eq!(times(&events), (seen..count).collect::<Vec<u64>>());
            for event in events {
                let time = event.time_ns as i64;
                assert!(matches!(
                    event.values[..],
                    [EventValue::Int(a), EventValue::Int(b)] if (a, b) == (time, -time)
                ));
            }
            seen = count;
            if has_ended {
                break;
            }
        }
        assert_eq!(seen, all);
    });
}

#[test]
#[cfg_attr(miri, ignore = "Miri needs minutes for 5,000 events")]
fn a_full_ring_drops_events_and_counts_them_by_point() {
    let (_directory, rings) = rings();
    assert!(rings.open_point(LogPoint(2)));
    let writer = Writer::new(&rings);
    let written = (0..)
        .take_while(|n| writer.log(LogPoint(1), *n, &[0]))
        .count() as u64;
    assert!(!writer.log(LogPoint(2), 0, &[0]));
    assert_eq!(
        [1, 2].map(|point| rings.dropped_at(LogPoint(point))),
        [1, 1]
    );
    assert_eq!(rings.dropped(), 2);
    rings.drain();
    assert_eq!(
        (
            rings.event_count(LogPoint(1)),
            rings.event_count(LogPoint(2))
        ),
        (written, 0)
    );
    assert!(writer.log(LogPoint(1), 0, &[0]), "there is room again");
    assert!((DATA - 200..=DATA).contains(&(written * 48)));
}

#[test]
#[cfg_attr(miri, ignore = "Miri needs minutes for 4,000 events")]
fn a_point_keeps_its_newest_events_only() {
    let (_directory, rings) = rings();
    assert!(rings.open_point(LogPoint(1)));
    let writer = Writer::new(&rings);
    let all = MAX_KEPT_EVENTS as u64 + 10;
    for time in 0..all {
        assert!(writer.log(LogPoint(1), time, &[]));
        if time % 1000 == 0 {
            rings.drain();
        }
    }
    rings.drain();
    assert_eq!(
        times(&rings.last_events(LogPoint(1), 3)),
        [all - 3, all - 2, all - 1]
    );
    assert_eq!(
        rings.last_events(LogPoint(1), usize::MAX).len(),
        MAX_KEPT_EVENTS
    );
    // A reader that has seen 4 events gets those that are kept, and learns that 6 are missing.
    let (events, count) = rings.events_since(LogPoint(1), 4);
    assert_eq!((events.len() as u64, count), (all - 10, all));
    assert_eq!(events[0].time_ns, 10);
    assert_eq!(
        times(&rings.events_since(LogPoint(1), all - 2).0),
        [all - 2, all - 1]
    );
    assert_eq!(rings.events_since(LogPoint(1), all).0.len(), 0);
    assert_eq!(
        (
            rings.events_since(LogPoint(9), 5).0.len(),
            rings.events_since(LogPoint(9), 5).1
        ),
        (0, 5)
    );
}

#[test]
fn the_event_log_has_the_positions_of_the_events() {
    let (directory, rings) = rings();
    assert!(rings.open_point(LogPoint(1)));
    let _other = Writer::new(&rings);
    let writer = Writer::new(&rings);
    for time in 0..3 {
        assert!(writer.log(LogPoint(1), time, &[4]));
    }
    rings.drain();
    let bytes = std::fs::read(directory.join(EVENT_LOG_FILES[1])).expect("the event log");
    let (number, events, torn) = read_segment(&bytes);
    assert_eq!((number, torn), (1, false));
    let found: Vec<_> = events
        .iter()
        .map(|e| (e.ring, e.end, e.event.time_ns))
        .collect();
    assert_eq!(found, [(1, 48, 0), (1, 96, 1), (1, 144, 2)]);
    assert!(rings.take_log_error().is_none());
}

#[test]
fn a_damaged_length_costs_the_content_of_the_ring_and_no_more() {
    let (_directory, rings) = rings();
    assert!(rings.open_point(LogPoint(1)));
    let writer = Writer::new(&rings);
    for damaged in [4, 36, 41, DATA as u32, u32::MAX] {
        let before = rings.event_count(LogPoint(1));
        assert!(writer.log(LogPoint(1), 1, &[0]));
        let second = writer.word(Layout::HEAD) as u64;
        assert!(writer.log(LogPoint(1), 2, &[0]));
        let length = rings.file.half_word(writer.base + HEADER + second % DATA);
        length.store(damaged, Ordering::Relaxed);
        rings.drain();
        assert_eq!(
            rings.event_count(LogPoint(1)),
            before + 1,
            "length {damaged}"
        );
        assert_eq!(writer.word(Layout::TAIL), writer.word(Layout::HEAD));
    }
}

#[test]
fn points_beyond_the_table_have_no_metrics() {
    let (_directory, rings) = rings();
    assert!(!rings.open_point(LogPoint(Layout::MAX_LOG_POINTS as u32)));
    assert!(rings.open_point(LogPoint(Layout::MAX_LOG_POINTS as u32 - 1)));
    rings.drop_one(LogPoint(Layout::MAX_LOG_POINTS as u32));
    rings.drop_one(LogPoint(Layout::MAX_LOG_POINTS as u32 - 1));
    assert_eq!(rings.dropped(), 1);
    let writer = Writer::new(&rings);
    assert!(writer.log(LogPoint(u32::MAX), 1, &[]));
    rings.drain();
    assert_eq!(rings.event_count(LogPoint(u32::MAX)), 0);
    assert_eq!(rings.last_events(LogPoint(u32::MAX), 1).len(), 1);
}
