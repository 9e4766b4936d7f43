//! Requests: everything that the search asks of a driver.

use serde::{Deserialize, Serialize};

use crate::cause::Cause;
use crate::place::{MethodId, Place};

/// A number that the search chose for a probe. It is never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProbeId(pub u32);

/// The quantity that a probe measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// How often the place is entered. A counter is cheap, and shows what a timer would cost.
    Entries,
    /// How long the place takes, with everything that it calls. Nested activations of one thread
    /// count once. An activation that already runs gives a lower bound.
    Time,
}

/// One request. A driver that cannot fulfil it answers so, and the search goes on without it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Report the methods at which threads begin.
    Roots,
    /// Sample the stacks of all threads `hertz` times a second. Zero stops sampling until the next
    /// request.
    Sample {
        /// The rate per second.
        hertz: f64,
    },
    /// Report the callees of a method from its bytecode, without an instrument.
    Callees {
        /// The method whose callees are meant.
        of: MethodId,
    },
    /// Count the receivers at the virtual call sites of a method, which is in the focus.
    Receivers {
        /// The method whose callees are meant.
        of: MethodId,
    },
    /// Attach a probe. A probe of a cause other than time measures the method's own code only.
    Attach {
        /// The probe that the search asked for.
        probe: ProbeId,

        /// The place to measure.
        place: Place,

        /// The cause to measure.
        cause: Cause,

        /// The quantity to measure.
        measure: Measure,
    },
    /// Detach a probe. Readings that arrive later are ignored.
    Detach {
        /// The probe that the search asked for.
        probe: ProbeId,
    },
}
