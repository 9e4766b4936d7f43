//! The accesses that the threads of a JVM made, as the agent records them: one table for each thread.
//!
//! ```text
//!   compiled Java code ─▶ table of the thread, in memory ─▶ thread-N.accesses ─▶ AccessTable
//!        reads CacheRows                     TableLayout says where each word is
//! ```
//!
//! The agent and its Java class `VeneerMemory` simulate the caches, and count by site and class. A
//! table has an entry for each pair of a site and a class. Each thread has caches of its own, as if
//! it had a processor for itself.

mod curve_file;
mod layout;
mod table;

pub use curve_file::{
    CURVE_SUFFIX, MAX_CURVES, curve_file, parse_curves, read_curves, write_curves,
};
pub use layout::{CacheRow, LayoutError, MAX_DESCRIPTIONS, TableLayout};
pub use table::{
    ACCESSES_SUFFIX, AccessEntry, AccessTable, EntryCount, LOCKED_ORIGIN, TableError, TableTotals,
    accesses_file,
};
