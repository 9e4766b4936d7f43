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
pub enum Failure {
    /// The class file with this role is malformed.
    #[error("the {0} cannot be read: {1}")]
    Unreadable(&'static str, String),
    /// A part that arming must not change differs.
    #[error("the class was changed beyond the code of its methods: {0}")]
    ClassChanged(String),
    /// The class has no method or body with this name, although it was to be emitted.
    #[error("{0} is missing")]
    Missing(String),
    /// The class has a method or a body that was not to be emitted.
    #[error("{0} was not asked for")]
    Unasked(String),
    /// The emitted code executes another operation.
    #[error("{0}: the emitted code does something else")]
    Operation(Location),
    /// The operation has other operands.
    #[error("{0}: the operands differ")]
    Operands(Location),
    /// The conditional branches compare other values or lead elsewhere.
    #[error("{0}: the branches differ")]
    Branch(Location),
    /// The switches have other keys or targets.
    #[error("{0}: the switches differ")]
    Switch(Location),
    /// The exception handlers that cover the instruction differ.
    #[error(
        "{at}: the handlers differ ({original} in the original, {emitted} in the emitted code)"
    )]
    Handlers {
        /// The position of the instruction.
        at: Location,
        /// Number of handlers in the original.
        original: usize,
        /// Number of handlers in the emitted code.
        emitted: usize,
    },
    /// The emitted code writes another value to a local variable of the original, or writes it at
    /// another time.
    #[error("{at}: local {slot} is written with another value, or out of turn")]
    Store {
        /// The position of the instruction.
        at: Location,
        /// The number of the local variable.
        slot: u16,
    },
    /// The method returns another value.
    #[error("{0}: the results differ")]
    Result(Location),
    /// The emitted code has an operand stack that the original never has.
    #[error("{0}: no place of the original has this operand stack")]
    Stack(Location),
    /// The code at a capture point does not save the live values.
    #[error("{at}: an activation cannot leave here: {why}")]
    Leave {
        /// The position of the instruction.
        at: Location,
        /// The reason, as the end of a sentence.
        why: String,
    },
    /// The code of a resume body does not restore the live values.
    #[error("{at}: an activation cannot come in here: {why}")]
    Resume {
        /// The position of the instruction.
        at: Location,
        /// The reason, as the end of a sentence.
        why: String,
    },
    /// A capture point is at a position at which the activation holds a monitor.
    #[error("{0}: a monitor is held where an activation leaves")]
    Monitor(Location),
    /// A capture point of the armed body is not the one that the versions assume.
    #[error("point {point} is not the one that versions are made for: {why}")]
    Points {
        /// The number of the capture point.
        point: usize,
        /// The reason, as the end of a sentence.
        why: String,
    },
    /// An instruction that Veneer inserted is used in a wrong way.
    #[error("{at}: {why}")]
    Own {
        /// The position of the instruction.
        at: Location,
        /// The reason, as the end of a sentence.
        why: String,
    },
    /// A cycle of the emitted code executes no operation of the original.
    #[error("{0}: the emitted code may go round here for ever")]
    NoProgress(Location),
    /// The checker has no rule for the instruction.
    #[error("{at}: {why}, which is not understood")]
    NotUnderstood {
        /// The position of the instruction.
        at: Location,
        /// The reason, as the end of a sentence.
        why: String,
    },
    /// The emitted code could change the text of a `NullPointerException` (JEP 358).
    #[error("HotSpot's analysis for null-pointer messages is sound for the original only: {0}")]
    NullMessage(Inconsistency),
    /// The checker has given up. The value is the limit.
    #[error("more than {0} states")]
    TooManyStates(usize),
}

impl Failure {
    /// The public code: the name of the variant, a stable key for grouping failures.
    pub fn name(&self) -> &'static str {
        self.into()
    }
}
