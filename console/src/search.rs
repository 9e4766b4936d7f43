//! `veneer search`: finds the bottlenecks of a running JVM.
//!
//! ```text
//!   JVM ──thread dumps──▶ Driver ──observations──▶ veneer_search::Search ──▶ sentences, JSON,
//!    ▲  ──counters of pauses,   │                       │  ▲                 DOT, SVG
//!    │    compiled methods──▶   └──▶ record ────────────┼──┘
//!    └──────────── rate of dumps ◀──requests────────────┘
//! ```
//!
//! The driver measures by thread dumps and by what else HotSpot shows without an agent: the
//! performance counters of pauses, and the list of compiled methods. It refuses the probes that the
//! search asks for, so the search decides from samples. With `--record`, the observations also go to
//! a file, from which `--replay` repeats the search without the JVM. With `--memory`, memory accesses are
//! recorded for some seconds (`locality.rs`). With `--what-if`, experiments follow
//! the search (`what_if.rs`), for which the agent is loaded. With `--then`, a plan with the findings follows
//! (`then_plan.rs`).

mod driver;
mod evidence;
mod finding_pattern;
mod first_jvm;
mod graph_file;
mod locality;
mod progress;
mod recorder;
mod replay;
pub mod run_search;
mod samples;
mod then_plan;
mod thread_costs;
mod what_if;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;
use signal_hook::consts::{SIGINT, SIGTERM};
use veneer_client::Target;
use veneer_experiments::Prediction;
use veneer_search::Search;
use veneer_search::cause::{CAUSES, Cause};
use veneer_search::sentence;
use veneer_search::settings::Settings;

use crate::cli::{SearchArguments, SearchOptions};
use crate::exec;
use crate::exit_code::EXIT_FAILED;
use crate::output::{describe, print_error};
use crate::plans;
use driver::{Driver, SearchLength, take_first_dump};
use graph_file::{LiveGraph, write_graph};
use progress::Progress;
use recorder::Recorder;

/// The length of a search of a running JVM.
const DEFAULT_SECONDS: f64 = 10.0;
/// The part of the ceiling on cost that dumps may use. The lists of compiled methods use the rest.
const SAMPLES_PART: f64 = 0.8;

pub fn run(arguments: SearchArguments) -> Result<u8> {
    match (&arguments.replay, arguments.pid) {
        (Some(record), _) => {
            let length = arguments.seconds.unwrap_or(f64::INFINITY);
            let options = &arguments.options;
            let replay = replay::replay(record, length, |recorded| settings(options, recorded))?;
            print(&arguments, replay.search(), &[])?;
            Ok(0)
        }
        (None, Some(pid)) => search(&arguments, pid),
        (None, None) => anyhow::bail!("neither a process id nor --replay is given"),
    }
}

/// Searches a running JVM.
fn search(arguments: &SearchArguments, pid: u32) -> Result<u8> {
    let target = Target::inspect(pid)?;
    take_first_dump(&target)?;
    let then = arguments.then.as_deref();
    let then = then
        .map(|path| plans::read(path, &BTreeMap::new()))
        .transpose()?;
    let options = &arguments.options;
    let settings = settings(options, live_settings());
    let recorder = options
        .record
        .as_deref()
        .map(|path| Recorder::create(path, &settings))
        .transpose()?;
    let search = Search::new(settings)?;
    let mut driver = Driver::begin(target, search, recorder, options.threads.clone());
    let stopped = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, stopped.clone()).context("signals cannot be caught")?;
    }
    let seconds = arguments.seconds.unwrap_or(DEFAULT_SECONDS);
    let length = SearchLength::Time(Duration::from_secs_f64(seconds));
    let graph = LiveGraph::new(options.graph.as_deref());
    driver.drive(length, &stopped, &mut Progress::on_terminal(graph));
    if arguments.memory && driver.search().is_running() {
        for fact in locality::examine(pid, driver.search(), &stopped) {
            driver.add_fact(fact);
        }
    }
    let (search, recorded) = driver.finish();
    let predicted = match arguments.what_if {
        Some(most) if search.is_running() => {
            let progress = arguments.progress.as_deref();
            what_if::predict(pid, &search, most, progress, &stopped)
        }
        _ => Ok(Vec::new()),
    };
    // The findings are printed in any case.
    print(arguments, &search, predicted.as_deref().unwrap_or_default())?;
    if let Err(error) = recorded.and(predicted.map(drop)) {
        print_error(&describe(&error));
        return Ok(EXIT_FAILED);
    }
    match then {
        Some(plan) if search.is_running() && !stopped.load(Ordering::Relaxed) => {
            let plan = then_plan::with_findings(plan, &search);
            exec::run_for(pid, plan, arguments.then_for)
        }
        _ => Ok(0),
    }
}

/// Prints the result, and writes the call graph.
fn print(arguments: &SearchArguments, search: &Search, predictions: &[Prediction]) -> Result<()> {
    if let Some(file) = &arguments.options.graph {
        write_graph(file, search)?;
    }
    let mut stdout = io::stdout().lock();
    if arguments.json {
        writeln!(stdout, "{}", json(search, predictions)?)?;
    } else {
        write_text(&mut stdout, search)?;
        what_if::write_text(&mut stdout, predictions)?;
    }
    Ok(())
}

/// The result as JSON, schema 1. The sentences about the predictions follow those of the search.
fn json(search: &Search, predictions: &[Prediction]) -> Result<String> {
    let text = sentence::json(&search.outcome())?;
    if predictions.is_empty() {
        return Ok(text);
    }
    let mut told: Value = serde_json::from_str(&text)?;
    if let Some(sentences) = told["sentences"].as_array_mut() {
        sentences.extend(predictions.iter().map(|one| what_if::sentence(one).into()));
    }
    told["predictions"] = serde_json::to_value(predictions)?;
    Ok(told.to_string())
}

/// Writes the sentences and the call graph as text.
fn write_text(to: &mut impl Write, search: &Search) -> io::Result<()> {
    for line in sentence::sentences(&search.outcome()) {
        writeln!(to, "{line}")?;
    }
    writeln!(to, "\n{}", search.text_tree().trim_end())
}

/// Returns the settings of a search of a running JVM.
fn live_settings() -> Settings {
    Settings {
        samples_part: SAMPLES_PART,
        ..Settings::default()
    }
}

/// Returns settings with those that the options name.
fn settings(options: &SearchOptions, before: Settings) -> Settings {
    let listed = |cause: &Cause| {
        let mut listed = options.why.iter();
        listed.any(|general| cause.is_a(*general))
    };
    Settings {
        strategy: options.strategy.map_or(before.strategy, Into::into),
        threshold: options.threshold.unwrap_or(before.threshold),
        max_cost: options.cost.unwrap_or(before.max_cost),
        causes: if options.why.is_empty() {
            before.causes
        } else {
            CAUSES.into_iter().filter(listed).collect()
        },
        ..before
    }
}
