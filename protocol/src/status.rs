//! The status of an agent: its age, the attached instruments and patches, and their owners.
//!
//! A running plan is a *plan instance*, with an id such as `l3`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::report::InstrumentKind;
use veneer_measurements::EditKind;

/// The answer to `status`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The agent's version.
    pub version: String,
    /// The process id in the JVM's own process namespace.
    pub pid: u32,
    /// `java.vm.name`.
    pub vm: String,
    /// `java.vm.version`.
    pub vm_version: String,
    /// Time since the agent's first start in this JVM, in milliseconds.
    pub millis: u64,
    /// When the agent was loaded again after it had unloaded itself, in milliseconds since its first
    /// start; else 0.
    #[serde(default)]
    pub loaded_again_at: u64,
    /// Whether the agent was loaded into a running JVM; false if the JVM started with the agent.
    pub attached: bool,
    /// Number of classes that are armed (instrumented and switchable) now.
    pub classes_armed: u64,
    /// Number of methods of armed classes that have a capture point (OSR exit).
    pub methods_armed: u64,
    /// Number of connected clients, including the client that asks.
    pub clients: u32,
    /// Plan instances with attachments or callbacks, the oldest first.
    pub loads: Vec<PlanInstanceStatus>,
    /// Components, the oldest first.
    #[serde(default)]
    pub components: Vec<Component>,
    /// The tables of plans.
    #[serde(default)]
    pub tables: TableUse,
    /// Errors of the agent itself, the oldest first and each message once: a thread of the agent
    /// that panicked, a full disk. Errors of plans are not among them.
    #[serde(default)]
    pub problems: Vec<String>,
}

/// The tables of a JVM, and their room.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableUse {
    /// The number of tables that a plan or an attached instrument has.
    pub in_use: u64,
    /// The number of tables of former plans, to which old code may still write.
    pub left_behind: u64,
    /// The number of tables of each plan, also of former ones.
    pub by_plan: BTreeMap<String, u64>,
    /// Bytes of the tables in the file.
    pub bytes: u64,
    /// The most bytes of all tables in the file.
    pub room: u64,
}

impl Status {
    /// Returns how long the agent has been in the JVM without a break, in milliseconds.
    pub fn stay_millis(&self) -> u64 {
        self.millis.saturating_sub(self.loaded_again_at)
    }
}

/// A component: the attachments of one plan instance as a unit with a name and a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Component {
    /// The id of its plan instance, for instance `l3`.
    pub id: String,
    /// The name in the plan's `component(…)` call, or the plan's name if there is no such call.
    pub name: String,
    /// The component's version, if the plan states one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The plan's name.
    pub plan: String,
    /// The owner, as in [`PlanInstanceStatus::owner`].
    pub owner: String,
    /// Whether the agent detaches the component when its client disconnects.
    pub held: bool,
    /// Start of the plan instance, in milliseconds since the agent's start.
    pub since: u64,
    /// Names that the plan passed to `param(…)`, with the returned values.
    pub parameters: BTreeMap<String, String>,
    /// Ids of attached instruments: `i7`.
    pub instruments: Vec<String>,
    /// Ids of applied patches: `p7`.
    pub patches: Vec<String>,
    /// Number of pending callbacks of the plan.
    pub callbacks: u64,
    /// Whether the component has an analyser, so that clients can send `analyse`.
    pub analyser: bool,
    /// False if the component was detached as a whole.
    pub attached: bool,
}

/// The result of a component's analyser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Analysis {
    /// The component's name.
    pub component: String,
    /// The component's version, if the plan states one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The result as text; empty for Rhai's unit value `()`.
    pub text: String,
    /// The result as JSON.
    pub value: serde_json::Value,
}

/// A plan instance: a plan that was run. The instance exists as long as it has attachments or
/// callbacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanInstanceStatus {
    /// For instance `l3`; unique in the run.
    pub id: String,
    /// The plan's name.
    pub plan: String,
    /// The owner: `start` for plans of the command line, `uid 1000 pid 4711` for a client of the
    /// Unix socket, `tcp 127.0.0.1:40112` for a client of the TCP port.
    pub owner: String,
    /// Whether the agent detaches the instance when its client disconnects.
    pub held: bool,
    /// Start of the plan instance, in milliseconds since the agent's start.
    pub since: u64,
    /// Number of callbacks that wait for their time or for the end of the JVM.
    pub callbacks: u64,
    /// Instruments that are attached now.
    pub instruments: Vec<InstrumentStatus>,
    /// Patches that are in effect now.
    pub patches: Vec<PatchStatus>,
}

/// An attached instrument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstrumentStatus {
    /// For instance `i7`.
    pub id: String,
    /// The name in the plan, or a name that the agent derives from kind and pattern.
    pub name: String,
    /// The kind of instrument.
    pub kind: InstrumentKind,
    /// Number of methods in which the instrument is installed.
    pub methods: u64,
    /// Number of points at which the instrument is installed.
    pub points: u64,
}

/// A patch (edits of control-flow graphs) that is in effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchStatus {
    /// For instance `p7`.
    pub id: String,
    /// The method patterns in the plan.
    pub patterns: Vec<String>,
    /// The edits of each method, in the order of application.
    #[serde(default)]
    pub edits: Vec<EditKind>,
    /// Number of changed methods.
    pub methods: u64,
}

/// The target of a `detach` request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DetachTarget {
    /// All attachments of all plans. Their callbacks end too.
    All,
    /// Like `All`; then the agent restores the original code of armed classes and closes its
    /// socket.
    Unload,
    /// Single attachments by id: `i7`, `p7`, or `l3` for all attachments of a plan instance.
    #[serde(rename = "these")]
    Ids(Vec<String>),
    /// Whole components by name: `slow orders`.
    Components(Vec<String>),
}

/// The result of a `detach` request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DetachReport {
    /// Ids of the detached instruments and patches: `i7`, `p7`.
    pub taken: Vec<String>,
    /// Requested ids and names without any attachment.
    #[serde(default)]
    pub unknown: Vec<String>,
    /// For `unload`: number of classes whose original code was restored.
    #[serde(default)]
    pub classes_restored: u64,
    /// For `unload`: number of activations that still run in a version. Each activation remains in
    /// its version until it returns.
    #[serde(default)]
    pub running: u64,
    /// For `unload`: classes that are still armed, with the reasons.
    #[serde(default)]
    pub left: Vec<UnrestoredClass>,
}

/// A class whose original code could not be restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnrestoredClass {
    /// The class name with dots.
    pub class: String,
    /// The JVM's error.
    pub reason: String,
}
