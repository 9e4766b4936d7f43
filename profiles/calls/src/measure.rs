//! The measures by which results are ordered.

/// The measure by which results are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Measure {
    /// Calls.
    #[default]
    Count,
    /// Wall time.
    Time,
    /// Processor time.
    Cpu,
    /// Allocated objects.
    Allocations,
}
