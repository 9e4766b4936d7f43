//! Other tools, at the versions of `tests/jars.txt`. They are configured to do what Veneer does, as
//! far as they can.
//!
//! Each module builds the command of its tool, and a check that the tool has really measured. If a
//! tool cannot run on a JDK or a workload, the table shows its error line.

pub mod aspectj;
pub mod async_profiler;
pub mod btrace;
pub mod byteman;
pub mod flight_recorder;
pub mod jacoco;
pub mod kieker;
pub mod opentelemetry;
mod recorded;
mod source;
mod timing;

pub use recorded::{RecordedBytes, folder_bytes};
pub use source::{compile, source, written};
pub use timing::Timing;

use super::groups::Variant;

/// The variants of all tools that time a method.
pub fn timers(timing: &Timing) -> Vec<Variant> {
    vec![
        aspectj::timer(timing),
        byteman::timer(timing),
        btrace::timer(timing),
        async_profiler::timer(timing),
        flight_recorder::timer(timing),
    ]
}

/// The variants of all tools that record each call of a method, with the bytes that they record.
pub fn tracers(timing: &Timing) -> Vec<(Variant, RecordedBytes)> {
    vec![
        kieker::tracer(timing),
        flight_recorder::tracer(timing),
        opentelemetry::tracer(timing),
        async_profiler::tracer(timing),
    ]
}
