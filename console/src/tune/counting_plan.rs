//! A held plan that counts in the program, and prints what it has found as lines of JSON. The last line is
//! `{"profiled":true}`.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::program::PROGRAM_NAME;
use crate::held_plan::{HeldPlan, PlanEnd};
use crate::output::print_note;

/// A line that the plan prints.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum CountedLine<T> {
    Found(T),
    Profiled {
        #[serde(rename = "profiled")]
        _profiled: bool,
    },
}

/// Runs a plan, and returns what it has found. Ends early if `interrupted` is set. If the plan fails, a note says
/// that `subject` cannot be counted.
///
/// # Errors
/// The connection failed.
pub fn count<T: DeserializeOwned>(
    pid: u32,
    (program, subject): (String, &str),
    interrupted: &Arc<AtomicBool>,
) -> Result<Vec<T>> {
    let mut plan = HeldPlan::start(pid, PROGRAM_NAME, program, interrupted)?;
    let mut found = Vec::new();
    let ended = plan.read(|text| match serde_json::from_str(text) {
        Ok(CountedLine::Found(one)) => {
            found.push(one);
            false
        }
        Ok(CountedLine::Profiled { .. }) => true,
        Err(_) => false,
    })?;
    if let PlanEnd::Failed(message) = ended {
        print_note(&format_args!("{subject} cannot be counted: {message}"));
    }
    Ok(found)
}
