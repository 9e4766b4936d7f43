//! Which methods a recording has if the user names none, and how many at most.

/// The pattern of all methods that can be recorded.
pub const EVERY_METHOD: &str = "*..*";
/// The most methods of a recording.
pub const MAX_METHODS: u32 = 5_000_000;
