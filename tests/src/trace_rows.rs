//! The rows of queries of event traces, as `veneer trace query` prints them.

use std::error::Error;
use std::path::Path;

use serde_json::Value;

use crate::command::veneer;

/// Returns the rows of a query.
///
/// # Errors
/// The command fails, or prints a line that is no JSON.
pub fn query(trace: &Path, expression: &str) -> Result<Vec<Value>, Box<dyn Error>> {
    let output = veneer()
        .args(["trace", "query"])
        .arg(trace)
        .args([expression, "--format", "json"])
        .run()?
        .succeeded("veneer trace query")?;
    let rows = output.out.lines().map(serde_json::from_str);
    Ok(rows.collect::<Result<_, _>>()?)
}
