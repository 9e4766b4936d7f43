//! `figures [--groups N] [--quick] [--jdk VERSION] [--workload NAME] [--json FILE]`: makes the
//! figures of `docs/core-figures.md`.
//!
//! A full run (`make figures`, about ten minutes) writes the page and `docs/core-figures.json`. If
//! an option selects a part of it, the results are only printed, because a page is only made from
//! one full run.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use veneer_tests::command;
use veneer_tests::figures::machine::Machine;
use veneer_tests::figures::page::{Figures, Series};
use veneer_tests::figures::run::Run;
use veneer_tests::figures::workload::{Mode, OPTIONS, Workload};
use veneer_tests::folder::{Folder, workspace};
use veneer_tests::jdk::{self, Jdk};
use veneer_tests::process::Process;

/// Number of groups of a full run. The wide modes run only in the first group, because each takes
/// long to start.
const GROUPS: usize = 5;
const WIDE_GROUPS: usize = 1;
/// Time limit of one run.
const RUN_TIMEOUT: Duration = Duration::from_secs(300);

#[derive(Debug)]
struct Choice {
    groups: usize,
    quick: bool,
    jdk: Option<u32>,
    workload: Option<String>,
    json: Option<PathBuf>,
}

impl Choice {
    fn from(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut choice = Self {
            groups: 0,
            quick: false,
            jdk: None,
            workload: None,
            json: None,
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--quick" => choice.quick = true,
                "--groups" => choice.groups = number(&word, &value()?)?,
                "--jdk" => choice.jdk = Some(number(&word, &value()?)?),
                "--workload" => choice.workload = Some(value()?),
                "--json" => choice.json = Some(value()?.into()),
                _ => {
                    return Err(format!(
                        "{word} is none of --groups N, --quick, --jdk VERSION, --workload route|javac, --json FILE"
                    ));
                }
            }
        }
        if choice.groups == 0 {
            choice.groups = if choice.quick { 1 } else { GROUPS };
        }
        Ok(choice)
    }

    /// Returns whether the page may be made from this run.
    fn is_whole(&self) -> bool {
        !self.quick && self.jdk.is_none() && self.workload.is_none() && self.groups >= GROUPS
    }
}

fn number<N: std::str::FromStr>(option: &str, text: &str) -> Result<N, String> {
    text.parse()
        .map_err(|_| format!("{option}: {text} is not a number"))
}

fn main() -> ExitCode {
    let choice = match Choice::from(std::env::args().skip(1)) {
        Ok(choice) => choice,
        Err(fault) => {
            eprintln!("figures: {fault}");
            return ExitCode::from(2);
        }
    };
    match make(&choice) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("figures failed: {error}");
            ExitCode::FAILURE
        }
    }
}

fn make(choice: &Choice) -> Result<(), Box<dyn Error>> {
    let mut jdks = jdk::installed();
    // Only the oldest and the newest JDK are measured; those in between would cost too much time.
    match choice.jdk {
        Some(major) => jdks.retain(|jdk| jdk.major() == major),
        None => {
            jdks = jdks
                .iter()
                .take(1)
                .chain(jdks.last().filter(|_| jdks.len() > 1))
                .cloned()
                .collect()
        }
    }
    if jdks.is_empty() {
        return Err("there is no such JDK from 17 on: apt-get install openjdk-17-jdk-headless, or set VENEER_JDKS=/path/of/jdk".into());
    }
    let tree = Folder::new("figures-tree")?;
    let mut workloads = vec![
        Workload::route(choice.quick),
        Workload::javac(choice.quick, tree.path())?,
    ];
    if let Some(name) = &choice.workload {
        workloads.retain(|workload| workload.name == name);
    }
    let machine = Machine::here()?;
    let mut series = Vec::new();
    for jdk in &jdks {
        for workload in &workloads {
            series.push(measure(choice, jdk, workload)?);
        }
    }
    let figures = Figures {
        schema: Figures::SCHEMA,
        machine,
        options: OPTIONS.to_vec(),
        series,
    };
    println!("{}", figures.markdown());
    let json = serde_json::to_string(&figures)?;
    if let Some(file) = &choice.json {
        std::fs::write(file, &json)?;
    }
    if choice.is_whole() {
        let page = workspace().join("docs/core-figures.md");
        let text = std::fs::read_to_string(&page)?;
        let text = figures
            .into_page(&text)
            .ok_or("docs/core-figures.md has lost its markers")?;
        std::fs::write(&page, text)?;
        std::fs::write(page.with_extension("json"), json + "\n")?;
        println!("written: docs/core-figures.md, docs/core-figures.json");
    }
    Ok(())
}

/// Runs all groups of a program on a JDK.
fn measure(choice: &Choice, jdk: &Jdk, workload: &Workload) -> Result<Series, Box<dyn Error>> {
    let classes = Folder::new("figures-classes")?;
    workload.compile(jdk, classes.path())?;
    let alone = workload.command(jdk, classes.path());
    let mut runs: Vec<(usize, Mode, Run)> = Vec::new();
    for group in 0..choice.groups {
        let mut modes = Mode::USUAL.to_vec();
        if workload.all.is_some() && group < WIDE_GROUPS && !choice.quick {
            modes.extend(Mode::WIDE);
        }
        for mode in modes {
            let plain = runs
                .iter()
                .find(|(g, _, _)| *g == group)
                .map(|(_, _, run)| run);
            let command = command_in_mode(workload, mode, &alone, &classes, &runs)?;
            let begin = Instant::now();
            let run = Run::measure(&command, RUN_TIMEOUT)?;
            check(mode, &run, plain).map_err(|fault| format!("{command}: {fault}"))?;
            let of = |f: fn(&Run) -> Option<f64>| f(&run).unwrap_or(f64::NAN);
            eprintln!(
                "{} {jdk} group {} {mode}: round {:.1} ms, processor {:.1} ms; {:.1} s in all",
                workload.name,
                group + 1,
                of(Run::round_time),
                of(Run::processor_time),
                begin.elapsed().as_secs_f64()
            );
            runs.push((group, mode, run));
        }
    }
    let name = version(jdk)?;
    Ok(Series::new(name, workload.name, workload.rounds, runs).ok_or("there is no plain run")?)
}

/// The command that runs a program in a mode.
fn command_in_mode(
    workload: &Workload,
    mode: Mode,
    alone: &Process,
    folder: &Folder,
    runs: &[(usize, Mode, Run)],
) -> Result<Process, Box<dyn Error>> {
    if mode == Mode::Plain {
        return Ok(alone.clone());
    }
    let mut options: Vec<String> = workload.options().iter().map(ToString::to_string).collect();
    // The plan needs the hits of a third of the rounds. Every round has the same number of hits.
    let full = runs
        .iter()
        .rev()
        .find(|(_, m, _)| mode.initial_mode() == Some(*m));
    let share = full.and_then(|(_, _, run)| run.hits).unwrap_or(0) / 3;
    if let Some(plan) = workload.plan(mode, share) {
        let file = folder.join("plan.rhai");
        std::fs::write(&file, plan)?;
        options.extend(["--plan".into(), file.to_string_lossy().into_owned()]);
    }
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    Ok(command::run(&options, alone))
}

/// Returns an error if the run did not do what its mode requires, because its figures would then be
/// meaningless.
fn check(mode: Mode, run: &Run, plain: Option<&Run>) -> Result<(), String> {
    if plain.is_some_and(|plain| plain.out != run.out) {
        return Err("its output is not that of the plain run".into());
    }
    if !matches!(mode, Mode::Plain | Mode::Armed) && run.hits.unwrap_or(0) == 0 {
        return Err("no counter has counted".into());
    }
    match run.left_after {
        None if mode.initial_mode().is_some() => Err("the counters have not left".into()),
        Some(rounds) if rounds >= run.steady() => {
            Err(format!("the counters left after round {rounds}, too late"))
        }
        _ => Ok(()),
    }
}

/// The version from the first line of `java -version`, for example `JDK 17.0.15`.
fn version(jdk: &Jdk) -> Result<String, Box<dyn Error>> {
    let java = Process::new(jdk.tool("java")).arg("-version");
    let text = java.run()?.succeeded("java -version")?.err;
    let quoted = text.split('"').nth(1).unwrap_or("unknown");
    Ok(format!("JDK {quoted}"))
}
