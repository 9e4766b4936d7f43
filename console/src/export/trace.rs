//! Writes a Perfetto trace while the JVM runs.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use veneer_client::ControlError;
use veneer_export::perfetto::TraceWriter;
use veneer_protocol::{MAX_POINTS_PER_UPDATE, Reply, Request, Subscription, UPDATE_PERIOD_MILLIS};

use super::output::Output;
use super::session::ExportSession;
use super::time::start_time;
use crate::cli::ExportArguments;

/// Default interval between two readings, in seconds.
const DEFAULT_INTERVAL_SECONDS: f64 = 0.2;

/// Writes the trace until the time is over or the JVM ends. Returns the exit code.
pub fn run(
    arguments: &ExportArguments,
    mut session: ExportSession,
    mut output: Output,
) -> Result<u8> {
    let report = session.expect_report()?;
    let (pid, scope) = (session.pid(), session.scope().clone());
    let (mut writer, first) = TraceWriter::begin(scope, pid, &report.jvm.name, start_time(&report));
    output.write_now(&first)?;
    let every = Duration::from_secs_f64(arguments.every.unwrap_or(DEFAULT_INTERVAL_SECONDS));
    let every = u64::try_from(every.as_millis()).unwrap_or(*UPDATE_PERIOD_MILLIS.end());
    let mut client = session.into_requests();
    client.send(&Request::Subscribe(Subscription {
        every: every.clamp(*UPDATE_PERIOD_MILLIS.start(), *UPDATE_PERIOD_MILLIS.end()),
        instruments: Vec::new(),
        events: true,
        points: MAX_POINTS_PER_UPDATE,
    }))?;
    let (sender, replies) = channel();
    // The thread ends with the command, or when the receiver is dropped.
    thread::spawn(move || while sender.send(client.receive()).is_ok() {});
    let end = arguments
        .seconds
        .map(|s| Instant::now() + Duration::from_secs_f64(s));
    // The update that follows the end contains the events up to the end.
    let last = end.map(|end| end + 2 * Duration::from_millis(every));
    loop {
        let reply = match last {
            None => replies.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(last) => replies.recv_timeout(last.saturating_duration_since(Instant::now())),
        };
        match reply {
            Ok(Ok(Reply::Update(update))) => {
                output.write_now(&writer.update(&update))?;
                if end.is_some_and(|end| Instant::now() >= end) {
                    break;
                }
            }
            Ok(Ok(Reply::Failed { message })) => bail!("process {pid}: {message}"),
            Ok(Ok(_)) => return Err(ControlError::Unexpected(pid).into()),
            // The JVM has ended. Everything that it sent is in the trace.
            Ok(Err(ControlError::Closed(_))) => break,
            Ok(Err(error)) => return Err(error.into()),
            Err(_) => break,
        }
    }
    output.finish()?;
    Ok(0)
}
