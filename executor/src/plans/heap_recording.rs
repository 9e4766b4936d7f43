//! The beginning and the end of a recording of heap allocations.

use crate::agent::Agent;
use crate::jvm::jni::Env;
use veneer_memory::heap::{DEFAULT_SAMPLING_INTERVAL, HEAP_FILE};

/// Lets the JVM sample at the interval of the current recording. Samples belong to it from now on.
pub fn begin(agent: &Agent) {
    let Some((interval, _)) = agent.recorder.heap_recording() else {
        return;
    };
    if let Err(error) = agent.tool.set_sampling_interval(interval) {
        agent.report_problem("", &format!("a recording has no heap samples: {error}"));
        return;
    }
    agent.events.heap.begin();
}

/// Writes the samples of the recording that has not ended, if it is one of heap allocations.
pub fn complete(agent: &Agent, env: Env) {
    let Some((interval, directory)) = agent.recorder.heap_recording() else {
        return;
    };
    let jvm = (agent.tool, &agent.library, env);
    let number = |name: &str| agent.recorder.number_type(name);
    let samples = agent.events.heap.finish(jvm, interval, number);
    if let Err(error) = samples.write(&directory.join(HEAP_FILE)) {
        agent.report_problem("", &format!("{}: {error}", directory.display()));
    }
    // Another agent or plan may be given samples later.
    if !samples.is_refused
        && let Err(error) = agent.tool.set_sampling_interval(DEFAULT_SAMPLING_INTERVAL)
    {
        agent.report_problem("", &error.to_string());
    }
}
