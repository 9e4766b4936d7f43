//! Measures the time from the start of the process to the first result: plain, armed, with JaCoCo,
//! and with AspectJ's weaver.

use std::time::Instant;

use super::first::{FirstResult, FirstResultError, first_result};
use super::groups::first_line;
use super::jvm_options::OPTIONS;
use super::peers::{aspectj, jacoco};
use super::prepare::Compiled;
use super::record::{Goal, Record};
use super::record::{geometric_mean, shown};
use super::workload::{FIRST_ROUNDS, named};
use crate::bench::statistics::median;
use crate::command;
use crate::jdk::Jdk;
use crate::process::Process;
use crate::trust::part::Table;
use crate::trust::part::{Scope, TrustError};

/// Builds the plain command with more options of the JVM and more entries of the class path.
type Java = Box<dyn Fn(&Jdk, &Compiled, &[String], &[&std::path::Path]) -> Process>;

/// A program whose start is measured.
struct Program {
    name: &'static str,
    what: &'static str,
    java: Java,
    compiled: Compiled,
    arm: Vec<String>,
    /// The beginning of the line that shows the result.
    result: &'static str,
    /// AspectJ's pointcut: one method, so that the weaver reads every class and changes one.
    pointcut: &'static str,
}

/// The modes in which each program is started.
const MODES: [&str; 4] = ["plain", "armed", jacoco::NAME, "AspectJ weaver"];

/// Runs the part `startup`.
pub fn run(scope: &Scope) -> Result<Record, TrustError> {
    let begun = Instant::now();
    let mut record = Record::new("startup", "Start-up to the first result", scope)?;
    let groups = if scope.quick { 2 } else { 5 };
    record.part.words = vec![format!(
        "From the start of the process to the first line of its result, in milliseconds: for *tomcat* the answer to the first request \
         to an embedded server, for the others the result of the first round. {groups} groups. Processor time is that of all threads \
         until then, the compilers' too. *AspectJ weaver*: around advice on a single method, with every class looked at."
    )];
    let jdk = scope.jdks.first().ok_or(TrustError::NoJdk)?;
    let mut table = Table::new(
        "",
        &[
            "program",
            "how",
            "time, ms",
            "ratio of time",
            "ratio of processor time",
            "",
        ],
    );
    let (mut armed, mut processor) = (Vec::new(), Vec::new());
    let mut lost = Vec::new();
    for program in programs(jdk, scope.quick)? {
        let found = measure(jdk, &program, groups);
        let plain = found
            .first()
            .map(|(runs, _)| runs.clone())
            .unwrap_or_default();
        let mut medians = Vec::new();
        for (mode, (runs, error)) in MODES.iter().zip(&found) {
            let values =
                |of: fn(&FirstResult) -> f64| runs.iter().flatten().map(of).collect::<Vec<f64>>();
            let ratio = |of: fn(&FirstResult) -> f64| -> Vec<f64> {
                let pairs = runs.iter().zip(&plain);
                pairs
                    .filter_map(|(a, b)| Some(of(a.as_ref()?) / of(b.as_ref()?)))
                    .filter(|r| r.is_finite())
                    .collect()
            };
            let (time, busy) = (ratio(|f| f.time), ratio(|f| f.processor));
            record.figure("start-up", program.name, mode, "ms", &values(|f| f.time));
            record.figure("start-up, ratio of time", program.name, mode, "×", &time);
            record.figure(
                "start-up, ratio of processor time",
                program.name,
                mode,
                "×",
                &busy,
            );
            medians.push(median(&time));
            if *mode == "armed" {
                armed.extend(median(&time));
                processor.extend(median(&busy));
            }
            if let Some(error) = error
                && ["plain", "armed"].contains(mode)
            {
                record
                    .part
                    .failures
                    .push(format!("{}, {mode}: {error}", program.name));
            }
            table.rows.push(vec![
                format!("{}: {}", program.name, program.what),
                (*mode).to_string(),
                shown(&values(|f| f.time), 0),
                shown(&time, 2),
                shown(&busy, 2),
                error.clone().unwrap_or_default(),
            ]);
        }
        if let [_, Some(ours), rest @ ..] = medians.as_slice() {
            for (theirs, name) in rest.iter().zip(MODES.iter().skip(2)) {
                if theirs.is_some_and(|t| *ours >= t) {
                    lost.push(format!(
                        "{} {ours:.2}, {name} {:.2}",
                        program.name,
                        theirs.unwrap_or_default()
                    ));
                }
            }
        }
    }
    record.part.tables.push(table);
    whole_runs(&mut record, jdk, groups)?;
    if let (Some(mean), Some(busy)) = (geometric_mean(&armed), geometric_mean(&processor)) {
        record.part.words.push(format!(
            "Geometric mean over the programs, armed: {mean:.3} of the plain time, {busy:.3} of the plain processor time."
        ));
        let what = "start-up to the first result, armed: geometric mean";
        record.goals.push(Goal::at_most(what, 1.08, "", mean));
    }
    record.goals.push(Goal::everywhere(
        "the same, below JaCoCo and AspectJ on every program",
        "below",
        &lost,
    ));
    record.part = record.part.with_duration_since(begun);
    Ok(record)
}

/// Measures the whole run of the program of one line: the start of the JVM, its end, and what is around
/// them.
fn whole_runs(record: &mut Record, jdk: &Jdk, groups: usize) -> Result<(), TrustError> {
    let Some(program) = programs(jdk, true)?.into_iter().next() else {
        return Ok(());
    };
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); MODES.len()];
    for group in 0..groups {
        for turn in 0..MODES.len() {
            let mode = (group + turn) % MODES.len();
            let process = command_of(jdk, &program, MODES[mode])?;
            let begin = Instant::now();
            if process.run().is_ok_and(|output| output.code == 0) {
                times[mode].push(begin.elapsed().as_secs_f64() * 1e3);
            }
        }
    }
    let title = "The whole run of one line, from the start of the process to its end";
    let mut table = Table::new(title, &["how", "time, ms", "ratio of medians"]);
    let plain = times.first().and_then(|times| median(times));
    for (mode, times) in MODES.iter().zip(&times) {
        record.figure("whole run of one line", program.name, mode, "ms", times);
        let ratio = median(times).zip(plain).map(|(time, plain)| time / plain);
        table.rows.push(vec![
            (*mode).to_string(),
            shown(times, 0),
            ratio.map_or_else(|| "–".into(), |ratio| format!("{ratio:.2}")),
        ]);
    }
    record.part.tables.push(table);
    Ok(())
}

/// The results of each mode: one run for each group, `None` if it failed, and the first error.
type StartupRuns = Vec<(Vec<Option<FirstResult>>, Option<String>)>;

/// Why a start has no figure.
#[derive(Debug, thiserror::Error)]
enum StartupError {
    /// The command could not be prepared.
    #[error(transparent)]
    Command(#[from] TrustError),
    #[error(transparent)]
    Run(#[from] FirstResultError),
    #[error("its result is `{line}`, not `{expected}`")]
    OtherResult { line: String, expected: String },
}

/// Starts a program in a mode. `said` is the result of the first start.
fn start(
    jdk: &Jdk,
    program: &Program,
    mode: &str,
    said: &mut Option<String>,
) -> Result<FirstResult, StartupError> {
    let process = command_of(jdk, program, mode)?;
    let run = first_result(&process, program.result)?;
    let expected = said.get_or_insert_with(|| run.line.clone());
    if run.line == *expected {
        return Ok(run);
    }
    Err(StartupError::OtherResult {
        line: run.line,
        expected: expected.clone(),
    })
}

fn measure(jdk: &Jdk, program: &Program, groups: usize) -> StartupRuns {
    let mut found: StartupRuns = MODES.iter().map(|_| (Vec::new(), None)).collect();
    let mut said: Option<String> = None;
    // One run before the first group, so that the files are in the page cache for all runs.
    let _ = command_of(jdk, program, "plain").map(|p| first_result(&p, program.result));
    for group in 0..groups {
        for turn in 0..MODES.len() {
            let i = (group + turn) % MODES.len();
            let (Some(mode), Some((runs, error))) = (MODES.get(i), found.get_mut(i)) else {
                continue;
            };
            let run = if error.is_some() {
                None
            } else {
                match start(jdk, program, mode, &mut said) {
                    Ok(run) => Some(run),
                    Err(e) => {
                        *error = Some(first_line(&e.to_string()));
                        None
                    }
                }
            };
            if let Some(run) = &run {
                eprintln!(
                    "bench: startup of {}, group {}, {mode}: {:.0} ms, processor {:.0} ms",
                    program.name,
                    group + 1,
                    run.time,
                    run.processor
                );
            }
            runs.push(run);
        }
    }
    found
}

fn command_of(jdk: &Jdk, program: &Program, mode: &str) -> Result<Process, TrustError> {
    let java = |options: &[String], path: &[&std::path::Path]| {
        (program.java)(jdk, &program.compiled, options, path)
    };
    match mode {
        "plain" => Ok(java(&[], &[])),
        "armed" => {
            let options: Vec<&str> = program.arm.iter().map(String::as_str).collect();
            Ok(command::run(&options, &java(&[], &[])))
        }
        jacoco::NAME => {
            let agent = jacoco::agent(&program.compiled.join("startup.exec"))?;
            Ok(java(&[agent], &[]))
        }
        _ => {
            let folder = program.compiled.join("aspectj");
            let agent = aspectj::prepare(jdk, &folder, program.pointcut, "*..*")?;
            Ok(java(&[agent], &[&folder]))
        }
    }
}

fn programs(jdk: &Jdk, quick: bool) -> Result<Vec<Program>, TrustError> {
    let alone = |name: &'static str| -> Java {
        Box::new(move |jdk, compiled, options, path| {
            Process::new(jdk.tool("java"))
                .args(OPTIONS)
                .args(options)
                .arg("-cp")
                .arg(compiled.class_path(path))
                .arg(name)
                .arg(compiled.join("work"))
        })
    };
    let mut programs = vec![
        Program {
            name: "hello",
            what: "one line",
            java: alone("Hello"),
            compiled: Compiled::new(jdk, &["tests/bench/Hello.java"], &[])?,
            arm: Vec::new(),
            result: "result ",
            pointcut: "execution(* Hello.never(..))",
        },
        Program {
            name: "tomcat",
            what: "the first request to an embedded server",
            java: alone("FirstRequest"),
            compiled: Compiled::new(
                jdk,
                &["tests/bench/FirstRequest.java"],
                &["tomcat-embed-core", "tomcat-annotations-api"],
            )?,
            arm: Vec::new(),
            result: "result ",
            pointcut: "execution(* FirstRequest.doGet(..))",
        },
    ];
    for (name, pointcut) in FIRST_ROUNDS.iter().filter(|_| !quick) {
        let workload = named(name).ok_or(TrustError::Unknown {
            kind: "workload",
            name,
        })?;
        programs.push(Program {
            name: workload.name,
            what: "the first round",
            java: Box::new(|jdk, compiled, options, path| {
                workload.java(jdk, compiled, 1, options, path)
            }),
            compiled: Compiled::workload(jdk, workload)?,
            arm: workload.arming(),
            result: "round 1 ",
            pointcut,
        });
    }
    Ok(programs)
}
