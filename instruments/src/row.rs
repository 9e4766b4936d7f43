//! Query results: the data of instruments, one row per point, and the other lists that a plan can
//! query.

use crate::InstrumentId;
use serde::{Deserialize, Serialize};

/// The data of one point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PointRow {
    /// The dotted class name: `a.b.Outer$Inner`.
    pub class: String,
    /// The method's name and descriptor: `m(I)I`.
    pub method: String,
    /// The fragment; `None` if the point is the whole method.
    pub fragment: Option<u32>,
    /// The target fragment, if the point is an edge.
    pub to: Option<u32>,
    /// The effect and the bytecode index of the instruction, if the point is an instruction: `call
    /// a.b.C::m @17`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// The first source line of the fragment, if the class has a line number table.
    pub line: Option<u16>,
    /// The readings of the point.
    #[serde(flatten)]
    pub data: Measurement,
}

/// The data of one point, by kind of instrument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Measurement {
    /// A timer: the number of finished intervals, and their times in nanoseconds. If `count` is 0,
    /// the times are 0.
    Time {
        /// The number of finished intervals.
        count: u64,
        /// The sum of the intervals, in nanoseconds.
        total_ns: u64,
        /// The shortest interval, in nanoseconds.
        min_ns: u64,
        /// The longest interval, in nanoseconds.
        max_ns: u64,
    },
    /// A counter: the number of passes.
    Count {
        /// The number of times that a thread has passed the point.
        hits: u64,
    },
    /// A value log: the number of events, and how many of them were dropped because a ring buffer
    /// was full.
    Log {
        /// The number of events, without the dropped ones.
        events: u64,
        /// The number of events that found no room in a ring buffer.
        dropped: u64,
    },
}

impl Measurement {
    /// Returns how often the point was passed: hits, finished intervals or events.
    pub fn hits(&self) -> u64 {
        match *self {
            Measurement::Count { hits } => hits,
            Measurement::Time { count, .. } => count,
            Measurement::Log { events, .. } => events,
        }
    }

    /// Returns the sum of both if they are of one kind, otherwise a copy of `self`.
    #[must_use]
    pub fn merged_with(&self, other: &Measurement) -> Measurement {
        match (self.clone(), other.clone()) {
            (Measurement::Count { hits: a }, Measurement::Count { hits: b }) => {
                Measurement::Count { hits: a + b }
            }
            (
                Measurement::Log { events, dropped },
                Measurement::Log {
                    events: e,
                    dropped: d,
                },
            ) => Measurement::Log {
                events: events + e,
                dropped: dropped + d,
            },
            (one @ Measurement::Time { .. }, Measurement::Time { count: 0, .. })
            | (Measurement::Time { count: 0, .. }, one @ Measurement::Time { .. }) => one,
            (
                Measurement::Time {
                    count,
                    total_ns,
                    min_ns,
                    max_ns,
                },
                Measurement::Time {
                    count: c,
                    total_ns: t,
                    min_ns: n,
                    max_ns: x,
                },
            ) => Measurement::Time {
                count: count + c,
                total_ns: total_ns + t,
                min_ns: min_ns.min(n),
                max_ns: max_ns.max(x),
            },
            (one, _) => one,
        }
    }

    /// Returns the value by which tables are sorted: the total time of a timer, otherwise the hits.
    pub fn weight(&self) -> u64 {
        match *self {
            Measurement::Time { total_ns, .. } => total_ns,
            _ => self.hits(),
        }
    }
}

/// A class or method that the agent has not instrumented.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusalRow {
    /// The dotted class name.
    pub class: String,
    /// The method's name and descriptor. An empty text means the whole class.
    pub method: String,
    /// The refusal code, such as `MethodTooLarge`.
    pub reason: String,
    /// The details of the reason.
    pub detail: String,
}

/// One attached or detached instrument, as lists show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstrumentSummary {
    /// The id of the instrument.
    pub id: InstrumentId,
    /// The name given by the plan, or the display form of the spec.
    pub name: String,
    /// `counter`, `timer`, `log(a, b)` or the code of the probe.
    pub kind: String,
    /// The file name of the plan that attached the instrument.
    pub plan: String,
    /// The number of methods that contain the instrument so far.
    pub methods: usize,
    /// The number of points at which the instrument acts so far.
    pub points: usize,
    /// False after the instrument was detached. Its data remain readable.
    pub attached: bool,
}
