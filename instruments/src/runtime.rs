//! What a plan can ask of the running JVM, as a trait: the agent implements it, the scripts call it.
//!
//! It is the seam between the script engine, which knows no JVM, and the executor, which knows no scripts.

use crate::{
    ArmedClass, ArmedMethod, EditKind, EditSpec, Event, Graph, InstrumentId, MethodPattern,
    PatchId, RefusalRow, Row, Sample, Spec, Summary, Tally, TallyKind,
};
use serde::{Deserialize, Serialize};

/// The running JVM, as a plan sees it. Called from the plan thread only, never from an application thread,
/// and never while the caller holds a lock: an implementation may load classes and wait for the JVM.
pub trait Runtime: Send + Sync {
    /// Attaches an instrument to what is loaded and to what will be; as a whole or not at all.
    fn attach(&self, spec: Spec) -> Result<Attached, AttachError>;
    /// Takes an instrument off again. Its figures stay readable. Detaching twice is no error.
    fn detach(&self, id: InstrumentId) -> Result<(), AttachError>;
    /// The figures so far, in no order. An unknown id has none.
    fn rows(&self, id: InstrumentId) -> Vec<Row>;
    /// The last `last` events of a value log, newest last.
    fn events(&self, id: InstrumentId, last: usize) -> Vec<Event>;
    /// Edits the flow graph of the selected methods; as a whole or not at all.
    fn edit(&self, spec: EditSpec) -> Result<PatchId, AttachError>;
    /// Takes an edit back. Undoing twice is no error.
    fn undo(&self, id: PatchId) -> Result<(), AttachError>;
    /// Makes a table for compiled probes, for so many combinations of keys, and gives its number.
    fn tally(&self, kind: TallyKind, entries: u32) -> Result<u32, AttachError>;
    /// Says whose a table is, and what it is called where the plan says so: for the report.
    fn tally_is(&self, table: u32, plan: &str, name: Option<&str>) {
        let _ = (table, plan, name);
    }
    /// What a table holds now; nothing of a number that was never given out.
    fn tally_now(&self, table: u32) -> Tally;
    /// Sets everything in a table to nothing. What threads give it meanwhile may stay.
    fn tally_clear(&self, table: u32);
    /// The armed methods that any of the patterns selects: all, in order of arming, or a sample of them.
    fn armed(&self, patterns: &[MethodPattern], sample: Option<Sample>) -> Vec<ArmedMethod>;
    /// The flow graphs of the armed methods that any of the patterns selects.
    fn graphs(&self, patterns: &[MethodPattern]) -> Vec<Graph>;
    /// The classes of which the patterns select methods, with these; those that are loaded are armed first. Gives those that are
    /// prepared, in order of arming.
    fn classes(&self, patterns: &[MethodPattern]) -> Vec<ArmedClass> {
        let _ = patterns;
        Vec::new()
    }
    /// The flow graph of a method by its id; none where it is gone.
    fn graph(&self, method: u32) -> Option<Graph> {
        let _ = method;
        None
    }
    /// What was left as it was, and why.
    fn refusals(&self) -> Vec<RefusalRow>;
    /// Every instrument so far, in order of attachment, detached ones too.
    fn instruments(&self) -> Vec<Summary>;
    /// At most so many names of loaded classes that begin so, each up to its next dot; behind `::` those of the class's methods.
    /// For completion: nothing is armed.
    fn names(&self, beginning: &str, limit: usize) -> Vec<String> {
        let _ = (beginning, limit);
        Vec::new()
    }
    /// Activations that still run code older than the current version, as far as known.
    fn stale(&self) -> u64;
    /// Prints what a plan says (without a final newline): to the JVM's standard error or to the client
    /// that runs the plan.
    fn print(&self, text: &str);
    /// Says that from now on the plan of this load speaks (see `veneer_scripts::Session`): what is printed is its.
    fn speaks(&self, load: u64) {
        let _ = load;
    }
}

/// What came of attaching an instrument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attached {
    pub id: InstrumentId,
    /// Methods that it stands in now.
    pub methods: usize,
    /// Points that it stands on now.
    pub points: usize,
    /// Methods that match and were refused; `Runtime::refusals` says why.
    pub refused: usize,
    /// What the author of the plan should know, such as a pattern that matches nothing so far.
    pub warnings: Vec<String>,
}

/// Why an instrument or an edit was not made (or not taken back). Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum AttachError {
    /// An id that the runtime never gave out.
    #[error("there is no instrument {id}: instruments() lists those that there are")]
    UnknownInstrument { id: InstrumentId },

    /// An id that the runtime never gave out.
    #[error("there is no patch {id}: it must come from redirect, skip, replace or edit")]
    UnknownPatch { id: PatchId },

    /// An edit of nothing: unlike an instrument it cannot wait for classes loaded later.
    #[error("no loaded method matches `{pattern}`{}", suggest(nearest))]
    NothingMatches {
        pattern: String,
        /// Names close to it.
        nearest: Vec<String>,
    },

    /// A fragment number beyond those of the method.
    #[error(
        "{class}::{method} has no fragment f{fragment}, only f0 to f{last}: `veneer fragments` shows them"
    )]
    UnknownFragment {
        class: String,
        method: String,
        fragment: u32,
        last: u32,
    },

    /// Two fragments that no edge joins.
    #[error("{class}::{method} has no edge f{from}->f{to}: `veneer fragments` shows its edges")]
    UnknownEdge {
        class: String,
        method: String,
        from: u32,
        to: u32,
    },

    /// A line without code.
    #[error("{class}::{method} has no code on line {line}{}", lines(first, last))]
    UnknownLine {
        class: String,
        method: String,
        line: u16,
        /// The method's first line with code, where it has a line table.
        first: Option<u16>,
        /// The method's last line with code.
        last: Option<u16>,
    },

    /// A variable that is not live where the log would read it.
    #[error(
        "`{variable}` cannot be read in {class}::{method} at {place}{}",
        readable(live)
    )]
    VariableNotLive {
        variable: String,
        class: String,
        method: String,
        /// The point: `f3`, `entry` …
        place: String,
        /// The variables that can be read there.
        live: Vec<String>,
    },

    /// An edit that the checker refuses.
    #[error("{class}::{method}: cannot {edit}: {reason}")]
    EditRefused {
        class: String,
        method: String,
        edit: EditKind,
        /// What stands in the way, such as a live-in variable that is missing or has another type.
        reason: String,
    },

    /// A method that cannot be armed, so nothing can be attached to it.
    #[error("{class}::{method} cannot be instrumented ({reason}): {detail}")]
    MethodRefused {
        class: String,
        method: String,
        /// The name of the refusal, such as `MethodTooLarge`.
        reason: String,
        detail: String,
    },

    /// Code that has no compiled form at a point.
    #[error("{class}::{method} at {place}: {reason}")]
    NotCompiled {
        class: String,
        method: String,
        /// The point: `f3`, `entry` …
        place: String,
        /// Place in the plan, and why.
        reason: Box<veneer_probes::ProbeError>,
    },

    /// More points than the plan may have meant.
    #[error(
        "this has more than {limit} points: narrow the pattern, or write methods(…).limit({})", limit.saturating_mul(10)
    )]
    TooManyPoints { limit: u32 },

    /// A table that found no room.
    #[error(
        "there is no room for a table of {entries} entries: write a number from 1 to 100000, and think of the other tables"
    )]
    TallyTooLarge { entries: u32 },

    /// A combination of instrument and place that has no meaning or no code yet.
    #[error("{what} is not supported: {instead}")]
    Unsupported {
        what: String,
        /// What to write instead.
        instead: String,
    },

    /// The data plane has no room left.
    #[error(
        "{what} needs {needed} bytes of instrument data but {free} are free: detach an instrument or select fewer points"
    )]
    OutOfData {
        what: String,
        needed: u64,
        free: u64,
    },

    /// The JVM is going down.
    #[error("the JVM is shutting down: nothing more can be attached or detached")]
    ShuttingDown,

    /// The JVM answered a request of the agent with an error.
    #[error("{action} failed: {detail}; the application goes on unchanged")]
    Vm {
        /// What was asked for, and of what class.
        action: String,
        detail: String,
    },
}

fn suggest(nearest: &[String]) -> String {
    if nearest.is_empty() {
        ": check the package, and whether the class has been loaded".to_owned()
    } else {
        format!(": did you mean {}?", nearest.join(" or "))
    }
}

fn lines(first: &Option<u16>, last: &Option<u16>) -> String {
    match (first, last) {
        (Some(first), Some(last)) => format!(": its code is on lines {first} to {last}"),
        _ => ": its class was compiled without line numbers".to_owned(),
    }
}

fn readable(live: &[String]) -> String {
    if live.is_empty() {
        ": no variable is live there".to_owned()
    } else {
        format!(": live there are {}", live.join(", "))
    }
}
