//! What Veneer costs, measured side by side with what a user would pick instead.
//!
//! ```text
//!   workload ─┬─ plain ──────────┐   group 1: plain armed counted JaCoCo …   group 2: armed counted JaCoCo … plain   …
//!             ├─ Veneer's modes ─┼─▶ each a fresh JVM with a pinned heap; every ratio is one within a group
//!             └─ peers ──────────┘        │
//!                                         ▼
//!                Record ─▶ docs/benchmarks/‹part›-‹JDK›.json ─▶ docs/benchmarks.md
//! ```
//!
//! Each part is a module with a function `run(&Scope) -> Result<Record, TrustError>`; the command `bench` (`make bench`,
//! `make bench-quick`) runs them. A workload verifies itself: its output has a checksum of each round, and a run whose output is
//! not that of the plain run is a failure. A peer that does not run on a workload is reported with the line of its error. No figure
//! makes a part fail, and no test depends on one.

pub mod ablation;
pub mod arming;
pub mod attach;
pub mod crowd;
pub mod first;
pub mod footprint;
pub mod groups;
pub mod growth;
pub mod loading;
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

/// A part by name.
pub struct Entry {
    /// The name on the command line and of the file in `docs/benchmarks/`.
    pub name: &'static str,
    /// Runs it.
    pub run: fn(&Scope) -> Result<Record, TrustError>,
    /// Whether a quick session has it: not what has to build or to load a lot before it can begin.
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
        run: crowd::run,
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

/// What every measured JVM gets: a heap whose size does not change, and the collector with the fewest threads.
pub const OPTIONS: [&str; 3] = ["-Xms512m", "-Xmx512m", "-XX:+UseSerialGC"];

/// An error of anything that can be shown.
pub(crate) fn other(error: impl std::fmt::Display) -> TrustError {
    TrustError::Other(error.to_string())
}
