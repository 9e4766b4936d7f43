//! Events of the JVM in the events file of the thread on which they happen.

use super::Recorder;
use crate::data::recorder::recorded_thread::RecordedThread;
use crate::data::recorder::track::{EventTime, OpenSpan, Track};
use crate::jvm::runtime_table;
use veneer_instruments::{CallEventKind, VmEventKind};
use veneer_probes::tree::EventPart;
use veneer_traces::format::word::kind;
use veneer_traces::writer::ArgumentValue;

/// The most spans of a thread that are open at a time. Further ones are not recorded.
const MAX_OPEN_SPANS: usize = 1000;

/// The object of a monitor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MonitorObject {
    /// The class of the object, in Java form.
    pub class: String,
    /// The identity hash of the object.
    pub hash: u32,
}

/// The thread that owns a monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The number of the thread in the trace; 0 if the trace does not name the thread.
    pub number: u32,
    /// The name of the thread.
    pub name: String,
}

/// The time in which a thread is blocked at a monitor, or waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedNode {
    /// [`VmEventKind::Contended`] or [`VmEventKind::Wait`].
    pub kind: VmEventKind,
    /// The object of the monitor.
    pub monitor: MonitorObject,
    /// The number of the thread that owns the monitor.
    pub owner: Option<u32>,
    /// The argument of `Object.wait` in milliseconds.
    pub timeout: Option<i64>,
}

/// The value of an event of a plan.
#[derive(Clone, Debug, PartialEq)]
pub enum EventValue {
    Null,
    Int(i64),
    Float(f64),
    Text(String),
    /// An object: its class in Java form, and its identity hash.
    Object(String, u32),
}

impl EventValue {
    /// The value that `VeneerTrace.writeEvent` passes; `None` if the event has none.
    pub fn of_java(kind: i64, bits: i64, text: String) -> Option<EventValue> {
        Some(match kind {
            runtime_table::VALUE_NULL => EventValue::Null,
            runtime_table::VALUE_INT => EventValue::Int(bits),
            runtime_table::VALUE_FLOAT => EventValue::Float(f64::from_bits(bits as u64)),
            runtime_table::VALUE_STRING => EventValue::Text(text),
            runtime_table::VALUE_OBJECT => EventValue::Object(text, bits as u32),
            _ => return None,
        })
    }
}

impl Recorder {
    /// Opens the track of a shard for the current thread, which owns the shard. Returns false if
    /// nothing is recorded, or the thread cannot be.
    pub fn open_for_event(&self, shard: usize, thread: impl FnOnce() -> RecordedThread) -> bool {
        let number = self.active();
        match self.get(shard, 0) {
            _ if number == 0 => false,
            state if state == i64::from(number) => true,
            state if state == -i64::from(number) => false,
            _ => self.open(shard, number as i32, thread()) != 0,
        }
    }

    /// The number of a thread in the trace. The thread need not have an events file.
    pub fn number_thread(&self, thread: RecordedThread) -> u32 {
        self.name(|names| names.thread(thread)).unwrap_or(0)
    }

    /// The time of an event that the current thread, which owns the shard, must write next.
    pub fn event_time(&self, shard: usize, now: u64) -> EventTime {
        let mut time = None;
        self.with_track(shard, |track| time = Some(track.time(now)));
        time.unwrap_or(EventTime::without_reading(now))
    }

    /// The current thread is blocked from this time on.
    pub fn begin_blocked(&self, shard: usize, at: EventTime, node: &BlockedNode) {
        self.with_track(shard, |track| {
            let class = self.string(track, &node.monitor.class);
            let mut arguments = vec![ArgumentValue::Object(class, node.monitor.hash)];
            arguments.extend(node.owner.map(ArgumentValue::Owner));
            arguments.extend(node.timeout.map(ArgumentValue::Int));
            let event = match node.kind {
                VmEventKind::Wait => kind::WAIT,
                _ => kind::CONTENDED,
            };
            // A wait without its end has thrown an exception, because the thread did not own the
            // monitor.
            track.close_blocked(at.now, &[]);
            track.write_at(at, event, class.into(), &arguments);
            track.blocked = Some(track.writer.depth());
        });
    }

    /// The current thread is no longer blocked.
    pub fn end_blocked(&self, shard: usize, now: u64, timed_out: Option<bool>) {
        self.with_track(shard, |track| {
            let arguments = timed_out.map(|timed_out| ArgumentValue::Int(timed_out.into()));
            track.close_blocked(now, arguments.as_slice());
        });
    }

    /// The current thread has begun.
    pub fn thread_started(&self, shard: usize, now: u64) {
        self.with_track(shard, |track| {
            let number = track.writer.thread();
            track.write(kind::THREAD_START, now, number.into(), &[]);
        });
    }

    /// The current thread ends.
    pub fn thread_ended(&self, shard: usize, now: u64) {
        self.with_track(shard, |track| {
            let number = track.writer.thread();
            track.write(kind::THREAD_END, now, number.into(), &[]);
        });
    }

    /// The current thread has loaded a class. JVMTI reports no beginning, so the node is empty.
    pub fn class_loaded(&self, shard: usize, now: u64, class: &str) {
        self.with_track(shard, |track| {
            let class = self.string(track, class);
            track.write(kind::CLASS_LOAD, now, class.into(), &[]);
            track.write(kind::EXIT, now, 0, &[]);
        });
    }

    /// The current thread has allocated an object that the JVM samples.
    pub fn object_allocated(&self, shard: usize, now: u64, class: &str, bytes: u64) {
        self.with_track(shard, |track| {
            let class = self.string(track, class);
            let bytes = ArgumentValue::Int(i64::try_from(bytes).unwrap_or(i64::MAX));
            track.write(kind::ALLOCATION, now, class.into(), &[bytes]);
        });
    }

    /// A plan has an event on the current thread, with a label that contains the event's part.
    ///
    /// The labels of [`CallEventKind`] are the format's own events of these names.
    pub fn plan_event(&self, shard: usize, now: u64, label: &str, value: Option<&EventValue>) {
        let (part, label) = EventPart::of_marked_label(label);
        self.with_track(shard, |track| match part {
            EventPart::Instant => self.write_instant(track, now, label, value),
            EventPart::Begin => self.begin_span(track, now, label, value),
            EventPart::End => {
                let label = self.string(track, label);
                track.end_span(now, label);
            }
        });
    }

    fn write_instant(&self, track: &mut Track, now: u64, label: &str, value: Option<&EventValue>) {
        let (event, id) = match (CallEventKind::named(label), value) {
            (Some(CallEventKind::Unpark), Some(EventValue::Int(java_id))) => {
                (kind::UNPARK, self.number_unnamed(java_id.cast_unsigned()))
            }
            (Some(CallEventKind::Notify), Some(EventValue::Object(class, _))) => {
                (kind::NOTIFY, self.string(track, class))
            }
            _ => (kind::USER, self.string(track, label)),
        };
        let value = value.map(|value| self.argument(track, value));
        track.write(event, now, id.into(), value.as_slice());
    }

    fn begin_span(&self, track: &mut Track, now: u64, label: &str, value: Option<&EventValue>) {
        track.forget_ended_spans();
        if track.spans.len() == MAX_OPEN_SPANS {
            return;
        }
        let of_label = self.string(track, label);
        let call = CallEventKind::named(label);
        let (event, id) = match (call, value) {
            (Some(CallEventKind::Park), Some(EventValue::Object(class, _))) => {
                (kind::PARK, self.string(track, class))
            }
            (Some(CallEventKind::Park), _) => (kind::PARK, 0),
            (Some(CallEventKind::Sleep), _) => (kind::SLEEP, 0),
            _ => (kind::SPAN, of_label),
        };
        let depth = track.writer.depth();
        // A thread that sleeps or parks begins nothing else, so an exception has ended this span.
        if event != kind::SPAN
            && track.spans.last()
                == Some(&OpenSpan {
                    label: of_label,
                    depth,
                })
        {
            track.end_span(now, of_label);
        }
        let value = value.filter(|value| **value != EventValue::Null);
        let value = value.map(|value| self.argument(track, value));
        track.write(event, now, id.into(), value.as_slice());
        track.spans.push(OpenSpan {
            label: of_label,
            depth: track.writer.depth(),
        });
    }

    /// The value of an event as an argument of its word.
    fn argument<'v>(&self, track: &mut Track, value: &'v EventValue) -> ArgumentValue<'v> {
        match value {
            EventValue::Null => ArgumentValue::Null,
            EventValue::Int(number) => ArgumentValue::Int(*number),
            EventValue::Float(number) => ArgumentValue::Double(*number),
            EventValue::Text(text) => ArgumentValue::Text(text),
            EventValue::Object(class, hash) => {
                ArgumentValue::Object(self.string(track, class), *hash)
            }
        }
    }

    /// The number of a thread whose name is not known here. The thread writes its name itself when its
    /// own events are recorded.
    fn number_unnamed(&self, java_id: u64) -> u32 {
        self.number_thread(RecordedThread {
            java_id,
            name: format!("thread {java_id}"),
            group: String::new(),
        })
    }

    /// The id of a string. Each track keeps the ids that it has used, so that the threads share
    /// nothing when a string returns.
    pub(super) fn string(&self, track: &mut Track, text: &str) -> u32 {
        if let Some(id) = track.strings.get(text) {
            return *id;
        }
        let id = self.name(|names| names.string(text)).unwrap_or(0);
        track.strings.insert(text.into(), id);
        id
    }
}
