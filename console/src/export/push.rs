//! Pushes metrics to an OpenTelemetry collector: OTLP over HTTP, as protobuf.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use thiserror::Error;
use veneer_export::otlp;
use veneer_protocol::Report;

use super::time::{otlp_context, start_time};
use crate::cli::ExportArguments;
use crate::output::print_error;

/// How long to wait for the collector.
const PUSH_TIMEOUT: Duration = Duration::from_secs(5);
/// Default interval between two pushes, in seconds.
const DEFAULT_PUSH_SECONDS: f64 = 10.0;

/// Why the collector did not accept a report.
#[derive(Debug, Error)]
enum PushError {
    /// The collector answered with a status other than success.
    #[error("it answered {0}")]
    Status(ureq::http::StatusCode),
    /// The collector could not be reached.
    #[error(transparent)]
    Transport(#[from] ureq::Error),
}

/// A collector, and the result of the pushes so far.
pub struct Pusher {
    agent: ureq::Agent,
    address: String,
    service: String,
    every: Duration,
    next: Instant,
    /// The time at which the agent was loaded, set by the first report. All pushes must contain the
    /// same time.
    began: Option<u64>,
    /// The last push failed, and that was reported.
    failing: bool,
    succeeded: bool,
}

impl Pusher {
    /// Checks the address of the collector. Sends nothing yet.
    pub fn prepare(arguments: &ExportArguments) -> Result<Option<Pusher>> {
        let Some(address) = &arguments.otlp else {
            return Ok(None);
        };
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(PUSH_TIMEOUT))
            .max_redirects(0)
            .http_status_as_error(false)
            .build();
        let every = Duration::from_secs_f64(arguments.every.unwrap_or(DEFAULT_PUSH_SECONDS));
        Ok(Some(Pusher {
            agent: config.into(),
            address: endpoint(address)?,
            service: arguments.service.clone(),
            every,
            // The first push is immediate, so that a wrong address is reported at once.
            next: Instant::now(),
            began: None,
            failing: false,
            succeeded: false,
        }))
    }

    /// The time of the next push.
    pub fn next(&self) -> Instant {
        self.next
    }

    /// Whether at least one push failed and none succeeded.
    pub fn has_failed(&self) -> bool {
        self.failing && !self.succeeded
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    /// Pushes a report. A failure is reported once, and the next push is attempted as usual. The
    /// metrics are totals, so a failed push loses nothing.
    pub fn push(&mut self, report: &Report) {
        let began = *self.began.get_or_insert_with(|| start_time(report));
        let body = otlp::encode_protobuf(report, &otlp_context(&self.service, began));
        match self.send(&body) {
            Ok(()) => {
                if self.failing {
                    print_error(&format!("{} accepts metrics again", self.address));
                }
                (self.failing, self.succeeded) = (false, true);
            }
            Err(reason) => {
                if !self.failing {
                    let (address, seconds) = (&self.address, self.every.as_secs_f64());
                    print_error(&format!(
                        "{address} did not accept the metrics: {reason}; the next attempts are {seconds} s apart"
                    ));
                }
                self.failing = true;
            }
        }
        self.next = Instant::now() + self.every;
    }

    fn send(&self, body: &[u8]) -> Result<(), PushError> {
        let request = self.agent.post(&self.address);
        let request = request.header("Content-Type", otlp::CONTENT_TYPE);
        let status = request.send(body)?.status();
        if status.is_success() {
            Ok(())
        } else {
            Err(PushError::Status(status))
        }
    }
}

/// Returns the collector's address. If the address has no path, the standard path for metrics is
/// added.
fn endpoint(address: &str) -> Result<String> {
    let Some(rest) = address.strip_prefix("http://") else {
        if address.starts_with("https://") {
            bail!(
                "--otlp {address}: https is not supported; run a collector on this machine, and let it forward the metrics"
            );
        }
        bail!("--otlp {address}: write http://HOST:PORT, such as http://127.0.0.1:4318");
    };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    if host.is_empty() || host.contains(|c: char| c.is_whitespace() || c == '@' || c == '?') {
        bail!("--otlp {address}: write http://HOST:PORT, such as http://127.0.0.1:4318");
    }
    Ok(match path {
        "" => format!("http://{host}{}", otlp::METRICS_PATH),
        path => format!("http://{host}/{path}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_a_path_gets_the_metrics_path() {
        for (address, expected) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/metrics"),
            ("http://collector:4318/", "http://collector:4318/v1/metrics"),
            (
                "http://a:9090/api/v1/otlp/v1/metrics",
                "http://a:9090/api/v1/otlp/v1/metrics",
            ),
        ] {
            assert_eq!(endpoint(address).unwrap(), expected);
        }
        for address in [
            "",
            "127.0.0.1:4318",
            "https://a",
            "http://",
            "http://a b",
            "http://u@h",
        ] {
            assert!(endpoint(address).is_err(), "{address}");
        }
    }
}
