//! What the connections bring, and which of them brings it.

use super::figures::{Look, Told};

/// A connection, by what it holds. Numbers are given out once, so what comes late from one that was closed belongs to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Channel {
    /// The counters of all methods.
    Calls,
    /// The blocks and edges of the method that is looked into.
    Inside(u64),
    /// One instrument that was attached by a key.
    Probe(u64),
    /// Holds nothing: asks which variables a method has.
    Question(u64),
}

/// What has come.
#[derive(Debug, Clone, PartialEq)]
pub struct News {
    /// From where.
    pub channel: Channel,
    /// What.
    pub what: What,
}

/// See [`News`].
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// What is being done now.
    Stage(String),
    /// What the plan told.
    Told(Told),
    /// Figures.
    Look(Look),
    /// Somebody else took it off.
    TakenOff,
    /// Anything else that the plan printed: a warning, an error in a callback.
    Said(String),
    /// All that the plan attaches stands.
    Holds,
    /// The agent refused the plan; the connection is closed.
    Failed(String),
    /// The JVM has ended.
    Ended,
    /// The JVM could not be reached, or the connection broke.
    Lost(String),
}
