//! Without a screen: one table at the end, or a JSON object at each look.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use anyhow::Result;

use super::Session;
use super::{save, view};
use crate::cli::TopArguments;

/// Seconds that it takes where nothing is said.
const SECONDS: f64 = 2.0;
/// How long news are waited for before the clock is looked at.
const WAIT: Duration = Duration::from_millis(50);

/// How long it looks.
pub fn seconds(arguments: &TopArguments) -> f64 {
    arguments.seconds.unwrap_or(SECONDS)
}

/// Looks as long as it should, and prints.
pub fn run(session: &mut Session, arguments: &TopArguments) -> Result<()> {
    let time = Duration::from_secs_f64(seconds(arguments));
    let mut since: Option<Instant> = None;
    let mut looks = 0;
    let mut stdout = io::stdout().lock();
    let mut said = None;
    while session.model.end.is_none() {
        session.listen(WAIT);
        let model = &session.model;
        // Warnings of the plan.
        let message = model.message().filter(|m| m.bad).map(|m| m.text.clone());
        if message.is_some() && message != said {
            if let Some(text) = &message {
                crate::output::complain(text);
            }
            said = message;
        }
        let late = since.is_some_and(|since| since.elapsed() >= time);
        if model.looks > looks {
            looks = model.looks;
            since = since.or_else(|| Some(Instant::now()));
            if arguments.json && !arguments.once && looks > 1 {
                writeln!(stdout, "{}", save::json(model, arguments.rows))?;
                stdout.flush()?;
            }
        }
        // The first look has no rates yet.
        if late && looks > 1 {
            break;
        }
    }
    let model = &session.model;
    if model.looks > 0 && (arguments.once || !arguments.json) {
        match arguments.json {
            true => writeln!(stdout, "{}", save::json(model, arguments.rows))?,
            false => write!(stdout, "{}", view::as_text(model, arguments.rows))?,
        }
    }
    stdout.flush()?;
    Ok(())
}
