//! The operations that plans can use: [`RuntimeHandle`] implements the interface between the script
//! engine and the agent.
//!
//! The operations are in one file per noun: `attach.rs` (instruments), `edit.rs` (patches),
//! `tables.rs` (tallies), `queries.rs` (readings and lists), `method_updates.rs` (the versions of
//! changed methods). Only the plan thread calls them, and it holds no lock when it does.

mod attach;
mod calibration;
mod edit;
mod edited_graphs;
mod method_updates;
mod queries;
mod receiver_tests;
mod recording;
mod tables;

use crate::agent::Agent;
use crate::classes::call_counting;
use crate::data::monotonic::monotonic;
use crate::jvm::jni::Env;
use crate::observation::subscriptions::Subscriber;
use crate::plans::lifetimes;
use crate::plans::thread_bound::ThreadBound;
use crate::speedup::observer;
use std::time::SystemTime;
use veneer_instruments::{
    ArmedClass, ArmedMethod, AttachError, AttachSummary, EditSpec, EditSummary, EditedGraph, Graph,
    InstrumentId, InstrumentSpec, InstrumentSummary, LogEvent, MethodPattern, PatchId,
    PatchSummary, PlanInstanceId, PointRow, RandomSample, RecordingSummary, RefusalRow, Runtime,
    SpeedupId, SpeedupSpec, SpeedupWindow, Tally, TallyKind, VmEventKind, VmEventKinds,
};
use veneer_names::MethodId;

/// The agent as plans see it, with the JNI environment of the plan thread. All operations that need
/// the environment panic on other threads.
pub struct RuntimeHandle {
    agent: &'static Agent,
    env: ThreadBound<Env>,
}

impl RuntimeHandle {
    /// A handle for the calling thread, which is the plan thread, with its environment.
    pub fn new(agent: &'static Agent, env: Env) -> RuntimeHandle {
        RuntimeHandle {
            agent,
            env: ThreadBound::new(env),
        }
    }

    /// The environment of the plan thread.
    fn env(&self) -> Env {
        self.env.get()
    }
}

impl Runtime for RuntimeHandle {
    fn attach(&self, spec: InstrumentSpec) -> Result<AttachSummary, AttachError> {
        self.attach_instrument(spec)
    }

    fn settle(&self) {
        self.install_deferred();
    }

    fn detach(&self, id: InstrumentId) -> Result<(), AttachError> {
        self.detach_instruments(&[id])
    }

    fn detach_all(&self, ids: &[InstrumentId]) -> Result<(), AttachError> {
        self.detach_instruments(ids)
    }

    fn rows(&self, id: InstrumentId) -> Vec<PointRow> {
        self.settle();
        crate::plans::readings::rows(self.agent, id)
    }

    fn events(&self, id: InstrumentId, last: usize) -> Vec<LogEvent> {
        self.settle();
        self.logged_events(id, last)
    }

    fn recording(&self, id: InstrumentId) -> Option<RecordingSummary> {
        let agent = self.agent;
        call_counting::summary(agent, id)
            .or_else(|| lifetimes::summary(agent, id))
            .or_else(|| agent.recorder.summary(id))
    }

    fn watch_vm_events(&self, kinds: VmEventKinds) -> Result<(), AttachError> {
        self.settle();
        self.subscribe(Subscriber::Plans, kinds)
    }

    fn dropped_vm_events(&self, kind: VmEventKind) -> u64 {
        self.agent.events.queue.dropped(kind)
    }

    fn begin_speedup(&self, spec: SpeedupSpec) -> Result<SpeedupId, AttachError> {
        self.settle();
        observer::begin(self.agent, self.env(), spec)
    }

    fn end_speedup(&self, id: SpeedupId) -> Option<SpeedupWindow> {
        self.settle();
        self.agent.speedups.end(id)
    }

    fn edited_graphs(&self, spec: EditSpec) -> Result<Vec<EditedGraph>, AttachError> {
        self.settle();
        self.graphs_with_edits(&spec)
    }

    fn edit(&self, spec: EditSpec) -> Result<EditSummary, AttachError> {
        self.settle();
        self.apply_edits(spec)
    }

    fn edits(&self) -> Vec<PatchSummary> {
        self.settle();
        self.patch_summaries()
    }

    fn undo(&self, id: PatchId) -> Result<(), AttachError> {
        self.settle();
        self.undo_edits(id)
    }

    fn create_table(&self, kind: TallyKind, entries: u32) -> Result<u32, AttachError> {
        self.create_table(kind, entries)
    }

    fn label_table(&self, table: u32, plan: &str, name: Option<&str>) {
        self.label_table(table, plan, name);
    }

    fn mark_call_tree(&self, table: u32, plan: &str) {
        self.mark_call_tree(table, plan);
    }

    fn drop_table(&self, table: u32) {
        self.settle();
        self.agent.tallies.drop_table(table);
    }

    fn read_table(&self, table: u32) -> Tally {
        self.settle();
        self.read_table(table)
    }

    fn clear_table(&self, table: u32) {
        self.settle();
        self.agent.tallies.clear(&self.agent.shards, table);
    }

    fn armed_methods(
        &self,
        patterns: &[MethodPattern],
        sample: Option<RandomSample>,
    ) -> Vec<ArmedMethod> {
        self.settle();
        self.armed_methods(patterns, sample)
    }

    fn flow_graphs(&self, patterns: &[MethodPattern]) -> Vec<Graph> {
        self.settle();
        self.flow_graphs(patterns)
    }

    fn classes(&self, patterns: &[MethodPattern]) -> Vec<ArmedClass> {
        self.settle();
        self.described_classes(patterns)
    }

    fn flow_graph(&self, method: MethodId) -> Option<Graph> {
        self.settle();
        crate::classes::queries::flow_graph(self.agent, method)
    }

    fn refusals(&self) -> Vec<RefusalRow> {
        self.settle();
        self.agent.refusals()
    }

    fn instruments(&self) -> Vec<InstrumentSummary> {
        self.settle();
        self.summaries()
    }

    fn completions(&self, beginning: &str, limit: usize) -> Vec<String> {
        self.completions(beginning, limit)
    }

    fn stale_activation_count(&self) -> u64 {
        self.settle();
        self.agent.methods.stale_count(self.agent, self.env())
    }

    fn start_time(&self) -> f64 {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let age = monotonic().saturating_sub(self.agent.nano_began);
        now.unwrap_or_default().as_secs_f64() - age as f64 / 1e9
    }

    fn print(&self, text: &str) {
        self.agent.print(text);
    }

    fn set_current_plan(&self, instance: PlanInstanceId) {
        self.agent.output.set_current(instance);
    }
}
