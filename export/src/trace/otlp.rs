//! OpenTelemetry spans, as JSON lines: the file format of collectors. Each line is a request of
//! up to [`SPANS_PER_LINE`] spans.
//!
//! A call is a span. The calls inside one outermost call of a thread are one OpenTelemetry trace.

use std::io::Write;

use serde_json::{Value, json};
use veneer_traces::query::{method_text, values_text};
use veneer_traces::reader::{Ending, Names, Node, OpenNode, Visitor};
use veneer_traces::{Trace, TraceError};

use super::error::TraceExportError;

/// The most spans of a line.
const SPANS_PER_LINE: usize = 1000;
/// `SPAN_KIND_INTERNAL`
const INTERNAL: u8 = 1;
/// `STATUS_CODE_ERROR`
const ERROR: u8 = 2;

/// Writes all nodes as spans. `service` is the value of `service.name`.
pub fn write_spans(
    trace: &Trace,
    service: &str,
    to: &mut dyn Write,
) -> Result<(), TraceExportError> {
    for thread in &trace.threads {
        let mut spans = Spans {
            names: &trace.names,
            thread: thread.number,
            service,
            spans: Vec::new(),
            to,
            result: Ok(()),
        };
        let read = trace.thread(thread.number)?.read(&trace.names, &mut spans);
        spans.flush();
        spans.result?;
        read.map_err(|e| TraceError::io(&trace.directory, e))?;
    }
    Ok(())
}

struct Spans<'t> {
    names: &'t Names,
    thread: u32,
    service: &'t str,
    spans: Vec<Value>,
    to: &'t mut dyn Write,
    /// The first error; nothing is written after it.
    result: std::io::Result<()>,
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

/// The JSON form of protobuf writes 64-bit integers as strings.
fn int(key: &str, value: u64) -> Value {
    json!({"key": key, "value": {"intValue": value.to_string()}})
}

impl Spans<'_> {
    fn flush(&mut self) {
        if self.spans.is_empty() || self.result.is_err() {
            return;
        }
        let spans = std::mem::take(&mut self.spans);
        let resource = [
            text("service.name", self.service),
            int("process.pid", self.names.pid.into()),
            text("process.runtime.name", &self.names.jvm.0),
            text("process.runtime.version", &self.names.jvm.1),
        ];
        let scope = json!({"name": "veneer", "version": env!("CARGO_PKG_VERSION")});
        let line = json!({"resourceSpans": [{
            "resource": {"attributes": resource},
            "scopeSpans": [{"scope": scope, "spans": spans}],
        }]});
        self.result = writeln!(self.to, "{line}");
    }

    /// The id of a span, which is never 0.
    fn span_id(&self, number: u64) -> String {
        let id = (u64::from(self.thread) << 44) ^ number.wrapping_add(1);
        format!("{id:016x}")
    }
}

impl Visitor for Spans<'_> {
    fn leave(&mut self, node: &Node, open: &[OpenNode]) {
        let names = self.names;
        let outermost = open.first().map_or(node.number, |n| n.number);
        let (pid, thread) = (names.pid, self.thread);
        let unix = |ticks| {
            let ns = names
                .clock
                .unix_ns
                .saturating_add(names.since_origin(ticks));
            ns.to_string()
        };
        let mut attributes = vec![
            int(
                "thread.id",
                names.threads.get(&thread).map_or(0, |t| t.java_id),
            ),
            text("thread.name", &names.thread_name(thread)),
            int("veneer.self_ns", names.clock.nanoseconds(node.self_ticks)),
        ];
        if node.slot != 0 {
            let frame = names.frame(node.slot);
            let function = format!("{}.{}", frame.class, frame.name);
            attributes.push(text("code.function.name", &function));
        }
        if let Some(cpu) = node.cpu_ns {
            attributes.push(int("veneer.cpu_ns", cpu));
        }
        let values = node.values();
        if !values.is_empty() {
            attributes.push(text("veneer.values", &values_text(names, &values)));
        }
        let mut span = json!({
            "traceId": format!("{pid:08x}{thread:08x}{:016x}", outermost.wrapping_add(1)),
            "spanId": self.span_id(node.number),
            "name": method_text(names, node.kind, node.slot, node.id),
            "kind": INTERNAL,
            "startTimeUnixNano": unix(node.start),
            "endTimeUnixNano": unix(node.end),
            "attributes": attributes,
        });
        if let Some(parent) = node.parent {
            span["parentSpanId"] = self.span_id(parent).into();
        }
        if node.ending == Ending::Throw {
            span["status"] = json!({"code": ERROR});
        }
        self.spans.push(span);
        if self.spans.len() == SPANS_PER_LINE {
            self.flush();
        }
    }
}

/// A trace for the tests.
#[cfg(test)]
pub(super) mod sample {
    use std::path::Path;

    use veneer_traces::format::names::{ClockRecord, FrameKind, FrameRecord};
    use veneer_traces::writer::{NamesWriter, ThreadWriter, WriterOptions};
    use veneer_traces::{NameRecord, Trace};

    /// `serve` from 100 to 400 ns calls `find` from 150 to 250 ns, which throws.
    pub fn trace(directory: &Path) -> Trace {
        let mut names = NamesWriter::create(directory, 4711, "VM", "25").unwrap();
        let unix_ns = 1_700_000_000_000_000_000;
        let clock = ClockRecord {
            unix_ns,
            ..ClockRecord::default()
        };
        names.write(&NameRecord::Clock(clock)).unwrap();
        for (id, class, name) in [(1, "shop.Desk", "serve"), (2, "shop.Dao", "find")] {
            let frame = FrameRecord {
                id,
                kind: FrameKind::Method,
                class: class.into(),
                name: name.into(),
                descriptor: "()V".into(),
                line: 0,
                probe: 0,
            };
            names.write(&NameRecord::Frame(frame)).unwrap();
        }
        let options = WriterOptions::default();
        let mut writer = ThreadWriter::create(directory, 1, options).unwrap();
        writer.entry(100, 1);
        writer.entry(150, 2);
        writer.throw(250);
        writer.exit(400);
        Trace::open(directory).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_is_a_span_below_its_caller() {
        let scratch = tempfile::tempdir().unwrap();
        let trace = sample::trace(scratch.path());
        let mut bytes = Vec::new();
        write_spans(&trace, "shop", &mut bytes).unwrap();
        let line: Value = serde_json::from_slice(&bytes).unwrap();
        let spans = &line["resourceSpans"][0]["scopeSpans"][0]["spans"];
        let (find, serve) = (&spans[0], &spans[1]);
        assert_eq!(find["name"], "shop.Dao::find");
        assert_eq!(find["parentSpanId"], serve["spanId"]);
        assert_eq!(find["traceId"], serve["traceId"]);
        assert_eq!(find["status"]["code"], 2);
        assert_eq!(serve["parentSpanId"], Value::Null);
        assert_eq!(serve["startTimeUnixNano"], "1700000000000000100");
        assert_eq!(serve["endTimeUnixNano"], "1700000000000000400");
        assert_eq!(serve["traceId"].as_str().map(str::len), Some(32));
    }
}
