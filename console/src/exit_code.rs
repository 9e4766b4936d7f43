//! The exit code that several commands share.

/// Veneer could not do what was asked.
pub const FAILED: u8 = 2;
