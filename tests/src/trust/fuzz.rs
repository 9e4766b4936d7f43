//! The part `fuzz`: libFuzzer on the class-file reader, the pipeline, stack maps, plans, the
//! protocol, patterns, files of call graphs, caches and memory profiles.
//!
//! In quick scope, only the saved corpora are run, with the stable compiler. In full scope, the
//! part uses the figures of the last `make fuzz` from `fuzz/runs.json` if the sources have not
//! changed since. Otherwise it runs each target for `FUZZ_SECONDS` (default: one minute).

use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{Part, Scope, Table, TrustError};
use crate::folder::{files, workspace};
use crate::process::{Process, end_group};

/// The targets, and the property that each target checks.
const TARGETS: [(&str, &str); 10] = [
    (
        "reader",
        "class-file reader and decoders: no panic, memory bounded by the input, the same bytes again",
    ),
    (
        "pipeline",
        "class file to armed class and versions, with edits: verified input gives verified \
         output, no internal error",
    ),
    (
        "maps",
        "class files of version 50 with damaged stack maps: each armed class passes the type \
         checker",
    ),
    (
        "plans",
        "plans: no panic, time and memory limits hold, a failed plan leaves nothing attached",
    ),
    (
        "protocol",
        "control messages in any pieces: no panic, memory bounded, a message read and written \
         again is the same",
    ),
    ("patterns", "method patterns: text to pattern to text"),
    (
        "calls",
        "files of call graphs: no panic, memory bounded, a profile written again is the same",
    ),
    (
        "caches",
        "cache descriptions and accesses: no panic, text to description to text, the outcomes of \
         the naive model",
    ),
    (
        "profiles",
        "memory profiles: no panic, memory bounded by the input, a profile read and written again \
         is the same",
    ),
    (
        "traces",
        "event traces: no panic, memory bounded, the same tree from each snapshot",
    ),
];

/// The folders with the sources of the targets.
const SOURCES: [&str; 13] = [
    "names/src",
    "liveness/src",
    "fragmenter/src",
    "fragmenter/tests/arming_support",
    "instruments/src",
    "profiles/calls/src",
    "protocol/src",
    "profiles/memory/src",
    "profiles/memory/tests/naive",
    "profiles/traces/src",
    "scripts/src",
    "fuzz/bodies/src",
    "fuzz/fuzz_targets",
];

/// Duration of each target in seconds, unless `FUZZ_SECONDS` is set.
const SECONDS: u32 = 60;
/// The longest time for building the targets: in a new checkout, on a slow machine, beside `memory`.
const BUILD_LIMIT: Duration = Duration::from_secs(3600);

/// The figures of one target.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Run {
    target: String,
    /// Number of inputs.
    executions: u64,
    /// Number of executed edges of the code.
    edges: u64,
    /// Number of libFuzzer's features: edges with hit counts, comparisons, stack depths.
    features: u64,
    /// Number of inputs that libFuzzer kept.
    corpus: u64,
    /// The failures, as names of the files with their inputs.
    crashes: Vec<String>,
    seconds: u64,
}

/// The content of `fuzz/runs.json`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Runs {
    /// A hash of the sources.
    sources: String,
    runs: Vec<Run>,
}

/// Runs the part.
pub fn run(scope: &Scope) -> Result<Part, TrustError> {
    let start = Instant::now();
    let mut part = Part::new("fuzz", "Fuzzing");
    let sources = fingerprint()?;
    let runs = if scope.quick {
        replay(&mut part)?;
        None
    } else if let Some(kept) = kept_runs(&sources) {
        part.words.push(
            "The figures are those of the last `make fuzz`; the sources of the targets have not \
             changed since."
                .into(),
        );
        replay(&mut part)?;
        Some(kept)
    } else {
        // libFuzzer runs the saved corpora first, so they are not run twice.
        let seconds = std::env::var("FUZZ_SECONDS")
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(SECONDS);
        part.words.push(format!(
            "Each target ran for {seconds} s with the address sanitizer, from its kept corpus on."
        ));
        let runs = fuzz(seconds, &mut part)?;
        let runs = Runs { sources, runs };
        if seconds >= SECONDS {
            std::fs::write(kept_file(), serde_json::to_string_pretty(&runs)? + "\n")?;
        }
        Some(runs)
    };
    part.tables.push(saved_corpora()?);
    if let Some(runs) = runs {
        tabulate(&runs.runs, &mut part);
    }
    Ok(part.with_duration_since(start))
}

/// A build of the targets in the background. Dropping it ends the build.
pub struct BackgroundBuild(Child);

impl BackgroundBuild {
    /// Starts to build the targets, with what other processes leave of the processors. Returns `None`
    /// if no build is needed, or if it cannot be started; then the part builds the targets itself.
    pub fn start(scope: &Scope) -> Option<BackgroundBuild> {
        if scope.quick || kept_runs(&fingerprint().ok()?).is_some() {
            return None;
        }
        let build = Process::new("chrt")
            .args(["--idle", "0", "sh", "build/fuzz.sh", "--build"])
            .folder(&workspace());
        // The script writes a few lines, which the pipes hold.
        build.start().ok().map(BackgroundBuild)
    }
}

impl Drop for BackgroundBuild {
    fn drop(&mut self) {
        end_group(&mut self.0);
    }
}

fn kept_file() -> PathBuf {
    workspace().join("fuzz/runs.json")
}

/// The figures of the last `make fuzz`, if they are those of these sources.
fn kept_runs(sources: &str) -> Option<Runs> {
    let text = std::fs::read_to_string(kept_file()).ok()?;
    let kept: Runs = serde_json::from_str(&text).ok()?;
    (kept.sources == sources && kept.runs.len() == TARGETS.len()).then_some(kept)
}

/// Runs the saved corpora through the bodies of the targets.
fn replay(part: &mut Part) -> Result<(), TrustError> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Process::new(cargo)
        .args(["test", "--quiet", "-p", "veneer-fuzz-bodies"])
        .folder(&workspace())
        .limit(Duration::from_secs(900))
        .run()?;
    if output.code != 0 {
        let last: Vec<&str> = output.out.lines().rev().take(12).collect();
        part.failures.push(format!(
            "the kept corpora: {} {}",
            last.join(" / "),
            output.err
        ));
    }
    Ok(())
}

/// Counts the inputs of the saved corpora.
fn saved_corpora() -> Result<Table, TrustError> {
    let mut table = Table::new(
        "Kept corpora, run by `cargo test` too",
        &["target", "inputs", "bytes"],
    );
    for (target, _) in TARGETS {
        let (mut count, mut bytes) = (0u64, 0);
        for entry in std::fs::read_dir(workspace().join("fuzz/corpus").join(target))?.flatten() {
            count += 1;
            bytes += entry.metadata()?.len();
        }
        table
            .rows
            .push([target.to_string(), count.to_string(), bytes.to_string()].into());
    }
    Ok(table)
}

/// Runs all targets, two at a time.
fn fuzz(seconds: u32, part: &mut Part) -> Result<Vec<Run>, TrustError> {
    let limit = BUILD_LIMIT + Duration::from_secs(10 * u64::from(seconds));
    // The JVMs of `memory`, which run at the same time, come first.
    let output = Process::new("nice")
        .args(["-n", "10", "sh", "build/fuzz.sh"])
        .env("FUZZ_SECONDS", &seconds.to_string())
        .folder(&workspace())
        .limit(limit)
        .run()?;
    if !matches!(output.code, 0 | 1) {
        return Err(TrustError::ExitCode {
            program: "build/fuzz.sh".into(),
            code: output.code,
            output: output.err,
        });
    }
    let logs = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| workspace().join("target"), PathBuf::from)
        .join("fuzz");
    let mut runs = Vec::new();
    for (target, _) in TARGETS {
        let log = std::fs::read_to_string(logs.join(format!("{target}.log")))?;
        let mut run = read(target, &log);
        let code = std::fs::read_to_string(logs.join(format!("{target}.code")))?;
        if code.trim() != "0" && run.crashes.is_empty() {
            run.crashes
                .push(format!("ended with {}: see {target}.log", code.trim()));
        }
        runs.push(run);
    }
    for run in &runs {
        if run.executions == 0 {
            part.failures
                .push(format!("{}: libFuzzer tried nothing", run.target));
        }
    }
    Ok(runs)
}

/// Reads the figures from a log of libFuzzer.
fn read(target: &str, log: &str) -> Run {
    let mut run = Run {
        target: target.to_string(),
        ..Run::default()
    };
    let after = |line: &str, word: &str| -> Option<u64> {
        let (_, rest) = line.split_once(word)?;
        let rest = rest.trim_start();
        let end = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        rest[..end].parse().ok()
    };
    for line in log.lines() {
        if line.starts_with('#') {
            run.edges = after(line, " cov:").unwrap_or(run.edges);
            run.features = after(line, " ft:").unwrap_or(run.features);
            run.corpus = after(line, " corp:").unwrap_or(run.corpus);
        } else if let Some(count) = after(line, "stat::number_of_executed_units:") {
            run.executions = count;
        } else if line.starts_with("Done ") {
            run.seconds = after(line, " in ").unwrap_or(0);
        } else if let Some((_, path)) = line.split_once("Test unit written to ") {
            let name = Path::new(path).file_name().unwrap_or_default();
            let name = name.to_string_lossy();
            // Inputs that took more than ten seconds are saved too. They are no failures.
            if !name.starts_with("slow-unit-") {
                run.crashes.push(name.into_owned());
            }
        }
    }
    run
}

fn tabulate(runs: &[Run], part: &mut Part) {
    let mut table = Table::new(
        "libFuzzer",
        &[
            "target",
            "promise",
            "executions",
            "edges",
            "features",
            "inputs kept",
            "failures",
            "seconds",
        ],
    );
    for run in runs {
        let promise = TARGETS.iter().find(|one| one.0 == run.target);
        table.rows.push(vec![
            run.target.clone(),
            promise.map_or(String::new(), |one| one.1.to_string()),
            run.executions.to_string(),
            run.edges.to_string(),
            run.features.to_string(),
            run.corpus.to_string(),
            run.crashes.len().to_string(),
            run.seconds.to_string(),
        ]);
        for crash in &run.crashes {
            part.failures.push(format!("{}: {crash}", run.target));
        }
    }
    part.tables.push(table);
}

/// A hash of the sources of the targets (FNV-1a, 64 bits). It does not need to be cryptographically
/// secure.
fn fingerprint() -> Result<String, TrustError> {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for folder in SOURCES {
        let mut paths = files(&workspace().join(folder), "rs")?;
        paths.sort();
        for path in paths {
            let name = path.strip_prefix(workspace()).unwrap_or(&path);
            add(name.to_string_lossy().as_bytes());
            add(&std::fs::read(&path)?);
        }
    }
    Ok(format!("{hash:016x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
#2\tINITED cov: 120 ft: 130 corp: 1/1b exec/s: 0 rss: 200Mb
#4096\tNEW    cov: 2577 ft: 8943 corp: 982/1374Kb lim: 20000 exec/s: 2092 rss: 316Mb L: 1/9 MS: 2 EraseBytes-
Done 59618 runs in 26 second(s)
stat::number_of_executed_units: 59618
";

    #[test]
    fn reads_the_figures_of_a_fuzzer_log() {
        let run = read("reader", LOG);
        assert_eq!(
            (
                run.executions,
                run.edges,
                run.features,
                run.corpus,
                run.seconds
            ),
            (59618, 2577, 8943, 982, 26)
        );
        assert!(run.crashes.is_empty());
        let failed = format!("{LOG}artifact_prefix='x/'; Test unit written to x/crash-ab12\n");
        assert_eq!(read("reader", &failed).crashes, ["crash-ab12"]);
        let slow = failed.replace("crash-", "slow-unit-");
        assert!(read("reader", &slow).crashes.is_empty());
    }
}
