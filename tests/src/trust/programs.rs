//! The part `programs`: real programs whose output must be the same in every mode. The modes are:
//! plain, armed under each policy, with counters on all blocks, and under the patch storm.
//!
//! ```text
//!   tests/programs/X.java ─ javac ─▶ java X             ─▶ output ┐
//!                                   veneer run … java X ─▶ output ┴▶ the same bytes, the same exit code?
//! ```

pub mod list;
pub mod mode;
pub mod storm_summary;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use self::list::{PROGRAMS, Prepared, Program, folder};
use self::mode::Mode;
use self::storm_summary::{RATE, StormSummary};
use super::hostile::settings::C1;
use super::part::{Part, Scope, Table, TrustError};
use crate::command;
use crate::process::{Output, Process, ProcessError};
use crate::workers;

/// The least number of calls in a complete call graph.
const LEAST_CALLS: u64 = 100_000;

/// The most runs of a program under the storm, until the storms have done the program's operations.
const MAX_STORM_RUNS: u32 = 8;

/// In quick scope, storms do one of this number of operations: other tests may run at the same time.
const QUICK_STORM_PART: u64 = 5;

/// The programs of the quick scope.
const QUICK: [&str; 3] = ["Ecj", "KotlinProgram", "Concurrent"];

/// One run of a program in one mode.
pub struct Run {
    pub mode: Mode,
    pub seconds: f64,
    /// Number of armed classes.
    pub armed: u64,
    /// Sum of the hits of all instruments.
    pub hits: u64,
    /// The summary of the storm's plan.
    pub summary: Option<StormSummary>,
    /// One line for each failure.
    pub failures: Vec<String>,
}

impl Run {
    /// The number of operations of the storm.
    fn operations(&self) -> u64 {
        self.summary.as_ref().map_or(0, |storm| storm.operations)
    }

    /// Adds another run of the same program in the same mode.
    fn add(&mut self, other: Run) {
        self.seconds += other.seconds;
        self.hits += other.hits;
        self.failures.extend(other.failures);
        if let (Some(summary), Some(other)) = (&mut self.summary, &other.summary) {
            summary.add(other);
        }
    }
}

/// The runs of a program on a JDK in all modes.
pub struct Series {
    pub program: &'static Program,
    /// The feature version of the JDK.
    pub jdk: u32,
    /// The runs in the order of the modes.
    pub runs: Vec<Run>,
    /// The reason why the program could not be run.
    pub error: Option<String>,
}

impl Prepared {
    /// Runs the program in all of these modes. The first one must be plain.
    fn series(&self, modes: &[Mode], operations: u64) -> Result<Vec<Run>, TrustError> {
        let (plain, mut runs) = (self.run_once(Mode::Plain, 0)?, Vec::new());
        if plain.output.out.is_empty() || plain.output.code != 0 {
            return Err(TrustError::WrongPlainRun {
                code: plain.output.code,
                output: plain.output.out + &plain.output.err,
            });
        }
        runs.push(plain.run);
        for mode in modes.iter().filter(|mode| **mode != Mode::Plain) {
            let begun = Instant::now();
            match self.checked_runs(*mode, operations, &plain.output) {
                Ok(run) => runs.push(run),
                Err(error) => runs.push(Run {
                    mode: *mode,
                    seconds: begun.elapsed().as_secs_f64(),
                    armed: 0,
                    hits: 0,
                    summary: None,
                    failures: vec![error.to_string()],
                }),
            }
        }
        Ok(runs)
    }

    /// Runs the program in a mode, and compares the run with the plain one. Under the storm it runs until
    /// the storms have done this number of operations, others each time.
    fn checked_runs(&self, mode: Mode, operations: u64, plain: &Output) -> Result<Run, TrustError> {
        let mut total = self.checked_run(mode, 0, plain)?;
        let wanted = match mode {
            Mode::Storm(_) => operations,
            _ => 0,
        };
        for number in 1..MAX_STORM_RUNS {
            if total.operations() >= wanted || !total.failures.is_empty() {
                return Ok(total);
            }
            let next = self.checked_run(mode, number, plain)?;
            total.add(next);
        }
        if total.operations() < wanted {
            total.failures.push(format!(
                "the storms did {} operations in {MAX_STORM_RUNS} runs, fewer than {wanted}",
                total.operations()
            ));
        }
        Ok(total)
    }

    fn checked_run(&self, mode: Mode, number: u32, plain: &Output) -> Result<Run, TrustError> {
        let mut one = self.run_once(mode, number)?;
        one.compare(plain);
        one.check();
        Ok(one.run)
    }

    /// `number`: the number of the run in its mode. It chooses the operations of the storm.
    fn run_once(&self, mode: Mode, number: u32) -> Result<SingleRun, TrustError> {
        let name = format!("{}-{mode}", self.program.name).replace(", ", "-");
        let work = folder().join(format!("jdk{}", self.jdk.major())).join(name);
        // Files of an earlier run could change this one.
        let _ = std::fs::remove_dir_all(&work);
        let inside = work.join("work");
        std::fs::create_dir_all(&inside)?;
        let (plan, report) = (work.join("plan.rhai"), work.join("report.json"));
        if let Some(text) = mode.plan(self.program, 12_345 + self.jdk.major() + 1_000 * number) {
            std::fs::write(&plan, text)?;
        }
        let mut java = self.java(&inside).limit(Duration::from_secs(300));
        if mode.has_c1_only() {
            java = java.env("JDK_JAVA_OPTIONS", &C1.options.join(" "));
        }
        let options = mode.options(self.program, &plan, &report);
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let process = match mode {
            Mode::Plain => java,
            _ => command::run(&options, &java),
        };
        let begun = Instant::now();
        let output = match process.run() {
            Err(ProcessError::Late {
                seconds, output, ..
            }) if mode != Mode::Plain => {
                return Err(TrustError::Late {
                    seconds,
                    output,
                    process: process.to_string(),
                });
            }
            other => other?,
        };
        let seconds = begun.elapsed().as_secs_f64();
        std::fs::write(work.join("out"), &output.out)?;
        std::fs::write(work.join("err"), &output.err)?;
        let mut once = SingleRun {
            run: Run {
                mode,
                seconds,
                armed: 0,
                hits: 0,
                summary: StormSummary::read(&output.err),
                failures: Vec::new(),
            },
            output,
            process,
            work,
        };
        if mode != Mode::Plain {
            once.read(&report);
        }
        Ok(once)
    }
}

/// The number of calls in a complete call graph, from what the command prints about it: `3,526 methods
/// were called, 4,313,306 calls on 3,526 edges`.
fn calls_counted(printed: &str) -> u64 {
    let words: Vec<&str> = printed.split_whitespace().collect();
    let found = words.windows(2).find(|pair| pair[1] == "calls");
    let number = found.map(|pair| pair[0].replace(',', ""));
    number.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// One run with its files.
struct SingleRun {
    run: Run,
    output: Output,
    process: Process,
    work: PathBuf,
}

impl SingleRun {
    fn read(&mut self, report: &Path) {
        let text = std::fs::read_to_string(report).unwrap_or_default();
        let report: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        let total = |name: &str| {
            report
                .get("totals")
                .and_then(|t| t.get(name))
                .and_then(serde_json::Value::as_u64)
                .unwrap_or(0)
        };
        self.run.armed = total("classes_armed");
        self.run.hits = total("hits");
    }

    /// Adds a failure if the run differs from the plain one, with the command line to repeat it.
    fn compare(&mut self, plain: &Output) {
        if (self.output.code, &self.output.out) == (plain.code, &plain.out) {
            return;
        }
        let mut text = String::new();
        if self.output.code != plain.code {
            text += &format!("exit code {} instead of {}; ", self.output.code, plain.code);
        }
        let (mut ours, mut theirs) = (self.output.out.lines(), plain.out.lines());
        let different = (1..)
            .map(|line| (line, theirs.next(), ours.next()))
            .take_while(|(_, a, b)| a.is_some() || b.is_some())
            .find(|(_, a, b)| a != b);
        if let Some((line, a, b)) = different {
            let short = |text: Option<&str>| -> String {
                text.unwrap_or("(nothing)").chars().take(200).collect()
            };
            text += &format!("line {line}: `{}` instead of `{}`; ", short(b), short(a));
        }
        let end: Vec<&str> = self.output.err.lines().rev().take(3).collect();
        text += &format!(
            "see {}; to repeat: {}; standard error ends: {}",
            self.work.display(),
            self.process,
            end.into_iter().rev().collect::<Vec<_>>().join(" / ")
        );
        self.run.failures.push(text);
    }

    /// Adds a failure if the run did less than it claims.
    fn check(&mut self) {
        let run = &mut self.run;
        if run.mode == Mode::Complete {
            if calls_counted(&self.output.err) < LEAST_CALLS {
                let failure = format!("hardly any call was counted: {}", self.output.err);
                run.failures.push(failure);
            }
            return;
        }
        if run.armed < 2 {
            run.failures
                .push(format!("only {} classes were armed", run.armed));
        }
        if matches!(run.mode, Mode::Counted(_)) && run.hits < 10_000 {
            run.failures
                .push(format!("hardly anything was counted: {}", run.hits));
        }
        if matches!(run.mode, Mode::Storm(_)) && run.summary.is_none() {
            let failure = "the storm's plan did not say what it did";
            run.failures.push(failure.into());
        }
    }
}

/// Runs the programs of a scope.
pub fn all(scope: &Scope) -> Vec<Series> {
    // The command is built before any time is measured.
    command::path();
    let mut jobs: Vec<(&'static Program, usize)> = Vec::new();
    let jdks = if scope.quick { 1 } else { scope.jdks.len() };
    for jdk in 0..jdks {
        let chosen = PROGRAMS
            .iter()
            .filter(|p| !scope.quick || QUICK.contains(&p.name));
        let only = std::env::var("VENEER_ONLY").unwrap_or_default();
        jobs.extend(chosen.filter(|p| p.name.contains(&only)).map(|p| (p, jdk)));
    }
    let job = |(program, jdk): &(&'static Program, usize)| {
        let modes = match (scope.quick, jdk) {
            (true, _) => mode::QUICK,
            (false, 0) => mode::ALL,
            (false, _) => mode::ON_OTHER_JDKS,
        };
        let operations = match scope.quick {
            true => program.storm_operations / QUICK_STORM_PART,
            false => program.storm_operations,
        };
        let jdk = &scope.jdks[*jdk];
        let begun = Instant::now();
        let result = program
            .prepare(jdk)
            .and_then(|prepared| prepared.series(modes, operations));
        let (runs, error) = match result {
            Ok(runs) => (runs, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let bad: usize = runs.iter().map(|run| run.failures.len()).sum();
        eprintln!(
            "programs: {} on {jdk}: {} runs in {:.0} s, {} failures",
            program.name,
            runs.len(),
            begun.elapsed().as_secs_f64(),
            bad + usize::from(error.is_some())
        );
        Series {
            program,
            jdk: jdk.major(),
            runs,
            error,
        }
    };
    workers::parallel_map(&jobs, job)
}

/// Runs the part.
pub fn run(scope: &Scope) -> Result<Part, TrustError> {
    let begun = Instant::now();
    let mut part = Part::new("programs", "Real programs, the same output");
    part.words = vec![
        format!(
            "{} programs on jars of others and on the JDK's own libraries print all that they compute. Standard output and exit code \
             must be those of the plain run, byte for byte: armed under each policy (for `call`, cut at every call), with counters on \
             all blocks of the program's own packages, and under the patch storm. All run with full verification. Armed under the policies \
             `method` and `call`, the JVM compiles with C1 only.",
            PROGRAMS.len()
        ),
        format!(
            "The storm attaches counters and timers to methods drawn at random, redirects edges \
             to their own targets, and detaches these again. It aims at {RATE:.0} operations a \
             second from the first armed class to the end of the program. The program competes \
             with the storm for the processors: two programs run at a time, with any number of \
             threads. Each program has a number of operations that storms must do in it; until \
             they have, it runs again, under other operations. More than {MAX_STORM_RUNS} runs are \
             a failure. Refusals are counted by code; a refusal leaves the method unchanged."
        ),
    ];
    let all = all(scope);
    part.words.extend(rates(&all));
    part.failures = failures(&all);
    part.tables = vec![outcomes(&all), storms(&all), refusals(&all)];
    Ok(part.with_duration_since(begun))
}

/// Returns one line for each failure.
pub fn failures(all: &[Series]) -> Vec<String> {
    let mut lines = Vec::new();
    for series in all {
        let name = format!("{} on JDK {}", series.program.name, series.jdk);
        lines.extend(series.error.iter().map(|e| format!("{name}: {e}")));
        for run in &series.runs {
            let texts = run.failures.iter();
            lines.extend(texts.map(|text| format!("{name}, {}: {text}", run.mode)));
        }
    }
    lines
}

fn outcomes(all: &[Series]) -> Table {
    let mut columns = vec!["program", "does", "JDK", "plain, s", "classes armed"];
    let names: Vec<String> = mode::ALL[1..].iter().map(Mode::to_string).collect();
    columns.extend(names.iter().map(String::as_str));
    columns.push("hits counted");
    let mut table = Table::new(
        "Output and exit code, compared with the plain run",
        &columns,
    );
    for series in all {
        let of = |mode: &Mode| series.runs.iter().find(|run| run.mode == *mode);
        let armed = series.runs.iter().map(|run| run.armed).max().unwrap_or(0);
        let hits = series
            .runs
            .iter()
            .filter(|r| matches!(r.mode, Mode::Counted(_)));
        let mut row = vec![
            series.program.name.to_string(),
            series.program.what.to_string(),
            series.jdk.to_string(),
            of(&Mode::Plain).map_or("–".into(), |run| format!("{:.1}", run.seconds)),
            armed.to_string(),
        ];
        row.extend(mode::ALL[1..].iter().map(|mode| match of(mode) {
            None => "–".to_string(),
            Some(run) if run.failures.is_empty() => "same".into(),
            Some(_) => "**fails**".into(),
        }));
        row.push(hits.map(|run| run.hits).max().unwrap_or(0).to_string());
        table.rows.push(row);
    }
    table
}

/// A sentence with the number of storms that reached the target rate, and the slowest storm.
fn rates(all: &[Series]) -> Option<String> {
    let slowest = storm_summaries(all).min_by(|a, b| a.1.rate().total_cmp(&b.1.rate()))?;
    let reached = storm_summaries(all)
        .filter(|(_, summary)| summary.rate() >= RATE)
        .count();
    Some(format!(
        "{reached} of {} storms did {RATE:.0} operations a second or more over their whole run; the slowest, that of {} on JDK {}, did {:.0}.",
        storm_summaries(all).count(),
        slowest.0.program.name,
        slowest.0.jdk,
        slowest.1.rate()
    ))
}

fn storm_summaries(all: &[Series]) -> impl Iterator<Item = (&Series, &StormSummary)> {
    all.iter().flat_map(|series| {
        let storm_summaries = series.runs.iter().filter_map(|run| run.summary.as_ref());
        storm_summaries.map(move |summary| (series, summary))
    })
}

fn storms(all: &[Series]) -> Table {
    let mut table = Table::new(
        "The storms",
        &[
            "program",
            "JDK",
            "seconds",
            "operations",
            "at least",
            "a second",
            "attached",
            "redirected",
            "detached",
            "refused",
            "hits",
        ],
    );
    for (series, summary) in storm_summaries(all) {
        table.rows.push(vec![
            series.program.name.to_string(),
            series.jdk.to_string(),
            format!("{:.1}", summary.seconds),
            summary.operations.to_string(),
            series.program.storm_operations.to_string(),
            format!("{:.0}", summary.rate()),
            summary.attached.to_string(),
            summary.redirected.to_string(),
            summary.detached.to_string(),
            summary.refused.to_string(),
            summary.hits.to_string(),
        ]);
    }
    table
}

fn refusals(all: &[Series]) -> Table {
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    let mut operations = 0;
    for (_, summary) in storm_summaries(all) {
        operations += summary.operations;
        for (name, count) in &summary.reasons {
            *reasons.entry(name).or_default() += count;
        }
    }
    let title = format!("What the storms were refused, of {operations} operations");
    let mut table = Table::new(&title, &["refusal", "times"]);
    let rows = reasons.into_iter();
    table.rows = rows
        .map(|(name, count)| vec![name.to_string(), count.to_string()])
        .collect();
    table
}
