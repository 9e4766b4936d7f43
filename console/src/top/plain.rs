//! Output without a screen: one table at the end, or a JSON object for each sample.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use anyhow::Result;

use super::session::TopSession;
use super::{save, view};
use crate::cli::TopArguments;

/// Default time in seconds.
const DEFAULT_SECONDS: f64 = 2.0;
/// How long to wait for events before the time is checked.
const EVENT_TIMEOUT: Duration = Duration::from_millis(50);

/// How long the command samples, in seconds.
pub fn seconds(arguments: &TopArguments) -> f64 {
    arguments.seconds.unwrap_or(DEFAULT_SECONDS)
}

/// Samples for the given time and prints the results.
pub fn run(session: &mut TopSession, arguments: &TopArguments) -> Result<()> {
    let time = Duration::from_secs_f64(seconds(arguments));
    let mut since: Option<Instant> = None;
    let mut samples = 0;
    let mut stdout = io::stdout().lock();
    let mut last_message = None;
    while session.model.end.is_none() {
        session.process_events(EVENT_TIMEOUT);
        let model = &session.model;
        // Errors are warnings of the plan here. Each new one is printed once.
        let message = model.message().filter(|m| m.bad).map(|m| m.text.clone());
        if message.is_some() && message != last_message {
            if let Some(text) = &message {
                crate::output::print_error(text);
            }
            last_message = message;
        }
        let late = since.is_some_and(|since| since.elapsed() >= time);
        if model.samples > samples {
            samples = model.samples;
            since = since.or_else(|| Some(Instant::now()));
            if arguments.json && !arguments.once && samples > 1 {
                writeln!(stdout, "{}", save::json(model, arguments.rows))?;
                stdout.flush()?;
            }
        }
        // The first sample has no rates, so a second one is needed.
        if late && samples > 1 {
            break;
        }
    }
    let model = &session.model;
    if model.samples > 0 && (arguments.once || !arguments.json) {
        match arguments.json {
            true => writeln!(stdout, "{}", save::json(model, arguments.rows))?,
            false => write!(stdout, "{}", view::as_text(model, arguments.rows))?,
        }
    }
    stdout.flush()?;
    Ok(())
}
