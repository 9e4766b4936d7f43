//! The list of the parts.

use super::record::Record;
use super::{
    ablation, adaptive, arming, attach, call_graph, footprint, frames, growth, large_trace,
    mass_attach, memory_accesses, probes, profile, searching, service, startup, steady, timer,
    tracing,
};
use crate::trust::part::{Scope, TrustError};

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
        name: "call-graph",
        run: call_graph::run,
        quick: false,
    },
    Entry {
        name: "adaptive-contexts",
        run: adaptive::run,
        quick: false,
    },
    Entry {
        name: "memory-accesses",
        run: memory_accesses::run,
        quick: false,
    },
    Entry {
        name: "searching",
        run: searching::run,
        quick: false,
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
        name: "tracing",
        run: tracing::run,
        quick: false,
    },
    Entry {
        name: "large-trace",
        run: large_trace::run,
        quick: false,
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
        name: "page",
        run: frames::run,
        quick: false,
    },
    Entry {
        name: "growth",
        run: growth::run,
        quick: true,
    },
];
