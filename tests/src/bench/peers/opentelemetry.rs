//! OpenTelemetry's agent with its instrumentation of chosen methods: a span for each call.

use super::recorded::RecordedBytes;
use super::timing::Timing;
use crate::bench::groups::Variant;
use crate::jars::jar;
use crate::process::Process;
use crate::trust::part::TrustError;

pub const NAME: &str = "OpenTelemetry, spans that are dropped";

/// The variant with a span for each hot call. The agent says nowhere how many spans it has made.
pub fn tracer(timing: &Timing) -> (Variant, RecordedBytes) {
    let process = || -> Result<Process, TrustError> {
        let agent = jar("opentelemetry-javaagent")?;
        let mut options = vec![format!("-javaagent:{}", agent.display())];
        options.extend(
            [
                "traces.exporter=none",
                "metrics.exporter=none",
                "logs.exporter=none",
                "javaagent.logging=none",
                "instrumentation.common.default-enabled=false",
                "instrumentation.methods.enabled=true",
                "instrumentation.methods.include=HotCall[step]",
            ]
            .map(|option| format!("-Dotel.{option}")),
        );
        Ok(timing.java(&options, &[]))
    };
    (timing.variant(NAME, process()), RecordedBytes::default())
}
