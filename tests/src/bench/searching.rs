//! Measures the cost of a bottleneck search on each workload, beside profilers that sample and a profile
//! of every call.
//!
//! The paper on JBolt has such a table for two of these programs (Table 1: the route finder and a database
//! sort, searched and under hprof).

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value;

use super::groups::{CheckError, Variant, measure};
use super::peers::{Timing, async_profiler};
use super::prepare::{Compiled, plan};
use super::ratio_table::RatioTable;
use super::record::{Goal, Record};
use super::workload::Workload;
use crate::command;
use crate::jdk::Jdk;
use crate::process::Process;
use crate::trust::part::{Scope, TrustError};

/// The variant that has a goal.
const SEARCHED: &str = "veneer search";
/// The goal for the geometric mean while a search runs.
const MOST: f64 = 1.05;

/// The variant of the paper's row "fragmented": every method is armed with a fragment for each block, and
/// nothing is measured.
const ARMED: &str = "armed, policy block";

/// The variant in which a search of one second has ended before the rounds that are measured, and its goal.
const AFTERWARDS: &str = "after a search";
const MOST_AFTERWARDS: f64 = 1.00;
/// Starts the program in the process of the shell, and a search of it beside it. The shell's own name is
/// the path of Veneer's command.
const SEARCH_ONCE: &str = r#"(sleep 0.4; "$0" search $$ --for 1 >/dev/null 2>&1) & exec "$@""#;

/// The number of groups. Some variants take very long.
const GROUPS: usize = 3;

/// Runs the part `searching`.
pub fn run(scope: &Scope) -> Result<Record, TrustError> {
    let begun = Instant::now();
    let mut record = Record::new("searching", "The cost of a bottleneck search", scope)?;
    record.part.words = vec![
        "Each program is searched from its start to its end (`veneer run --search`, at the default cost of \
         2 %). *After a search* shows rounds of a program whose search of one second has ended. The \
         profilers sample at their default rates. *Every call timed* is Veneer's timer on each method of \
         the program and of its libraries: a profile with instruments, as `hprof` made it. It has fewer \
         rounds, and is compared with plain runs of the same length. The ratios are those of a round's \
         processor time, or of its time if other threads do the work."
            .into(),
    ];
    let jdk = scope.jdks.first().ok_or(TrustError::NoJdk)?;
    let mut table = RatioTable::new("ratio while profiled", "findings");
    table.add_all(&mut record, scope, |workload, record, table| {
        one(workload, jdk, scope, record, table)
    });
    for (what, variant, most) in [
        ("a program while it is searched", SEARCHED, MOST),
        ("a program after a search", AFTERWARDS, MOST_AFTERWARDS),
    ] {
        let mean = table.mean(variant);
        let goals = mean.map(|mean| Goal::at_most(what, most, "", mean));
        record.goals.extend(goals);
    }
    record.part.tables.push(table.finish());
    record.part = record.part.with_duration_since(begun);
    Ok(record)
}

/// Measures a workload in all variants.
fn one(
    workload: &Workload,
    jdk: &Jdk,
    scope: &Scope,
    record: &mut Record,
    table: &mut RatioTable,
) -> Result<(), TrustError> {
    let compiled = Compiled::workload(jdk, workload)?;
    let found = compiled.join("search.json");
    let groups = if scope.quick { 2 } else { GROUPS };
    let variants = variants(workload, jdk, &compiled, &found)?;
    let mut series = measure(workload.name, groups, &variants);
    let timed = timed_variants(workload, jdk, &compiled)?;
    let timed = measure(workload.name, groups, &timed);
    series.extend(timed.into_iter().skip(1));
    table.add(record, workload.name, &series, |variant| match variant {
        SEARCHED => first_finding(&found),
        _ => String::new(),
    });
    Ok(())
}

fn variants(
    workload: &Workload,
    jdk: &Jdk,
    compiled: &Compiled,
    found: &Path,
) -> Result<Vec<Variant>, TrustError> {
    let rounds = workload.rounds(false);
    let java = |options: &[String]| workload.java(jdk, compiled, rounds, options, &[]);
    let plain = java(&[]);
    let place = found.display().to_string();
    let searched = command::run(&["--search", &place], &plain);
    let veneer = command::path().display().to_string();
    let afterwards = plain.clone();
    let afterwards = afterwards.wrapped_in("sh", &["-c", SEARCH_ONCE, &veneer]);
    let file = found.to_path_buf();
    let searched = Variant::new(SEARCHED, searched).checked(move |_| {
        let text = std::fs::read_to_string(&file).map_err(|reason| CheckError::Unreadable {
            path: file.clone(),
            reason,
        })?;
        match serde_json::from_str::<Value>(&text) {
            Ok(result) if result["seconds"].as_f64() > Some(0.0) => Ok(()),
            _ => Err(CheckError::NothingTimed),
        }
    });
    let timing = Timing {
        jdk,
        compiled,
        rounds,
        calls: 0,
        program: workload,
    };
    let sampled = compiled.join("samples.jfr");
    let flight = compiled.join("flight.jfr");
    let mut armed = workload.patterns_to_arm();
    armed.extend(["--policy", "block"].map(str::to_string));
    let armed: Vec<&str> = armed.iter().map(String::as_str).collect();
    Ok(vec![
        Variant::new("plain", plain.clone()),
        Variant::new(ARMED, command::run(&armed, &plain)),
        searched,
        Variant::new(AFTERWARDS, afterwards),
        sampler(
            "async-profiler, cpu",
            async_samples(&timing, &sampled),
            sampled,
        ),
        sampler(
            "JFR, settings=profile",
            Ok(java(&[format!(
                "-XX:StartFlightRecording:settings=profile,filename={}",
                flight.display()
            )])),
            flight,
        ),
    ])
}

/// The plain program and the one with a timer on each method, in few rounds: one of them takes thirty times
/// as long.
fn timed_variants(
    workload: &Workload,
    jdk: &Jdk,
    compiled: &Compiled,
) -> Result<Vec<Variant>, TrustError> {
    let plain = workload.java(jdk, compiled, workload.rounds(true), &[], &[]);
    let mut timed = workload.arming();
    let text = format!(
        "methods({}).limit(10000000).around(timer());\n",
        workload.pattern()
    );
    timed.extend(plan(&compiled.join("timed.rhai"), &text)?);
    let timed: Vec<&str> = timed.iter().map(String::as_str).collect();
    Ok(vec![
        Variant::new("plain", plain.clone()),
        Variant::new("every call timed", command::run(&timed, &plain)),
    ])
}

/// The variant of a profiler that samples into a file.
fn sampler(name: &str, process: Result<Process, TrustError>, file: PathBuf) -> Variant {
    Variant::peer(name, process).checked(move |_| {
        let length = std::fs::metadata(&file).map_or(0, |data| data.len());
        let _ = std::fs::remove_file(&file);
        match length {
            0 => Err(CheckError::NothingWritten),
            _ => Ok(()),
        }
    })
}

/// The program under async-profiler, which samples the processor time.
fn async_samples(timing: &Timing, file: &Path) -> Result<Process, TrustError> {
    let option = format!(
        "-agentpath:{}=start,event=cpu,file={}",
        async_profiler::library(timing)?.display(),
        file.display()
    );
    Ok(timing.java(&[option], &[]))
}

/// The first finding of the latest search as text: its line or its method, and its share.
fn first_finding(file: &Path) -> String {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let result: Value = serde_json::from_str(&text).unwrap_or_default();
    let finding = &result["findings"][0];
    let steps = finding["path"].as_array().cloned().unwrap_or_default();
    let Some(step) = steps.iter().rev().find(|step| step["axis"] == "where") else {
        return String::new();
    };
    format!(
        "{}, {:.0} %",
        step["name"].as_str().unwrap_or_default(),
        100.0 * finding["share"].as_f64().unwrap_or(0.0)
    )
}
