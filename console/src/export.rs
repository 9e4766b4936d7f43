//! `veneer export`: figures of a running JVM for other programs, once, or for as long as the command runs.
//!
//! ```text
//!   Session ── report ──▶ render ──▶ file                 once
//!      │          └─────▶ serve: /metrics, push: OTLP     --listen, --otlp
//!      └────── updates ─▶ trace ───▶ file                 --format perfetto
//! ```

mod output;
mod push;
mod serve;
mod session;
mod trace;

use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Result, bail};
use veneer_export::{collapsed, csv, openmetrics, otlp};
use veneer_protocol::Report;

use crate::cli::{ExportArguments, Format};
use output::Output;
use session::{Begun, Session};

/// Exports, and gives the exit code.
pub fn run(arguments: ExportArguments) -> Result<u8> {
    if let Some(contradiction) = arguments.contradiction() {
        bail!("{contradiction}");
    }
    // Before anything is attached: what the plan measures should not be lost for a file that cannot be written.
    let output = match arguments.goes_on() {
        true => None,
        false => Some(Output::open(
            arguments.output.as_deref(),
            arguments.format == Format::Perfetto,
        )?),
    };
    let served = serve::bind(&arguments)?;
    let pushed = push::Pushed::prepare(&arguments)?;
    let mut session = match Session::begin(&arguments)? {
        Begun::Session(session) => session,
        Begun::PlanFailed => return Ok(crate::exec::PROGRAM_FAILED),
    };
    match output {
        None => serve::run(&arguments, session, served, pushed),
        Some(output) if arguments.format == Format::Perfetto => {
            trace::run(&arguments, session, output)
        }
        Some(mut output) => {
            if let Some(seconds) = arguments.seconds {
                thread::sleep(Duration::from_secs_f64(seconds));
            }
            let report = session.expect_report()?;
            output.write(render(&arguments, &report)?.as_bytes())?;
            output.finish()?;
            Ok(0)
        }
    }
}

/// The text of a report.
fn render(arguments: &ExportArguments, report: &Report) -> Result<String> {
    Ok(match arguments.format {
        Format::Openmetrics => openmetrics::render(report),
        Format::Otlp => otlp::json(report, &about(&arguments.service, began(report)))?,
        Format::Collapsed => collapsed::render(report),
        Format::Csv => csv::render(report)?,
        Format::Json => serde_json::to_string_pretty(report)? + "\n",
        // It has its own way, and never comes here.
        Format::Perfetto => String::new(),
    })
}

fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| u64::try_from(now.as_nanos()).unwrap_or(u64::MAX))
}

/// When the agent came in, in nanoseconds since 1970.
fn began(report: &Report) -> u64 {
    now().saturating_sub(report.jvm.millis.saturating_mul(1_000_000))
}

fn about(service: &str, began: u64) -> otlp::About {
    otlp::About {
        service: service.into(),
        began,
        now: now(),
    }
}
