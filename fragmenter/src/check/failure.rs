//! What the checker may find. Every variant says where both sides stood.

use std::fmt;
use thiserror::Error;

/// Both positions when a difference was found.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct At {
    /// The original's pc and instruction.
    pub original: String,
    /// The emitted code's pc and instruction.
    pub emitted: String,
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "original at {}, emitted at {}",
            self.original, self.emitted
        )
    }
}

/// Why emitted code was not shown to be the original.
#[derive(Clone, Debug, PartialEq, Error)]
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
    Operation(At),
    #[error("{0}: the operands differ")]
    Operands(At),
    #[error("{0}: the branches differ")]
    Branch(At),
    #[error("{0}: the switches differ")]
    Switch(At),
    #[error(
        "{at}: the handlers differ ({original} in the original, {emitted} in the emitted code)"
    )]
    Handlers {
        at: At,
        original: usize,
        emitted: usize,
    },
    #[error("{at}: local {slot} is written with another value, or out of turn")]
    Store { at: At, slot: u16 },
    #[error("{0}: the results differ")]
    Result(At),
    #[error("{0}: no place of the original has this operand stack")]
    Stack(At),
    #[error("{at}: an activation cannot leave here: {why}")]
    Leave { at: At, why: String },
    #[error("{at}: an activation cannot come in here: {why}")]
    Resume { at: At, why: String },
    #[error("{0}: a monitor is held where an activation leaves")]
    Monitor(At),
    #[error("point {point} is not the one that versions are made for: {why}")]
    Points { point: usize, why: String },
    #[error("{at}: {why}")]
    Own { at: At, why: String },
    #[error("{0}: the emitted code may go round here for ever")]
    NoProgress(At),
    #[error("{at}: {why}, which is not understood")]
    NotUnderstood { at: At, why: String },
    #[error("more than {0} states")]
    TooManyStates(usize),
}

impl Failure {
    /// The variant's name, for grouping.
    pub fn name(&self) -> String {
        let debug = format!("{self:?}");
        debug
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric())
            .collect()
    }
}
