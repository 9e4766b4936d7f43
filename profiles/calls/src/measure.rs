//! The measures by which results are ordered.

/// The measure by which results are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Measure {
    /// The number of calls.
    #[default]
    Count,
    /// The wall time of calls.
    Time,
    /// The processor time of calls.
    Cpu,
    /// The number of allocated objects.
    Allocations,
}
