//! The kinds of instruments.

use serde::{Deserialize, Serialize};
use std::fmt;
use veneer_probes::Code;

/// The kind of an instrument, which determines the [`Data`](crate::Data) of its rows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
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
    Code(Box<Code>),
}

impl Kind {
    /// Returns the name of the kind without its parameters: `counter`, `timer`, `log` or `code`.
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
