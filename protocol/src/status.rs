//! What is going on in a JVM: since when the agent is there, what plans have attached, and who they belong to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::report::Kind;

/// The answer to `status`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The agent's version.
    pub version: String,
    /// Process id, as the JVM itself knows it.
    pub pid: u32,
    /// `java.vm.name`.
    pub vm: String,
    /// `java.vm.version`.
    pub vm_version: String,
    /// Milliseconds since the agent came in.
    pub millis: u64,
    /// It came in while the JVM was running; else it was there from the start.
    pub attached: bool,
    /// Classes that are armed now.
    pub classes_armed: u64,
    /// Their methods with a capture point.
    pub methods_armed: u64,
    /// Clients that are connected, the one that asks included.
    pub clients: u32,
    /// What plans have attached and not taken off, the oldest first.
    pub loads: Vec<Load>,
    /// What plans have deployed, the oldest first.
    #[serde(default)]
    pub components: Vec<Component>,
}

/// What a plan has deployed, as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Component {
    /// The load of its plan, for instance `l3`.
    pub id: String,
    /// What the plan calls it, else the plan's name.
    pub name: String,
    /// None where the plan says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The plan's name.
    pub plan: String,
    /// Whose it is, as for [`Load`].
    pub owner: String,
    /// It goes with its client.
    pub held: bool,
    /// When it began, in milliseconds since the agent came in.
    pub since: u64,
    /// What the plan asked for with `param(…)`, and what it got.
    pub parameters: BTreeMap<String, String>,
    /// Instruments that stand: `i7`.
    pub instruments: Vec<String>,
    /// Edits that are in place: `p7`.
    pub patches: Vec<String>,
    /// Callbacks that wait.
    pub callbacks: u64,
    /// It can be asked for a report.
    pub analyser: bool,
    /// It has not been taken off as a whole.
    pub attached: bool,
}

/// What the analyser of a component says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Analysis {
    /// The component's name.
    pub component: String,
    /// Its version, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// As text; empty for Rhai's unit value `()`.
    pub text: String,
    /// As it is.
    pub value: serde_json::Value,
}

/// A plan that was run, as long as something of it is left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Load {
    /// For instance `l3`; unique in the run.
    pub id: String,
    /// The plan's name.
    pub plan: String,
    /// Whose it is: `start` (of the command line), `uid 1000 pid 4711`, `tcp 127.0.0.1:40112`.
    pub owner: String,
    /// It is taken off when its client goes.
    pub held: bool,
    /// When it began, in milliseconds since the agent came in.
    pub since: u64,
    /// Callbacks of the plan that wait for their time, or for the end.
    pub callbacks: u64,
    /// Instruments that stand.
    pub instruments: Vec<Attached>,
    /// Edits that are in place.
    pub patches: Vec<Edited>,
}

/// An instrument that stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attached {
    /// For instance `i7`.
    pub id: String,
    /// The name that the plan gave, or one made from kind and pattern.
    pub name: String,
    /// What it measures.
    pub kind: Kind,
    /// Methods in which it stands.
    pub methods: u64,
    /// Points at which it stands.
    pub points: u64,
}

/// An edit of flow graphs that is in place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edited {
    /// For instance `p7`.
    pub id: String,
    /// The methods, as the plan named them.
    pub patterns: Vec<String>,
    /// How many it changed.
    pub methods: u64,
}

/// What is to be taken off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Which {
    /// Everything that plans have attached; their callbacks end too.
    All,
    /// The same, and then the agent leaves: armed classes become what they were, and the socket closes.
    Unload,
    /// These: `i7`, `p7`, or `l3` for all of a plan.
    These(Vec<String>),
    /// The components of these names, as wholes: `slow orders`.
    Components(Vec<String>),
}

/// What was taken off.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detached {
    /// Instruments and patches that are gone now: `i7`, `p7`.
    pub taken: Vec<String>,
    /// Names that were asked for and of which nothing is attached.
    #[serde(default)]
    pub unknown: Vec<String>,
    /// With `unload`: classes that have their original code again.
    #[serde(default)]
    pub classes_restored: u64,
    /// With `unload`: activations that are in a version still; each goes on there until it returns.
    #[serde(default)]
    pub running: u64,
    /// With `unload`: classes that are armed still, and why.
    #[serde(default)]
    pub left: Vec<Left>,
}

/// A class that could not be given its original code back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    /// With dots.
    pub class: String,
    /// What the JVM said.
    pub reason: String,
}
