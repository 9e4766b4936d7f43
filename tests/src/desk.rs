//! `Desk` of `tests/java/control`: it serves as many orders as it is told to, while another thread of it makes turns.

use crate::live::{Live, LiveError, number};
use crate::process::Output;

/// What it says of so many orders.
pub fn served(count: i64) -> String {
    (3 * count * (count - 1) / 2).to_string()
}

/// Has it serve so many orders.
///
/// # Errors
/// Also where it says another sum than [`served`].
pub fn serve(desk: &mut Live, count: i64) -> Result<(), LiveError> {
    desk.say(&format!("run {count}"))?;
    let sum = desk.line("sum ")?;
    if sum != served(count) {
        return Err(LiveError::Answer(format!("{sum} for {count} orders")));
    }
    Ok(())
}

/// Its end.
///
/// # Errors
/// Also where a turn of its other thread was lost or done twice, or somebody wrote to its standard error but a JVM that warns of agents.
pub fn stopped(desk: Live) -> Result<(), Box<dyn std::error::Error>> {
    let Output { out, err, .. } = desk.stop()?.succeeded("Desk")?;
    let last = out.lines().last().unwrap_or_default();
    let turns = number(last, "turns").ok_or("no turns")?;
    if turns <= 0 || number(last, "twice") != Some(2 * turns) {
        return Err(last.into());
    }
    let warning = |line: &&str| !line.starts_with("WARNING: ") && !line.is_empty();
    let said: Vec<&str> = err.lines().filter(warning).collect();
    match said.is_empty() {
        true => Ok(()),
        false => Err(said.join("\n").into()),
    }
}
