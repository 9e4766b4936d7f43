//! Programs that the command runs in the agent and does not hold.

use veneer_client::{Client, ControlError};
use veneer_protocol::{Reply, Request};

/// The name of the programs in messages.
pub const PROGRAM_NAME: &str = "tune";

/// Runs a program in the agent, and returns the lines that it printed.
///
/// # Errors
/// The program failed ([`ControlError::Refused`]), or the connection did.
pub fn execute(client: &mut Client, source: String) -> Result<Vec<String>, ControlError> {
    client.send(&Request::Exec {
        name: PROGRAM_NAME.into(),
        source,
        settings: Default::default(),
        modules: Default::default(),
        hold: None,
    })?;
    let mut lines = Vec::new();
    loop {
        match client.receive()? {
            Reply::Print(line) => lines.push(line),
            Reply::Done { .. } => return Ok(lines),
            Reply::Failed { message } => return Err(ControlError::Refused(message)),
            _ => return Err(ControlError::Unexpected(client.pid())),
        }
    }
}
