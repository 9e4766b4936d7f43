//! Plans of the editor: the functions that they can call, and what a plan would attach.

use std::path::Path;
use std::process::Stdio;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::api_error::ApiError;

/// The most bytes of a plan.
const MAX_PLAN_BYTES: usize = 256 << 10;

/// A function that plans can call, as the editor completes it.
#[derive(Clone, Debug, Serialize)]
pub struct PlanFunction {
    /// The name of the function.
    pub name: String,
    /// Whether the function is called on a receiver: `methods(…).before(…)`.
    pub of_something: bool,
    /// The usage and the description, as text.
    pub help: String,
}

/// A plan that the page wants to have checked.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanText {
    pub source: String,
}

/// Checks a plan by a dry run: `attached`, `printed` and `error`. Neither the agent nor the program sees
/// the plan.
///
/// # Errors
/// The plan is too long, or the command fails for another reason than an error of the plan.
pub async fn dry_run(veneer: &Path, pid: u32, plan: &PlanText) -> Result<Value, ApiError> {
    if plan.source.len() > MAX_PLAN_BYTES {
        return Err(ApiError::bad_request("the plan is longer than 256 KiB"));
    }
    let not_run = |error: std::io::Error| {
        ApiError::of_text("not-started", &format!("`veneer` cannot run: {error}"))
    };
    let mut child = Command::new(veneer)
        .args(["exec", &pid.to_string(), "--dry-run", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(not_run)?;
    let mut input = child.stdin.take();
    let (written, output) = tokio::join!(
        async {
            // The command reads all of the plan before it writes anything.
            match input.take() {
                Some(mut input) => input.write_all(plan.source.as_bytes()).await,
                None => Ok(()),
            }
        },
        child.wait_with_output()
    );
    let output = output.map_err(not_run)?;
    match serde_json::from_slice(&output.stdout) {
        Ok(result) => Ok(result),
        // A command that ended early has closed its input; it says why.
        Err(_) if output.stderr.is_empty() => {
            let reason = written.err().map(|error| error.to_string());
            let reason =
                reason.unwrap_or_else(|| format!("the command ended with {}", output.status));
            Err(ApiError::of_text("not-checked", &reason))
        }
        Err(_) => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(ApiError::of_text("not-checked", said.trim()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_plan_that_is_too_long_or_a_missing_command_is_an_error() {
        let long = PlanText {
            source: " ".repeat(MAX_PLAN_BYTES + 1),
        };
        let refused = dry_run(Path::new("/bin/false"), 7, &long).await;
        assert_eq!(refused.unwrap_err().code, "bad-request");
        let short = PlanText { source: "1".into() };
        let missing = dry_run(Path::new("/none/veneer"), 7, &short).await;
        assert_eq!(missing.unwrap_err().code, "not-started");
        let silent = dry_run(Path::new("/bin/false"), 7, &short).await;
        assert_eq!(silent.unwrap_err().code, "not-checked");
    }
}
