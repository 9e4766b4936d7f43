//! Measures the overhead of Veneer as a ratio: a program under Veneer to the same program alone.
//!
//! ```text
//!   group 1: plain armed counters detached   group 2: plain armed counters detached   …
//!              └──────┴────────┴────────┴─ ratios of the same group ─▶ median and range over groups
//!   a run (a fresh JVM):
//!            ├── first third ──┼── second third ──┼── last third: measured ──┤
//!            attach            detach (mode `detached`)
//! ```
//!
//! The modes alternate, so that a slow minute of the machine affects all of them. Two clocks are
//! read: the program's own clock, and the processor time of its main thread. The latter does not
//! increase while other processes use the processor.

pub mod machine;
pub mod page;
pub mod run;
pub mod statistics;
pub mod workload;
