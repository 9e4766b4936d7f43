//! Exact counts: every program of `tests/java/counts` runs plain, armed, and with
//! counters on all blocks, entries and exits and a timer around all methods. Each mode also runs
//! with full verification and with `-Xcheck:jni`. `VENEER_ONLY=Loops` selects one program.

use std::path::Path;

use veneer_tests::command::run;
use veneer_tests::comparison::compare;
use veneer_tests::folder::{Folder, files, workspace};
use veneer_tests::java_programs::run_with_report;
use veneer_tests::jdk::{self, Jdk, VERIFICATION};
use veneer_tests::process::{Output, Process};
use veneer_tests::program::Program;
use veneer_tests::workers;

#[test]
fn counts_are_exact() {
    jdk::for_this_test().iter().for_each(all_programs);
}

fn programs() -> Vec<Program> {
    let sources = files(&workspace().join("tests/java/counts"), "java");
    let sources = sources.unwrap_or_else(|error| panic!("tests/java/counts: {error}"));
    let mut programs = Vec::new();
    for source in &sources {
        programs.push(Program::read(source).unwrap_or_else(|error| panic!("{error}")));
    }
    let only = std::env::var("VENEER_ONLY").ok();
    programs.retain(|program| only.as_ref().is_none_or(|name| *name == program.name));
    assert!(
        !programs.is_empty(),
        "no program has the name in VENEER_ONLY"
    );
    programs
}

fn all_programs(jdk: &Jdk) {
    let programs = programs();
    let classes = Folder::new("counts").unwrap_or_else(|error| panic!("{error}"));
    let sources: Vec<_> = programs
        .iter()
        .map(|program| program.path.clone())
        .collect();
    jdk.compile(&sources, classes.path())
        .unwrap_or_else(|error| panic!("{error}"));
    let failures: Vec<String> = workers::parallel_map(&programs, |program| {
        failures_of(program, jdk, classes.path())
    })
    .concat();
    assert!(
        failures.is_empty(),
        "{jdk}, {} programs, {} failures:\n{}",
        programs.len(),
        failures.len(),
        failures.join("\n")
    );
}

/// Runs a program in all modes, and returns its failures.
fn failures_of(program: &Program, jdk: &Jdk, classes: &Path) -> Vec<String> {
    let java = |options: &[&str]| {
        Process::new(jdk.tool("java"))
            .args(options)
            .arg("-cp")
            .arg(classes)
            .arg(&program.name)
    };
    let plain = match java(&[]).run() {
        Ok(output) if output.code == 0 && output.err.is_empty() => output,
        other => {
            return vec![format!(
                "{}: the plain run failed: {other:?}",
                program.place(1)
            )];
        }
    };
    let mut failures = Vec::new();
    match run(&[], &java(&VERIFICATION)).run() {
        Ok(armed) => failures.extend(differences(program, "armed", &plain, &armed)),
        Err(error) => failures.push(format!("{}: armed: {error}", program.place(1))),
    }
    for (mode, options) in [
        ("counted", &VERIFICATION[..]),
        ("checked", &["-Xcheck:jni"][..]),
    ] {
        match run_with_report(&java(options), &program.plan()) {
            Ok((output, report)) => {
                let output = if mode == "checked" {
                    without_jni_checks(&output)
                } else {
                    Ok(output)
                };
                match output {
                    Ok(output) => failures.extend(differences(program, mode, &plain, &output)),
                    Err(complaint) => failures.push(format!("{}: {complaint}", program.place(1))),
                }
                let found = compare(program, &report, jdk.major());
                failures.extend(found.into_iter().map(|one| format!("{one} ({mode})")));
            }
            Err(error) => failures.push(format!("{}: {mode}: {error}", program.place(1))),
        }
    }
    failures
}

fn differences(program: &Program, mode: &str, plain: &Output, other: &Output) -> Vec<String> {
    let mut failures = Vec::new();
    let mut hold = |what: &str, expected: &str, actual: &str| {
        if expected != actual {
            let place = program.place(1);
            failures.push(format!(
                "{place}: {mode}: {what}:\n  plain {expected}\n  {mode} {actual}"
            ));
        }
    };
    hold(
        "exit code",
        &plain.code.to_string(),
        &other.code.to_string(),
    );
    hold("output", &plain.out, &other.out);
    hold("error output", &plain.err, &other.err);
    failures
}

/// The remarks of `-Xcheck:jni`, of which one is fatal or concerns the agent.
#[derive(Debug, thiserror::Error)]
#[error("-Xcheck:jni complains:\n{remarks}")]
struct JniComplaint {
    remarks: String,
}

/// Removes the JVM's remarks about JNI calls, which it prints between the lines of the application,
/// from the output. Returns an error if a remark is fatal or concerns the agent.
fn without_jni_checks(output: &Output) -> Result<Output, JniComplaint> {
    let remark = |line: &&str| {
        ["WARNING", "FATAL", "\t", "Warning:"]
            .iter()
            .any(|start| line.starts_with(start))
    };
    let remarks: Vec<&str> = output
        .out
        .lines()
        .chain(output.err.lines())
        .filter(remark)
        .collect();
    let ours = |line: &&str| line.contains("FATAL") || line.to_lowercase().contains("veneer");
    if remarks.iter().any(ours) {
        return Err(JniComplaint {
            remarks: remarks.join("\n"),
        });
    }
    let rest = |text: &str| -> String {
        text.lines()
            .filter(|line| !remark(line))
            .map(|line| format!("{line}\n"))
            .collect()
    };
    Ok(Output {
        code: output.code,
        out: rest(&output.out),
        err: rest(&output.err),
    })
}
