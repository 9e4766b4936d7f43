//! The recordings of `veneer run`: an event trace, or a call graph. Both are plans in the agent, whose
//! files this command collects when the program has ended.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use veneer_protocol::{AgentConfig, PlanSource};

use crate::calls::{CompleteRun, RunCalls, recorded_directories};
use crate::cli::RunArguments;
use crate::output::print_error;
use crate::trace::{RunRecording, read_rules, traces};

/// The report from which a call graph is made, if the user wants no report.
const CALL_GRAPH_REPORT: &str = "calls.json";

/// The longest time in which a command like `veneer trace PID` takes its recording after the end of the
/// JVM.
const TAKE_LIMIT: Duration = Duration::from_secs(2);
/// Interval between two looks at whether it has taken it.
const TAKE_INTERVAL: Duration = Duration::from_millis(20);

/// The recordings of a command.
pub struct Recordings {
    trace: Option<RunRecording>,
    calls: Option<RunCalls>,
    complete_calls: Option<CompleteRun>,
    /// The files of earlier recordings in the data directory.
    earlier_traces: BTreeSet<PathBuf>,
    earlier_calls: BTreeSet<PathBuf>,
    earlier_complete_calls: BTreeSet<PathBuf>,
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
        let calls = graph.filter(|_| !arguments.complete);
        let complete_calls = graph.filter(|_| arguments.complete);
        Ok(Recordings {
            trace: trace
                .map(|place| {
                    let rules = read_rules(arguments.filter.as_deref(), &arguments.trace_events)?;
                    RunRecording::prepare(place, rules, arm)
                })
                .transpose()?,
            calls: calls
                .map(|place| {
                    let contexts = (arguments.contexts, arguments.exact_times);
                    RunCalls::prepare(place, arm, contexts)
                })
                .transpose()?,
            complete_calls: complete_calls.map(CompleteRun::prepare).transpose()?,
            earlier_traces: BTreeSet::new(),
            earlier_calls: BTreeSet::new(),
            earlier_complete_calls: BTreeSet::new(),
        })
    }

    /// The plans that record.
    pub fn plans(&self) -> Vec<PlanSource> {
        let trace = self.trace.iter().map(RunRecording::plan);
        trace.chain(self.calls.iter().map(RunCalls::plan)).collect()
    }

    /// Completes the configuration of the agent. `directory` is for files of this command. Files that
    /// are in the data directory now belong to earlier commands.
    pub fn configure(&mut self, config: &mut AgentConfig, directory: &Path) {
        config.class_facts = self.calls.is_some();
        config.complete_calls = self.complete_calls.is_some();
        let has_calls = config.class_facts || config.complete_calls;
        if has_calls && config.report.is_none() {
            config.report = Some(directory.join(CALL_GRAPH_REPORT));
        }
        self.earlier_traces = traces(&config.data_dir);
        self.earlier_calls = recorded_directories(&config.data_dir);
        self.earlier_complete_calls = CompleteRun::recorded(&config.data_dir);
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
        if let Some(calls) = self.complete_calls {
            let report = |pid| config.report_path(pid);
            if let Err(error) = calls.finish(data, &self.earlier_complete_calls, report) {
                print_error(&format_args!("the call graph is not complete: {error:#}"));
            }
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
