//! Measures how long `veneer trace` takes with traces of 10⁸ and 10⁹ events, and how much memory.

use std::io::Read;
use std::path::Path;
use std::time::Instant;

use super::peers::folder_bytes;
use super::prepare::Compiled;
use super::record::{Goal, Record};
use super::workload::{CALLS, HOT_CALL};
use crate::command::{run as under_veneer, veneer};
use crate::jdk::Jdk;
use crate::process::Process;
use crate::trust::part::Table;
use crate::trust::part::{Scope, TrustError};

/// Rounds of the program for the trace of 10⁸ events. Each call is two events.
const ROUNDS: usize = 50;
/// Rounds for the trace of 10⁹ events, which has no goals.
const MANY_ROUNDS: usize = 500;
/// The free disk space without which the larger trace is left out, in bytes. It has 8 GB.
const DISK_FOR_MANY: u64 = 20 << 30;
/// The goal for a trace with an index, in seconds.
const OPEN_SECONDS: f64 = 1.0;
/// The goal for a query, in seconds.
const QUERY_SECONDS: f64 = 10.0;
/// The goal for the memory of a command, in megabytes.
const MEGABYTES: f64 = 500.0;

/// A command on the trace: what it is for, its words, and its goal in seconds.
const COMMANDS: [(&str, &[&str], Option<f64>); 6] = [
    (
        "the first command, which builds the index",
        &["query", "calls().top(1)"],
        None,
    ),
    (
        "open: the first call",
        &["query", "calls().top(1)"],
        Some(OPEN_SECONDS),
    ),
    (
        "count, sum and 99th percentile by method",
        &[
            "query",
            "calls().by(\"method\").show(\"method\", \"count\", \"sum(wall)\", \"p99(wall)\")",
        ],
        Some(QUERY_SECONDS),
    ),
    (
        "the 20 longest calls",
        &[
            "query",
            "calls(\"HotCall::step(..)\").sort(\"-wall\").top(20)",
        ],
        Some(QUERY_SECONDS),
    ),
    (
        "the calls of a millisecond in the middle",
        &[
            "query",
            "calls().between(2000 ms, 2001 ms).by(\"method\").show(\"method\", \"count\")",
        ],
        Some(QUERY_SECONDS),
    ),
    ("the folded tree", &["show"], Some(QUERY_SECONDS)),
];

/// Runs the part `large-trace`.
pub fn run(scope: &Scope) -> Result<Record, TrustError> {
    let begun = Instant::now();
    let mut record = Record::new("large-trace", "A large event trace", scope)?;
    let jdk = scope.jdks.first().ok_or(TrustError::NoJdk)?;
    let compiled = Compiled::workload(jdk, &HOT_CALL)?;
    record.part.words = vec![
        "The recorded calls of the part `tracing`. The file is in the memory of the operating system, as \
         after a recording. Each command is a new process; the memory is the largest that it had resident."
            .to_string(),
    ];
    measure_trace(&mut record, jdk, &compiled, ROUNDS)?;
    if !scope.quick && free_bytes(&compiled.join("large"))? >= DISK_FOR_MANY {
        measure_trace(&mut record, jdk, &compiled, MANY_ROUNDS)?;
    }
    record.part = record.part.with_duration_since(begun);
    Ok(record)
}

/// Records a trace, runs all commands on it, and removes it. Only the trace of [`ROUNDS`] has goals.
fn measure_trace(
    record: &mut Record,
    jdk: &Jdk,
    compiled: &Compiled,
    rounds: usize,
) -> Result<(), TrustError> {
    let events = format!("{} million events", 2 * CALLS * rounds as u64 / 1_000_000);
    let series = match rounds {
        ROUNDS => String::new(),
        _ => events.clone(),
    };
    let trace = compiled.join("large");
    let place = trace.display().to_string();
    let java = HOT_CALL.java(jdk, compiled, rounds, &[], &[]);
    let recording = Instant::now();
    under_veneer(&["--arm", "HotCall", "--trace", &place], &java)
        .run()?
        .succeeded("the recording")?;
    let seconds = recording.elapsed().as_secs_f64();
    let bytes = folder_bytes(&trace)?;
    let title = format!(
        "{events} in {:.0} MB, written in {seconds:.1} s",
        bytes as f64 / 1e6
    );
    let mut table = Table::new(&title, &["command", "s", "memory, MB"]);
    let mut most_memory = 0.0f64;
    for (what, words, goal) in COMMANDS {
        let used = measure(words, &trace)?;
        record.figure("large trace", &series, what, "s", &[used.seconds]);
        record.figure(
            "large trace, memory",
            &series,
            what,
            "MB",
            &[used.megabytes],
        );
        table.rows.push(vec![
            what.to_string(),
            format!("{:.2}", used.seconds),
            format!("{:.0}", used.megabytes),
        ]);
        most_memory = most_memory.max(used.megabytes);
        if let Some(most) = goal.filter(|_| rounds == ROUNDS) {
            let what = format!("a trace of {events}, {what}");
            record
                .goals
                .push(Goal::at_most(&what, most, "s", used.seconds));
        }
    }
    if rounds == ROUNDS {
        let what = format!("a trace of {events}, memory of a command");
        record
            .goals
            .push(Goal::at_most(&what, MEGABYTES, "MB", most_memory));
    }
    record.part.tables.push(table);
    std::fs::remove_dir_all(&trace)?;
    Ok(())
}

/// Returns the free space of the file system that will have a file, in bytes.
fn free_bytes(file: &Path) -> Result<u64, TrustError> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let system = rustix::fs::statvfs(folder).map_err(std::io::Error::from)?;
    Ok(system.f_bavail.saturating_mul(system.f_frsize))
}

/// The time and the memory of a command.
struct Used {
    seconds: f64,
    megabytes: f64,
}

/// Runs `veneer trace` with these words and the directory after the first one.
fn measure(words: &[&str], trace: &Path) -> Result<Used, TrustError> {
    let (first, rest) = words.split_at(1);
    let command: Process = veneer().arg("trace").args(first).arg(trace).args(rest);
    let begun = Instant::now();
    let mut child = command.start()?;
    drop(child.stdin.take());
    let mut output = Vec::new();
    if let Some(mut stream) = child.stdout.take() {
        stream.read_to_end(&mut output)?;
    }
    let mut status = 0;
    // SAFETY: an integer and a structure of integers, for which zeros are valid. The child is waited for
    // here only.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::wait4(child.id() as libc::pid_t, &mut status, 0, &mut usage);
        usage
    };
    let seconds = begun.elapsed().as_secs_f64();
    if status != 0 || output.is_empty() {
        return Err(TrustError::WrongPlainRun {
            code: libc::WEXITSTATUS(status),
            output: String::from_utf8_lossy(&output).into_owned(),
        });
    }
    Ok(Used {
        seconds,
        megabytes: usage.ru_maxrss as f64 / 1024.0,
    })
}
