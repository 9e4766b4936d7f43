//! The kinds of instruments.

use serde::{Deserialize, Serialize};
use std::fmt;
use veneer_probes::ProbeCode;

/// The kind of an instrument, which determines the [`Measurement`](crate::Measurement) of its rows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InstrumentKind {
    /// Counts how often a point is passed. The count is exact, even if several threads pass the
    /// point.
    Counter,
    /// Measures the time between the two points of an interval, in nanoseconds, including callees.
    Timer,
    /// Records the values of the named variables each time the point is passed. A name is an entry
    /// of the method's local variable table, or `local3` for slot 3 if the class was compiled
    /// without that table.
    Log(Vec<String>),
    /// Runs a probe: code of the plan, which updates tables. The instrument itself records no data.
    Code(Box<ProbeCode>),
    /// Records the entry and the exit of each call. The measurement of a method is the number of its
    /// calls that were not recorded, because their thread has no file.
    Recorder(RecorderSpec),
}

/// The form and the filter of a recorder.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RecorderSpec {
    /// The form of the recording.
    pub form: RecordingForm,
    /// The lines of a filter, which leaves methods out.
    pub filter: Vec<String>,
}

/// The form in which a recorder writes calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordingForm {
    /// Two events with their times: an event trace.
    Events,
    /// Count and time in the node of the call's context: a calling-context tree. The times are those of
    /// a coarse clock.
    Contexts,
    /// As [`RecordingForm::Contexts`], with exact times.
    ExactContexts,
    /// Counts of the calls of all classes, in the code of their methods.
    CompleteCalls,
    /// Counts of memory accesses and simulated cache misses, by instruction and class. The lines of the
    /// filter describe the caches.
    Accesses,
    /// Counts of allocations by instruction, and the JVM's samples of allocated objects. The filter has
    /// the sampling interval.
    Heap,
}

impl InstrumentKind {
    /// Returns the name of the kind without its parameters: `counter`, `timer`, `log`, `code` or
    /// `recorder`.
    pub fn name(&self) -> &'static str {
        match self {
            InstrumentKind::Counter => "counter",
            InstrumentKind::Timer => "timer",
            InstrumentKind::Log(_) => "log",
            InstrumentKind::Code(_) => "code",
            InstrumentKind::Recorder(_) => "recorder",
        }
    }
}

impl fmt::Display for InstrumentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InstrumentKind::Code(code) => write!(f, "{code}"),
            InstrumentKind::Counter | InstrumentKind::Timer | InstrumentKind::Recorder(_) => {
                f.write_str(self.name())
            }
            InstrumentKind::Log(names) => write!(f, "log({})", names.join(", ")),
        }
    }
}
