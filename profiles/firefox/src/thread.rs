//! A thread of a profile. Each of its tables has a column per field, as in the file.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Value, json};

/// The name of the type of all events.
pub(crate) const EVENT_TYPE: &str = "Event";

/// The kind of code or of waiting, which has a color.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Category {
    /// A method in bytecode.
    Java,
    /// A native method.
    Native,
    /// The thread waits for another one, or sleeps.
    Waiting,
    /// Work of the JVM: collections, compilations, the loading of classes.
    Jvm,
    /// Everything that has no other category.
    Other,
}

impl Category {
    /// The name and the color of each category, in the order of their numbers.
    pub(crate) const ALL: [(&str, &str); 5] = [
        ("Java", "yellow"),
        ("Native", "blue"),
        ("Waiting", "red"),
        ("JVM", "purple"),
        ("Other", "grey"),
    ];
}

/// The meaning of the weights of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightUnit {
    /// A number of anything.
    Samples,
    /// A time in milliseconds.
    Milliseconds,
}

/// A frame of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FrameId(u32);

/// A stack of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StackId(u32);

/// A thread: its samples and its events.
#[derive(Debug)]
pub struct Thread {
    name: String,
    number: u64,
    unit: WeightUnit,
    strings: Strings,
    functions: HashMap<u32, u32>,
    function_names: Vec<u32>,
    frames: HashMap<(u32, Category, Option<u16>), FrameId>,
    frame_functions: Vec<u32>,
    frame_categories: Vec<u8>,
    frame_lines: Vec<Option<u16>>,
    stacks: HashMap<(Option<StackId>, FrameId), StackId>,
    stack_prefixes: Vec<Option<u32>>,
    stack_frames: Vec<u32>,
    sample_stacks: Vec<Option<u32>>,
    sample_times: Vec<f64>,
    sample_weights: Vec<f64>,
    events: Vec<Event>,
}

#[derive(Debug)]
struct Event {
    name: u32,
    category: Category,
    start_ms: f64,
    end_ms: Option<f64>,
    text: u32,
}

/// The texts of a thread. Each has one position.
#[derive(Debug, Default)]
struct Strings {
    texts: Vec<String>,
    positions: HashMap<String, u32>,
}

impl Strings {
    fn position(&mut self, text: &str) -> u32 {
        if let Some(position) = self.positions.get(text) {
            return *position;
        }
        let position = self.texts.len() as u32;
        self.texts.push(text.to_owned());
        self.positions.insert(text.to_owned(), position);
        position
    }
}

impl Thread {
    /// A thread without samples. `number` distinguishes threads of the same name.
    pub fn new(name: &str, number: u64, unit: WeightUnit) -> Thread {
        Thread {
            name: name.to_owned(),
            number,
            unit,
            strings: Strings::default(),
            functions: HashMap::new(),
            function_names: Vec::new(),
            frames: HashMap::new(),
            frame_functions: Vec::new(),
            frame_categories: Vec::new(),
            frame_lines: Vec::new(),
            stacks: HashMap::new(),
            stack_prefixes: Vec::new(),
            stack_frames: Vec::new(),
            sample_stacks: Vec::new(),
            sample_times: Vec::new(),
            sample_weights: Vec::new(),
            events: Vec::new(),
        }
    }

    /// The frame of a function and a line of it. Equal frames have one id.
    pub fn frame(&mut self, function: &str, category: Category, line: Option<u16>) -> FrameId {
        let name = self.strings.position(function);
        let key = (name, category, line);
        if let Some(frame) = self.frames.get(&key) {
            return *frame;
        }
        let function = *self.functions.entry(name).or_insert_with(|| {
            self.function_names.push(name);
            self.function_names.len() as u32 - 1
        });
        let frame = FrameId(self.frame_functions.len() as u32);
        self.frame_functions.push(function);
        self.frame_categories.push(category as u8);
        self.frame_lines.push(line);
        self.frames.insert(key, frame);
        frame
    }

    /// The stack with this frame above `caller`. Equal stacks have one id.
    pub fn stack(&mut self, caller: Option<StackId>, frame: FrameId) -> StackId {
        *self.stacks.entry((caller, frame)).or_insert_with(|| {
            self.stack_prefixes.push(caller.map(|stack| stack.0));
            self.stack_frames.push(frame.0);
            StackId(self.stack_frames.len() as u32 - 1)
        })
    }

    /// Adds a sample, which lasts until the next one. `None` is a thread that runs nothing. The time
    /// is in milliseconds since the start of the profile, and not before that of the previous sample.
    pub fn sample(&mut self, stack: Option<StackId>, time_ms: f64, weight: f64) {
        self.sample_stacks.push(stack.map(|stack| stack.0));
        self.sample_times.push(time_ms);
        self.sample_weights.push(weight);
    }

    /// The number of samples.
    pub fn samples(&self) -> usize {
        self.sample_times.len()
    }

    /// Adds an event, or an interval if it has an end. The times are in milliseconds since the start
    /// of the profile.
    pub fn event(
        &mut self,
        name: &str,
        category: Category,
        (start_ms, end_ms): (f64, Option<f64>),
        text: &str,
    ) {
        let event = Event {
            name: self.strings.position(name),
            category,
            start_ms,
            end_ms,
            text: self.strings.position(text),
        };
        self.events.push(event);
    }

    /// The thread as it is in the file. The process has a name and an id.
    pub(crate) fn columns<'t>(
        &'t self,
        (process, pid): (&'t str, u32),
        is_main: bool,
    ) -> ThreadColumns<'t> {
        let (frames, functions) = (self.frame_functions.len(), self.function_names.len());
        ThreadColumns {
            name: &self.name,
            process_name: process,
            process_type: "default",
            process_startup_time: 0.0,
            process_shutdown_time: None,
            register_time: 0.0,
            unregister_time: None,
            paused_ranges: [],
            is_main_thread: is_main,
            pid: pid.to_string(),
            tid: self.number,
            show_markers_in_timeline: !self.events.is_empty(),
            frame_table: json!({
                "length": frames,
                "address": vec![-1; frames],
                "inlineDepth": vec![0; frames],
                "category": self.frame_categories,
                "subcategory": vec![0; frames],
                "func": self.frame_functions,
                "nativeSymbol": vec![Value::Null; frames],
                "innerWindowID": vec![0; frames],
                "line": self.frame_lines,
                "column": vec![Value::Null; frames],
            }),
            func_table: json!({
                "length": functions,
                "name": self.function_names,
                "isJS": vec![false; functions],
                "relevantForJS": vec![false; functions],
                "resource": vec![-1; functions],
                "fileName": vec![Value::Null; functions],
                "lineNumber": vec![Value::Null; functions],
                "columnNumber": vec![Value::Null; functions],
            }),
            stack_table: StackTable {
                length: self.stack_frames.len(),
                prefix: &self.stack_prefixes,
                frame: &self.stack_frames,
            },
            samples: SampleTable {
                length: self.sample_times.len(),
                stack: &self.sample_stacks,
                time: &self.sample_times,
                weight: &self.sample_weights,
                weight_type: match self.unit {
                    WeightUnit::Samples => "samples",
                    WeightUnit::Milliseconds => "tracing-ms",
                },
            },
            markers: self.markers(),
            resource_table: json!({ "length": 0, "lib": [], "name": [], "host": [], "type": [] }),
            native_symbols: json!({
                "length": 0, "address": [], "functionSize": [], "libIndex": [], "name": [],
            }),
            string_array: &self.strings.texts,
        }
    }

    /// The events in the order of their beginnings, which the profiler expects.
    fn markers(&self) -> MarkerTable<'_> {
        let mut events: Vec<&Event> = self.events.iter().collect();
        events.sort_by(|a, b| a.start_ms.total_cmp(&b.start_ms));
        MarkerTable {
            length: events.len(),
            category: events.iter().map(|event| event.category as u8).collect(),
            data: events
                .iter()
                .map(|event| MarkerData {
                    r#type: EVENT_TYPE,
                    text: &self.strings.texts[event.text as usize],
                })
                .collect(),
            end_time: events.iter().map(|event| event.end_ms).collect(),
            name: events.iter().map(|event| event.name).collect(),
            phase: events
                .iter()
                .map(|event| u8::from(event.end_ms.is_some()))
                .collect(),
            start_time: events.iter().map(|event| event.start_ms).collect(),
        }
    }
}

/// A thread in the file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ThreadColumns<'t> {
    name: &'t str,
    process_name: &'t str,
    process_type: &'static str,
    process_startup_time: f64,
    process_shutdown_time: Option<f64>,
    register_time: f64,
    unregister_time: Option<f64>,
    paused_ranges: [(); 0],
    is_main_thread: bool,
    pid: String,
    tid: u64,
    show_markers_in_timeline: bool,
    frame_table: Value,
    func_table: Value,
    stack_table: StackTable<'t>,
    samples: SampleTable<'t>,
    markers: MarkerTable<'t>,
    resource_table: Value,
    native_symbols: Value,
    string_array: &'t [String],
}

#[derive(Serialize)]
struct StackTable<'t> {
    length: usize,
    prefix: &'t [Option<u32>],
    frame: &'t [u32],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SampleTable<'t> {
    length: usize,
    stack: &'t [Option<u32>],
    time: &'t [f64],
    weight: &'t [f64],
    weight_type: &'static str,
}

/// An event is an instant (phase 0) or an interval (phase 1).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MarkerTable<'t> {
    length: usize,
    category: Vec<u8>,
    data: Vec<MarkerData<'t>>,
    end_time: Vec<Option<f64>>,
    name: Vec<u32>,
    phase: Vec<u8>,
    start_time: Vec<f64>,
}

#[derive(Serialize)]
struct MarkerData<'t> {
    r#type: &'static str,
    text: &'t str,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Profile, ProfileWriter};

    fn written(threads: &[Thread]) -> Value {
        let profile = Profile {
            process: "java".into(),
            pid: 4711,
            start_ms: 1.7e12,
            interval_ms: 1.0,
        };
        let mut bytes = Vec::new();
        let mut writer = ProfileWriter::begin(&mut bytes, profile).expect("a head");
        for thread in threads {
            writer.thread(thread).expect("a thread");
        }
        writer.finish().expect("an end");
        serde_json::from_slice(&bytes).expect("JSON")
    }

    #[test]
    fn equal_stacks_and_texts_are_written_once() {
        let mut thread = Thread::new("main", 1, WeightUnit::Milliseconds);
        for time in [0.0, 2.0] {
            let serve = thread.frame("serve", Category::Java, None);
            let find = thread.frame("find", Category::Java, Some(7));
            let below = thread.stack(None, serve);
            let top = thread.stack(Some(below), find);
            thread.sample(Some(top), time, 0.5);
            thread.sample(None, time + 0.5, 1.5);
        }
        let profile = written(&[thread, Thread::new("idle", 2, WeightUnit::Samples)]);
        let main = &profile["threads"][0];
        assert_eq!(main["stringArray"], json!(["serve", "find"]));
        assert_eq!(main["stackTable"]["prefix"], json!([null, 0]));
        assert_eq!(main["samples"]["stack"], json!([1, null, 1, null]));
        assert_eq!(main["samples"]["weight"], json!([0.5, 1.5, 0.5, 1.5]));
        assert_eq!(main["frameTable"]["line"], json!([null, 7]));
        assert_eq!(
            (&main["isMainThread"], &main["pid"]),
            (&json!(true), &json!("4711"))
        );
        assert_eq!(profile["threads"][1]["samples"]["length"], 0);
        assert_eq!(profile["threads"].as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn events_are_in_the_order_of_their_beginnings() {
        let mut thread = Thread::new("main", 1, WeightUnit::Milliseconds);
        thread.event(
            "wait",
            Category::Waiting,
            (2.0, Some(3.0)),
            "wait shop.Stock",
        );
        thread.event("gc", Category::Jvm, (1.0, None), "gc G1");
        let profile = written(&[thread]);
        let markers = &profile["threads"][0]["markers"];
        assert_eq!(markers["startTime"], json!([1.0, 2.0]));
        assert_eq!(markers["endTime"], json!([null, 3.0]));
        assert_eq!(markers["phase"], json!([0, 1]));
        assert_eq!(markers["data"][0]["text"], "gc G1");
    }
}
