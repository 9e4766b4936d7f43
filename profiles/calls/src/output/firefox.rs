//! The processed profile format of the Firefox Profiler, version 55
//! (`docs-developer/CHANGELOG-formats.md` in `github.com/firefox-devtools/profiler`). The profiler
//! upgrades files of older versions when it loads them.
//!
//! Each thread of the profile is a thread there, and each context is a sample with a weight. A
//! weight is a number of calls or objects, or a self time in milliseconds (`tracing-ms`). The
//! samples follow each other by their weights, because a tree has no order in time.

use std::collections::HashMap;
use std::io::Write;

use serde::Serialize;
use serde_json::{Value, json};

use super::error::OutputError;
use super::stacks::{StackNode, stacks};
use crate::context::ThreadId;
use crate::labels::Labels;
use crate::measure::Measure;
use crate::method::{MethodForm, MethodId};
use crate::selection::Selection;

/// The version of the format.
const VERSION: u32 = 55;
/// The categories of frames: the position of each is its number.
const CATEGORIES: [(&str, &str); 3] = [("Java", "yellow"), ("Native", "blue"), ("Other", "grey")];

/// The tables of a thread while they are made.
#[derive(Default)]
struct ThreadTables {
    strings: Vec<String>,
    functions: HashMap<MethodId, usize>,
    function_names: Vec<usize>,
    frames: HashMap<(MethodId, Option<u16>), usize>,
    frame_functions: Vec<usize>,
    frame_lines: Vec<Option<u16>>,
    frame_categories: Vec<usize>,
    stack_frames: Vec<usize>,
    stack_prefixes: Vec<Option<usize>>,
    sample_stacks: Vec<usize>,
    sample_times: Vec<f64>,
    sample_weights: Vec<f64>,
    /// The sum of the weights so far, in milliseconds or units.
    now: f64,
}

#[derive(Serialize)]
struct StackTable<'t> {
    length: usize,
    prefix: &'t [Option<usize>],
    frame: &'t [usize],
}

impl ThreadTables {
    fn frame(
        &mut self,
        selection: &Selection,
        labels: &Labels,
        key: (MethodId, Option<u16>),
    ) -> usize {
        if let Some(frame) = self.frames.get(&key) {
            return *frame;
        }
        let (method, line) = key;
        let function = match self.functions.get(&method) {
            Some(function) => *function,
            None => {
                let function = self.function_names.len();
                self.function_names.push(self.strings.len());
                self.strings.push(labels.label(method));
                self.functions.insert(method, function);
                function
            }
        };
        let frame = self.frame_functions.len();
        self.frame_functions.push(function);
        self.frame_lines.push(line);
        self.frame_categories
            .push(match selection.profile.method(method).form {
                MethodForm::Bytecode => 0,
                MethodForm::Native => 1,
                MethodForm::Overflow => 2,
            });
        self.frames.insert(key, frame);
        frame
    }

    fn sample(&mut self, stack: usize, weight: f64) {
        self.sample_stacks.push(stack);
        self.sample_times.push(self.now);
        self.sample_weights.push(weight);
        self.now += weight;
    }

    fn to_json(&self, name: &str, number: usize, by: Measure) -> Value {
        let frames = self.frame_functions.len();
        let functions = self.function_names.len();
        let samples = self.sample_stacks.len();
        json!({
            "name": name,
            "processName": "Java",
            "processType": "default",
            "processStartupTime": 0,
            "processShutdownTime": null,
            "registerTime": 0,
            "unregisterTime": null,
            "pausedRanges": [],
            "isMainThread": number == 0,
            "pid": "1",
            "tid": number,
            "showMarkersInTimeline": false,
            "frameTable": {
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
            },
            "funcTable": {
                "length": functions,
                "name": self.function_names,
                "isJS": vec![false; functions],
                "relevantForJS": vec![false; functions],
                "resource": vec![-1; functions],
                "fileName": vec![Value::Null; functions],
                "lineNumber": vec![Value::Null; functions],
                "columnNumber": vec![Value::Null; functions],
            },
            "stackTable": StackTable {
                length: self.stack_frames.len(),
                prefix: &self.stack_prefixes,
                frame: &self.stack_frames,
            },
            "samples": {
                "length": samples,
                "stack": self.sample_stacks,
                "time": self.sample_times,
                "weight": self.sample_weights,
                "weightType": match by {
                    Measure::Time | Measure::Cpu => "tracing-ms",
                    Measure::Count | Measure::Allocations => "samples",
                },
                "threadCPUDelta": vec![Value::Null; samples],
            },
            "markers": {
                "length": 0, "category": [], "data": [], "endTime": [], "name": [], "phase": [],
                "startTime": [],
            },
            "resourceTable": { "length": 0, "lib": [], "name": [], "host": [], "type": [] },
            "nativeSymbols": {
                "length": 0, "address": [], "functionSize": [], "libIndex": [], "name": [],
            },
            "stringArray": self.strings,
        })
    }
}

/// Writes the stacks of the selected part of a profile.
pub fn write(selection: &Selection, mut to: impl Write) -> Result<(), OutputError> {
    let labels = Labels::new(selection.profile);
    let nodes = stacks(selection);
    let mut threads: Vec<(Option<ThreadId>, ThreadTables)> = Vec::new();
    let mut numbers: HashMap<Option<ThreadId>, usize> = HashMap::new();
    // The thread of each node, and its stack there without and with the line of its own call.
    let mut places: Vec<(usize, usize)> = Vec::with_capacity(nodes.len());
    let mut stacks = StackIndex::new();
    for node in &nodes {
        let number = match node.parent {
            Some(parent) => places[parent].0,
            None => *numbers.entry(node.thread).or_insert_with(|| {
                threads.push((node.thread, ThreadTables::default()));
                threads.len() - 1
            }),
        };
        let Some((_, tables)) = threads.get_mut(number) else {
            return Err(OutputError::TooLarge);
        };
        let prefix = node.parent.map(|parent| places[parent].1);
        let stack = stack_of(
            selection,
            &labels,
            tables,
            (&mut stacks, number),
            prefix,
            node,
        );
        places.push((number, stack));
        let cost = node.cost.by(selection.by) as f64;
        let weight = match selection.by {
            Measure::Time | Measure::Cpu => cost / 1e6,
            Measure::Count | Measure::Allocations => cost,
        };
        if weight > 0.0 {
            tables.sample(stack, weight);
        }
    }
    let all = selection.profile.threads();
    let threads: Vec<Value> = threads
        .iter()
        .enumerate()
        .map(|(number, (thread, tables))| {
            let name = thread.map_or("all threads", |thread| &all[thread.index()].name);
            tables.to_json(name, number, selection.by)
        })
        .collect();
    serde_json::to_writer(&mut to, &document(threads))?;
    writeln!(to)?;
    Ok(())
}

/// The stacks by caller, frame and thread.
type StackIndex = HashMap<(Option<usize>, usize, usize), usize>;

/// The stack of a node in its thread. Nodes with equal frames and callers have one stack.
fn stack_of(
    selection: &Selection,
    labels: &Labels,
    tables: &mut ThreadTables,
    (stacks, thread): (&mut StackIndex, usize),
    prefix: Option<usize>,
    node: &StackNode,
) -> usize {
    let frame = tables.frame(selection, labels, (node.method, None));
    *stacks.entry((prefix, frame, thread)).or_insert_with(|| {
        tables.stack_frames.push(frame);
        tables.stack_prefixes.push(prefix);
        tables.stack_frames.len() - 1
    })
}

fn document(threads: Vec<Value>) -> Value {
    let categories = CATEGORIES
        .map(|(name, color)| json!({ "name": name, "color": color, "subcategories": ["Other"] }));
    json!({
        "meta": {
            "version": 24,
            "preprocessedProfileVersion": VERSION,
            "product": "Veneer",
            "interval": 1,
            "startTime": 0,
            "processType": 0,
            "stackwalk": 0,
            "debug": false,
            "symbolicated": true,
            "usesOnlyOneStackType": true,
            "sourceCodeIsNotOnSearchfox": true,
            "categories": categories,
            "markerSchema": [],
            "pausedRanges": [],
            "extensions": { "length": 0, "baseURL": [], "id": [], "name": [] },
            "sampleUnits": { "time": "ms", "eventDelay": "ms", "threadCPUDelta": "ns" },
        },
        "libs": [],
        "pages": [],
        "profilerOverhead": [],
        "counters": [],
        "threads": threads,
    })
}
