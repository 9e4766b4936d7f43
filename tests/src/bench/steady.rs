//! Measures the steady state of each workload: plain, armed without a plan, counted, detached
//! again, and with JaCoCo.

use std::time::Instant;

use super::groups::{Series, Variant, measure};
use super::mode::Mode;
use super::peers::jacoco;
use super::prepare::Compiled;
use super::record::{Goal, Record};
use super::record::{geometric_mean, shown};
use super::workload::{Workload, session};
use crate::bench::statistics::median;
use crate::jdk::Jdk;
use crate::trust::part::Table;
use crate::trust::part::{Scope, TrustError};

/// Veneer's modes, in the order of the columns.
const MODES: [Mode; 3] = [Mode::Armed, Mode::Detached, Mode::Counted];

/// Runs the part `steady`.
pub fn run(scope: &Scope) -> Result<Record, TrustError> {
    let begun = Instant::now();
    let mut record = Record::new("steady", "Steady state", scope)?;
    record.part.words = vec![
        "The ratio of each mode to the plain run of its group: median over the groups (5), and in \
         brackets the lowest and the highest value. A run is a fresh JVM that does its work in \
         rounds; only the last third of the rounds is measured. *Processor time* is that of the \
         main thread as the kernel reports it, *time* is the median round by the program's own \
         clock. Goals apply to processor time, which does not increase when other processes use \
         the machine; if other threads do most of the work (ecj), goals apply to time."
            .into(),
        "*Armed*: `veneer run` without a plan. *Every block counted*: a counter on each basic \
         block of the workload's own code and of its libraries, from the start. *Detached again*: \
         these counters, detached after a third of the rounds. *JaCoCo*: its agent with default \
         settings (a flag for each branch, not a count)."
            .into(),
    ];
    let mut rows = Vec::new();
    for workload in session(scope.quick) {
        for jdk in scope.jdks.iter().take(1) {
            match one(workload, jdk, scope.quick) {
                Ok(series) => rows.push((workload, series)),
                Err(e) => record.part.failures.push(format!("{}: {e}", workload.name)),
            }
        }
    }
    tables(&mut record, &rows);
    goals(&mut record, &rows);
    record.part = record.part.with_duration_since(begun);
    Ok(record)
}

fn one(workload: &'static Workload, jdk: &Jdk, quick: bool) -> Result<Vec<Series>, TrustError> {
    let compiled = Compiled::workload(jdk, workload)?;
    let rounds = workload.rounds(quick);
    let java = workload.java(jdk, &compiled, rounds, &[], &[]);
    let mut variants = vec![Variant::new("plain", java.clone())];
    for mode in MODES {
        variants.push(mode.variant(workload, &java, rounds, &compiled)?);
    }
    variants.push(jacoco::counting(workload, jdk, &compiled, rounds));
    let groups = if quick { 2 } else { workload.groups };
    Ok(measure(workload.name, groups, &variants))
}

type Rows = [(&'static Workload, Vec<Series>)];

fn tables(record: &mut Record, rows: &Rows) {
    let names: Vec<String> = match rows.first() {
        Some((_, series)) => series.iter().skip(1).map(|s| s.name.clone()).collect(),
        None => return,
    };
    let mut columns = vec!["workload", "plain, ms a round"];
    columns.extend(names.iter().map(String::as_str));
    let mut processor = Table::new("Processor time, ratio to plain", &columns);
    let mut time = Table::new("Time, ratio to plain", &columns);
    for (workload, series) in rows {
        let plain = series.first().map(|s| s.time.clone()).unwrap_or_default();
        record.figure("round", workload.name, "plain", "ms", &plain);
        let fault = series.first().and_then(|s| s.error.clone());
        let fault = fault.map(|error| format!("{}, plain: {error}", workload.name));
        record.part.failures.extend(fault);
        let mut cells = vec![
            format!("{}: {}", workload.name, workload.what),
            shown(&plain, 1),
        ];
        let mut others = cells.clone();
        for one in series.iter().skip(1) {
            record.figure(
                "ratio of processor time",
                workload.name,
                &one.name,
                "×",
                &one.processor_ratio,
            );
            record.figure(
                "ratio of time",
                workload.name,
                &one.name,
                "×",
                &one.time_ratio,
            );
            let cell = |values: &[f64]| match &one.error {
                Some(_) if values.is_empty() => "did not run".to_string(),
                _ => shown(values, 2),
            };
            cells.push(cell(one.ratios()));
            others.push(cell(&one.time_ratio));
            if let Some(error) = &one.error {
                let line = format!("{}, {}: {error}", workload.name, one.name);
                if one.peer {
                    record.part.words.push(format!("Did not run: {line}"));
                } else {
                    record.part.failures.push(line);
                }
            }
        }
        processor.rows.push(cells);
        time.rows.push(others);
    }
    for (table, of) in [(&mut processor, true), (&mut time, false)] {
        let mut cells = vec!["**geometric mean**".to_string(), String::new()];
        for name in &names {
            let mean = geometric_mean(&medians(rows, name, of));
            cells.push(mean.map_or("–".into(), |m| format!("**{m:.3}**")));
        }
        table.rows.push(cells);
    }
    record.part.tables.extend([processor, time]);
}

/// The medians of a mode over the workloads, of processor time or of time.
fn medians(rows: &Rows, name: &str, processor: bool) -> Vec<f64> {
    let series = rows.iter().flat_map(|(_, series)| series);
    series
        .filter(|s| s.name == name)
        .filter_map(|s| median(if processor { s.ratios() } else { &s.time_ratio }))
        .collect()
}

fn goals(record: &mut Record, rows: &Rows) {
    let above = |mode: Mode, most: f64| -> Vec<String> {
        let name = mode.to_string();
        rows.iter()
            .flat_map(|(w, series)| series.iter().map(move |s| (w, s)))
            .filter(|(_, s)| s.name == name)
            .filter_map(|(w, s)| median(s.ratios()).map(|m| (w, m)))
            .filter(|(_, m)| *m >= most + 0.005)
            .map(|(w, m)| format!("{} {m:.2}", w.name))
            .collect()
    };
    for (mode, most) in [
        (Mode::Armed, 1.01),
        (Mode::Detached, 1.01),
        (Mode::Counted, 1.15),
    ] {
        if let Some(mean) = geometric_mean(&medians(rows, &mode.to_string(), true)) {
            let what = format!("{mode}: geometric mean over the workloads");
            record.goals.push(Goal::at_most(&what, most, "", mean));
        }
    }
    record.goals.push(Goal::everywhere(
        "armed, idle: no workload above 1.03",
        "≤ 1.03 each",
        &above(Mode::Armed, 1.03),
    ));
    let mut lost = Vec::new();
    for (workload, series) in rows {
        let of = |name: &str| {
            let one = series.iter().find(|s| s.name == name)?;
            median(one.ratios())
        };
        if let (Some(ours), Some(theirs)) = (of(&Mode::Counted.to_string()), of(jacoco::NAME))
            && ours >= theirs
        {
            lost.push(format!("{} {ours:.2}, JaCoCo {theirs:.2}", workload.name));
        }
    }
    record.goals.push(Goal::everywhere(
        "every block counted: below JaCoCo on every workload",
        "below JaCoCo",
        &lost,
    ));
}
