//! A profile for the Firefox Profiler.
//!
//! Each thread of the profile is a thread there, and each context is a sample with a weight. A
//! weight is a number of calls or objects, or a self time in milliseconds (`tracing-ms`). The
//! samples follow each other by their weights, because a tree has no order in time.

use std::collections::HashMap;
use std::io::Write;

use veneer_firefox::{Category, FrameId, Profile, ProfileWriter, StackId, Thread, WeightUnit};

use super::error::OutputError;
use super::stacks::stacks;
use crate::context::ThreadId;
use crate::labels::Labels;
use crate::measure::Measure;
use crate::method::{MethodForm, MethodId};
use crate::selection::Selection;

/// A thread while it is made.
struct ThreadStacks {
    thread: Thread,
    frames: HashMap<MethodId, FrameId>,
    /// The sum of the weights so far, in milliseconds or units.
    now: f64,
}

impl ThreadStacks {
    fn frame(&mut self, selection: &Selection, labels: &Labels, method: MethodId) -> FrameId {
        *self.frames.entry(method).or_insert_with(|| {
            let category = match selection.profile.method(method).form {
                MethodForm::Bytecode => Category::Java,
                MethodForm::Native => Category::Native,
                MethodForm::Overflow => Category::Other,
            };
            self.thread.frame(&labels.label(method), category, None)
        })
    }
}

/// Writes the stacks of the selected part of a profile.
pub fn write(selection: &Selection, to: impl Write) -> Result<(), OutputError> {
    let labels = Labels::new(selection.profile);
    let unit = match selection.by {
        Measure::Time | Measure::Cpu => WeightUnit::Milliseconds,
        Measure::Count | Measure::Allocations => WeightUnit::Samples,
    };
    let names = selection.profile.threads();
    let nodes = stacks(selection);
    let mut threads: Vec<ThreadStacks> = Vec::new();
    let mut numbers: HashMap<Option<ThreadId>, usize> = HashMap::new();
    // The thread of each node, and its stack there.
    let mut places: Vec<(usize, StackId)> = Vec::with_capacity(nodes.len());
    for node in &nodes {
        let number = match node.parent {
            Some(parent) => places[parent].0,
            None => *numbers.entry(node.thread).or_insert_with(|| {
                let name = node
                    .thread
                    .map_or("all threads", |id| &names[id.index()].name);
                threads.push(ThreadStacks {
                    thread: Thread::new(name, threads.len() as u64, unit),
                    frames: HashMap::new(),
                    now: 0.0,
                });
                threads.len() - 1
            }),
        };
        let Some(one) = threads.get_mut(number) else {
            return Err(OutputError::TooLarge);
        };
        let caller = node.parent.map(|parent| places[parent].1);
        let frame = one.frame(selection, &labels, node.method);
        let stack = one.thread.stack(caller, frame);
        places.push((number, stack));
        let cost = node.cost.by(selection.by) as f64;
        let weight = match unit {
            WeightUnit::Milliseconds => cost / 1e6,
            WeightUnit::Samples => cost,
        };
        if weight > 0.0 {
            one.thread.sample(Some(stack), one.now, weight);
            one.now += weight;
        }
    }
    let profile = Profile {
        process: "Java".into(),
        pid: 1,
        start_ms: 0.0,
        interval_ms: 1.0,
    };
    let mut writer = ProfileWriter::begin(to, profile)?;
    for one in &threads {
        writer.thread(&one.thread)?;
    }
    Ok(writer.finish()?)
}
