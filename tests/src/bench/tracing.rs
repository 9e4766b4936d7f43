//! Measures the cost of a recorded call in an event trace, beside the traces of other tools of the same
//! method.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use super::groups::{CheckError, Series, Variant, measure};
use super::peers::{RecordedBytes, Timing, folder_bytes, tracers};
use super::prepare::Compiled;
use super::record::{Goal, Record, shown};
use super::workload::{CALLS, HOT_CALL};
use crate::bench::statistics::median;
use crate::java_programs::Programs;
use crate::jdk::Jdk;
use crate::observing_cost;
use crate::process::Process;
use crate::trace_rows::query;
use crate::trust::part::Table;
use crate::trust::part::{Scope, TrustError};

/// The name of the main variant, which has a goal.
const WITH_CPU: &str = "Veneer, wall and processor time";
/// The number of rounds. Most tools take microseconds for a call.
const ROUNDS: usize = 9;
/// The goals for a call in nanoseconds: on a JDK of version 25 and newer, and on older ones.
const GOALS: (u32, f64, f64) = (25, 40.0, 90.0);
/// The recordings of which each calibrates the cost of a call.
const RECORDINGS: usize = 5;
/// The goal for the calibrated cost as a part of the fastest raw call, which has some 20 ns of work. A cost above 1
/// is more than there was.
const CORRECTION: (f64, f64) = (0.5, 1.1);

/// Runs the part `tracing`.
pub fn run(scope: &Scope) -> Result<Record, TrustError> {
    let begun = Instant::now();
    let mut record = Record::new("tracing", "A recorded call of a small hot method", scope)?;
    record.part.words = vec![format!(
        "The method of the part on timers, {CALLS} calls in each of {ROUNDS} rounds. Each tool records \
         each call on its own, with its begin and its duration, into a file. The figures are the \
         differences between a round and the plain round of the same group, divided by the number of \
         calls: the time by the program's own clock, which includes waits for the writer of a file, and \
         the processor time of the main thread. They include the inlining that the tool prevents. \
         OpenTelemetry makes spans and drops them, because its exporters would need another process. \
         JFR records methods from JDK 25 on."
    )];
    let jdk = scope.jdks.first().ok_or(TrustError::NoJdk)?;
    let compiled = Compiled::workload(jdk, &HOT_CALL)?;
    let timing = Timing {
        jdk,
        compiled: &compiled,
        rounds: ROUNDS,
        calls: CALLS * ROUNDS as u64,
        program: &HOT_CALL,
    };
    let java = HOT_CALL.java(jdk, &compiled, ROUNDS, &[], &[]);
    let mut variants = vec![Variant::new("plain", java.clone())];
    let mut bytes: Vec<RecordedBytes> = vec![Rc::default()];
    for (name, filter) in [
        (WITH_CPU, "processor_time rseq\n"),
        ("Veneer, wall time", "processor_time none\n"),
    ] {
        let (variant, recorded) = traced(&java, &timing, name, filter)?;
        variants.push(variant);
        bytes.push(recorded);
    }
    for (variant, recorded) in tracers(&timing) {
        variants.push(variant);
        bytes.push(recorded);
    }
    let groups = if scope.quick { 2 } else { 7 };
    let series = measure("tracing", groups, &variants);
    report(&mut record, jdk.major(), &series, &bytes);
    correction(&mut record, jdk)?;
    record.part = record.part.with_duration_since(begun);
    Ok(record)
}

/// Veneer's recorder on the hot method.
fn traced(
    java: &Process,
    timing: &Timing,
    name: &str,
    filter: &str,
) -> Result<(Variant, RecordedBytes), TrustError> {
    let folder = timing.folder(&name.replace([' ', ','], "-"))?;
    let (rules, trace) = (folder.join("filter"), folder.join("trace"));
    std::fs::write(&rules, filter)?;
    let [rules, place] = [&rules, &trace].map(|path| path.display().to_string());
    let options = ["--arm", "HotCall", "--trace", &place, "--filter", &rules];
    let recorded: RecordedBytes = Rc::default();
    let (result, calls) = (recorded.clone(), timing.calls);
    let variant = Variant::new(name, crate::command::run(&options, java));
    let variant = variant.checked(move |_| check_trace(&trace, calls, &result));
    Ok((variant, recorded))
}

/// All calls must be in the trace. The trace is removed, so that the next run finds no directory.
fn check_trace(trace: &Path, calls: u64, bytes: &Cell<u64>) -> Result<(), CheckError> {
    let unreadable = |reason| CheckError::Unreadable {
        path: PathBuf::from(trace),
        reason,
    };
    bytes.set(folder_bytes(trace).map_err(unreadable)?);
    let counted = query(
        trace,
        r#"calls("HotCall::step(..)").by("method").show("count")"#,
    );
    let counted = counted.map_err(|error| unreadable(std::io::Error::other(error.to_string())))?;
    let seen = counted.first().and_then(|row| row["count"].as_u64());
    std::fs::remove_dir_all(trace).map_err(unreadable)?;
    match seen {
        Some(seen) if seen == calls => Ok(()),
        seen => Err(CheckError::Miscounted {
            instrument: "recorder",
            seen,
            calls,
        }),
    }
}

/// The differences to the plain runs for each call in nanoseconds, one value for each group.
fn nanoseconds(values: &[f64], plain: &[f64]) -> Vec<f64> {
    let pairs = values.iter().zip(plain);
    pairs.map(|(a, b)| (a - b) * 1e6 / CALLS as f64).collect()
}

/// Compares the calibrated cost of a call with the raw time of a call in a program that does almost nothing. Most
/// of that time is the cost, and the rest is the work of the program, some 20 ns.
fn correction(record: &mut Record, jdk: &Jdk) -> Result<(), TrustError> {
    let failed = TrustError::failed("the cost of observing");
    let programs = Programs::compile_folder(jdk.clone(), observing_cost::PACKAGE)?;
    let (mut costs, mut times, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    for n in 0..RECORDINGS {
        let trace = programs.classes().join(&format!("costs-{n}"));
        observing_cost::record(&programs, &trace, "processor_time none").map_err(&failed)?;
        let all = observing_cost::rounds(&trace).map_err(&failed)?;
        let of_a_call = |nanoseconds: u64| nanoseconds as f64 / observing_cost::CALLS as f64;
        let cost = all.iter().map(|round| of_a_call(round.cost()));
        let wall = all.iter().map(|round| of_a_call(round.wall));
        let (cost, wall) = (cost.fold(f64::MAX, f64::min), wall.fold(f64::MAX, f64::min));
        costs.push(cost);
        times.push(wall);
        parts.push(cost / wall);
    }
    let program = "observing.Calls";
    record.figure(
        "calibrated cost of a call",
        program,
        "recorder",
        "ns",
        &costs,
    );
    record.figure("fastest raw call", program, "recorder", "ns", &times);
    let mut table = Table::new("The cost by which times are corrected", &["", "ns a call"]);
    table.rows = vec![
        vec!["calibrated cost".to_owned(), shown(&costs, 1)],
        vec![
            "fastest raw call of a method that does almost nothing".to_owned(),
            shown(&times, 1),
        ],
    ];
    record.part.tables.push(table);
    if let Some(part) = record.figure("cost in a raw call", program, "recorder", "×", &parts) {
        let what = "calibrated cost, as a part of a raw call that does almost nothing";
        let (least, most) = CORRECTION;
        record.goals.push(Goal::between(what, least, most, part));
    }
    Ok(())
}

fn report(record: &mut Record, jdk: u32, series: &[Series], bytes: &[RecordedBytes]) {
    let Some((plain, others)) = series.split_first() else {
        return;
    };
    let fault = plain.error.as_ref().map(|e| format!("plain: {e}"));
    record.part.failures.extend(fault);
    record.figure("round", HOT_CALL.name, "plain", "ms", &plain.time);
    let mut table = Table::new(
        "",
        &[
            "tool",
            "ns a call",
            "processor time, ns a call",
            "bytes a call",
            "",
        ],
    );
    let mut peers: Vec<(f64, String)> = Vec::new();
    let mut mine = None;
    let calls = (CALLS * ROUNDS as u64) as f64;
    for (one, bytes) in others.iter().zip(bytes.iter().skip(1)) {
        let wall = nanoseconds(&one.time, &plain.time);
        let processor = nanoseconds(&one.processor, &plain.processor);
        record.figure("recorded call", HOT_CALL.name, &one.name, "ns", &wall);
        record.figure(
            "recorded call, processor time",
            HOT_CALL.name,
            &one.name,
            "ns",
            &processor,
        );
        let size = bytes.get() as f64 / calls;
        if size > 0.0 {
            record.figure(
                "recorded call, size",
                HOT_CALL.name,
                &one.name,
                "bytes",
                &[size],
            );
        }
        match (median(&wall), one.peer) {
            (Some(wall), true) => peers.push((wall, one.name.clone())),
            (wall, false) if one.name == WITH_CPU => mine = wall,
            _ => {}
        }
        if let (Some(error), false) = (&one.error, one.peer) {
            record.part.failures.push(format!("{}: {error}", one.name));
        }
        table.rows.push(vec![
            one.name.clone(),
            shown(&wall, 1),
            shown(&processor, 1),
            if size > 0.0 {
                format!("{size:.1}")
            } else {
                "–".into()
            },
            one.error.clone().unwrap_or_default(),
        ]);
    }
    record.part.tables.push(table);
    let Some(mine) = mine else { return };
    let (from, newer, older) = GOALS;
    let most = if jdk >= from { newer } else { older };
    record.goals.push(Goal::at_most(
        "a recorded call with wall and processor time",
        most,
        "ns",
        mine,
    ));
    let lost: Vec<String> = peers
        .into_iter()
        .filter(|(theirs, _)| *theirs <= mine)
        .map(|(theirs, name)| format!("{name} {theirs:.1} ns"))
        .collect();
    record.goals.push(Goal::everywhere(
        "the same, below every peer",
        "below",
        &lost,
    ));
}
