//! One event of a value log.

use serde::{Deserialize, Serialize};
use veneer_measurements::EventValue;
use veneer_names::FragmentId;

/// The values of the logged variables when an activation passed a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogEvent {
    /// The dotted class name.
    pub class: String,
    /// The method's name and descriptor.
    pub method: String,
    /// The fragment; `None` for a point that is no fragment.
    pub fragment: Option<FragmentId>,
    /// The source line, if the class has a line number table.
    pub line: Option<u16>,
    /// The id of the Java thread (`Thread.getId()`).
    pub thread: u64,
    /// Nanoseconds since the agent was started.
    pub time_ns: u64,
    /// Variables and their values, in the order in which the log names the variables.
    pub values: Vec<(String, EventValue)>,
}
