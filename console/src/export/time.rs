//! The time of an export, and the time at which the exported JVM's agent was loaded.

use std::time::{SystemTime, UNIX_EPOCH};

use veneer_export::otlp;
use veneer_protocol::Report;

fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| u64::try_from(now.as_nanos()).unwrap_or(u64::MAX))
}

/// The time at which the agent was loaded, in nanoseconds since 1970.
pub(super) fn start_time(report: &Report) -> u64 {
    now().saturating_sub(report.jvm.millis.saturating_mul(1_000_000))
}

pub(super) fn otlp_context(service: &str, began: u64) -> otlp::ResourceInfo {
    otlp::ResourceInfo {
        service: service.into(),
        began,
        now: now(),
    }
}
