//! Queries of a trace, which the command `veneer trace query` answers.

use std::path::Path;
use std::process::Stdio;

use serde::de::IgnoredAny;
use tokio::process::Command;

use super::api_error::ApiError;

/// The first query of each trace: its methods by their own time.
pub const FIRST_QUERY: &str = "calls().by(\"method\").show(\"method\", \"count\", \"sum(wall)\", \"sum(self)\", \"max(wall)\").sort(\"-sum(self)\").top(30)";
/// The most rows of an answer.
const MAX_ROWS: usize = 1_000;

/// Runs a query of a trace. Returns `rows`, with the columns in the order of the query, and `left_out`, the
/// number of further rows.
///
/// # Errors
/// The query is malformed, or the trace cannot be read.
pub async fn run(veneer: &Path, directory: &Path, text: &str) -> Result<String, ApiError> {
    if text.starts_with('-') {
        return Err(ApiError::bad_request(
            "a query begins with `calls` or `events`",
        ));
    }
    let mut command = Command::new(veneer);
    command
        .args(["trace", "query"])
        .arg(directory)
        .args([text, "--format", "json"])
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = command.output().await;
    let output = output.map_err(|error| {
        ApiError::of_text("not-started", &format!("`veneer` cannot run: {error}"))
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(ApiError::bad_request(said.trim()));
    }
    Ok(rows(&String::from_utf8_lossy(&output.stdout)))
}

/// The answer as JSON. The rows are copied, because a JSON value would sort their columns.
fn rows(text: &str) -> String {
    let lines = text.lines();
    let is_json = |line: &&str| serde_json::from_str::<IgnoredAny>(line).is_ok();
    let kept: Vec<&str> = lines.clone().filter(is_json).take(MAX_ROWS).collect();
    let left_out = lines.count().saturating_sub(MAX_ROWS);
    format!("{{\"rows\":[{}],\"left_out\":{left_out}}}", kept.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn a_long_answer_is_cut() {
        let text = "{\"wall\":1}\n".repeat(MAX_ROWS + 3);
        let found: Value = serde_json::from_str(&rows(&text)).unwrap();
        assert_eq!(found["rows"].as_array().map(Vec::len), Some(MAX_ROWS));
        assert_eq!(found["left_out"], 3);
    }

    #[test]
    fn the_columns_keep_their_order() {
        let text = "{\"method\":\"a\",\"count\":1}\nnot JSON\n";
        assert_eq!(
            rows(text),
            r#"{"rows":[{"method":"a","count":1}],"left_out":0}"#
        );
        assert_eq!(rows(""), r#"{"rows":[],"left_out":0}"#);
    }
}
