//! The result of comparing one class.

use super::failure::Failure;

/// The result of comparing one class.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// Number of compared bodies: methods of an armed class, or `enter` and `resume` bodies of a
    /// version class.
    pub methods: usize,
    /// Number of symbolic runs from nodes of the product.
    pub states: usize,
    /// The failures, at most one per body. The text is the method's name and descriptor, followed
    /// by the body's name in a version class. It is empty for a failure of the class as a whole.
    pub failures: Vec<(String, Failure)>,
}

impl Checked {
    /// True if no failure was found.
    pub fn passed(&self) -> bool {
        self.failures.is_empty()
    }
}
