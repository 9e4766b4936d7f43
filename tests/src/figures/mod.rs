//! What it costs a program to run under Veneer, as ratios to the same program alone.
//!
//! ```text
//!   group 1: plain armed counters detached   group 2: plain armed counters detached   …   each a fresh JVM
//!              └──────┴────────┴────────┴─ ratio of the same group ─▶ median, least and greatest over the groups
//!   a run:   ├── first third ──┼── second third ──┼── last third: the figures ──┤
//!            attach            detach (mode `detached`)
//! ```
//!
//! The modes alternate, so that a machine that is slow for a minute is slow for all of them. Two clocks are read: the
//! program's own, and the processor time of its main thread, which does not grow while others use the processor.

pub mod machine;
pub mod page;
pub mod run;
pub mod statistics;
pub mod workload;
