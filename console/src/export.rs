//! `veneer export`: exports the metrics of a running JVM to other programs, once or continuously.
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
mod time;
mod trace;

use std::thread;
use std::time::Duration;

use anyhow::{Result, bail};
use veneer_export::{collapsed, csv, openmetrics, otlp};
use veneer_protocol::Report;

use crate::cli::{ExportArguments, Format};
pub use output::Output;
use session::{ExportSession, SessionStart};
use time::{otlp_context, start_time};

/// Exports the metrics and returns the exit code.
pub fn run(arguments: ExportArguments) -> Result<u8> {
    if let Some(contradiction) = arguments.contradiction() {
        bail!("{contradiction}");
    }
    // The output is opened before anything is attached. Otherwise the plan's measurements would be
    // lost if the file cannot be written.
    let output = match arguments.is_continuous() {
        true => None,
        false => Some(Output::open(
            arguments.output.as_deref(),
            arguments.format == Format::Perfetto,
        )?),
    };
    let server = serve::bind(&arguments)?;
    let pusher = push::Pusher::prepare(&arguments)?;
    let mut session = match ExportSession::begin(&arguments)? {
        SessionStart::Session(session) => session,
        SessionStart::PlanFailed => return Ok(crate::exec::EXIT_PROGRAM_FAILED),
    };
    match output {
        None => serve::run(&arguments, session, server, pusher),
        Some(output) if arguments.format == Format::Perfetto => {
            trace::run(&arguments, session, output)
        }
        Some(mut output) => {
            if let Some(seconds) = arguments.seconds {
                thread::sleep(Duration::from_secs_f64(seconds));
            }
            let report = session.expect_report()?;
            output.write_now(render(&arguments, &report)?.as_bytes())?;
            output.finish()?;
            Ok(0)
        }
    }
}

/// Weights of a report are passes, values of tables and microseconds.
const NO_UNIT: &str = "";

/// Renders a report in the requested format.
fn render(arguments: &ExportArguments, report: &Report) -> Result<String> {
    Ok(match arguments.format {
        Format::Openmetrics => openmetrics::render(report),
        Format::Otlp => otlp::encode_json(
            report,
            &otlp_context(&arguments.service, start_time(report)),
        )?,
        Format::Collapsed => collapsed::render(report),
        Format::Flamegraph => {
            let process = format!("process {}", report.jvm.pid);
            let title = match &arguments.plan {
                Some(plan) => format!("{}, {process}", plan.display()),
                None => process,
            };
            veneer_flames::render(&collapsed::render(report), &title, NO_UNIT)?
        }
        Format::Csv => csv::render(report)?,
        Format::Json => serde_json::to_string_pretty(report)? + "\n",
        // `run` handles Perfetto traces separately and never calls this function for them.
        Format::Perfetto => String::new(),
    })
}
