//! The failures that the checker reports. Most variants name the position on both sides.

use crate::hotspot::null_message::Inconsistency;
use std::fmt;
use thiserror::Error;

/// The positions on both sides at which a difference was found.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Location {
    /// pc and instruction of the original.
    pub original: String,
    /// pc and instruction of the emitted code.
    pub emitted: String,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "original at {}, emitted at {}",
            self.original, self.emitted
        )
    }
}

/// The reason why emitted code was not shown to be equivalent to the original.
#[derive(Clone, Debug, PartialEq, Error, strum::IntoStaticStr)]
#[allow(missing_docs)]
pub enum Failure {
    #[error("the {0} cannot be read: {1}")]
    Unreadable(&'static str, String),
    #[error("the class was changed beyond the code of its methods: {0}")]
    ClassChanged(String),
    #[error("{0} is missing")]
    Missing(String),
    #[error("{0} was not asked for")]
    Unasked(String),
    #[error("{0}: the emitted code does something else")]
    Operation(Location),
    #[error("{0}: the operands differ")]
    Operands(Location),
    #[error("{0}: the branches differ")]
    Branch(Location),
    #[error("{0}: the switches differ")]
    Switch(Location),
    #[error(
        "{at}: the handlers differ ({original} in the original, {emitted} in the emitted code)"
    )]
    Handlers {
        at: Location,
        original: usize,
        emitted: usize,
    },
    #[error("{at}: local {slot} is written with another value, or out of turn")]
    Store { at: Location, slot: u16 },
    #[error("{0}: the results differ")]
    Result(Location),
    #[error("{0}: no place of the original has this operand stack")]
    Stack(Location),
    #[error("{at}: an activation cannot leave here: {why}")]
    Leave { at: Location, why: String },
    #[error("{at}: an activation cannot come in here: {why}")]
    Resume { at: Location, why: String },
    #[error("{0}: a monitor is held where an activation leaves")]
    Monitor(Location),
    #[error("point {point} is not the one that versions are made for: {why}")]
    Points { point: usize, why: String },
    #[error("{at}: {why}")]
    Own { at: Location, why: String },
    #[error("{0}: the emitted code may go round here for ever")]
    NoProgress(Location),
    #[error("{at}: {why}, which is not understood")]
    NotUnderstood { at: Location, why: String },
    #[error("HotSpot's analysis for null-pointer messages is sound for the original only: {0}")]
    NullMessage(Inconsistency),
    #[error("more than {0} states")]
    TooManyStates(usize),
}

impl Failure {
    /// The public code: the name of the variant, a stable key for grouping failures.
    pub fn name(&self) -> &'static str {
        self.into()
    }
}
