//! The exit codes that several commands share.

/// Veneer could not do what was asked.
pub const EXIT_FAILED: u8 = 2;

/// The JVM refused a question, or the question matched no method.
pub const EXIT_REFUSED: u8 = 1;

/// A second Ctrl-C ended the command: 128 and the number of SIGINT, as a shell has it.
pub const EXIT_INTERRUPTED: i32 = 130;
