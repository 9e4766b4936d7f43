//! Measures how long it takes to attach to a running loop: from the call to the first hit inside
//! the loop.

use std::time::{Duration, Instant};

use super::groups::first_line;
use super::jvm_options::OPTIONS;
use super::mass_attach::free_port;
use super::peers::{byteman, flight_recorder};
use super::printed_number::printed_number;
use super::record::shown;
use super::record::{Goal, Record};
use crate::bench::statistics::median;
use crate::folder::Folder;
use crate::java_programs::Programs;
use crate::jdk::Jdk;
use crate::live::Live;
use crate::process::Process;
use crate::trust::part::Table;
use crate::trust::part::{Scope, TrustError};

/// Runs the part `attach`.
pub fn run(scope: &Scope) -> Result<Record, TrustError> {
    let begun = Instant::now();
    let mut record = Record::new("attach", "Attaching to a loop that runs", scope)?;
    let times = if scope.quick { 10 } else { 100 };
    record.part.words = vec![
        "A program whose only activation runs an endless loop. A counter is attached to the \
         header of that loop. The figure is the time from the call of `.before(counter())` until \
         the counter is no longer 0, both measured by the plan. The first attachment in a JVM is \
         shown separately. *Command*: `veneer exec` as a separate process with the same \
         attachment, from its start to its end."
            .into(),
        "The other tools cannot reach a running activation: new code of a retransforming tool \
         runs from the next call on. So they are measured on a method that the loop calls in each \
         iteration. For Byteman, the figure is the time from sending the rule to an agent that is \
         already loaded until the rule first fires; for Flight Recorder, the time of `jcmd … \
         JFR.start`, including the command itself."
            .into(),
    ];
    let jdk = scope.jdks.first().ok_or(TrustError::NoJdk)?;
    let programs = Programs::compile_folder(jdk.clone(), "live")?;
    let mut table = Table::new("", &["how", "ms", "times", ""]);
    let mut row =
        |record: &mut Record, name: &str, found: Result<Vec<f64>, &TrustError>| -> Option<f64> {
            let (values, error) = match found {
                Ok(values) => (values, String::new()),
                Err(e) => (Vec::new(), first_line(&e.to_string())),
            };
            record.figure("attach", "RunningLoop", name, "ms", &values);
            table.rows.push(vec![
                name.to_string(),
                shown(&values, 2),
                values.len().to_string(),
                error.clone(),
            ]);
            if name.starts_with("Veneer") && values.is_empty() {
                record.part.failures.push(format!("{name}: {error}"));
            }
            median(&values)
        };
    let ours = veneer_times(&programs, times);
    let of = |take: fn(&VeneerTimes) -> Vec<f64>| ours.as_ref().map(take);
    let middle = row(
        &mut record,
        "Veneer, in the loop itself",
        of(|o| o.hits.clone()),
    );
    row(
        &mut record,
        "Veneer, until the call is back",
        of(|o| o.calls.clone()),
    );
    row(
        &mut record,
        "Veneer, the first in a JVM",
        of(|o| vec![o.first]),
    );
    row(&mut record, "Veneer, command", of(|o| o.commands.clone()));
    let byteman = byteman_times(&programs, times.min(20));
    row(
        &mut record,
        "Byteman, in a method that the loop calls",
        byteman.as_ref().map(Vec::clone),
    );
    let recorder = recorder_times(jdk, &programs, 5);
    row(
        &mut record,
        "JFR method timing, command",
        recorder.as_ref().map(Vec::clone),
    );
    record.part.tables.push(table);
    if let Some(middle) = middle {
        let what = "attach to a running loop: from the call to the first hit, median";
        record.goals.push(Goal::at_most(what, 1.0, "ms", middle));
    }
    record.part = record.part.with_duration_since(begun);
    Ok(record)
}

/// Times of Veneer in milliseconds.
struct VeneerTimes {
    /// The first attachment in a JVM, until its first hit.
    first: f64,
    /// The other attachments, until the call returned.
    calls: Vec<f64>,
    /// The other attachments, until the first hit.
    hits: Vec<f64>,
    /// The command `veneer exec`, from its start to its end.
    commands: Vec<f64>,
}

/// Attaches a counter to the loop and detaches it, `times` times after a first time.
fn veneer_times(programs: &Programs, times: usize) -> Result<VeneerTimes, TrustError> {
    let live = programs.armed("RunningLoop")?;
    wait_for_jit();
    let once = "let begin = now();\nlet h = methods(\"RunningLoop::loop(..)\").loops().before(counter());\nlet made = now();\n\
                while h.hits() == 0 { if now() - begin > 1.5 { break; } }\nlet hit = now();\n\
                if h.hits() == 0 { hit = begin - 1.0; }\nh.detach();\n`${(made - begin) * 1000.0} ${(hit - begin) * 1000.0}`";
    let (mut values, mut calls) = (Vec::new(), Vec::new());
    for _ in 0..=times {
        let said = live.value(once)?;
        let words: Vec<f64> = said
            .trim_matches('"')
            .split(' ')
            .filter_map(|word| word.parse().ok())
            .collect();
        let [call, hit] = words[..] else {
            return Err(TrustError::Missing {
                wanted: "pair of times",
                found: said,
            });
        };
        if hit < 0.0 {
            return Err(TrustError::TooFew {
                done: 0,
                unit: "hits of the counter in the loop",
                output: said,
            });
        }
        values.push(hit);
        calls.push(call);
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut commands = Vec::new();
    for _ in 0..times.min(20) {
        let begin = Instant::now();
        live.value(once)?;
        commands.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    live.stop()?;
    let first = values.remove(0);
    calls.remove(0);
    Ok(VeneerTimes {
        first,
        calls,
        hits: values,
        commands,
    })
}

/// Waits until the JIT has compiled the loop.
fn wait_for_jit() {
    std::thread::sleep(Duration::from_secs(2));
}

/// The program with more options of the JVM and more entries of the class path.
fn java(jdk: &Jdk, programs: &Programs, options: &[String], more: &[&std::path::Path]) -> Process {
    let mut path = vec![programs.classes().path()];
    path.extend(more);
    let path = std::env::join_paths(path).unwrap_or_default();
    Process::new(jdk.tool("java"))
        .args(OPTIONS)
        .args(options)
        .arg("-cp")
        .arg(path)
        .arg("RunningLoop")
}

/// Returns, in milliseconds, the time from sending a Byteman rule to its first call.
fn byteman_times(programs: &Programs, times: usize) -> Result<Vec<f64>, TrustError> {
    let jdk = programs.jdk();
    let helper = Folder::new("byteman")?;
    let agent = byteman::prepare(jdk, "Stopwatch.java", helper.path())?;
    let port = free_port()?;
    let options = [byteman::COMPILED.into(), byteman::listening(&agent, port)];
    let mut live = Live::start(&java(jdk, programs, &options, &[helper.path()]))?;
    wait_for_jit();
    let mut values = Vec::new();
    for i in 0..times {
        let rule = format!(
            "RULE r{i}\nCLASS RunningLoop\nMETHOD step\nHELPER Stopwatch\nAT ENTRY\nIF TRUE\nDO count(\"r{i}\")\nENDRULE"
        );
        let begin = monotonic();
        let answer = byteman::submit(port, &rule)?;
        let line = live
            .line(&format!("first r{i} "))
            .map_err(|source| TrustError::LiveRun {
                run: format!("its agent said: {answer}"),
                source,
            })?;
        let end: i64 = printed_number(&line)?;
        values.push((end - begin) as f64 / 1e6);
    }
    live.stop()?;
    Ok(values)
}

/// Returns the durations of `jcmd PID JFR.start method-timing=…` in milliseconds.
fn recorder_times(jdk: &Jdk, programs: &Programs, times: usize) -> Result<Vec<f64>, TrustError> {
    if jdk.major() < flight_recorder::MIN_JDK {
        return Err(TrustError::OnlyFrom(flight_recorder::MIN_JDK));
    }
    let live = Live::start(&java(jdk, programs, &[], &[]))?;
    wait_for_jit();
    let mut values = Vec::new();
    for i in 0..times {
        let begin = Instant::now();
        let said = flight_recorder::start(jdk, live.pid(), &format!("r{i}"), "RunningLoop::step")?;
        values.push(begin.elapsed().as_secs_f64() * 1e3);
        if !said.contains("Started recording") {
            return Err(TrustError::Rejected(said));
        }
        flight_recorder::stop(jdk, live.pid(), &format!("r{i}"))?;
    }
    live.stop()?;
    Ok(values)
}

/// The time in nanoseconds by the clock that `System.nanoTime` reads.
fn monotonic() -> i64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call fills the structure, which is a local variable.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}
