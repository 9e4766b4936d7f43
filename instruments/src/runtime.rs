//! The interface between the script engine and the agent: the operations on the running JVM that a
//! plan can use.
//!
//! The agent implements the [`Runtime`] trait and the scripts call it. The script engine thus does
//! not depend on the JVM, and the agent does not depend on the script language.

use crate::{
    ArmedClass, ArmedMethod, EditKind, EditSpec, EditSummary, EditedGraph, Graph, InstrumentId,
    InstrumentSpec, InstrumentSummary, LogEvent, MethodPattern, PatchId, PatchSummary,
    PlanInstanceId, PointRow, RandomSample, RefusalRow, SpeedupId, SpeedupSpec, SpeedupWindow,
    Tally, TallyKind, VmEventKind, VmEventKinds,
};
use serde::{Deserialize, Serialize};

/// The running JVM, as a plan sees it.
///
/// Only the plan thread calls these methods, never an application thread. The caller must hold no
/// lock, because an implementation may load classes and wait for the JVM.
pub trait Runtime: Send + Sync {
    /// Attaches an instrument to loaded classes and to classes that are loaded later. If the call
    /// fails, no point has changed. An instrument of many methods may take effect only with
    /// [`Runtime::settle`], so that several instruments need one new version of each method.
    fn attach(&self, spec: InstrumentSpec) -> Result<AttachSummary, AttachError>;
    /// Lets all attached instruments take effect. Called when code of a plan has run.
    fn settle(&self) {}
    /// Detaches an instrument. Its data remain readable. Detaching an instrument twice is no error.
    fn detach(&self, id: InstrumentId) -> Result<(), AttachError>;
    /// Detaches several instruments. All of them are detached also if there is an error.
    ///
    /// # Errors
    /// The first error.
    fn detach_all(&self, ids: &[InstrumentId]) -> Result<(), AttachError> {
        let results: Vec<_> = ids.iter().map(|id| self.detach(*id)).collect();
        results.into_iter().collect()
    }
    /// Returns the current data of an instrument, in no order. An unknown id has no rows.
    fn rows(&self, id: InstrumentId) -> Vec<PointRow>;
    /// Returns the last `last` events of a value log, newest last.
    fn events(&self, id: InstrumentId, last: usize) -> Vec<LogEvent>;
    /// Returns what the recording of a recorder has recorded; `None` for another instrument, and
    /// after another recording has begun.
    fn recording(&self, id: InstrumentId) -> Option<RecordingSummary> {
        let _ = id;
        None
    }
    /// Sets the kinds of events of the JVM that plans handle. The JVM reports only these kinds, and
    /// those that a recorder records.
    ///
    /// # Errors
    /// The JVM refuses a kind. The other kinds are reported all the same.
    fn watch_vm_events(&self, kinds: VmEventKinds) -> Result<(), AttachError> {
        let _ = kinds;
        Ok(())
    }
    /// Returns the number of events of a kind that were dropped, because the queue of the plan
    /// thread was full.
    fn dropped_vm_events(&self, kind: VmEventKind) -> u64 {
        let _ = kind;
        0
    }
    /// Begins a virtual speed-up of methods. It ends at [`Runtime::end_speedup`], and otherwise after
    /// the time of the spec.
    ///
    /// # Errors
    /// A JVM can have one virtual speed-up at a time, and the JVM must let the agent stop threads.
    fn begin_speedup(&self, spec: SpeedupSpec) -> Result<SpeedupId, AttachError> {
        let _ = spec;
        Err(AttachError::Unsupported {
            what: "a virtual speed-up without a running program".into(),
            instead: "run the plan in a JVM".into(),
        })
    }
    /// Ends a virtual speed-up, unless it has ended, and returns its measurement. `None` if a later one
    /// has begun, or if the speed-up failed.
    fn end_speedup(&self, id: SpeedupId) -> Option<SpeedupWindow> {
        let _ = id;
        None
    }
    /// Edits the flow graph of the selected methods. If the call fails, no method has changed.
    fn edit(&self, spec: EditSpec) -> Result<EditSummary, AttachError>;
    /// Returns the flow graphs of the methods that a spec selects, before and after its edits, without making them. A
    /// spec without edits shows those that are in effect.
    ///
    /// # Errors
    /// The edits are refused, or the spec selects no loaded method.
    fn edited_graphs(&self, spec: EditSpec) -> Result<Vec<EditedGraph>, AttachError> {
        let _ = spec;
        Ok(Vec::new())
    }
    /// Returns all edits of all plans, in the order in which they were made, including undone ones.
    fn edits(&self) -> Vec<PatchSummary> {
        Vec::new()
    }
    /// Undoes an edit. Undoing an edit twice is no error.
    fn undo(&self, id: PatchId) -> Result<(), AttachError>;
    /// Creates a table for probes, with room for `entries` combinations of keys. Returns its
    /// number.
    fn create_table(&self, kind: TallyKind, entries: u32) -> Result<u32, AttachError>;
    /// Records the plan that owns a table, and the name that the plan has given the table. Reports
    /// show both.
    fn label_table(&self, table: u32, plan: &str, name: Option<&str>) {
        let _ = (table, plan, name);
    }
    /// Records that the entries of a table are the nodes of a call tree. Each has three keys: the
    /// number of its call path, the number of the caller's path (0 for the outermost), and the
    /// method. Exports then show the tree.
    fn mark_call_tree(&self, table: u32, plan: &str) {
        let _ = (table, plan);
    }
    /// Records that the plan reads a table no more. Its room is used again when no code can write
    /// to it.
    fn drop_table(&self, table: u32) {
        let _ = table;
    }
    /// Returns the current content of a table. The table of an unknown number is empty.
    fn read_table(&self, table: u32) -> Tally;
    /// Clears a table. Values that application threads write during the call may remain.
    fn clear_table(&self, table: u32);
    /// Returns the armed methods that any of the patterns selects: all of them in order of arming,
    /// or a sample.
    fn armed_methods(
        &self,
        patterns: &[MethodPattern],
        sample: Option<RandomSample>,
    ) -> Vec<ArmedMethod>;
    /// Returns the flow graphs of the armed methods that any of the patterns selects.
    fn flow_graphs(&self, patterns: &[MethodPattern]) -> Vec<Graph>;
    /// Returns the armed classes that contain methods selected by the patterns, each with these
    /// methods, in order of arming. Loaded classes that are not armed yet are armed first.
    fn classes(&self, patterns: &[MethodPattern]) -> Vec<ArmedClass> {
        let _ = patterns;
        Vec::new()
    }
    /// Returns the flow graph of a method; `None` if the method's class was unloaded.
    fn flow_graph(&self, method: veneer_names::MethodId) -> Option<Graph> {
        let _ = method;
        None
    }
    /// Returns the classes and methods that were not instrumented, with the reasons.
    fn refusals(&self) -> Vec<RefusalRow>;
    /// Returns all instruments, in order of attachment, including detached ones.
    fn instruments(&self) -> Vec<InstrumentSummary>;
    /// Returns completions for the beginning of a name: at most `limit` names of loaded classes,
    /// each up to its next dot. After `::`, the completions are the names of the class's methods.
    /// No class is armed.
    fn completions(&self, beginning: &str, limit: usize) -> Vec<String> {
        let _ = (beginning, limit);
        Vec::new()
    }
    /// Returns the number of activations that are known to run code older than the current version.
    fn stale_activation_count(&self) -> u64;
    /// Returns the time from which the times of occurrences and events count, in seconds since 1970.
    fn start_time(&self) -> f64 {
        0.0
    }
    /// Prints output of a plan, to the JVM's standard error or to the client that runs the plan.
    /// `text` has no final newline.
    fn print(&self, text: &str);
    /// Sets the current plan: all output from now on belongs to this plan instance (see
    /// `veneer_scripts::Session`).
    fn set_current_plan(&self, instance: PlanInstanceId) {
        let _ = instance;
    }
}

/// The result of attaching an instrument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachSummary {
    /// The id of the new instrument.
    pub id: InstrumentId,
    /// The number of methods that contain the instrument now.
    pub methods: usize,
    /// The number of points at which the instrument acts now.
    pub points: usize,
    /// The number of methods that match and were refused. `Runtime::refusals` returns the reasons.
    pub refused: usize,
    /// Warnings for the author of the plan, such as a pattern that matches no method so far.
    pub warnings: Vec<String>,
}

/// The recording of an instrument of the kind `Recorder`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordingSummary {
    /// The directory of the trace, in the file system of the JVM.
    pub directory: String,
    /// The number of threads with an events file.
    pub threads: u32,
    /// The number of methods whose calls are recorded.
    pub methods: u64,
    /// The number of methods that the filter leaves out.
    pub excluded_methods: u64,
    /// The first error while files were written.
    pub problem: Option<String>,
}

/// The reason why an instrument or an edit failed. The state before the call is unchanged. The text
/// is the problem, `: ` and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[error("{}", self.text())]
pub enum AttachError {
    /// The runtime has never assigned this instrument id.
    UnknownInstrument {
        /// The id that the plan passed.
        id: InstrumentId,
    },

    /// The runtime has never assigned this patch id.
    UnknownPatch {
        /// The id that the plan passed.
        id: PatchId,
    },

    /// The patterns of an edit match no loaded method. Unlike an instrument, an edit cannot wait
    /// for classes that are loaded later.
    NothingMatches {
        /// The pattern that matches no method.
        pattern: String,
        /// Similar class names.
        nearest: Vec<String>,
    },

    /// The fragment number exceeds those of the method.
    UnknownFragment {
        /// The class name with dots.
        class: String,
        /// The name of the method.
        method: String,
        /// The number of the missing fragment.
        fragment: u32,
        /// The number of the method's last fragment.
        last: u32,
    },

    /// The two fragments are not connected by an edge.
    /// The class name with dots.
    UnknownEdge {
        /// The class name with dots.
        class: String,
        /// The name of the method.
        method: String,
        /// The fragment at which the edge would begin.
        from: u32,
        /// The fragment to which the edge would lead.
        to: u32,
    },

    /// The source line has no code.
    UnknownLine {
        /// The class name with dots.
        class: String,
        /// The name of the method.
        method: String,
        /// The line that the plan asks for.
        line: u16,
        /// The method's first line with code, if the class has a line number table.
        first: Option<u16>,
        /// The method's last line with code.
        last: Option<u16>,
    },

    /// The variable is not live at a point of the log.
    VariableNotLive {
        /// The name of the variable.
        variable: String,
        /// The class name with dots.
        class: String,
        /// The name of the method.
        method: String,
        /// The name of the point: `f3`, `entry` …
        place: String,
        /// The variables that can be read at the point.
        live: Vec<String>,
    },

    /// The checker has refused the edit.
    EditRefused {
        /// The class name with dots.
        class: String,
        /// The name of the method.
        method: String,
        /// The edit that was refused.
        edit: Box<EditKind>,
        /// The reason, for example a live-in variable that is missing or has another type.
        reason: String,
    },

    /// The method cannot be armed, so no instrument can be attached to it.
    MethodRefused {
        /// The class name with dots.
        class: String,
        /// The name of the method.
        method: String,
        /// The refusal code, such as `MethodTooLarge`.
        reason: String,
        /// The refusal as a sentence.
        detail: String,
    },

    /// The code cannot be compiled at a point.
    NotCompiled {
        /// The class name with dots.
        class: String,
        /// The name of the method.
        method: String,
        /// The name of the point: `f3`, `entry` …
        place: String,
        /// The position in the plan and the reason.
        reason: Box<veneer_probes::ProbeError>,
    },

    /// The selection has more points than the limit of the spec.
    TooManyPoints {
        /// The limit of the spec.
        limit: u32,
    },

    /// The memory for tables is exhausted.
    TallyTooLarge {
        /// The number of entries that the plan asks for.
        entries: u32,
    },

    /// The tables of the JVM leave too little room for another one.
    TablesFull {
        /// The number of entries that the plan asks for.
        entries: u32,
        /// The number of tables that plans and attached instruments have.
        in_use: usize,
        /// The number of tables of former instruments, to which old code may still write.
        left_behind: usize,
    },

    /// This combination of instrument and place is not supported.
    Unsupported {
        /// The requested combination, as a noun.
        what: String,
        /// The alternative to write instead.
        instead: String,
    },

    /// The memory for instrument data is exhausted.
    OutOfData {
        /// The instrument or table that needs the memory.
        what: String,
        /// The number of bytes that are needed.
        needed: u64,
        /// The number of bytes that are free.
        free: u64,
    },

    /// The JVM is shutting down.
    ShuttingDown,

    /// A JVM function that the agent called has failed.
    Vm {
        /// The requested action, with the class that it affects.
        action: String,
        /// The error that the JVM reported.
        detail: String,
    },
}

impl AttachError {
    /// The problem, without the remedy.
    pub fn problem(&self) -> String {
        match self {
            Self::UnknownInstrument { id } => format!("there is no instrument {id}"),
            Self::UnknownPatch { id } => format!("there is no patch {id}"),
            Self::NothingMatches { pattern, .. } => format!("no loaded method matches `{pattern}`"),
            Self::UnknownFragment {
                class,
                method,
                fragment,
                last,
            } => format!("{class}::{method} has no fragment f{fragment}, only f0 to f{last}"),
            Self::UnknownEdge {
                class,
                method,
                from,
                to,
            } => format!("{class}::{method} has no edge f{from}->f{to}"),
            Self::UnknownLine {
                class,
                method,
                line,
                first,
                last,
            } => format!(
                "{class}::{method} has no code on line {line}{}",
                lines(first, last)
            ),
            Self::VariableNotLive {
                variable,
                class,
                method,
                place,
                live,
            } => format!(
                "`{variable}` cannot be read in {class}::{method} at {place}{}",
                readable(live)
            ),
            Self::EditRefused {
                class,
                method,
                edit,
                reason,
            } => format!("{class}::{method}: cannot {edit}: {reason}"),
            Self::MethodRefused {
                class,
                method,
                reason,
                detail,
            } => format!("{class}::{method} cannot be instrumented ({reason}): {detail}"),
            Self::NotCompiled {
                class,
                method,
                place,
                reason,
            } => format!("{class}::{method} at {place}: {reason}"),
            Self::TooManyPoints { limit } => format!("this has more than {limit} points"),
            Self::TallyTooLarge { entries } => {
                format!("there is no room for a table of {entries} entries")
            }
            Self::TablesFull {
                entries,
                in_use,
                left_behind,
            } => format!(
                "there is no room for a table of {entries} entries: {in_use} tables are in use, and \
                 {left_behind} wait until the JVM has collected the old code that filled them"
            ),
            Self::Unsupported { what, .. } => format!("{what} is not supported"),
            Self::OutOfData { what, needed, free } => {
                format!("{what} needs {needed} bytes of instrument data but {free} are free")
            }
            Self::ShuttingDown => {
                "the JVM is shutting down: nothing more can be attached or detached".into()
            }
            Self::Vm { action, detail } => {
                format!("{action} failed: {detail}; the application goes on unchanged")
            }
        }
    }

    /// A change of the plan that solves the problem, if one is known.
    pub fn remedy(&self) -> Option<String> {
        let fixed = match self {
            Self::UnknownInstrument { .. } => "instruments() lists those that there are",
            Self::UnknownPatch { .. } => "it must come from redirect, skip, replace or edit",
            Self::NothingMatches { nearest, .. } if nearest.is_empty() => {
                "check the package, and whether the class has been loaded"
            }
            Self::NothingMatches { nearest, .. } => {
                return Some(format!("did you mean {}?", nearest.join(" or ")));
            }
            Self::UnknownFragment { .. } => "`veneer fragments` shows them",
            Self::UnknownEdge { .. } => "`veneer fragments` shows its edges",
            Self::TooManyPoints { limit } => {
                let larger = limit.saturating_mul(10);
                return Some(format!(
                    "narrow the pattern, or write methods(…).limit({larger})"
                ));
            }
            Self::TallyTooLarge { .. } => "write a number from 1 to 100000",
            Self::TablesFull { in_use: 0, .. } => {
                "the JVM collects old code with its next full collection; `jcmd PID GC.run` starts one"
            }
            Self::TablesFull { .. } => {
                "detach a plan that is no longer needed (`veneer patches` lists them), or ask for \
                 fewer entries"
            }
            Self::Unsupported { instead, .. } => instead,
            Self::OutOfData { .. } => "detach an instrument or select fewer points",
            Self::UnknownLine { .. }
            | Self::VariableNotLive { .. }
            | Self::EditRefused { .. }
            | Self::MethodRefused { .. }
            | Self::NotCompiled { .. }
            | Self::ShuttingDown
            | Self::Vm { .. } => return None,
        };
        Some(fixed.to_string())
    }

    fn text(&self) -> String {
        match self.remedy() {
            Some(remedy) => format!("{}: {remedy}", self.problem()),
            None => self.problem(),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_an_error_is_the_problem_and_the_remedy() {
        let nothing = |nearest: &[&str]| AttachError::NothingMatches {
            pattern: "a.B::m".into(),
            nearest: nearest.iter().map(ToString::to_string).collect(),
        };
        let texts = [
            (
                nothing(&[]),
                "no loaded method matches `a.B::m`: check the package, and whether the class has been loaded",
            ),
            (
                nothing(&["a.C", "a.D"]),
                "no loaded method matches `a.B::m`: did you mean a.C or a.D?",
            ),
            (
                AttachError::TooManyPoints { limit: 5 },
                "this has more than 5 points: narrow the pattern, or write methods(…).limit(50)",
            ),
            (
                AttachError::Unsupported {
                    what: "a timer at a line".into(),
                    instead: "write a counter".into(),
                },
                "a timer at a line is not supported: write a counter",
            ),
        ];
        for (error, text) in texts {
            assert_eq!(error.to_string(), text);
            let remedy = error.remedy().expect("a remedy");
            assert_eq!(format!("{}: {remedy}", error.problem()), text);
        }
    }

    #[test]
    fn an_error_without_a_remedy_has_the_text_of_the_problem() {
        let error = AttachError::UnknownLine {
            class: "a.B".into(),
            method: "m()V".into(),
            line: 7,
            first: Some(10),
            last: Some(12),
        };
        assert_eq!(error.remedy(), None);
        let text = "a.B::m()V has no code on line 7: its code is on lines 10 to 12";
        assert_eq!(error.to_string(), text);
    }
}
