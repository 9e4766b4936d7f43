//! A trace for Perfetto: a track per thread with a slice per node.

use std::io::Write;

use prost::Message;
use veneer_traces::query::{method_text, values_text};
use veneer_traces::reader::{Names, Node, OpenNode, Visitor};
use veneer_traces::{Trace, TraceError};

use super::error::TraceExportError;
use crate::perfetto::schema::{
    BOOTTIME, Clock, ClockSnapshot, Data, DebugAnnotation, EventType, ProcessDescriptor, REALTIME,
    Trace as PerfettoTrace, TracePacket, TrackDescriptor, TrackEvent, Value,
};

/// Perfetto requires one sequence id per writer.
const PACKET_SEQUENCE_ID: u32 = 1;
/// The uuid of the process track. The track of thread N has the uuid N + 2.
const PROCESS_TRACK: u64 = 1;

/// Writes all threads. The times are those of the trace, in nanoseconds since its origin.
pub fn write_slices(trace: &Trace, to: &mut dyn Write) -> Result<(), TraceExportError> {
    let names = &trace.names;
    let clock = |clock_id, timestamp| Clock {
        clock_id: Some(clock_id),
        timestamp: Some(timestamp),
    };
    let clocks = vec![clock(BOOTTIME, 0), clock(REALTIME, names.clock.unix_ns)];
    let process = TrackDescriptor {
        uuid: Some(PROCESS_TRACK),
        process: Some(ProcessDescriptor {
            pid: i32::try_from(names.pid).ok(),
            process_name: Some(names.jvm.0.clone()),
        }),
        ..TrackDescriptor::default()
    };
    write(to, Some(0), Data::ClockSnapshot(ClockSnapshot { clocks }))?;
    write(to, None, Data::TrackDescriptor(process))?;
    for thread in &trace.threads {
        let track = u64::from(thread.number) + PROCESS_TRACK + 1;
        let descriptor = TrackDescriptor {
            uuid: Some(track),
            name: Some(names.thread_name(thread.number)),
            parent_uuid: Some(PROCESS_TRACK),
            ..TrackDescriptor::default()
        };
        write(to, None, Data::TrackDescriptor(descriptor))?;
        let mut slices = Slices {
            names,
            track,
            to,
            result: Ok(()),
        };
        let read = trace.thread(thread.number)?.read(names, &mut slices);
        slices.result?;
        read.map_err(|e| TraceError::io(&trace.directory, e))?;
    }
    Ok(())
}

fn write(to: &mut dyn Write, timestamp: Option<u64>, data: Data) -> std::io::Result<()> {
    let packet = vec![TracePacket {
        timestamp,
        trusted_packet_sequence_id: Some(PACKET_SEQUENCE_ID),
        data: Some(data),
    }];
    to.write_all(&PerfettoTrace { packet }.encode_to_vec())
}

struct Slices<'t> {
    names: &'t Names,
    track: u64,
    to: &'t mut dyn Write,
    /// The first error; nothing is written after it.
    result: std::io::Result<()>,
}

impl Slices<'_> {
    fn event(&mut self, ticks: u64, event: TrackEvent) {
        if self.result.is_ok() {
            let event = TrackEvent {
                track_uuid: Some(self.track),
                ..event
            };
            let at = self.names.since_origin(ticks);
            self.result = write(self.to, Some(at), Data::TrackEvent(event));
        }
    }
}

fn annotation(name: &str, value: Value) -> DebugAnnotation {
    DebugAnnotation {
        name: Some(name.into()),
        value: Some(value),
    }
}

impl Visitor for Slices<'_> {
    fn enter(&mut self, open: &[OpenNode]) {
        if let Some(node) = open.last() {
            let event = TrackEvent {
                r#type: Some(EventType::SliceBegin as i32),
                name: Some(method_text(self.names, node.kind, node.slot, node.id)),
                ..TrackEvent::default()
            };
            self.event(node.start, event);
        }
    }

    fn instant(&mut self, node: &Node, _: &[OpenNode]) {
        let event = TrackEvent {
            r#type: Some(EventType::Instant as i32),
            name: Some(method_text(self.names, node.kind, node.slot, node.id)),
            ..TrackEvent::default()
        };
        self.event(node.start, event);
    }

    fn leave(&mut self, node: &Node, _: &[OpenNode]) {
        let own = self.names.clock.nanoseconds(node.self_ticks);
        let mut annotations = vec![annotation("self_ns", Value::Unsigned(own))];
        if let Some(cpu) = node.cpu_ns {
            annotations.push(annotation("cpu_ns", Value::Unsigned(cpu)));
        }
        let values = node.values();
        if !values.is_empty() {
            let text = values_text(self.names, &values);
            annotations.push(annotation("values", Value::Text(text)));
        }
        let event = TrackEvent {
            r#type: Some(EventType::SliceEnd as i32),
            debug_annotations: annotations,
            ..TrackEvent::default()
        };
        self.event(node.end, event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::otlp::sample::trace;

    #[test]
    fn each_node_is_a_slice_on_the_track_of_its_thread() {
        let scratch = tempfile::tempdir().unwrap();
        let trace = trace(scratch.path());
        let mut bytes = Vec::new();
        write_slices(&trace, &mut bytes).unwrap();
        let packets = PerfettoTrace::decode(&bytes[..]).unwrap().packet;
        let events: Vec<(u64, i32, Option<String>)> = packets
            .into_iter()
            .filter_map(|p| match (p.timestamp, p.data) {
                (Some(at), Some(Data::TrackEvent(event))) => {
                    assert_eq!(event.track_uuid, Some(3));
                    Some((at, event.r#type?, event.name))
                }
                _ => None,
            })
            .collect();
        let name = |text: &str| Some(text.to_string());
        assert_eq!(
            events,
            [
                (100, 1, name("shop.Desk::serve")),
                (150, 1, name("shop.Dao::find")),
                (250, 2, None),
                (400, 2, None),
            ]
        );
    }
}
