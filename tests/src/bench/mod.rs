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
pub mod arming;
pub mod attach;
pub mod first;
pub mod footprint;
pub mod groups;
pub mod growth;
pub mod loading;
pub mod mass_attach;
pub mod mode;
pub mod page;
pub mod peers;
pub mod prepare;
pub mod probes;
pub mod profile;
pub mod record;
pub mod service;
pub mod slope;
pub mod startup;
pub mod steady;
pub mod timer;
pub mod workload;

pub use crate::trust::{Scope, TrustError};
pub use record::{Figure, Goal, Record};

/// A part of the benchmarks.
pub struct Entry {
    /// The name on the command line and of the file in `docs/benchmarks/`.
    pub name: &'static str,
    pub run: fn(&Scope) -> Result<Record, TrustError>,
    /// Whether a quick session includes the part. Parts that must first build or load a lot are
    /// left out.
    pub quick: bool,
}

/// All parts, in the order of the page.
pub const PARTS: &[Entry] = &[
    Entry {
        name: "steady",
        run: steady::run,
        quick: true,
    },
    Entry {
        name: "profile",
        run: profile::run,
        quick: true,
    },
    Entry {
        name: "startup",
        run: startup::run,
        quick: true,
    },
    Entry {
        name: "timer",
        run: timer::run,
        quick: true,
    },
    Entry {
        name: "probes",
        run: probes::run,
        quick: true,
    },
    Entry {
        name: "attach",
        run: attach::run,
        quick: true,
    },
    Entry {
        name: "crowd",
        run: mass_attach::run,
        quick: true,
    },
    Entry {
        name: "service",
        run: service::run,
        quick: true,
    },
    Entry {
        name: "arming",
        run: arming::run,
        quick: false,
    },
    Entry {
        name: "memory",
        run: footprint::run,
        quick: false,
    },
    Entry {
        name: "executor",
        run: ablation::run,
        quick: true,
    },
    Entry {
        name: "growth",
        run: growth::run,
        quick: true,
    },
];

/// Options of every measured JVM: a heap of constant size, and the collector with the fewest
/// threads.
pub const OPTIONS: [&str; 3] = ["-Xms512m", "-Xmx512m", "-XX:+UseSerialGC"];

/// Converts any displayable error to a `TrustError`.
pub(crate) fn other(error: impl std::fmt::Display) -> TrustError {
    TrustError::Other(error.to_string())
}
