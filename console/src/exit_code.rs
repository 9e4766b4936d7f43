//! The exit code that several commands share.

/// Veneer could not do what was asked.
pub const EXIT_FAILED: u8 = 2;
