//! Observations: everything that a driver tells the search.
//!
//! A live driver and a replay of recorded observations use the same type. The search reads the
//! observations of one window when [`Observation::WindowEnd`] arrives. Their order within a window
//! does not matter, and an observation about an unknown probe or method is ignored.

use serde::{Deserialize, Serialize};

use crate::cause::Cause;
use crate::locality::LocalityCause;
use crate::place::{GroupId, MethodId, MethodName};
use crate::request::ProbeId;

/// One frame of a stack sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// The method that the frame runs.
    pub method: MethodId,
    /// The line in the source file, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The line of the header of the innermost loop around the line, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loop_line: Option<u32>,
}

/// The stack of one thread at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackSample {
    /// The thread group of the sampled thread.
    pub group: GroupId,
    /// The frames, the outermost first. The last one is the innermost frame that the driver wants
    /// to blame; a driver leaves out the frames of a library that it called.
    pub frames: Vec<Frame>,
    /// The most special cause that the driver recognises.
    pub cause: Cause,
    /// Whether the thread waits for work, as the threads of a pool do. Idle samples are ignored.
    #[serde(default)]
    pub idle: bool,
}

/// A fact about a line, a method or the whole program that samples do not show. A specific finding
/// has it as evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// The method. A fact without a method is about the whole program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<MethodId>,
    /// The line in the source file. A fact without a line is about the whole method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The causes of the findings that the fact supports. An empty list means all causes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// The kind of the fact, for instance `holder`.
    pub source: String,
    /// The fact in words.
    pub text: String,
    /// The locality cause that the fact names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locality: Option<LocalityCause>,
}

/// One message of a driver to the search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Observation {
    /// Declares the name of a method.
    Method {
        /// The number that the driver chose.
        id: MethodId,
        /// The name, as users read it.
        name: MethodName,
    },
    /// Declares the name of a thread group.
    Group {
        /// The number that the driver chose.
        id: GroupId,
        /// The name, as users read it.
        name: String,
    },
    /// The methods at which threads begin: the answer to `Request::Roots`.
    Roots {
        /// The methods, in any order.
        methods: Vec<MethodId>,
    },
    /// The callees of a method: the answer to `Request::Callees` and `Request::Receivers`.
    Callees {
        /// The method whose callees are meant.
        of: MethodId,

        /// The methods that are called.
        callees: Vec<MethodId>,
        /// Whether there are no other callees, for instance at virtual call sites.
        complete: bool,
    },
    /// The driver cannot attach a probe. The search never asks for the same probe again.
    Refused {
        /// The probe that the search asked for.
        probe: ProbeId,
        /// The reason, as users read it.
        reason: String,
    },
    /// The driver cannot sample stacks.
    SamplingRefused {
        /// The reason, as users read it.
        reason: String,
    },
    /// Stacks of all threads at one or more moments of the current window.
    Stacks {
        /// The stacks of all threads.
        samples: Vec<StackSample>,
        /// The time that sampling took from the program, in nanoseconds.
        cost_nanos: u64,
    },
    /// The result of a probe for the last `windows` windows, the current one included.
    Reading {
        /// The probe that the search asked for.
        probe: ProbeId,

        /// The number of windows.
        windows: u32,
        /// At least this much time passed inside the place, in nanoseconds, in all threads.
        low_nanos: u64,
        /// At most this much time passed inside the place. The bounds differ if activations are
        /// still running, or began before the probe.
        high_nanos: u64,
        /// The number of times that the place was entered.
        calls: u64,
        /// The time that the probe took from the program, in nanoseconds.
        cost_nanos: u64,
    },
    /// Time that attaching and detaching took from the program in this window, in nanoseconds.
    Overhead {
        /// The time in nanoseconds.
        nanos: u64,
    },
    /// The current window ends.
    WindowEnd {
        /// The length of the window in nanoseconds.
        nanos: u64,
        /// The time of all threads that were not idle, in nanoseconds.
        active_nanos: u64,
    },
    /// A fact that supports findings. Unlike measurements, facts are also taken after the end.
    Fact(Fact),
    /// The driver cannot see a cause in this program. Remarks are also taken after the end.
    NotSeen {
        /// The cause that the driver cannot see.
        cause: Cause,
        /// The reason, as users read it.
        reason: String,
    },
    /// The program ended, or the driver was detached. Nothing more is measured.
    Ended {
        /// The reason, as users read it.
        reason: String,
    },
}
