//! The report: instruments with their counts, tables, patches and refusals of one JVM.
//!
//! `docs/report.md` describes every field for users. `docs/report.schema.json` is the JSON Schema;
//! a test validates a full sample against the schema.

use serde::{Deserialize, Serialize};

use crate::table::Table;
use veneer_measurements::{EditKind, PointRow, RefusalRow};

/// The version of the report format, written to the field `schema`.
pub const SCHEMA_VERSION: u32 = 1;

/// A report of one JVM.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The report format, [`SCHEMA_VERSION`].
    pub schema: u32,
    /// The JVM of the run.
    pub jvm: JvmInfo,
    /// All instruments of the run, including detached ones, in the order of attachment.
    pub instruments: Vec<Instrument>,
    /// All tallies (aggregation maps) that probes fill, in the order of creation.
    pub tables: Vec<Table>,
    /// All edits of control-flow graphs, including undone ones.
    pub patches: Vec<Patch>,
    /// All classes and methods that the agent refused to change.
    pub refusals: Vec<RefusalRow>,
    /// Errors of plans and of the agent itself.
    pub problems: Vec<Problem>,
    /// Sums over the whole run.
    pub totals: Totals,
}

impl Report {
    /// An empty report of this JVM.
    pub fn new(jvm: JvmInfo) -> Self {
        Report {
            schema: SCHEMA_VERSION,
            jvm,
            instruments: Vec::new(),
            tables: Vec::new(),
            patches: Vec::new(),
            refusals: Vec::new(),
            problems: Vec::new(),
            totals: Totals::default(),
        }
    }
}

/// The JVM of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JvmInfo {
    /// The process id in the JVM's own process namespace.
    pub pid: u32,
    /// `java.vm.name`, for instance `OpenJDK 64-Bit Server VM`.
    pub name: String,
    /// `java.vm.version`, for instance `17.0.15+6`.
    pub version: String,
    /// Time from the agent's start to the report, in milliseconds.
    pub millis: u64,
}

/// The kind of an instrument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InstrumentKind {
    /// Counts how often a point was passed.
    Counter,
    /// Measures the time from a method's entry to its exit.
    Timer,
    /// Records the values of variables.
    Log,
    /// Runs probe code of the plan, and counts how often it ran.
    Code,
    /// Writes calls to an event trace, and counts the calls that were not recorded.
    Recorder,
}

/// An instrument and its readings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Instrument {
    /// For instance `i7`; unique in the run.
    pub id: String,
    /// The name in the plan, or a name that the agent derives from kind and pattern.
    pub name: String,
    /// The kind of the instrument, which selects the variant of the points' [`Measurement`](veneer_measurements::Measurement).
    pub kind: InstrumentKind,
    /// The name of the plan that attached the instrument.
    pub plan: String,
    /// Whether the instrument was attached when the agent wrote the report.
    pub attached: bool,
    /// The points with their readings.
    pub points: Vec<PointRow>,
}

/// A patch: edits of the control-flow graphs of methods.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patch {
    /// For instance `p7`; unique in the run.
    pub id: String,
    /// The name of the plan that applied the patch.
    pub plan: String,
    /// The method patterns in the plan.
    pub patterns: Vec<String>,
    /// The edits of each method, in the order of application.
    pub edits: Vec<EditKind>,
    /// Number of changed methods.
    pub methods: u64,
    /// Whether the patch was in effect when the agent wrote the report.
    pub active: bool,
}

/// An error that did not reach the application.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The plan that caused the error; empty for an error of the agent itself.
    pub plan: String,
    /// The error as a sentence.
    pub message: String,
}

/// Sums over the whole run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Totals {
    /// Number of armed (instrumented, switchable) classes.
    pub classes_armed: u64,
    /// Number of methods with at least one capture point (OSR exit).
    pub methods_armed: u64,
    /// Number of entries under `points` of all instruments.
    pub points: u64,
    /// Sum of `hits` of all counters.
    pub hits: u64,
    /// Number of events that all logs recorded.
    pub events: u64,
    /// Number of events that all logs dropped.
    pub dropped: u64,
    /// Number of versions (hidden classes with specialised code) that the agent defined.
    pub versions: u64,
    /// Number of classes that were refused as a whole.
    pub refused_classes: u64,
    /// Number of single methods that were refused.
    pub refused_methods: u64,
}
