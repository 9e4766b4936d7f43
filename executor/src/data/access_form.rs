//! How memory accesses are recorded, as far as the code of versions depends on it.

/// The form of the first level of the recorded caches, as `VeneerMemory.isHit` reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct L1Form(pub i64);

impl L1Form {
    /// There are no caches: accesses are only counted.
    pub const COUNTED: L1Form = L1Form(-1);
    /// Each access is simulated by a call.
    pub const SLOW: L1Form = L1Form(0);
}

/// How accesses are recorded, as far as the code of versions depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessForm {
    /// The first level of the caches.
    pub l1: L1Form,
    /// Whether only accesses in windows are recorded.
    pub is_sampled: bool,
    /// Whether accesses are also counted by the instruction that allocated the object.
    pub has_origins: bool,
}
