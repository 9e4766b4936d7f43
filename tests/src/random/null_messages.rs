//! The classes whose null-pointer messages the runner must not read.
//!
//! `NullPointerException.getMessage` can crash HotSpot, in the plain program too: HotSpot's analysis
//! of the operand stack ignores some constants and continues after a switch (`docs/faults.md`,
//! *Faults of HotSpot*). Random methods have such code, compiled ones do not. `veneer check`
//! names the methods for which this analysis is unsound.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use crate::command::veneer;
use crate::process::ProcessError;

/// Exit codes of `veneer check` with a report: no class failed, or some class failed.
const REPORTED: [i32; 2] = [0, 1];

/// The reason why the classes could not be checked.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The command could not be started or did not end.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// The command printed no report, or the report of other classes.
    #[error("veneer check of the random classes: {0}")]
    NoReport(String),
}

/// The parts of the command's JSON that are used.
#[derive(Deserialize)]
struct Checked {
    total: Total,
}

#[derive(Deserialize)]
struct Total {
    classes: usize,
    unsafe_null_messages: Vec<UnsafeMethod>,
}

#[derive(Deserialize)]
struct UnsafeMethod {
    class: String,
}

/// Returns the Java names of the classes in a folder in which a null-pointer message can crash
/// HotSpot. `expected` is the number of classes in the folder.
pub fn unsafe_classes(folder: &Path, expected: usize) -> Result<BTreeSet<String>, CheckError> {
    let output = veneer()
        .args(["check", "--json"])
        .arg(folder)
        .limit(Duration::from_secs(600))
        .run()?;
    if !REPORTED.contains(&output.code) {
        return Err(CheckError::NoReport(output.err));
    }
    let checked: Checked = serde_json::from_str(&output.out)
        .map_err(|error| CheckError::NoReport(error.to_string()))?;
    if checked.total.classes != expected {
        return Err(CheckError::NoReport(format!(
            "{} of {expected} classes were read",
            checked.total.classes
        )));
    }
    let methods = checked.total.unsafe_null_messages.into_iter();
    Ok(methods.map(|method| method.class).collect())
}
