//! Measures contexts in bursts (`veneer calls PID --adaptive`): their cost, and the part of the calls in
//! which they agree with an exact graph.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::prepare::Compiled;
use super::record::{Goal, Record, geometric_mean};
use super::run::Run;
use super::workload::{Workload, session};
use crate::command;
use crate::jdk::Jdk;
use crate::process::Process;
use crate::trust::part::{Scope, Table, TrustError};

/// The goal for the geometric mean of the costs.
const MOST: f64 = 1.05;
/// The goal for the common part of the calls, in percent.
const LEAST_OVERLAP: f64 = 99.0;
/// The length of a run of a small program. It has several bursts.
const LENGTH: Duration = Duration::from_secs(150);
/// Programs of thousands of methods. Their first burst takes half a minute, and is followed by a pause of
/// ten minutes.
const LARGE: [&str; 4] = ["javac", "sql", "lucene", "ecj"];
/// The length of a run of a large program. It has one burst.
const LARGE_LENGTH: Duration = Duration::from_secs(540);
/// Rounds of the run with the exact graph.
const TRIAL_ROUNDS: usize = 12;
/// Rounds of the run that tells the time of a round, of a small and of a large program. A large one is
/// compiled for many rounds.
const TIMED_ROUNDS: [usize; 2] = [12, 150];
/// The longest time of a run.
const RUN_LIMIT: Duration = Duration::from_secs(1200);
/// The longest time in which the recording is written after the end of the program.
const WRITING_LIMIT: Duration = Duration::from_secs(20);
/// Starts the program in the process of the shell, and the recording beside it. The shell's own name is
/// the path of Veneer's command; `$1` is the file, and `$2` the number of patterns.
const RECORD: &str = r#"out=$1; n=$2; shift 2
(sleep 5; exec "$0" calls $$ "${@:1:$n}" --adaptive --for 86400 -o "$out" >/dev/null 2>&1) &
shift "$n"; exec "$@""#;

/// Runs the part `adaptive-contexts`.
pub fn run(scope: &Scope) -> Result<Record, TrustError> {
    let begun = Instant::now();
    let mut record = Record::new("adaptive-contexts", "Contexts in bursts", scope)?;
    record.part.words = vec![format!(
        "Each program runs {} seconds ({} seconds if it has thousands of methods), plain and with \
             `veneer calls PID --adaptive`, which records contexts in bursts and leaves the program alone \
             in between. The cost is that of all rounds together, bursts included. The overlap is the common part of the calls with the exact graph of \
             {TRIAL_ROUNDS} rounds (`veneer run --call-graph`). The paper on adaptive bursting (Zhuang and \
             others, 2006) has a cost of 1.02 to 1.04 with an overlap of 85 %.",
        LENGTH.as_secs(),
        LARGE_LENGTH.as_secs()
    )];
    let jdk = scope.jdks.first().ok_or(TrustError::NoJdk)?;
    let columns = [
        "program",
        "plain, s",
        "with bursts, s",
        "ratio",
        "recorded",
        "overlap",
    ];
    let mut table = Table::new("", &columns);
    let (mut ratios, mut least) = (Vec::new(), f64::INFINITY);
    for workload in session(scope.quick) {
        let one = one(workload, jdk)?;
        eprintln!("bench: adaptive-contexts, {}: {one:?}", workload.name);
        ratios.push(one.with_bursts / one.plain);
        least = least.min(one.overlap);
        table.rows.push(vec![
            workload.name.to_owned(),
            format!("{:.1}", one.plain),
            format!("{:.1}", one.with_bursts),
            format!("{:.3}", one.with_bursts / one.plain),
            one.bursts,
            format!("{:.2} %", one.overlap),
        ]);
    }
    if let Some(mean) = geometric_mean(&ratios) {
        let what = "contexts in bursts";
        record.goals.push(Goal::at_most(what, MOST, "", mean));
        let what = "the least overlap of contexts in bursts with an exact graph, in percent";
        record
            .goals
            .push(Goal::between(what, LEAST_OVERLAP, 100.0, least));
    }
    record.part.tables.push(table);
    record.part = record.part.with_duration_since(begun);
    Ok(record)
}

/// The figures of a workload.
#[derive(Debug)]
struct Measured {
    /// Seconds of all rounds.
    plain: f64,
    with_bursts: f64,
    /// The number and the length of the bursts, in the words of the profile.
    bursts: String,
    /// The common part of the calls, in percent.
    overlap: f64,
}

fn one(workload: &Workload, jdk: &Jdk) -> Result<Measured, TrustError> {
    let compiled = Compiled::workload(jdk, workload)?;
    let java = |rounds| workload.java(jdk, &compiled, rounds, &[], &[]);
    let exact = compiled.join("exact.calls");
    let mut options = workload.patterns_to_arm();
    options.extend(["--call-graph".into(), exact.display().to_string()]);
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let graph = command::run(&options, &java(TRIAL_ROUNDS)).run()?;
    graph.succeeded("veneer run")?;
    let measure = |process: &Process| {
        let run = Run::measure(process, RUN_LIMIT);
        run.map_err(|reason| failed(reason.to_string()))
    };
    let [small, large] = TIMED_ROUNDS;
    let (length, timed) = match LARGE.contains(&workload.name) {
        true => (LARGE_LENGTH, large),
        false => (LENGTH, small),
    };
    let round = measure(&java(timed))?.round_time().unwrap_or(1000.0);
    let rounds = (length.as_secs_f64() * 1000.0 / round).ceil().max(10.0) as usize;
    let seconds = |run: &Run| run.rounds.iter().sum::<f64>() / 1000.0;
    let plain = measure(&java(rounds))?;
    let recorded = compiled.join("bursts.calls");
    let with_bursts = measure(&with_recording(workload, &java(rounds), &recorded))?;
    if with_bursts.out != plain.out {
        return Err(failed("the program printed other results".to_owned()));
    }
    wait_until_written(&recorded);
    let (exact, recorded) = (exact.to_string_lossy(), recorded.to_string_lossy());
    let difference = json(&["calls", "diff", &exact, &recorded, "--json"])?;
    let profile = json(&["calls", "show", &recorded, "--json"])?;
    let facts = profile["info"]["adaptive"].as_array().into_iter().flatten();
    let facts = facts.filter_map(Value::as_str);
    let bursts = facts.filter_map(|fact| fact.split_once(';'));
    let bursts = bursts.map(|(text, _)| text.to_owned());
    Ok(Measured {
        plain: seconds(&plain),
        with_bursts: seconds(&with_bursts),
        bursts: bursts.collect(),
        overlap: difference["overlap"].as_f64().unwrap_or(0.0) * 100.0,
    })
}

fn failed(reason: String) -> TrustError {
    TrustError::Failed {
        what: "contexts in bursts",
        reason,
    }
}

fn json(words: &[&str]) -> Result<Value, TrustError> {
    command::json(words).map_err(|reason| failed(reason.to_string()))
}

/// The program with a recording that begins after five seconds and ends with the program.
fn with_recording(workload: &Workload, java: &Process, to: &Path) -> Process {
    let veneer = command::path().display().to_string();
    let to = to.display().to_string();
    let count = workload.counted.len().to_string();
    let mut words = vec!["-c", RECORD, &veneer, &to, &count];
    words.extend(workload.counted);
    java.clone().wrapped_in("bash", &words)
}

/// Waits for a recording, which is written after the end of the program.
fn wait_until_written(path: &Path) {
    let end = Instant::now() + WRITING_LIMIT;
    while !path.exists() && Instant::now() < end {
        thread::sleep(Duration::from_millis(100));
    }
}
