//! The last test of a receiver in a run.

use super::super::value::Value;

/// The receiver of a call that was tested for a class.
#[derive(Clone, Copy)]
pub(super) struct TestedReceiver {
    /// The object that was tested.
    pub object: Value,
    /// The key of the effect of the test.
    pub test: u32,
    /// Whether the object is known to be an instance of the class.
    pub has_passed: bool,
}
