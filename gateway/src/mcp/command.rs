//! Runs the command `veneer` for a call.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use super::tools::{CallError, Commands};

/// The longest time of a command beyond the time for which it measures: the agent may have to be
/// loaded, and classes have to be armed.
const EXTRA_TIME: Duration = Duration::from_secs(120);

/// The output of the commands of a call.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CommandOutput {
    /// Standard output of the last command.
    pub text: String,
    /// Standard error of all commands.
    pub notes: String,
}

/// Runs the commands one after the other.
///
/// # Errors
/// A command cannot be started, fails, or takes too long.
pub async fn run_all(veneer: &Path, commands: &Commands) -> Result<CommandOutput, CallError> {
    let mut output = CommandOutput::default();
    for words in &commands.words {
        let mut command = Command::new(veneer);
        command
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let limit = EXTRA_TIME + Duration::from_secs_f64(commands.seconds);
        let ended = tokio::time::timeout(limit, command.output()).await;
        let ended = ended.map_err(|_| CallError::TooLong(limit.as_secs()))?;
        let ended = ended.map_err(CallError::NotStarted)?;
        let (text, notes) = (lossy(&ended.stdout), lossy(&ended.stderr));
        if !ended.status.success() {
            return Err(CallError::Failed(format!("{}{}", notes, text)));
        }
        output.notes += &notes;
        output.text = text;
    }
    Ok(output)
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(all: &[&[&str]]) -> Commands {
        let words = |one: &&[&str]| one.iter().map(ToString::to_string).collect();
        Commands {
            words: all.iter().map(words).collect(),
            seconds: 0.0,
            folder: None,
        }
    }

    async fn shell(scripts: &[&str]) -> Result<CommandOutput, CallError> {
        let all: Vec<[&str; 2]> = scripts.iter().map(|script| ["-c", script]).collect();
        let all: Vec<&[&str]> = all.iter().map(<[&str; 2]>::as_slice).collect();
        run_all(Path::new("/bin/sh"), &commands(&all)).await
    }

    #[tokio::test]
    async fn the_last_command_answers_and_a_failure_ends_the_call() {
        let output = shell(&["echo a; echo b >&2", "echo c; echo d >&2"])
            .await
            .unwrap();
        assert_eq!(
            (output.text.as_str(), output.notes.as_str()),
            ("c\n", "b\nd\n")
        );
        let failed = shell(&["echo no >&2; exit 1", "echo c"]).await;
        assert!(matches!(failed, Err(CallError::Failed(reason)) if reason == "no\n"));
        let missing = run_all(Path::new("/none/veneer"), &commands(&[&["ps"]])).await;
        assert!(matches!(missing, Err(CallError::NotStarted(_))));
    }
}
