//! `trust [PART…] [--quick] [--jdk VERSION] [--workers N] [--render]`: makes the evidence of
//! `docs/trust.md`.
//!
//! Without arguments (`make trust`, under an hour on two processors), it runs every part, writes
//! `docs/trust/‹part›.json` for each, and generates the page from these files.
//!
//! * Names of parts: run only these parts, and generate the page from all files that exist.
//! * `--quick`, or one JDK alone: print the results and save nothing, because a page is only made
//!   from full runs.
//! * `--render`: only generate the page.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use veneer_tests::arguments::ArgumentError;
use veneer_tests::folder::workspace;
use veneer_tests::jdk::{self, Jdk};
use veneer_tests::machine::Machine;
use veneer_tests::process::Process;
use veneer_tests::trust::{self, Part, Scope, TrustError, fuzz, render};

struct Choice {
    parts: Vec<&'static trust::Entry>,
    scope: Scope,
    keep: bool,
    run: bool,
}

fn choose(mut words: impl Iterator<Item = String>) -> Result<Choice, ArgumentError> {
    let mut choice = Choice {
        parts: Vec::new(),
        scope: Scope {
            quick: false,
            jdks: jdk::installed(),
            workers: std::thread::available_parallelism().map_or(1, usize::from),
        },
        keep: true,
        run: true,
    };
    while let Some(word) = words.next() {
        let mut number = || ArgumentError::number(&word, words.next(), "a value");
        match word.as_str() {
            "--quick" => (choice.scope.quick, choice.keep) = (true, false),
            "--render" => choice.run = false,
            "--workers" => choice.scope.workers = number()?.max(1) as usize,
            "--jdk" => {
                let wanted = number()?;
                choice.scope.jdks.retain(|jdk: &Jdk| jdk.major() == wanted);
                choice.keep = false;
            }
            name => choice.parts.push(
                trust::PARTS
                    .iter()
                    .find(|part| part.name == name)
                    .ok_or_else(|| ArgumentError::UnknownPart {
                        word: name.to_string(),
                        parts: trust::PARTS.iter().map(|p| p.name).collect(),
                        options: "--quick, --jdk VERSION, --workers N, --render",
                    })?,
            ),
        }
    }
    if choice.scope.jdks.is_empty() {
        return Err(ArgumentError::NoJdk);
    }
    if choice.parts.is_empty() {
        choice.parts = trust::PARTS.iter().collect();
    }
    Ok(choice)
}

fn file(name: &str) -> PathBuf {
    workspace().join("docs/trust").join(format!("{name}.json"))
}

fn main() -> ExitCode {
    let choice = match choose(std::env::args().skip(1)) {
        Ok(choice) => choice,
        Err(error) => {
            eprintln!("trust: {error}");
            return ExitCode::from(2);
        }
    };
    let failed = if choice.run { run_all(&choice) } else { 0 };
    if (choice.keep || !choice.run)
        && let Err(error) = write_page()
    {
        eprintln!("trust: docs/trust.md: {error}");
        return ExitCode::FAILURE;
    }
    if failed > 0 {
        eprintln!("trust: {failed} of {} parts fail", choice.parts.len());
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Runs the chosen parts, and returns how many of them failed.
fn run_all(choice: &Choice) -> usize {
    let is_beside = |part: &&trust::Entry| {
        let is_chosen = |name: &str| choice.parts.iter().any(|other| other.name == name);
        part.beside.is_some_and(is_chosen)
    };
    let (beside, alone): (Vec<_>, Vec<_>) = choice.parts.iter().copied().partition(is_beside);
    let mut failed = 0;
    let mut fuzz_build = None;
    for (n, entry) in alone.iter().enumerate() {
        // The build gets the processor time that the JVMs of `hostile` leave.
        let later = alone.get(n + 1..).unwrap_or_default();
        if entry.name == "hostile" && later.iter().any(|part| part.name == "fuzz") {
            fuzz_build = fuzz::BackgroundBuild::start(&choice.scope);
        }
        let passed = std::thread::scope(|threads| {
            let others: Vec<_> = beside
                .iter()
                .filter(|other| other.beside == Some(entry.name))
                .map(|other| threads.spawn(|| run(other, choice)))
                .collect();
            let mut passed = vec![run(entry, choice)];
            passed.extend(
                others
                    .into_iter()
                    .map(|other| other.join().unwrap_or(false)),
            );
            passed
        });
        failed += passed.into_iter().filter(|passed| !passed).count();
    }
    drop(fuzz_build);
    failed
}

/// Runs a part, and returns whether it passed.
fn run(entry: &trust::Entry, choice: &Choice) -> bool {
    eprintln!("trust: {} …", entry.name);
    let start = Instant::now();
    let sources = sources();
    let mut part = match (entry.run)(&choice.scope) {
        Ok(part) => part.with_duration_since(start),
        Err(error) => {
            let mut part = Part::new(entry.name, entry.name);
            part.failures.push(format!("could not be run: {error}"));
            part.with_duration_since(start)
        }
    };
    part.sources = sources;
    for failure in &part.failures {
        let first = failure.lines().next().unwrap_or_default();
        eprintln!("trust: {}: {first}", entry.name);
    }
    eprintln!(
        "trust: {}: {} failures, {:.0} s",
        entry.name,
        part.failures.len(),
        part.seconds
    );
    if !choice.keep {
        println!("{}", render::page("this one", std::slice::from_ref(&part)));
    } else if let Err(error) = keep(&part) {
        eprintln!("trust: {}: {error}", file(entry.name).display());
        return false;
    }
    part.failures.is_empty()
}

fn keep(part: &Part) -> Result<(), TrustError> {
    let path = file(&part.name);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, serde_json::to_string_pretty(part)? + "\n")?;
    Ok(())
}

fn write_page() -> Result<(), TrustError> {
    let mut parts = Vec::new();
    for entry in trust::PARTS {
        match std::fs::read_to_string(file(entry.name)) {
            Ok(text) => parts.push(serde_json::from_str(&text)?),
            Err(_) => eprintln!("trust: {} was not run yet", entry.name),
        }
    }
    let m = Machine::here()?;
    let machine = format!(
        "{}, {} processors, {}, {}",
        m.cpu, m.cores, m.kernel, m.date
    );
    let page = render::page(&machine, &parts);
    std::fs::write(workspace().join("docs/trust.md"), page)?;
    Ok(())
}

/// The commit of the sources, as git reports it.
fn sources() -> String {
    let git = |arguments: &[&str]| {
        let output = Process::new("git")
            .args(arguments)
            .folder(&workspace())
            .run();
        output.map(|o| o.out.trim().to_string()).ok()
    };
    match (
        git(&["rev-parse", "--short", "HEAD"]),
        git(&[
            "status",
            "--porcelain",
            "--",
            ".",
            ":!docs",
            ":!fuzz/runs.json",
        ]),
    ) {
        (Some(commit), Some(changes)) if changes.is_empty() => format!("commit {commit}"),
        (Some(commit), _) => format!("commit {commit} and changes"),
        _ => "not under version control".to_string(),
    }
}
