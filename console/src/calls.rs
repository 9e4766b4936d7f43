//! `veneer calls`: records call graphs, and shows, compares and adds their files.
//!
//! ```text
//!   JVM ─── record ─▶ CallProfile ─▶ file       also of a program from its start (`veneer run`)
//!   files ─ input ─▶ CallProfile ─▶ Selection ─┬─▶ text        tables and trees for people
//!                                              └─▶ veneer_calls::output ─▶ veneer_flames
//! ```

mod input;
mod record;
mod text;

pub use record::{CompleteRun, ContextOptions, RunCalls, recorded_directories};

use std::io::{self, BufWriter, Write};

use anyhow::Result;
use thiserror::Error;
use veneer_calls::{CallProfile, Measure, Query, Selection, diff, file, output};

use crate::cli::{
    CallsArguments, CallsCommand, CallsDiffArguments, CallsMergeArguments, CallsShowArguments,
    CallsView,
};
use crate::output::Style;
use crate::replaced_file::replace_file;

/// Why there is nothing to show.
#[derive(Debug, Error)]
enum CallsError {
    #[error("name a process id, or show, diff or merge")]
    MissingProcess,
    #[error("no method was called during the recording; record for a longer time")]
    NothingCalled,
    #[error("the profile has no times, because no contexts were recorded; use --by count")]
    NoTimes,
    #[error("the profile has no allocations, because they were not recorded; use --by count")]
    NoAllocations,
    #[error(
        "the profile has no contexts, so there is no tree; --callers and --view gprof need none"
    )]
    NoContexts,
}

/// Runs a command and returns the exit code.
pub fn run(arguments: CallsArguments) -> Result<u8> {
    match (arguments.command, arguments.record) {
        (Some(CallsCommand::Show(arguments)), _) => show(&arguments),
        (Some(CallsCommand::Diff(arguments)), _) => compare(&arguments),
        (Some(CallsCommand::Merge(arguments)), _) => merge(&arguments),
        (None, Some(arguments)) if arguments.complete => record::record_running(&arguments),
        (None, Some(arguments)) if arguments.adaptive => record::record_in_bursts(&arguments),
        (None, Some(arguments)) => record::run(&arguments),
        (None, None) => Err(CallsError::MissingProcess.into()),
    }
}

fn show(arguments: &CallsShowArguments) -> Result<u8> {
    let mut profile = input::read_all(&arguments.files)?;
    if arguments.fold {
        profile = profile.fold_recursion();
    }
    let mut by = Measure::from(arguments.by);
    check_measure(&profile, by)?;
    let is_text = !arguments.format.is_given();
    if is_text && by == Measure::Time && !has_any(&profile, by) {
        eprintln!(
            "veneer: all calls ended within one step of the clock, so the rows are in the order of \
             the counts; --exact-times at the recording measures short calls"
        );
        by = Measure::Count;
    }
    let to = arguments.to.clone().or_else(|| arguments.callers.clone());
    let query = Query {
        from: arguments.from.clone(),
        to,
        // The depth of a tree for people is a limit of the output.
        depth: arguments.depth,
        // Rows of a table are cut when they are printed, so that the table can say how many are left.
        top: arguments.top.filter(|_| !is_text),
        by,
    };
    match &arguments.output {
        None => {
            let mut out = BufWriter::new(io::stdout().lock());
            write(&profile, &query, arguments, Style::of_stdout(), &mut out)?;
            out.flush()?;
        }
        Some(path) => {
            let style = Style::of_output(Some(path));
            replace_file(path, |out| write(&profile, &query, arguments, style, out))?;
        }
    }
    Ok(0)
}

/// Whether the profile has what the measure needs. Contexts without times are no error: the clock of
/// a recording has steps, and calls can be shorter than one.
fn check_measure(profile: &CallProfile, by: Measure) -> Result<(), CallsError> {
    let is_missing = match by {
        Measure::Count => false,
        Measure::Time => profile.contexts().is_empty(),
        Measure::Cpu | Measure::Allocations => !has_any(profile, by),
    };
    match by {
        Measure::Time | Measure::Cpu if is_missing => Err(match was_called(profile) {
            true => CallsError::NoTimes,
            false => CallsError::NothingCalled,
        }),
        Measure::Allocations if profile.allocations().is_empty() && is_missing => {
            Err(CallsError::NoAllocations)
        }
        _ => Ok(()),
    }
}

/// Whether a context of the profile has a cost by the measure.
fn has_any(profile: &CallProfile, by: Measure) -> bool {
    let mut contexts = profile.contexts().iter();
    contexts.any(|one| one.cost.by(by) > 0)
}

/// Whether the profile has any call.
fn was_called(profile: &CallProfile) -> bool {
    let is_entered = profile.methods().iter().any(|one| one.entries > Some(0));
    is_entered || !profile.edges().is_empty()
}

fn write(
    profile: &CallProfile,
    query: &Query,
    arguments: &CallsShowArguments,
    style: Style,
    out: &mut impl Write,
) -> Result<()> {
    let selection = Selection::new(profile, query)?;
    let format = &arguments.format;
    if !format.is_given() {
        if arguments.view == CallsView::Tree && profile.contexts().is_empty() {
            return Err(CallsError::NoContexts.into());
        }
        return text::write(&selection, arguments, style, out);
    }
    if format.flamegraph {
        return write_flame_graph(&selection, arguments, out);
    }
    let result = if format.json {
        output::json::write(&selection, out)
    } else if format.csv {
        output::csv::write(&selection, out)
    } else if format.dot {
        output::dot::write(&selection, out)
    } else if format.pprof {
        output::pprof::write(&selection, out)
    } else if format.collapsed {
        output::collapsed::write(&selection, out)
    } else {
        output::firefox::write(&selection, out)
    };
    Ok(result?)
}

/// Writes a flame graph of the stacks that `--collapsed` prints.
fn write_flame_graph(
    selection: &Selection,
    arguments: &CallsShowArguments,
    out: &mut impl Write,
) -> Result<()> {
    let mut stacks = Vec::new();
    output::collapsed::write(selection, &mut stacks)?;
    let files = arguments
        .files
        .iter()
        .map(|file| file.display().to_string());
    let title = files.collect::<Vec<_>>().join(", ");
    let unit = match selection.by {
        Measure::Count => "calls",
        Measure::Time | Measure::Cpu => "µs",
        Measure::Allocations => "objects",
    };
    let stacks = String::from_utf8_lossy(&stacks);
    out.write_all(veneer_flames::render(&stacks, &title, unit)?.as_bytes())?;
    Ok(())
}

fn compare(arguments: &CallsDiffArguments) -> Result<u8> {
    let before = input::read(&arguments.before)?;
    let after = input::read(&arguments.after)?;
    let by = Measure::from(arguments.by);
    // A method that has become slow may have no time in the other profile.
    check_measure(&before, by).or_else(|_| check_measure(&after, by))?;
    let diff = diff::diff(&before, &after, by);
    let mut out = BufWriter::new(io::stdout().lock());
    match arguments.json {
        true => writeln!(out, "{}", diff.to_json(arguments.top)?)?,
        false => text::write_diff(&diff, by, arguments.top, &mut out)?,
    }
    out.flush()?;
    Ok(0)
}

fn merge(arguments: &CallsMergeArguments) -> Result<u8> {
    let mut merged = input::read_all(&arguments.files)?;
    if arguments.threads {
        merged = merged.without_threads();
    }
    replace_file(&arguments.output, |out| {
        file::write(&merged, out)?;
        Ok(())
    })?;
    Ok(0)
}
