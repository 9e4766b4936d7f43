//! Memory profiles: cache simulation, object lifetimes, sharing of lines between threads, and the
//! file that holds the results.
//!
//! ```text
//!   accesses (address, bytes, kind) + origin (site, type, object group)
//!       │
//!       ├─▶ Simulation          every access, several descriptions ─┐
//!       ├─▶ SampledSimulation   a sample of the sets, with an error ├─▶ MemoryProfile ─▶ file
//!       ├─▶ StackDistances      misses of every cache size          │
//!       └─▶ SharingDetector     lines that threads share ───────────┤
//!   births, last uses, deaths ─▶ LifetimeTable ─────────────────────┘
//! ```
//!
//! [`accesses`] has the tables in which the threads of a JVM count their accesses, and [`heap`] the JVM's
//! samples of allocated objects.
//!
//! **Two stages.** The first level can be simulated elsewhere, for example inside compiled code. Its
//! misses are [`Request`]s, which [`Simulation::l1_request`] accepts.
//!
//! The crate knows no JVM. Its tests compare it with a naive model, and the end-to-end tests compare
//! it with Cachegrind.

mod access;
pub mod accesses;
mod cache;
mod curve_sampler;
mod description;
pub mod estimate;
mod hash;
pub mod heap;
mod hierarchy;
mod histogram;
mod lackey;
mod ledger;
mod lifetimes;
mod machine;
mod miss_curve;
mod preset;
pub mod profile;
mod reuse;
mod sampling;
mod sharing;
mod simulation;
mod window_sample;

pub use access::{Access, AccessKind, Origin};
pub use curve_sampler::{CURVE_SEED, CurveSampler};
pub use description::{
    CacheDescription, DescriptionError, Geometry, Level, MAX_LEVELS, MAX_LINES, MAX_TLB_LEVELS,
    MAX_WAYS, Rules, WritePolicy,
};
pub use estimate::Estimate;
pub use hierarchy::{Hierarchy, Lookups, Outcome, Request, Traffic};
pub use histogram::{BUCKETS, LogHistogram};
pub use lackey::{LackeyReader, TracedAccess};
pub use ledger::{MAX_ORIGINS, References};
pub use lifetimes::{
    AllocationKey, CLOCK_NAMES, CLOCKS, LifetimeTracker, Lifetimes, Moment, ObjectLife, Span,
};
pub use machine::{CACHE_FOLDER, MachineError, read_caches};
pub use miss_curve::{CurvePoint, MAX_CURVE_POINTS, MissCurve, curve_sizes};
pub use preset::{PRESETS, Preset, parse as parse_description};
pub use reuse::{MissRatioCurve, StackDistances};
pub use sampling::{SampledAccount, SampledSimulation, SamplingError, SetSample};
pub use sharing::{
    LineMisses, MAX_SHARED_LINE_SHIFT, MAX_SHARED_LINES, SharedMisses, SharingDetector, SitePair,
    Strides,
};
pub use simulation::{Account, Simulation};
pub use window_sample::{MIN_WINDOWS, WindowSums};
