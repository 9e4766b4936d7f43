//! A trace for the Firefox Profiler: a sample for each change of a thread's stack.
//!
//! A sample has the time until the next change as its weight, so the profiler's trees have the exact
//! self times. Waits, collections, points and calls with values are events too. The profiler holds a
//! profile in memory; this writer holds one thread, with 36 bytes per change.

use std::collections::HashMap;
use std::io::Write;

use veneer_firefox::{Category, FrameId, Profile, ProfileWriter, StackId, Thread, WeightUnit};
use veneer_traces::format::word::kind;
use veneer_traces::query::{kind_text, method_text, values_text};
use veneer_traces::reader::{Names, Node, OpenNode, Visitor};
use veneer_traces::{Trace, TraceError};

use super::error::TraceExportError;

/// The profiler draws no shorter times: 1 µs.
const INTERVAL_MS: f64 = 0.001;

/// Writes all threads. The times are those of the trace, in milliseconds since its origin.
pub fn write_profile(trace: &Trace, to: impl Write) -> Result<(), TraceExportError> {
    let names = &trace.names;
    let profile = Profile {
        process: names.jvm.0.clone(),
        pid: names.pid,
        start_ms: milliseconds(names.clock.unix_ns),
        interval_ms: INTERVAL_MS,
    };
    let mut writer = ProfileWriter::begin(to, profile)?;
    for thread in &trace.threads {
        let name = names.thread_name(thread.number);
        let mut stacks = StackChanges {
            names,
            thread: Thread::new(&name, thread.number.into(), WeightUnit::Milliseconds),
            frames: HashMap::new(),
            open: Vec::new(),
            now: None,
        };
        let read = trace.thread(thread.number)?.read(names, &mut stacks);
        read.map_err(|e| TraceError::io(&trace.directory, e))?;
        writer.thread(&stacks.end())?;
    }
    Ok(writer.finish()?)
}

fn milliseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e6
}

fn category(event: u8) -> Category {
    match event {
        kind::ENTRY | kind::MARK => Category::Java,
        kind::CONTENDED | kind::WAIT | kind::PARK | kind::SLEEP => Category::Waiting,
        kind::COLLECTION
        | kind::COMPILATION
        | kind::CLASS_LOAD
        | kind::CLASS_UNLOAD
        | kind::DEOPTIMISATION => Category::Jvm,
        _ => Category::Other,
    }
}

/// The stacks of a thread while it is read.
struct StackChanges<'t> {
    names: &'t Names,
    thread: Thread,
    frames: HashMap<(u8, u32, u64), FrameId>,
    /// The stack of each open node.
    open: Vec<StackId>,
    /// The time of the last change, in nanoseconds since the origin of the trace.
    now: Option<u64>,
}

impl StackChanges<'_> {
    /// The stack so far lasted until `ticks`.
    fn change(&mut self, ticks: u64) {
        let at = self.names.since_origin(ticks);
        if let Some(now) = self.now {
            let weight = milliseconds(at.saturating_sub(now));
            let stack = self.open.last().copied();
            self.thread.sample(stack, milliseconds(now), weight);
        }
        self.now = Some(at);
    }

    fn frame(&mut self, node: &OpenNode) -> FrameId {
        let key = (node.kind, node.slot, node.id);
        *self.frames.entry(key).or_insert_with(|| {
            let text = method_text(self.names, node.kind, node.slot, node.id);
            self.thread.frame(&text, category(node.kind), None)
        })
    }

    fn event(&mut self, node: &Node, end: Option<u64>) {
        let names = self.names;
        let mut text = method_text(names, node.kind, node.slot, node.id);
        let name = match node.kind {
            kind::ENTRY => text.clone(),
            other => kind_text(other).into(),
        };
        let values = values_text(names, &node.values());
        if !values.is_empty() {
            text = format!("{text} {values}");
        }
        let at = |ticks| milliseconds(names.since_origin(ticks));
        let times = (at(node.start), end.map(at));
        self.thread.event(&name, category(node.kind), times, &text);
    }

    /// The thread with a last sample, which ends the one before it.
    fn end(mut self) -> Thread {
        if let Some(now) = self.now {
            self.thread.sample(None, milliseconds(now), 0.0);
        }
        self.thread
    }
}

impl Visitor for StackChanges<'_> {
    fn enter(&mut self, open: &[OpenNode]) {
        if let Some(node) = open.last() {
            self.change(node.start);
            let frame = self.frame(node);
            let caller = self.open.last().copied();
            let stack = self.thread.stack(caller, frame);
            self.open.push(stack);
        }
    }

    fn instant(&mut self, node: &Node, open: &[OpenNode]) {
        // The event of the call around it has its value.
        let is_value = node.kind == kind::USER && !open.is_empty() && !node.values().is_empty();
        if !is_value {
            self.event(node, None);
        }
    }

    fn leave(&mut self, node: &Node, _: &[OpenNode]) {
        self.change(node.end);
        self.open.pop();
        if node.kind != kind::ENTRY || !node.values().is_empty() {
            self.event(node, Some(node.end));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::otlp::sample::trace;
    use serde_json::{Value, json};

    #[test]
    fn each_change_of_the_stack_is_a_sample() {
        let scratch = tempfile::tempdir().unwrap();
        let trace = trace(scratch.path());
        let mut bytes = Vec::new();
        write_profile(&trace, &mut bytes).unwrap();
        let profile: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(profile["meta"]["startTime"], 1_700_000_000_000.0);
        let thread = &profile["threads"][0];
        let texts = json!(["shop.Desk::serve", "shop.Dao::find"]);
        assert_eq!(thread["stringArray"], texts);
        assert_eq!(thread["samples"]["stack"], json!([0, 1, 0, null]));
        let times = json!([0.0001, 0.00015, 0.00025, 0.0004]);
        assert_eq!(thread["samples"]["time"], times);
        let weights = json!([0.00005, 0.0001, 0.00015, 0.0]);
        assert_eq!(thread["samples"]["weight"], weights);
    }
}
