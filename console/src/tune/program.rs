//! Programs that the command runs in the agent and does not hold.

use veneer_client::{Client, ControlError};

/// The name of the programs in messages.
pub const PROGRAM_NAME: &str = "tune";

/// Runs a program in the agent, and returns the lines that it printed.
///
/// # Errors
/// The program failed ([`ControlError::Refused`]), or the connection did.
pub fn execute(client: &mut Client, source: String) -> Result<Vec<String>, ControlError> {
    client.execute(PROGRAM_NAME, source, None)
}
