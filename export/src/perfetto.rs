//! A trace for Perfetto (`ui.perfetto.dev`, `trace_processor`), written incrementally from the
//! updates of a subscription.
//!
//! ```text
//!   process 4711 java
//!     ├─ Java thread 1    ·serve:41 {total: 900}   ·serve:41 {…}    logged values: instant events
//!     ├─ Java thread 17        ·serve:41 {…}                        with arguments
//!     ├─ hits shop.Desk.serve(shop.Order, int) f3 :41     ▁▂▂▃▅▇    counters: a value per update
//!     └─ took shop.Desk.serve(shop.Order, int) calls      ▁▁▂▃▃▅    timers: calls and total times
//! ```
//!
//! A trace is a sequence of packets. So the concatenation of the pieces is a valid trace, even if
//! the last pieces are missing. Timestamps are relative to the agent's start; a clock snapshot in
//! the first piece relates them to the real time.
//!
//! Java's thread ids differ from the system's thread ids. Therefore a thread's track is a plain
//! named track and not a thread track, and Perfetto's table of threads is empty.

pub(crate) mod schema;

use std::collections::HashMap;

use prost::Message;
use serde_json::Value as Json;
use veneer_protocol::{Instrument, LogEvent, Measurement, PointRow, Update};

use crate::ExportScope;
use schema::{
    BOOTTIME, Clock, ClockSnapshot, CounterDescriptor, Data, DebugAnnotation, EventType,
    ProcessDescriptor, REALTIME, SourceLocation, Trace, TracePacket, TrackDescriptor, TrackEvent,
    Unit, Value,
};
use veneer_names::java_signature;

/// The packet sequence of all packets. Perfetto requires one sequence id per writer.
const PACKET_SEQUENCE_ID: u32 = 1;
/// The uuid of the process track. Tracks of threads and counters have the following uuids.
const PROCESS_TRACK: u64 = 1;

/// Writes a trace incrementally.
#[derive(Debug)]
pub struct TraceWriter {
    scope: ExportScope,
    /// Names of the selected instruments, by instrument id.
    names: HashMap<String, String>,
    /// Track uuids by Java thread id.
    threads: HashMap<u64, u64>,
    /// Track uuids by counter name.
    counters: HashMap<String, u64>,
    /// The last assigned track uuid.
    tracks: u64,
    /// Total number of lost events.
    lost: u64,
}

impl TraceWriter {
    /// Starts a trace of a JVM, and returns its first piece. `began` is the agent's start in
    /// nanoseconds since 1970.
    pub fn begin(scope: ExportScope, pid: u32, name: &str, began: u64) -> (TraceWriter, Vec<u8>) {
        let writer = TraceWriter {
            scope,
            names: HashMap::new(),
            threads: HashMap::new(),
            counters: HashMap::new(),
            tracks: PROCESS_TRACK,
            lost: 0,
        };
        let clock = |clock_id, timestamp| Clock {
            clock_id: Some(clock_id),
            timestamp: Some(timestamp),
        };
        let clocks = vec![clock(BOOTTIME, 0), clock(REALTIME, began)];
        let process = TrackDescriptor {
            uuid: Some(PROCESS_TRACK),
            process: Some(ProcessDescriptor {
                pid: i32::try_from(pid).ok(),
                process_name: Some(name.into()),
            }),
            ..TrackDescriptor::default()
        };
        let packets = vec![
            packet(Some(0), Data::ClockSnapshot(ClockSnapshot { clocks })),
            packet(None, Data::TrackDescriptor(process)),
        ];
        (writer, encode(packets))
    }

    /// The next piece of the trace: counters at the time of the update, and logged events.
    pub fn update(&mut self, update: &Update) -> Vec<u8> {
        let mut packets = Vec::new();
        let at = update.millis.saturating_mul(1_000_000);
        for instrument in &update.instruments {
            if self.scope.contains_instrument(instrument) {
                let name = instrument.name.clone();
                self.names.insert(instrument.id.clone(), name);
            }
            // The scope may exclude a detached instrument, but its last counts still belong to the
            // trace.
            if self.names.contains_key(&instrument.id) {
                for point in &instrument.points {
                    self.point(&mut packets, at, instrument, point);
                }
            }
        }
        for event in &update.events {
            if let Some(name) = self.names.get(&event.instrument) {
                let category = name.clone();
                self.event(&mut packets, event, category);
            }
        }
        // The first update reports all events that were lost since the agent's start, including
        // events from before the plan.
        let before = update.number == 1 && matches!(self.scope, ExportScope::Plan { .. });
        if update.events_lost > 0 && !before {
            self.lost = self.lost.saturating_add(update.events_lost);
            let lost = self.lost;
            self.counter(&mut packets, at, "events lost".into(), Unit::Count, lost);
        }
        encode(packets)
    }

    /// Assigns a new track uuid.
    fn new_track(&mut self) -> u64 {
        self.tracks += 1;
        self.tracks
    }

    fn point(
        &mut self,
        packets: &mut Vec<TracePacket>,
        at: u64,
        instrument: &Instrument,
        point: &PointRow,
    ) {
        let place = format!("{} {}", instrument.name, point_name(point));
        match point.data {
            Measurement::Count { hits } => self.counter(packets, at, place, Unit::Count, hits),
            Measurement::Time {
                count, total_ns, ..
            } => {
                self.counter(packets, at, format!("{place} calls"), Unit::Count, count);
                self.counter(
                    packets,
                    at,
                    format!("{place} total"),
                    Unit::TimeNs,
                    total_ns,
                );
            }
            Measurement::Log { events, .. } => {
                self.counter(packets, at, format!("{place} events"), Unit::Count, events);
            }
        }
    }

    fn counter(
        &mut self,
        packets: &mut Vec<TracePacket>,
        at: u64,
        name: String,
        unit: Unit,
        value: u64,
    ) {
        let uuid = match self.counters.get(&name) {
            Some(uuid) => *uuid,
            None => {
                let uuid = self.new_track();
                let descriptor = TrackDescriptor {
                    uuid: Some(uuid),
                    name: Some(name.clone()),
                    parent_uuid: Some(PROCESS_TRACK),
                    counter: Some(CounterDescriptor {
                        unit: Some(unit as i32),
                    }),
                    ..TrackDescriptor::default()
                };
                packets.push(packet(None, Data::TrackDescriptor(descriptor)));
                self.counters.insert(name, uuid);
                uuid
            }
        };
        let event = TrackEvent {
            r#type: Some(EventType::Counter as i32),
            track_uuid: Some(uuid),
            counter_value: Some(i64::try_from(value).unwrap_or(i64::MAX)),
            ..TrackEvent::default()
        };
        packets.push(packet(Some(at), Data::TrackEvent(event)));
    }

    fn event(&mut self, packets: &mut Vec<TracePacket>, event: &LogEvent, category: String) {
        let uuid = match self.threads.get(&event.thread) {
            Some(uuid) => *uuid,
            None => {
                let uuid = self.new_track();
                let descriptor = TrackDescriptor {
                    uuid: Some(uuid),
                    name: Some(format!("Java thread {}", event.thread)),
                    parent_uuid: Some(PROCESS_TRACK),
                    ..TrackDescriptor::default()
                };
                packets.push(packet(None, Data::TrackDescriptor(descriptor)));
                self.threads.insert(event.thread, uuid);
                uuid
            }
        };
        let method = java_signature(&event.method);
        let (short, _) = method.split_once('(').unwrap_or((&method, ""));
        let line = event.line.map(|line| format!(":{line}"));
        let annotation = |(name, value): (&String, &Json)| DebugAnnotation {
            name: Some(name.clone()),
            value: Some(annotation_value(value)),
        };
        let instant = TrackEvent {
            r#type: Some(EventType::Instant as i32),
            track_uuid: Some(uuid),
            categories: vec![category],
            name: Some(format!("{short}{}", line.unwrap_or_default())),
            debug_annotations: event.values.iter().map(annotation).collect(),
            source_location: Some(SourceLocation {
                function_name: Some(format!("{}.{method}", event.class)),
                line_number: event.line.map(u32::from),
            }),
            ..TrackEvent::default()
        };
        packets.push(packet(Some(event.time_ns), Data::TrackEvent(instant)));
    }
}

fn packet(timestamp: Option<u64>, data: Data) -> TracePacket {
    TracePacket {
        timestamp,
        trusted_packet_sequence_id: Some(PACKET_SEQUENCE_ID),
        data: Some(data),
    }
}

fn encode(packet: Vec<TracePacket>) -> Vec<u8> {
    Trace { packet }.encode_to_vec()
}

/// The display name of a point, for instance `shop.Desk.serve(shop.Order, int) f3->f4 :41`.
fn point_name(point: &PointRow) -> String {
    let mut text = format!("{}.{}", point.class, java_signature(&point.method));
    match (point.fragment, point.to, &point.what) {
        (_, _, Some(what)) => text += &format!(" {what}"),
        (Some(from), Some(to), _) => text += &format!(" {from}->{to}"),
        (Some(fragment), None, _) => text += &format!(" {fragment}"),
        (None, ..) => {}
    }
    if let Some(line) = point.line {
        text += &format!(" :{line}");
    }
    text
}

fn annotation_value(value: &Json) -> Value {
    match value {
        Json::Bool(b) => Value::Bool(*b),
        Json::String(text) => Value::Text(text.clone()),
        Json::Number(n) => match (n.as_i64(), n.as_u64(), n.as_f64()) {
            (Some(n), ..) => Value::Int(n),
            (_, Some(n), _) => Value::Unsigned(n),
            (.., x) => Value::Double(x.unwrap_or(f64::NAN)),
        },
        other => Value::Text(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::sample::report;
    use serde_json::json;

    fn update() -> Update {
        let event = |thread, time_ns| LogEvent {
            instrument: "i4".into(),
            class: "shop.Desk".into(),
            method: "serve(Lshop/Order;I)V".into(),
            line: Some(41),
            time_ns,
            thread,
            values: [
                ("total".to_string(), json!(900)),
                ("user".to_string(), json!(null)),
            ]
            .into(),
        };
        Update {
            number: 1,
            millis: 7,
            instruments: report().instruments,
            events: vec![event(1, 3_000), event(17, 4_000), event(1, 5_000)],
            events_lost: 2,
            points_left: 0,
        }
    }

    fn read(pieces: &[Vec<u8>]) -> Vec<TracePacket> {
        let whole: Vec<u8> = pieces.concat();
        Trace::decode(&whole[..]).expect("a trace").packet
    }

    fn names(packets: &[TracePacket]) -> Vec<String> {
        let name = |packet: &TracePacket| match &packet.data {
            Some(Data::TrackDescriptor(track)) => track.name.clone(),
            _ => None,
        };
        packets.iter().filter_map(name).collect()
    }

    #[test]
    fn pieces_form_one_trace_with_each_track_once() {
        let (mut writer, first) = TraceWriter::begin(ExportScope::Attached, 4711, "java", 1_000);
        let pieces = [first, writer.update(&update()), writer.update(&update())];
        let packets = read(&pieces);
        let place = "shop.Desk.serve(shop.Order, int)";
        let expected = [
            format!("hits \"of\" a\\b {place} f3 :41"),
            format!("hits \"of\" a\\b {place} f3->f4 :41"),
            format!("took {place} calls"),
            format!("took {place} total"),
            format!("seen {place} call shop.Cart::add @17"),
            format!("log of total {place} f0 :41 events"),
            "Java thread 1".into(),
            "Java thread 17".into(),
            "events lost".into(),
        ];
        assert_eq!(names(&packets), expected);
        let instants = packets.iter().filter_map(|packet| match &packet.data {
            Some(Data::TrackEvent(event)) if event.r#type() == EventType::Instant => {
                Some((packet.timestamp, event.debug_annotations.clone()))
            }
            _ => None,
        });
        let instants: Vec<_> = instants.collect();
        assert_eq!(instants.len(), 6);
        assert_eq!(instants[0].0, Some(3_000));
        assert_eq!(instants[0].1[0].value, Some(Value::Int(900)));
        assert_eq!(instants[0].1[1].value, Some(Value::Text("null".into())));
    }

    #[test]
    fn the_trace_contains_only_selected_instruments() {
        let scope = ExportScope::Plan {
            name: "other.rhai".into(),
            before: Default::default(),
        };
        let (mut writer, first) = TraceWriter::begin(scope, 4711, "java", 1_000);
        let packets = read(&[first, writer.update(&update())]);
        assert!(names(&packets).is_empty());
        let later = Update {
            number: 2,
            ..update()
        };
        assert_eq!(names(&read(&[writer.update(&later)])), ["events lost"]);
    }
}
