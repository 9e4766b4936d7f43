//! The state of an OSR exit during a symbolic run.

use super::value::Value;

/// The state of an OSR exit: an activation that follows a stub out of its body.
#[derive(Clone, Default)]
pub(super) struct OsrExit {
    /// True if the exit began at the check of point 0, false if it began at another check.
    pub entry: bool,
    /// The operand stack at the check.
    pub stack: Vec<Value>,
    /// Locals that the stub loaded: first slot and number of words.
    pub loaded: Vec<(u16, u8)>,
    /// The point number that the stub stored in the frame, once it has made one.
    pub frame: Option<i32>,
    /// The kinds and values in the frame, in order.
    pub added: Vec<(u8, Value)>,
    /// True after the call that hands the activation over.
    pub transferred: bool,
    /// Key of the class to which the result was cast, or [`RESULT_IS_TYPED`].
    pub class: Option<u32>,
}

impl OsrExit {
    pub fn at_check(entry: bool, stack: Vec<Value>) -> OsrExit {
        OsrExit {
            entry,
            stack,
            ..OsrExit::default()
        }
    }
}

/// Replaces a class in [`OsrExit::class`] when the call itself returns the declared result type.
pub(super) const RESULT_IS_TYPED: u32 = u32::MAX;
