//! `veneer tune PID`: finds methods that a transformation may make faster, tries each by an experiment
//! on the running program, and keeps what is proven to be faster.
//!
//! ```text
//!   thread dumps ─▶ candidates ─▶ experiment: windows A, B, B, A … ─▶ Judge ─▶ Decision ─▶ keep, or take back
//! ```
//!
//! An experiment is a plan that the command holds: if the command ends, the agent takes everything
//! back. Ctrl-C ends the experiment early, and the decisions until then are printed. What is kept is
//! attached by a program of its own, which is not held.

mod candidates;
mod counting_plan;
mod decisions;
mod experiment;
mod program;
mod receiver_profile;
mod value_profile;

use std::fs;
use std::io::{self, BufWriter, Write};

use anyhow::{Context, Result};
use veneer_client::{Client, ControlError, Target};
use veneer_experiments::{TuningDecision, TuningReport};

use crate::cli::{TransformationName, TuneArguments};
use crate::interruption::Interruption;
use crate::output::{Style, describe, print_error, print_note};
use candidates::{Candidate, Transformation, huge_methods, selected_methods};
use decisions::{plan, untried, write};
use program::execute;

/// Runs the command and returns the exit code.
pub fn run(arguments: &TuneArguments) -> Result<u8> {
    let target = Target::inspect(arguments.pid)?;
    let mut client = veneer_client::connect(arguments.pid)?;
    let selected = selected_methods(&target, &arguments.patterns)?;
    // Ctrl-C ends the experiment, and the decisions until then are printed. A second one ends at once.
    let interruption = Interruption::catch()?;
    let mut found = Vec::new();
    if arguments.tries(TransformationName::Huge) {
        found.extend(huge_methods(&mut client, &selected)?);
    }
    if arguments.tries(TransformationName::Devirtualise) && !selected.is_empty() {
        print_note(&"counting the classes of the receivers of virtual calls for some seconds");
        let flag = interruption.flag();
        found.extend(receiver_profile::candidates(
            arguments.pid,
            &selected,
            flag,
        )?);
    }
    if arguments.tries(TransformationName::Specialise) && !selected.is_empty() {
        print_note(&"counting the values of parameters for some seconds");
        let flag = interruption.flag();
        found.extend(value_profile::candidates(arguments.pid, &selected, flag)?);
    }
    if found.is_empty() {
        print_note(
            &"no method is running that a transformation may make faster; nothing was changed",
        );
    }
    let mut report = TuningReport::default();
    for candidate in &found {
        if arguments.dry_run || interruption.is_requested() {
            report.decisions.push(untried(candidate));
            continue;
        }
        print_note(&format_args!(
            "{}: at most {} s",
            attempt(candidate),
            arguments.seconds
        ));
        let tried = experiment::run(
            arguments.pid,
            candidate,
            arguments.seconds,
            interruption.flag(),
        );
        let mut tried = match tried {
            Ok(tried) => tried,
            Err(error) if report.decisions.is_empty() => return Err(error),
            // The decisions before the error are shown.
            Err(error) => {
                print_error(&describe(&error));
                break;
            }
        };
        if tried.decision.kept {
            let program = candidate.keep_program(&tried.counts);
            keep(&mut client, program, &mut tried.decision)?;
        }
        report.decisions.push(tried.decision);
    }
    let has_kept = report.decisions.iter().any(|decision| decision.kept);
    report.plan = has_kept.then(|| plan(&report));
    if let Some(file) = &arguments.save {
        fs::write(file, plan(&report)).with_context(|| format!("writing {}", file.display()))?;
    }
    let mut out = BufWriter::new(io::stdout().lock());
    match arguments.json {
        true => writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?,
        false => write(&report, Style::of_stdout(), &mut out)?,
    }
    out.flush()?;
    Ok(0)
}

/// The text of an experiment for people.
fn attempt(candidate: &Candidate) -> String {
    let (method, size) = (&candidate.pattern, candidate.size);
    match &candidate.transformation {
        Transformation::Huge => format!("trying to split {method} ({size} bytes)"),
        Transformation::Devirtualise { calls, receivers } => format!(
            "trying to test the calls of {calls} in {method} for {}",
            receivers.join(", ")
        ),
        Transformation::Specialise { parameter, value } => {
            format!("trying parameter {parameter} of {method} as the constant {value}")
        }
    }
}

/// Attaches a proven transformation so that it stays.
fn keep(client: &mut Client, program: String, decision: &mut TuningDecision) -> Result<()> {
    match execute(client, program) {
        Ok(lines) => decision.patch = lines.into_iter().last(),
        Err(ControlError::Refused(message)) => {
            decision.kept = false;
            decision.reason = message;
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
