//! The summary of a recording: what the trace has, and what was left out.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Result;
use veneer_instruments::RefusalRow;
use veneer_traces::format::names::ProbeRecord;
use veneer_traces::{Names, Trace};

use super::text::{clean, duration};
use crate::quantity::{plural, quantity};

/// The most methods of each list in the summary.
const MAX_LISTED: usize = 10;

/// The calls and methods that a recording does not contain, as far as the agent knows them.
#[derive(Debug, Default)]
pub struct LeftOut {
    /// The warnings of the plan: activations that began before the recording.
    pub warnings: Vec<String>,
    /// The number of methods that the filter left out.
    pub excluded_methods: u64,
    /// The methods that the agent refused.
    pub refusals: Vec<RefusalRow>,
    /// Which calls were counted and not recorded: a part of a sentence.
    pub uncounted: String,
    /// The number of these calls by method.
    pub calls: Vec<(String, u64)>,
    /// The first error while the files were written.
    pub problem: Option<String>,
}

/// Writes the summary of a trace.
pub fn write(to: &mut impl Write, directory: &Path, left_out: &LeftOut) -> Result<()> {
    let trace = Trace::open(directory)?;
    let threads = trace.all_threads()?;
    let calls: u64 = threads.iter().map(|thread| thread.index.nodes).sum();
    let segments = || threads.iter().flat_map(|thread| &thread.index.segments);
    let first = segments()
        .map(|one| one.place.header.start)
        .min()
        .unwrap_or(0);
    let last = segments().map(|one| one.last).max().unwrap_or(first);
    let ns = trace.names.clock.nanoseconds(last.saturating_sub(first));
    let findings = trace.findings(&threads);
    writeln!(
        to,
        "{}: {calls} {} in {}, {} ({} instrumented)",
        directory.display(),
        plural(calls, "call"),
        quantity(threads.len() as u64, "thread"),
        duration(ns),
        quantity(trace.names.frames.len().saturating_sub(1) as u64, "method")
    )?;
    for (name, count) in findings.list() {
        if count > 0 {
            writeln!(to, "  {count} {name}")?;
        }
    }
    write_costs(to, &trace.names)?;
    write_left_out(to, left_out)?;
    Ok(())
}

/// Writes what a recorded call costs.
fn write_costs(to: &mut impl Write, names: &Names) -> io::Result<()> {
    let ns = |picoseconds: u64| format!("{:.1} ns", picoseconds as f64 / 1000.0);
    let mut probes: Vec<&ProbeRecord> = names.probes.values().collect();
    probes.sort_by_key(|probe| probe.id);
    for probe in &probes {
        writeln!(
            to,
            "  cost of observing: {} in a {} and {} around it, ± {}",
            ns(probe.inside_ps),
            clean(&probe.name),
            ns(probe.outside_ps),
            ns(probe.spread_ps)
        )?;
    }
    match probes.is_empty() {
        true => writeln!(
            to,
            "  cost of observing: not measured, so times are not corrected"
        ),
        false => Ok(()),
    }
}

fn write_left_out(to: &mut impl Write, left_out: &LeftOut) -> io::Result<()> {
    if left_out.excluded_methods > 0 {
        let what = quantity(left_out.excluded_methods, "method");
        writeln!(to, "  not recorded: {what}, by the filter")?;
    }
    for warning in &left_out.warnings {
        writeln!(to, "  not recorded: {}", clean(warning))?;
    }
    let calls: u64 = left_out.calls.iter().map(|(_, count)| count).sum();
    if calls > 0 {
        writeln!(
            to,
            "  not recorded: {calls} calls {}, which are virtual threads and threads beyond 255 at a time",
            left_out.uncounted
        )?;
        for (method, count) in left_out.calls.iter().take(MAX_LISTED) {
            writeln!(to, "    {count} of {}", clean(method))?;
        }
        write_rest(to, left_out.calls.len(), "methods")?;
    }
    if !left_out.refusals.is_empty() {
        let count = left_out.refusals.len();
        writeln!(
            to,
            "  not recorded: {count} methods or classes that cannot be armed"
        )?;
        for row in left_out.refusals.iter().take(MAX_LISTED) {
            let name = match row.method.as_str() {
                "" => row.class.clone(),
                method => format!("{}::{method}", row.class),
            };
            writeln!(to, "    {}: {}", clean(&name), row.reason)?;
        }
        write_rest(to, count, "refusals; `veneer refusals PID` lists them")?;
    }
    match &left_out.problem {
        Some(problem) => writeln!(to, "  incomplete: {}", clean(problem)),
        None => Ok(()),
    }
}

fn write_rest(to: &mut impl Write, count: usize, what: &str) -> io::Result<()> {
    match count.saturating_sub(MAX_LISTED) {
        0 => Ok(()),
        rest => writeln!(to, "    … {rest} more {what}"),
    }
}
