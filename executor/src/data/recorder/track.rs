//! The writer of one thread's events, with the readings of the thread's clock.

use crate::data::append_file::with_file_size_signal_blocked;
use crate::data::processor_clock::{ProcessorTime, Reading, Watch};
use crate::data::trace_clock::TraceClock;
use std::collections::HashMap;
use veneer_traces::format::word::kind;
use veneer_traces::writer::{ArgumentValue, ThreadWriter};

/// The writer of a track.
pub(super) struct Track {
    pub(super) writer: ThreadWriter,
    /// The number of the recording.
    pub(super) recording: u32,
    /// The depth of the node in which the thread is blocked, its own level included.
    pub(super) blocked: Option<u32>,
    clock: TraceClock,
    /// How the thread learns that it was switched out.
    watch: Watch,
    /// Whether the file has a reading of the thread's clock that is valid.
    has_reading: bool,
    /// The spans of plans that have not ended, the innermost last.
    pub(super) spans: Vec<OpenSpan>,
    /// The ids of strings that this track has used.
    pub(super) strings: HashMap<Box<str>, u32>,
}

/// A span of a plan that has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OpenSpan {
    /// The string of its label.
    pub(super) label: u32,
    /// The depth of its node, its own level included.
    pub(super) depth: u32,
}

/// The time of an event, with a reading of the thread's clock if one is due.
#[derive(Clone, Copy, Debug)]
pub struct EventTime {
    /// The time by the clock of the recording.
    pub now: u64,
    reading: Option<Reading>,
}

impl EventTime {
    /// The time of an event before which no reading is due.
    pub fn without_reading(now: u64) -> EventTime {
        EventTime { now, reading: None }
    }
}

impl Track {
    /// The track of a file, without processor times.
    pub(super) fn new(writer: ThreadWriter, recording: u32, clock: TraceClock) -> Track {
        Track {
            writer,
            recording,
            blocked: None,
            spans: Vec::new(),
            clock,
            watch: Watch::Never,
            has_reading: false,
            strings: HashMap::new(),
        }
    }

    /// Takes processor times from now on. The current thread must be the only one that writes.
    /// Returns the address of the word by which the thread learns that it was switched out.
    pub(super) fn watch(&mut self, source: ProcessorTime) -> u64 {
        self.watch = Watch::current(source);
        self.watch.address()
    }

    /// The time of an event that the current thread, the owner of the track, writes next. If the
    /// thread was switched out since the latest reading, the time is that of a new reading. The
    /// caller must write the event, because the reading is taken only once.
    pub(super) fn time(&mut self, now: u64) -> EventTime {
        let is_valid = self.has_reading && !self.watch.was_switched();
        if is_valid || self.watch == Watch::Never {
            return EventTime::without_reading(now);
        }
        self.has_reading = true;
        let reading = self.watch.read(|| self.clock.now());
        EventTime {
            now: now.max(reading.time),
            reading: Some(reading),
        }
    }

    /// Writes an event with its arguments, at the earliest at `now`.
    pub(super) fn write(&mut self, kind: u8, now: u64, id: u64, arguments: &[ArgumentValue<'_>]) {
        let time = self.time(now);
        self.write_at(time, kind, id, arguments);
    }

    /// Writes an event with its arguments, and the reading before it or as one of them.
    pub(super) fn write_at(
        &mut self,
        at: EventTime,
        kind: u8,
        id: u64,
        arguments: &[ArgumentValue<'_>],
    ) {
        let lost = self.writer.lost();
        let writer = &mut self.writer;
        let cpu = at.reading.map(|reading| ArgumentValue::Cpu(reading.cpu_ns));
        with_file_size_signal_blocked(|| match (at.reading, self.watch) {
            (Some(_), Watch::Always) => {
                let with_cpu: Vec<_> = arguments.iter().copied().chain(cpu).collect();
                writer.event_with(kind, at.now, id, &with_cpu);
            }
            (reading, _) => {
                if let Some(reading) = reading {
                    writer.event_with(kind::SWITCH, reading.time, 0, cpu.as_slice());
                }
                match arguments {
                    [] => writer.event(kind, at.now, id),
                    _ => writer.event_with(kind, at.now, id, arguments),
                }
            }
        });
        if self.writer.lost() != lost {
            self.has_reading = false;
        }
    }

    /// Forgets the spans whose nodes have ended, because a call around them has.
    pub(super) fn forget_ended_spans(&mut self) {
        let depth = self.writer.depth();
        while self.spans.pop_if(|span| span.depth > depth).is_some() {}
    }

    /// Ends the innermost span with this label, and the spans inside it. It has no effect if there is
    /// none, or if a call inside it has not ended.
    pub(super) fn end_span(&mut self, now: u64, label: u32) {
        self.forget_ended_spans();
        let depth = self.writer.depth();
        let Some(first) = self.spans.iter().rposition(|span| span.label == label) else {
            return;
        };
        let ended = self.spans.len() - first;
        if usize::try_from(depth - self.spans[first].depth) != Ok(ended - 1) {
            return;
        }
        self.spans.truncate(first);
        for _ in 0..ended {
            self.write(kind::EXIT, now, 0, &[]);
        }
    }

    /// Ends the node in which the thread is blocked, if it is the innermost one. The events of the
    /// JVM that end a node may come without those that begin it, if the recording began between.
    pub(super) fn close_blocked(&mut self, now: u64, arguments: &[ArgumentValue<'_>]) {
        let depth = self.writer.depth();
        if self.blocked.take().is_some_and(|blocked| blocked == depth) {
            self.write(kind::EXIT, now, 0, arguments);
        }
    }
}
