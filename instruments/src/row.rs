//! What instruments have measured, one row per point, and the other lists that a plan can ask for.

use crate::InstrumentId;
use serde::{Deserialize, Serialize};

/// The figures of one point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Dotted: `a.b.Outer$Inner`.
    pub class: String,
    /// Name and descriptor: `m(I)I`.
    pub method: String,
    /// The fragment; none where the point is the whole method.
    pub fragment: Option<u32>,
    /// Where the point is an edge: the fragment that it leads to.
    pub to: Option<u32>,
    /// Where the point is an instruction: what it does, and its index in the bytecode: `call a.b.C::m @17`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// The first source line of the fragment, where the class has a line table.
    pub line: Option<u16>,
    /// The figures.
    #[serde(flatten)]
    pub data: Data,
}

/// The figures of one point, by kind of instrument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Data {
    /// Of a timer: finished intervals and their times in nanoseconds. With `count` 0 the times are 0.
    Time {
        count: u64,
        total_ns: u64,
        min_ns: u64,
        max_ns: u64,
    },
    /// Of a counter.
    Count { hits: u64 },
    /// Of a value log: events seen, and of these how many a full ring dropped.
    Log { events: u64, dropped: u64 },
}

impl Data {
    /// How often the point was passed: hits, finished intervals or events.
    pub fn hits(&self) -> u64 {
        match *self {
            Data::Count { hits } => hits,
            Data::Time { count, .. } => count,
            Data::Log { events, .. } => events,
        }
    }

    /// Both together, where they are of one kind; else this one.
    #[must_use]
    pub fn plus(&self, other: &Data) -> Data {
        match (self.clone(), other.clone()) {
            (Data::Count { hits: a }, Data::Count { hits: b }) => Data::Count { hits: a + b },
            (
                Data::Log { events, dropped },
                Data::Log {
                    events: e,
                    dropped: d,
                },
            ) => Data::Log {
                events: events + e,
                dropped: dropped + d,
            },
            (one @ Data::Time { .. }, Data::Time { count: 0, .. })
            | (Data::Time { count: 0, .. }, one @ Data::Time { .. }) => one,
            (
                Data::Time {
                    count,
                    total_ns,
                    min_ns,
                    max_ns,
                },
                Data::Time {
                    count: c,
                    total_ns: t,
                    min_ns: n,
                    max_ns: x,
                },
            ) => Data::Time {
                count: count + c,
                total_ns: total_ns + t,
                min_ns: min_ns.min(n),
                max_ns: max_ns.max(x),
            },
            (one, _) => one,
        }
    }

    /// What tables sort by: total time for a timer, hits otherwise.
    pub fn weight(&self) -> u64 {
        match *self {
            Data::Time { total_ns, .. } => total_ns,
            _ => self.hits(),
        }
    }
}

/// A class or method that was left as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusalRow {
    /// Dotted.
    pub class: String,
    /// Name and descriptor; empty = the whole class.
    pub method: String,
    /// The name of the refusal, such as `MethodTooLarge`.
    pub reason: String,
    /// What exactly was in the way.
    pub detail: String,
}

/// One attached (or detached) instrument, as lists show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    pub id: InstrumentId,
    /// The name that the plan gave it, or the display form of its spec.
    pub name: String,
    /// `counter`, `timer` or `log(a, b)`.
    pub kind: String,
    /// The plan that attached it: its file name.
    pub plan: String,
    /// Methods that it stands in so far.
    pub methods: usize,
    /// Points that it stands on so far.
    pub points: usize,
    /// False once it was detached; its figures stay readable.
    pub attached: bool,
}
