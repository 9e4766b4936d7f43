//! The recordings of `veneer run`: an event trace, a call graph, lifetimes, or a memory profile. They are
//! plans in the agent, whose files this command collects when the program has ended.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use veneer_protocol::{AgentConfig, PlanSource};

use crate::calls::{CompleteRun, ContextOptions, RunCalls, recorded_directories};
use crate::cli::RunArguments;
use crate::lifetimes::{RunLifetimes, lives_directories};
use crate::memory::{RecordedMore, RunMemory};
use crate::output::print_error;
use crate::trace::{RunRecording, read_rules, traces};

/// The report from which a call graph or a memory profile is made, if the user wants no report.
const RECORDING_REPORT: &str = "recording.json";

/// The longest time in which a command like `veneer trace PID` takes its recording after the end of the
/// JVM.
const TAKE_LIMIT: Duration = Duration::from_secs(2);
/// Interval between two looks at whether it has taken it.
const TAKE_INTERVAL: Duration = Duration::from_millis(20);

/// Whether the calls can be counted in the code of the methods. Counters in armed code cost more, and serve
/// plans and single methods too.
fn can_count_in_methods(arguments: &RunArguments) -> bool {
    let names_methods = arguments.arm.iter().any(|pattern| pattern.contains("::"));
    let has_others = arguments.contexts
        || arguments.check
        || arguments.arm_all
        || arguments.trace.is_some()
        || arguments.memory.is_some()
        || arguments.lifetimes.is_some()
        || arguments.search.is_some()
        || arguments.listen.is_some()
        || !arguments.plans.is_empty()
        || !arguments.skip.is_empty();
    !names_methods && !has_others
}

/// Whether only classes that name the followed class need to be armed.
fn arms_followed_class_only(arguments: &RunArguments) -> bool {
    let has_others = arguments.check
        || arguments.arm_all
        || arguments.trace.is_some()
        || arguments.call_graph.is_some()
        || arguments.search.is_some()
        || arguments.listen.is_some()
        || !arguments.plans.is_empty();
    arguments.lifetimes.is_some() && arguments.arm.is_empty() && !has_others
}

/// The recordings of a command.
pub struct Recordings {
    trace: Option<RunRecording>,
    calls: Option<RunCalls>,
    counted_calls: Option<CompleteRun>,
    memory: Option<RunMemory>,
    lifetimes: Option<RunLifetimes>,
    /// The class to which arming is limited, besides what the plans select.
    armed: Option<String>,
    /// The files of earlier recordings in the data directory.
    earlier_traces: BTreeSet<PathBuf>,
    earlier_calls: BTreeSet<PathBuf>,
    earlier_counted_calls: BTreeSet<PathBuf>,
    earlier_lifetimes: BTreeSet<PathBuf>,
}

impl Recordings {
    /// Checks what can be checked before the program starts.
    ///
    /// # Errors
    /// A file or directory for a recording cannot be used.
    pub fn prepare(arguments: &RunArguments) -> Result<Recordings> {
        let arm = &arguments.arm;
        let trace = arguments.trace.as_deref();
        let graph = arguments.call_graph.as_deref();
        let is_counted = arguments.complete || can_count_in_methods(arguments);
        let lifetimes = arguments.lifetimes.as_deref();
        let lifetimes = lifetimes.zip(arguments.lifetimes_of.as_ref());
        let calls = graph.filter(|_| !is_counted);
        let counted_calls = graph.filter(|_| is_counted);
        let counted_classes = Some(arm).filter(|patterns| !patterns.is_empty());
        Ok(Recordings {
            trace: trace
                .map(|place| {
                    let rules = read_rules(arguments.filter.as_deref(), &arguments.trace_events)?;
                    RunRecording::prepare(place, rules, arm)
                })
                .transpose()?,
            calls: calls
                .map(|place| {
                    let contexts = ContextOptions::new(arguments.exact_times, arguments.tasks);
                    let contexts = Some(contexts).filter(|_| arguments.contexts);
                    RunCalls::prepare(place, arm, contexts)
                })
                .transpose()?,
            counted_calls: counted_calls
                .map(|place| CompleteRun::prepare(place, counted_classes.cloned()))
                .transpose()?,
            memory: arguments
                .memory
                .as_deref()
                .map(|place| {
                    let asked = RecordedMore {
                        sharing: arguments.sharing,
                        sample: arguments.sample,
                        objects: arguments.objects,
                        curve: arguments.curve,
                    };
                    RunMemory::prepare(place, arm, &arguments.caches, asked, arguments.heap)
                })
                .transpose()?,
            armed: arguments
                .lifetimes_of
                .as_ref()
                .filter(|_| arms_followed_class_only(arguments))
                .map(|followed| followed.text().to_owned()),
            lifetimes: lifetimes
                .map(|(place, followed)| RunLifetimes::prepare(place, followed, arm))
                .transpose()?,
            earlier_traces: BTreeSet::new(),
            earlier_calls: BTreeSet::new(),
            earlier_counted_calls: BTreeSet::new(),
            earlier_lifetimes: BTreeSet::new(),
        })
    }

    /// The plans that record.
    pub fn plans(&self) -> Vec<PlanSource> {
        let trace = self.trace.iter().map(RunRecording::plan);
        let calls = self.calls.iter().map(RunCalls::plan);
        let memory = self.memory.iter().map(RunMemory::plan);
        let lifetimes = self.lifetimes.iter().map(RunLifetimes::plan);
        trace.chain(calls).chain(memory).chain(lifetimes).collect()
    }

    /// Completes the configuration of the agent. `directory` is for files of this command. Files that
    /// are in the data directory now belong to earlier commands.
    pub fn configure(&mut self, config: &mut AgentConfig, directory: &Path) {
        config.arm.extend(self.armed.clone());
        config.class_facts = self.calls.is_some();
        config.counted_calls = self.counted_calls.as_ref().map(CompleteRun::classes);
        let has_calls = config.class_facts || config.counted_calls.is_some();
        if (has_calls || self.memory.is_some()) && config.report.is_none() {
            config.report = Some(directory.join(RECORDING_REPORT));
        }
        self.earlier_traces = traces(&config.data_dir);
        self.earlier_calls = recorded_directories(&config.data_dir);
        self.earlier_lifetimes = lives_directories(&config.data_dir);
        self.earlier_counted_calls = CompleteRun::recorded(&config.data_dir);
    }

    /// Collects what the JVMs recorded. If the data directory is removed after this, waits for other
    /// commands that recorded in these JVMs. Returns the traces that no command has taken.
    ///
    /// # Errors
    /// A trace cannot be moved. A call graph that cannot be written is only reported, because the
    /// exit code is that of the program.
    pub fn finish(self, config: &AgentConfig) -> Result<BTreeSet<PathBuf>> {
        let data = &config.data_dir;
        if let Some(trace) = self.trace {
            trace.finish(data, &self.earlier_traces)?;
        }
        if let Some(calls) = self.calls {
            let report = |pid| config.report_path(pid);
            if let Err(error) = calls.finish(data, &self.earlier_calls, report) {
                print_error(&format_args!("the call graph is not complete: {error:#}"));
            }
        }
        if let Some(calls) = self.counted_calls {
            let report = |pid| config.report_path(pid);
            if let Err(error) = calls.finish(data, &self.earlier_counted_calls, report) {
                print_error(&format_args!("the call graph is not complete: {error:#}"));
            }
        }
        if let Some(memory) = self.memory {
            let report = |pid| config.report_path(pid);
            if let Err(error) = memory.finish(data, &self.earlier_traces, report) {
                print_error(&format_args!(
                    "the memory profile is not written: {error:#}"
                ));
            }
        }
        if let Some(lifetimes) = self.lifetimes
            && let Err(error) = lifetimes.finish(data, &self.earlier_lifetimes)
        {
            print_error(&format_args!("{error:#}"));
        }
        let end = Instant::now() + TAKE_LIMIT;
        loop {
            let left = &traces(data) - &self.earlier_traces;
            if config.keep_data || left.is_empty() || Instant::now() > end {
                return Ok(left);
            }
            thread::sleep(TAKE_INTERVAL);
        }
    }
}
