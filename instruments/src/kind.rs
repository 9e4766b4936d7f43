//! What an instrument measures.

use serde::{Deserialize, Serialize};
use std::fmt;
use veneer_probes::Code;

/// The kind of an instrument, which decides the [`Data`](crate::Data) of its rows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// How often a point was passed: exact, under threads too.
    Counter,
    /// Time between the two points of an interval, inclusive of callees, in nanoseconds.
    Timer,
    /// Values of the named variables, each time the point is passed. A name is one of the method's local
    /// variable table, or `local3` for slot 3 where the class was compiled without that table.
    Log(Vec<String>),
    /// Nothing by itself: code of the plan runs there, and gives values to tables.
    Code(Box<Code>),
}

impl Kind {
    /// The kind without its parameters: `counter`, `timer` or `log`.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Timer => "timer",
            Kind::Log(_) => "log",
            Kind::Code(_) => "code",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Code(code) => write!(f, "{code}"),
            Kind::Counter | Kind::Timer => f.write_str(self.name()),
            Kind::Log(names) => write!(f, "log({})", names.join(", ")),
        }
    }
}
