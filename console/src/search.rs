//! `veneer search`: finds the bottlenecks of a running JVM.
//!
//! ```text
//!   JVM ──thread dumps──▶ Sampler ──observations──▶ veneer_search::Search ──▶ sentences, JSON,
//!    ▲  ──counters of pauses,                           │                       DOT, SVG
//!    │    compiled methods──▶                           │
//!    └──────────── rate of dumps ◀──requests────────────┘
//! ```
//!
//! The driver measures by thread dumps and by what else HotSpot shows without an agent: the
//! performance counters of pauses, and the list of compiled methods. It refuses the probes that the
//! search asks for, so the search decides from samples.

mod evidence;
mod library;
mod pauses;
mod progress;
mod samples;
mod thread_costs;

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use veneer_client::Target;
use veneer_client::attach_command::AttachCommandError;
use veneer_client::compiled_methods::compiled_methods;
use veneer_client::thread_dump::thread_dump;
use veneer_search::Search;
use veneer_search::cause::{CAUSES, Cause};
use veneer_search::observation::Observation;
use veneer_search::outcome::{Evidence, Finding, NotLookedAt, Outcome};
use veneer_search::request::Request;
use veneer_search::sentence;
use veneer_search::settings::Settings;

use crate::cli::SearchArguments;
use pauses::Pauses;
use progress::Progress;
use samples::Sampler;

/// The length of a window.
const WINDOW: Duration = Duration::from_millis(100);
/// The longest wait between two looks at signals.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// The time of the first list of compiled methods, and the interval between two lists.
const FIRST_LIST: Duration = Duration::from_secs(1);
const LIST_INTERVAL: Duration = Duration::from_secs(1);
/// The interval between two lists is at least this many times as long as a list stops the program.
const LIST_PATIENCE: u32 = 200;
/// The share of the pauses above which the evidence mentions collections.
const MENTIONED_COLLECTIONS: f64 = 0.01;
/// The reason for which all probes are refused.
const NO_PROBES: &str = "this command measures by stack samples alone";

pub fn run(arguments: SearchArguments) -> Result<u8> {
    let target = Target::inspect(arguments.pid)?;
    let mut driver = Driver {
        search: Search::new(settings(&arguments))?,
        sampler: Sampler::new(arguments.threads.clone()),
        // The first dump shows whether the JVM can be searched at all. The listener that it starts
        // is no cost of the samples.
        pauses: thread_dump(&target).map(|_| Pauses::begin(&target))?,
        target,
        begin: Instant::now(),
        hertz: 0.0,
        active: 0,
        next_list: FIRST_LIST,
        list_refused: None,
    };
    let stopped = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, stopped.clone()).context("signals cannot be caught")?;
    }
    driver.drive(Duration::from_secs_f64(arguments.seconds), &stopped);
    let outcome = driver.outcome();
    if let Some(file) = &arguments.graph {
        write_graph(file, &driver.search)?;
    }
    let mut stdout = io::stdout().lock();
    if arguments.json {
        writeln!(stdout, "{}", serde_json::to_string(&outcome)?)?;
    } else {
        for line in sentence::sentences(&outcome) {
            writeln!(stdout, "{line}")?;
        }
        writeln!(stdout, "\n{}", driver.search.text_tree().trim_end())?;
    }
    Ok(0)
}

fn write_graph(file: &Path, search: &Search) -> Result<()> {
    let is_svg = file.extension().is_some_and(|extension| extension == "svg");
    let text = if is_svg { search.svg() } else { search.dot() };
    fs::write(file, text).with_context(|| format!("{} cannot be written", file.display()))
}

fn settings(arguments: &SearchArguments) -> Settings {
    let listed = |cause: &Cause| {
        let listed = &arguments.why;
        listed.is_empty() || listed.iter().any(|general| cause.is_a(*general))
    };
    Settings {
        strategy: arguments.strategy.into(),
        threshold: arguments.threshold,
        max_cost: arguments.cost,
        causes: CAUSES.into_iter().filter(listed).collect(),
        ..Settings::default()
    }
}

/// The search and its view of one JVM.
struct Driver {
    target: Target,
    search: Search,
    sampler: Sampler,
    pauses: Pauses,
    begin: Instant,
    hertz: f64,
    /// The number of active threads in the last dump.
    active: u64,
    /// The time since the beginning at which the driver asks for compiled methods.
    next_list: Duration,
    /// Why the JVM does not list compiled methods.
    list_refused: Option<String>,
}

impl Driver {
    /// Drives the search until its time is over, a signal arrives, or the JVM ends.
    fn drive(&mut self, length: Duration, stopped: &AtomicBool) {
        let mut window_began = Instant::now();
        let mut last_dump: Option<Instant> = None;
        let mut progress = Progress::new();
        self.fulfil();
        while self.begin.elapsed() < length && !stopped.load(Ordering::Relaxed) {
            let interval = Duration::try_from_secs_f64(1.0 / self.hertz).unwrap_or(Duration::MAX);
            if last_dump.is_none_or(|last| last.elapsed() >= interval) {
                last_dump = Some(Instant::now());
                if let Err(error) = self.sample() {
                    self.end(&error);
                    break;
                }
            }
            if window_began.elapsed() >= WINDOW {
                let now = Instant::now();
                let nanos = nanos(now - window_began);
                window_began = now;
                self.list_compiled();
                self.search.observe(Observation::WindowEnd {
                    nanos,
                    active_nanos: nanos.saturating_mul(self.active),
                });
                self.fulfil();
                progress.show(self.begin.elapsed(), &self.search);
            }
            let window_end = WINDOW.saturating_sub(window_began.elapsed());
            thread::sleep(POLL_INTERVAL.min(window_end));
        }
        progress.clear();
    }

    fn end(&mut self, error: &AttachCommandError) {
        let reason = if self.target.is_alive() {
            error.to_string()
        } else {
            "the JVM ended".to_owned()
        };
        self.search.observe(Observation::Ended { reason });
    }

    /// Takes one dump.
    fn sample(&mut self) -> Result<(), AttachCommandError> {
        let asked = Instant::now();
        let threads = thread_dump(&self.target)?;
        let pause = self.pauses.next(&self.target, asked);
        let at = self.begin.elapsed();
        let found = self.sampler.convert(&threads, at, pause.collections);
        self.active = found.active;
        for name in found.names {
            self.search.observe(name);
        }
        self.search.observe(Observation::Stacks {
            samples: found.samples,
            cost_nanos: nanos(pause.cost).saturating_mul(found.active),
        });
        Ok(())
    }

    /// Asks which methods have compiled code, if that can change a cause.
    fn list_compiled(&mut self) {
        let at = self.begin.elapsed();
        if at < self.next_list || self.list_refused.is_some() || !self.sampler.needs_compiled() {
            return;
        }
        let asked = Instant::now();
        match compiled_methods(&self.target) {
            Ok(methods) => self.sampler.set_compiled(methods),
            Err(error) => self.list_refused = Some(error.to_string()),
        }
        let pause = self.pauses.next(&self.target, asked);
        let interval = LIST_INTERVAL.max(pause.cost.saturating_mul(LIST_PATIENCE));
        self.next_list = self.begin.elapsed() + interval;
        let nanos = nanos(pause.cost).saturating_mul(self.active);
        self.search.observe(Observation::Overhead { nanos });
    }

    fn fulfil(&mut self) {
        for request in self.search.requests() {
            match request {
                Request::Sample { hertz } => self.hertz = hertz,
                Request::Attach { probe, .. } => self.search.observe(Observation::Refused {
                    probe,
                    reason: NO_PROBES.to_owned(),
                }),
                // Samples show the callees.
                Request::Callees { of } | Request::Receivers { of } => {
                    self.search.observe(Observation::Callees {
                        of,
                        callees: Vec::new(),
                        complete: true,
                    });
                }
                // Samples show the roots.
                Request::Roots | Request::Detach { .. } => {}
            }
        }
    }

    /// Returns the result, with what the search does not know.
    fn outcome(&self) -> Outcome {
        let mut outcome = self.search.outcome();
        for finding in outcome.findings.iter_mut().filter(|f| f.specific) {
            let evidence = self.evidence(finding);
            finding.evidence.extend(evidence);
        }
        let mut unseen = |why, reason: String| {
            outcome.not_looked_at.push(NotLookedAt {
                path: Vec::new(),
                why,
                reason,
            });
        };
        if !self.pauses.are_known() {
            let reason = "the JVM keeps no performance counters (-XX:-UsePerfData)";
            unseen(Cause::Collections, format!("collections: {reason}"));
        }
        if let Some(reason) = &self.list_refused {
            unseen(Cause::Interpreted, format!("interpreted code: {reason}"));
        }
        outcome
    }

    fn evidence(&self, finding: &Finding) -> Vec<Evidence> {
        let fact = |source: &str, text: String| Evidence {
            source: source.to_owned(),
            windows: 0,
            text,
        };
        let common = self.sampler.evidence(finding.method, block_line(finding));
        let mut all = Vec::new();
        if finding.why.is_a(Cause::Waiting) || finding.why == Cause::Time {
            let holder = common.holder();
            all.extend(
                holder.map(|place| fact("holder", format!("the monitor is held in {place}"))),
            );
        }
        all.extend(common.library().map(|text| fact("library", text)));
        all.extend(common.collisions().map(|text| fact("library", text)));
        let collections = self.pauses.collections();
        if matches!(finding.why, Cause::Allocation | Cause::Collections)
            && collections > MENTIONED_COLLECTIONS
        {
            let share = collections * 100.0;
            let text = format!("collections stopped the program for {share:.0} % of the time");
            all.push(fact("collections", text));
        }
        if finding.why == Cause::Interpreted {
            let text = "the JVM has no compiled code of the method; it compiles no method of more than 8,000 bytes";
            all.push(fact("compiler", text.to_owned()));
        }
        all
    }
}

/// Returns the line of the block of a finding.
fn block_line(finding: &Finding) -> Option<u32> {
    let block = finding
        .path
        .iter()
        .rev()
        .find(|step| step.kind == "block")?;
    block.line
}

/// Returns a duration in nanoseconds, at most the largest number.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
