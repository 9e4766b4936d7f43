//! Measures the cost of Veneer beside that of the tools that a user would choose instead.
//!
//! ```text
//!   workload ─┬─ plain ──────────┐   group 1: plain armed counted JaCoCo …   group 2: armed …
//!             ├─ Veneer's modes ─┼─▶ each a fresh JVM with a fixed heap; ratios within a group
//!             └─ peers ──────────┘        │
//!                                         ▼
//!                Record ─▶ docs/benchmarks/‹part›-‹JDK›.json ─▶ docs/benchmarks.md
//! ```
//!
//! Each part is a module with a function `run(&Scope) -> Result<Record, TrustError>`. The command
//! `bench` (`make bench`, `make bench-quick`) runs the parts.
//!
//! * A workload verifies itself. Its output has a checksum of each round, and a run fails if its
//!   output differs from that of the plain run.
//! * If another tool fails on a workload, the page shows its error line.
//! * A poor figure does not make a part fail, and no test depends on one.

pub mod ablation;
mod adaptive;
pub mod arming;
pub mod attach;
pub mod call_graph;
pub mod first;
pub mod footprint;
pub mod frames;
mod graph_sizes;
pub mod groups;
pub mod growth;
mod jvm_options;
pub mod large_trace;
pub mod loading;
pub mod mass_attach;
mod memory_accesses;
pub mod mode;
pub mod page;
mod parts;
pub mod peers;
pub mod prepare;
mod printed_number;
pub mod probes;
pub mod profile;
mod ratio_table;
pub mod record;
pub mod run;
pub mod searching;
pub mod service;
pub mod slope;
pub mod startup;
pub mod statistics;
pub mod steady;
pub mod timer;
pub mod tracing;
pub mod workload;

pub use crate::trust::{Scope, TrustError};
pub use jvm_options::OPTIONS;
pub use parts::{Entry, PARTS};
pub use record::{Figure, Goal, Record};
