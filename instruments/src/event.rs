//! One entry of a value log.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The values that an activation had when it passed a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Dotted.
    pub class: String,
    /// Name and descriptor.
    pub method: String,
    pub fragment: Option<u32>,
    pub line: Option<u16>,
    /// The Java thread's id (`Thread.getId()`).
    pub thread: u64,
    /// Nanoseconds since the agent began.
    pub time_ns: u64,
    /// Variable and value, in the order in which the log names them.
    pub values: Vec<(String, Value)>,
}

/// A value of a Java variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// `null`.
    Null,
    /// boolean (0 or 1), byte, char, short, int, long.
    Int(i64),
    /// float, double.
    Float(f64),
    /// A string, or for another object a text that identifies it.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Int(value) => write!(f, "{value}"),
            Value::Float(value) => write!(f, "{value:?}"),
            Value::Text(text) => write!(f, "{text:?}"),
        }
    }
}
