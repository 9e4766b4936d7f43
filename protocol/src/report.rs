//! The report: what was instrumented and measured, what was edited, what was refused.
//!
//! `docs/report.md` describes every field for its readers, and `docs/report.schema.json` is its
//! JSON Schema; a test holds a full sample against the schema.

use serde::{Deserialize, Serialize};

use crate::table::Table;

/// The version of the report's form, its field `schema`.
pub const SCHEMA: u32 = 1;

/// A whole report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The JVM that it is about.
    pub jvm: Jvm,
    /// Every instrument of the run, detached ones too, in the order in which they were attached.
    pub instruments: Vec<Instrument>,
    /// Every table that code at points fills, in the order in which they were made.
    pub tables: Vec<Table>,
    /// Every edit of flow graphs, undone ones too.
    pub patches: Vec<Patch>,
    /// Every class and method that was left as it was.
    pub refusals: Vec<Refusal>,
    /// Errors of plans and of the agent itself.
    pub problems: Vec<Problem>,
    /// Sums over the whole run.
    pub totals: Totals,
}

impl Report {
    /// An empty report about this JVM.
    pub fn new(jvm: Jvm) -> Self {
        Report {
            schema: SCHEMA,
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

/// The JVM that a report is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jvm {
    /// Process id, as the JVM itself knows it.
    pub pid: u32,
    /// `java.vm.name`, for instance `OpenJDK 64-Bit Server VM`.
    pub name: String,
    /// `java.vm.version`, for instance `17.0.15+6`.
    pub version: String,
    /// Milliseconds from the agent's start to the report.
    pub millis: u64,
}

/// What an instrument measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// How often a point was passed.
    Counter,
    /// How long it took from a method's entry to its exit.
    Timer,
    /// The values of chosen variables.
    Log,
    /// How often code of the plan ran.
    Code,
}

/// An instrument and its figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Instrument {
    /// For instance `i7`; unique in the run.
    pub id: String,
    /// The name that the plan gave, or one made from kind and pattern.
    pub name: String,
    /// What it measures; decides which figures the points have.
    pub kind: Kind,
    /// The plan that attached it.
    pub plan: String,
    /// Still attached when the report was made.
    pub attached: bool,
    /// The figures, one entry for each place.
    pub points: Vec<Point>,
}

/// The figures of one instrument at one place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// With dots: `a.b.C`, `a.b.C$D`.
    pub class: String,
    /// Name and descriptor: `m(I)I`.
    pub method: String,
    /// The fragment's number in its method; absent where the point is the method as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragment: Option<u32>,
    /// For an edge: the fragment to which it leads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<u32>,
    /// For an instruction: what it does, and its index in the bytecode: `call a.b.C::m @17`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// The source line at which the place begins, where the class file says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u16>,
    /// The figures themselves, beside the other fields.
    #[serde(flatten)]
    pub readings: Readings,
}

/// The figures of a point, by kind of instrument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Readings {
    /// Of a counter.
    Count {
        /// How often the point was passed.
        hits: u64,
    },
    /// Of a timer; times in nanoseconds. With `count` 0 the others are 0.
    Time {
        /// Activations that were measured to their end.
        count: u64,
        /// Sum of their times.
        total_ns: u64,
        /// The shortest.
        min_ns: u64,
        /// The longest.
        max_ns: u64,
    },
    /// Of a log.
    Log {
        /// Events that were recorded.
        events: u64,
        /// Events that found the ring full.
        dropped: u64,
    },
}

/// An edit of flow graphs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patch {
    /// For instance `p7`; unique in the run.
    pub id: String,
    /// The plan that made it.
    pub plan: String,
    /// The methods, as the plan named them.
    pub patterns: Vec<String>,
    /// What was changed in each of them, in this order.
    pub edits: Vec<Edit>,
    /// How many methods it changed.
    pub methods: u64,
    /// Still in place when the report was made.
    pub active: bool,
}

/// One change of a flow graph; the numbers are fragments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "edit", rename_all = "lowercase")]
pub enum Edit {
    /// The edge `from` → `to` leads to `target` instead.
    Redirect {
        /// Where the edge begins.
        from: u32,
        /// Where it led.
        to: u32,
        /// Where it leads now.
        target: u32,
    },
    /// The fragment is passed over.
    Skip {
        /// Which.
        fragment: u32,
    },
    /// The code of `by` runs in place of `fragment`.
    Replace {
        /// Which.
        fragment: u32,
        /// Whose code.
        by: u32,
    },
}

/// Something that was left exactly as it was, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Refusal {
    /// With dots.
    pub class: String,
    /// Name and descriptor; empty where the whole class was refused.
    pub method: String,
    /// The reason's name, for instance `MethodTooLarge`.
    pub reason: String,
    /// The reason in words, with figures.
    #[serde(default)]
    pub detail: String,
}

/// An error that did not reach the application.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The plan it came from; empty where it was the agent itself.
    pub plan: String,
    /// What happened.
    pub message: String,
}

/// Sums over the whole run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Totals {
    /// Classes that were armed.
    pub classes_armed: u64,
    /// Methods with at least one capture point.
    pub methods_armed: u64,
    /// Entries under `points` of all instruments.
    pub points: u64,
    /// `hits` of all counters.
    pub hits: u64,
    /// Events recorded by all logs.
    pub events: u64,
    /// Events dropped by all logs.
    pub dropped: u64,
    /// Executor versions that were defined.
    pub versions: u64,
    /// Classes refused as a whole.
    pub refused_classes: u64,
    /// Single methods refused.
    pub refused_methods: u64,
}
