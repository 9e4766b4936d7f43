//! Measures the cost of recorded memory accesses on each workload: counted only, and with simulated
//! caches.

use std::path::Path;
use std::time::Instant;

use super::groups::{CheckError, Variant, measure};
use super::peers::folder_bytes;
use super::prepare::Compiled;
use super::ratio_table::RatioTable;
use super::record::{Goal, Record};
use super::workload::Workload;
use crate::command;
use crate::jdk::Jdk;
use crate::process::Process;
use crate::trust::part::{Scope, TrustError};

const ALLOCATIONS: &str = "allocation sites";
const COUNTED: &str = "accesses counted";
const SAMPLED: &str = "L1 and L2, sampled";
const EXACT: &str = "L1 and L2, exact";
/// The caches of the exact simulation.
const CACHES: &str = "L1:32K/8/64,L2:1M/16/64";
/// The goal of exact simulation, as a ratio to the plain program.
const MOST_EXACT: f64 = 10.0;
/// The goal of sampled simulation, as a ratio to the plain program.
const MOST_SAMPLED: f64 = 2.0;
/// The goal of counted allocations, as a ratio to the plain program.
const MOST_ALLOCATIONS: f64 = 1.05;
/// The file of a profile in its folder.
const FILE: &str = "program.vmem";
/// The number of groups. Some variants take very long.
const GROUPS: usize = 3;

/// Runs the part `memory-accesses`.
pub fn run(scope: &Scope) -> Result<Record, TrustError> {
    let begun = Instant::now();
    let mut record = Record::new(
        "memory-accesses",
        "Memory accesses and simulated caches",
        scope,
    )?;
    record.part.words = vec![
        "The reads and writes of fields and elements, and the allocations, in the program's own code and that \
         of its libraries, counted by instruction and class (`veneer run --memory --cache none`); and with an \
         exact simulation of L1 and L2 of each thread (`--cache L1:32K/8/64,L2:1M/16/64`), and the same in windows \
         of 12 ms in each 120 ms (`--sample`). Allocation sites \
         are counters alone (`methods(…).allocations().before(counter())`). The paper on DJ has slowdowns of \
         11 to 94 for its instrumentation, and of 3.8 to 6.8 more for its analysis."
            .into(),
    ];
    let jdk = scope.jdks.first().ok_or(TrustError::NoJdk)?;
    let mut table = RatioTable::new("ratio with accesses", "file, KB");
    table.add_all(&mut record, scope, |workload, record, table| {
        one(workload, jdk, scope, record, table)
    });
    if let Some(mean) = table.mean(EXACT) {
        let what = "exact L1 and L2 by line and type";
        record.goals.push(Goal::at_most(what, MOST_EXACT, "", mean));
    }
    if let Some(mean) = table.mean(SAMPLED) {
        let what = "sampled L1 and L2 by line and type";
        let goal = Goal::at_most(what, MOST_SAMPLED, "", mean);
        record.goals.push(goal);
    }
    if let Some(mean) = table.mean(ALLOCATIONS) {
        let what = "allocation sites";
        let goal = Goal::at_most(what, MOST_ALLOCATIONS, "", mean);
        record.goals.push(goal);
    }
    record.part.tables.push(table.finish());
    record.part = record.part.with_duration_since(begun);
    Ok(record)
}

fn one(
    workload: &Workload,
    jdk: &Jdk,
    scope: &Scope,
    record: &mut Record,
    table: &mut RatioTable,
) -> Result<(), TrustError> {
    let compiled = Compiled::workload(jdk, workload)?;
    let rounds = workload.rounds(true);
    let plain = workload.java(jdk, &compiled, rounds, &[], &[]);
    let mut allocations = workload.arming();
    let text = format!(
        "methods({}).limit(10000000).allocations().before(counter());\n",
        workload.pattern()
    );
    allocations.extend(super::prepare::plan(
        &compiled.join("allocations.rhai"),
        &text,
    )?);
    let allocations: Vec<&str> = allocations.iter().map(String::as_str).collect();
    let [counted, exact, sampled] = ["counted", "exact", "sampled"].map(|name| compiled.join(name));
    let arm = workload.patterns_to_arm();
    let mut sample = arm.clone();
    sample.push("--sample".into());
    let variants = vec![
        Variant::new("plain", plain.clone()),
        Variant::new(ALLOCATIONS, command::run(&allocations, &plain)),
        recorded((COUNTED, "none"), arm.clone(), &plain, &counted)?,
        recorded((EXACT, CACHES), arm, &plain, &exact)?,
        recorded((SAMPLED, CACHES), sample, &plain, &sampled)?,
    ];
    let groups = if scope.quick { 2 } else { GROUPS };
    let series = measure(workload.name, groups, &variants);
    table.add(record, workload.name, &series, |variant| {
        let folder = match variant {
            COUNTED => counted.as_path(),
            EXACT => exact.as_path(),
            SAMPLED => sampled.as_path(),
            _ => return String::new(),
        };
        let kilobytes = folder_bytes(folder).unwrap_or(0) as f64 / 1e3;
        format!("{kilobytes:.0}")
    });
    Ok(())
}

/// The program whose accesses are recorded in a folder of its own.
fn recorded(
    (name, caches): (&str, &str),
    mut options: Vec<String>,
    plain: &Process,
    folder: &Path,
) -> Result<Variant, TrustError> {
    std::fs::create_dir_all(folder)?;
    let file = folder.join(FILE);
    let place = file.display().to_string();
    options.extend(["--memory".into(), place, "--cache".into(), caches.into()]);
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let variant = Variant::new(name, command::run(&options, plain));
    Ok(variant.checked(move |_| match std::fs::metadata(&file) {
        Ok(data) if data.len() > 0 => Ok(()),
        _ => Err(CheckError::NothingWritten),
    }))
}
