//! One event of a value log.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The values of the logged variables when an activation passed a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogEvent {
    /// The dotted class name.
    pub class: String,
    /// The method's name and descriptor.
    pub method: String,
    /// The number of the fragment; `None` for a point that is no fragment.
    pub fragment: Option<u32>,
    /// The source line, if the class has a line number table.
    pub line: Option<u16>,
    /// The id of the Java thread (`Thread.getId()`).
    pub thread: u64,
    /// Nanoseconds since the agent was started.
    pub time_ns: u64,
    /// Variables and their values, in the order in which the log names the variables.
    pub values: Vec<(String, EventValue)>,
}

/// A logged value of a variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum EventValue {
    /// A null reference.
    Null,
    /// A boolean (0 or 1), byte, char, short, int or long.
    Int(i64),
    /// A float or double.
    Float(f64),
    /// A string. For any other object, a text that identifies the object.
    Text(String),
}

impl fmt::Display for EventValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EventValue::Null => f.write_str("null"),
            EventValue::Int(value) => write!(f, "{value}"),
            EventValue::Float(value) => write!(f, "{value:?}"),
            EventValue::Text(text) => write!(f, "{text:?}"),
        }
    }
}
