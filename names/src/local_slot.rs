//! The numbers of local variables.

use std::fmt;

/// The number of a local variable in the frame of its method, from 0 (JVMS §2.6.1). A `long` or a
/// `double` also takes the next number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalSlot(pub u16);

impl LocalSlot {
    /// The index of the variable in a list of all local variables.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for LocalSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
