//! `bench [PART…] [--quick] [--jdk VERSION] [--render]`: makes the figures of `docs/benchmarks.md`.
//!
//! Without arguments (`make bench`, under an hour on two processors), it runs every part on the
//! newest JDK. It writes `docs/benchmarks/‹part›-‹JDK›.json` for each part and generates the page
//! from all files in that folder.
//!
//! * Names of parts: run only these parts.
//! * `--jdk VERSION`: run on that JDK. The page shows its results beside those of other JDKs.
//! * `--quick` (`make bench-quick`, under five minutes): print the results of the quick parts and
//!   save nothing.
//! * `--render`: only generate the page.
//!
//! If the variable `BENCH_WORKLOADS` (for example `sql,ecj`) restricts the programs of the part
//! `steady`, the results are printed and not saved.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use veneer_tests::arguments::ArgumentError;
use veneer_tests::bench::workload::WORKLOADS_VARIABLE;
use veneer_tests::bench::{self, Record, Scope, TrustError, page};
use veneer_tests::folder::{files, workspace};
use veneer_tests::jdk::{self, Jdk};
use veneer_tests::process::Process;

struct Choice {
    parts: Vec<&'static bench::Entry>,
    scope: Scope,
    run: bool,
    keep: bool,
}

fn choose(mut words: impl Iterator<Item = String>) -> Result<Choice, ArgumentError> {
    let mut choice = Choice {
        parts: Vec::new(),
        scope: Scope {
            quick: false,
            jdks: jdk::installed().pop().into_iter().collect(),
            workers: 1,
        },
        run: true,
        keep: std::env::var_os(WORKLOADS_VARIABLE).is_none(),
    };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--quick" => (choice.scope.quick, choice.keep) = (true, false),
            "--render" => choice.run = false,
            "--jdk" => {
                let wanted = ArgumentError::number(&word, words.next(), "a version")?;
                choice.scope.jdks = jdk::installed();
                choice.scope.jdks.retain(|jdk: &Jdk| jdk.major() == wanted);
            }
            name => choice.parts.push(
                bench::PARTS
                    .iter()
                    .find(|part| part.name == name)
                    .ok_or_else(|| ArgumentError::UnknownPart {
                        word: name.to_string(),
                        parts: bench::PARTS.iter().map(|p| p.name).collect(),
                        options: "--quick, --jdk VERSION, --render",
                    })?,
            ),
        }
    }
    if choice.scope.jdks.is_empty() {
        return Err(ArgumentError::NoJdk);
    }
    if choice.parts.is_empty() {
        choice.parts = bench::PARTS.iter().collect();
        choice
            .parts
            .retain(|part| part.quick || !choice.scope.quick);
    }
    Ok(choice)
}

fn folder() -> PathBuf {
    workspace().join("docs/benchmarks")
}

fn main() -> ExitCode {
    let choice = match choose(std::env::args().skip(1)) {
        Ok(choice) => choice,
        Err(error) => {
            eprintln!("bench: {error}");
            return ExitCode::from(2);
        }
    };
    let mut records = Vec::new();
    let mut failed = 0;
    if choice.run {
        for entry in &choice.parts {
            match run(entry, &choice) {
                Ok(record) => {
                    failed += usize::from(!record.part.failures.is_empty());
                    records.push(record);
                }
                Err(error) => {
                    eprintln!("bench: {}: could not be run: {error}", entry.name);
                    failed += 1;
                }
            }
        }
    }
    if choice.run && !choice.keep {
        println!("{}", page::page("these", &records, &[], ""));
    } else if let Err(error) = write_page(choice.run) {
        eprintln!("bench: docs/benchmarks.md: {error}");
        return ExitCode::FAILURE;
    }
    if failed > 0 {
        eprintln!("bench: {failed} of {} parts fail", choice.parts.len());
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Runs a part. Its record is saved if the run was a full one.
fn run(entry: &bench::Entry, choice: &Choice) -> Result<Record, TrustError> {
    eprintln!("bench: {} …", entry.name);
    let start = Instant::now();
    let record = (entry.run)(&choice.scope)?;
    for failure in &record.part.failures {
        eprintln!("bench: {}: {failure}", entry.name);
    }
    eprintln!(
        "bench: {}: {} failures, {:.0} s",
        entry.name,
        record.part.failures.len(),
        start.elapsed().as_secs_f64()
    );
    if choice.keep {
        std::fs::create_dir_all(folder())?;
        let major = choice.scope.jdks.first().map_or(0, Jdk::major);
        let file = folder().join(format!("{}-{major}.json", entry.name));
        std::fs::write(file, serde_json::to_string_pretty(&record)? + "\n")?;
    }
    Ok(record)
}

/// Generates the page from all saved records, ordered by part and, within a part, with the newest
/// JDK first. If nothing `was_run`, the page keeps the commit of its figures.
fn write_page(was_run: bool) -> Result<(), TrustError> {
    let (mut records, mut missing): (Vec<Record>, Vec<&str>) = (Vec::new(), Vec::new());
    let kept = files(&folder(), "json").unwrap_or_default();
    for entry in bench::PARTS {
        let mut of: Vec<&PathBuf> = kept
            .iter()
            .filter(|path| {
                let name = path.file_stem().and_then(|n| n.to_str()).unwrap_or("");
                name.rsplit_once('-')
                    .is_some_and(|(part, _)| part == entry.name)
            })
            .collect();
        of.reverse();
        if of.is_empty() {
            eprintln!("bench: {} was not run yet", entry.name);
            missing.push(entry.name);
        }
        for path in of {
            records.push(serde_json::from_str(&std::fs::read_to_string(path)?)?);
        }
    }
    let path = workspace().join("docs/benchmarks.md");
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    let notes = before
        .split_once(page::NOTES)
        .map_or("", |(_, notes)| notes);
    let kept = before
        .lines()
        .find_map(page::commit_in)
        .filter(|_| !was_run);
    let commit = kept.map_or_else(sources, String::from);
    std::fs::write(&path, page::page(&commit, &records, &missing, notes))?;
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
        git(&["status", "--porcelain", "--", ".", ":!docs"]),
    ) {
        (Some(commit), Some(changes)) if changes.is_empty() => format!("commit {commit}"),
        (Some(commit), _) => format!("commit {commit} and changes"),
        _ => "not under version control".to_string(),
    }
}
