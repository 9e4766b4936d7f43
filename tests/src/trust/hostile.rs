//! The part `hostile`: Veneer in hostile surroundings. These are:
//!
//! * class loaders that fail on any call from a thread of the agent,
//! * objects that must stay collectable,
//! * full heaps,
//! * other agents,
//! * settings of the JVM that no other part uses.
//!
//! ```text
//!   tests/java/hostile ─▶ plain JVM  ─▶ output ┐  compare the output, the calls
//!                         JVM + plan ─▶ output ┴▶ of the loader, the collected objects
//! ```

pub mod agents;
pub mod compiled;
pub mod heap;
pub mod loaders;
pub mod references;
pub mod settings;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use agents::{AGENTS, Agent, Order, ProgramWithAgent};
use compiled::{Compiled, EVERYTHING, Plan, difference, run_under_plan, run_with_thread_dump};
use loaders::{Variant, recorded, variants};
use references::Scenarios;
use settings::{C1, DEFAULT, INTERPRETER, SETTINGS, Setting};

use super::part::{Part, Scope, Table, TrustError};
use super::programs::list::PROGRAMS;
use crate::command;
use crate::folder::Folder;
use crate::jdk::Jdk;
use crate::workers::parallel_map_on;

/// Number of starts of each program beside another agent, over all JDKs and both orders.
const STARTS: usize = 50;

/// Number of failed starts after which a program is no longer started beside another agent.
const MAX_FAILED_STARTS: usize = 4;

/// Duration of the recording loader's program in milliseconds.
const RECORDING_MILLIS: u32 = 1000;

/// The program of the part `programs` that also runs under every setting.
const PROGRAM: &str = "KotlinProgram";

/// One JVM, or one pair of a plain JVM and a JVM under Veneer.
enum Job<'a> {
    Loader(&'a Compiled, Variant, Setting, Plan),
    References(&'a Scenarios, Setting),
    Heap(&'a Compiled, Setting, Plan),
    Program(&'a Jdk, Setting),
    Start(&'a Group, Order, Setting, u32),
}

/// The starts of one program beside one agent on one JDK.
struct Group {
    agent: Agent,
    jdk: Jdk,
    beside: Result<ProgramWithAgent, TrustError>,
    failed: AtomicUsize,
}

/// The result of a job.
struct Outcome {
    /// The key of its table row.
    row: [String; 3],
    /// False for starts that were left out because too many had failed.
    ran: bool,
    /// The failure, if there is one.
    failure: Option<String>,
}

/// Runs the part.
pub fn run(scope: &Scope) -> Result<Part, TrustError> {
    let begun = Instant::now();
    let mut part = Part::new("hostile", "Hostile surroundings");
    part.words = words();
    // The command is built before any time is measured.
    command::path();
    let mut compiled = Vec::new();
    let mut scenarios = Vec::new();
    for jdk in &scope.jdks {
        compiled.push(Compiled::new(jdk)?);
        scenarios.push(Scenarios::new(jdk)?);
    }
    let groups = groups(scope);
    let mut jobs = Vec::new();
    for (compiled, scenarios) in compiled.iter().zip(&scenarios) {
        let oldest = jobs.is_empty();
        jobs.extend(jobs_of(scope, compiled, scenarios, oldest));
    }
    jobs.extend(starts(scope, &groups));
    // These JVMs wait a third of the time.
    let outcomes = parallel_map_on(scope.workers * 2, &jobs, run_job);
    let mut table = Table::new(
        "Runs, compared with the plain run",
        &["what", "how", "JDK", "runs", "differ", "left out"],
    );
    for outcome in outcomes {
        let at = table.rows.iter().position(|row| row[..3] == outcome.row);
        let at = at.unwrap_or_else(|| {
            let mut row = outcome.row.to_vec();
            row.extend(["0".to_string(), "0".to_string(), "0".to_string()]);
            table.rows.push(row);
            table.rows.len() - 1
        });
        let column = match (outcome.ran, &outcome.failure) {
            (false, _) => 5,
            (true, _) => 3,
        };
        increase(&mut table.rows[at][column]);
        if let Some(failure) = outcome.failure {
            increase(&mut table.rows[at][4]);
            part.failures
                .push(format!("{}: {failure}", outcome.row.join(", ")));
        }
    }
    part.tables = vec![table];
    Ok(part.with_duration_since(begun))
}

fn increase(cell: &mut String) {
    let number: usize = cell.parse().unwrap_or(0);
    *cell = (number + 1).to_string();
}

fn words() -> Vec<String> {
    vec![
        "A class loader of the application notes each call with its thread. A call from a thread that the application did not start \
         ends the JVM with exit code 99. The loader exists as parallel capable and not, as a custom loader and as the system class \
         loader. Variants throw for some names, are blocked by a lock that the main thread always holds, define classes of the \
         same names in a sibling, or load classes recursively. Application threads take the locks of class loading in every \
         order, one thread at a time. The guests have methods, fields and arrays of classes that are never loaded. A plan attaches \
         every kind of instrument and edit, or the storm runs. Output and calls must be those of the plain run."
            .into(),
        "References: activations in all kinds of scenarios (a parameter, a variable, an operand, \
         an exception, …) drop their last reference to an object, under each kind of instrument. \
         Some activations began before the instrument, some began in a version, and some \
         continued after the instrument was detached. All objects must be collected, as in the \
         plain run."
            .into(),
        "Heap: a program fills the heap in six ways and catches each `OutOfMemoryError`. Settings: the same programs, and (not in the \
         interpreter) a real one, under options of the JVM that no other part uses. References run under those settings that change how \
         objects are collected or laid out."
            .into(),
        format!(
            "Other agents: a program under each agent alone, then with Veneer before or after that agent and the storm from the first \
             class on, {STARTS} starts over all JDKs and orders. A start that does not end is ended after a limit that follows from the \
             plain run, and fails with a dump of its threads. After {MAX_FAILED_STARTS} failures on a JDK the other starts are left out."
        ),
    ]
}

fn groups(scope: &Scope) -> Vec<Group> {
    let mut groups = Vec::new();
    for agent in AGENTS {
        for jdk in &scope.jdks {
            groups.push(Group {
                agent,
                jdk: jdk.clone(),
                beside: ProgramWithAgent::prepare(jdk, agent),
                failed: AtomicUsize::new(0),
            });
        }
    }
    groups
}

fn starts<'a>(scope: &Scope, groups: &'a [Group]) -> Vec<Job<'a>> {
    let of_group = if scope.quick {
        2
    } else {
        STARTS.div_ceil(scope.jdks.len())
    };
    let mut jobs = Vec::new();
    for group in groups {
        for n in 0..of_group {
            let order = if n % 2 == 0 {
                Order::VeneerFirst
            } else {
                Order::VeneerLast
            };
            // To save time, half of the starts compile with C1 only.
            let setting = if n % 4 < 2 { DEFAULT } else { C1 };
            jobs.push(Job::Start(group, order, setting, 1000 + n as u32));
        }
    }
    jobs
}

fn jobs_of<'a>(
    scope: &Scope,
    compiled: &'a Compiled,
    scenarios: &'a Scenarios,
    oldest: bool,
) -> Vec<Job<'a>> {
    let mut jobs = Vec::new();
    let everything = Plan::Source(EVERYTHING);
    for (n, variant) in (0..).zip(variants()) {
        let chosen = if scope.quick {
            n % 7 == 0
        } else {
            // To save time, the other JDKs run half of the variants.
            oldest || variant.parallel
        };
        if !chosen {
            continue;
        }
        jobs.push(Job::Loader(compiled, variant, DEFAULT, everything));
        if variant.parallel {
            jobs.push(Job::Loader(compiled, variant, DEFAULT, Plan::Storm(n)));
        }
    }
    let first = Variant {
        name: "blocks",
        parallel: true,
        system: true,
    };
    for setting in [DEFAULT, INTERPRETER, C1] {
        jobs.push(Job::References(scenarios, setting));
    }
    for plan in [
        Plan::Source(heap::ATTACH_ONCE),
        Plan::Source(heap::ATTACH_AND_DETACH),
        Plan::Storm(1),
    ] {
        jobs.push(Job::Heap(compiled, DEFAULT, plan));
    }
    for setting in SETTINGS {
        if scope.quick && *setting != INTERPRETER || !setting.is_known_to(&compiled.jdk) {
            continue;
        }
        jobs.push(Job::Loader(compiled, first, *setting, everything));
        if setting.changes_objects && !scope.quick {
            jobs.push(Job::References(scenarios, *setting));
        }
        let plan = Plan::Source(heap::ATTACH_AND_DETACH);
        jobs.push(Job::Heap(compiled, *setting, plan));
        if *setting != INTERPRETER {
            jobs.push(Job::Program(&compiled.jdk, *setting));
        }
    }
    jobs
}

fn run_job(job: &Job) -> Outcome {
    let begun = Instant::now();
    let (what, how, jdk): (String, String, &Jdk) = match job {
        Job::Loader(compiled, variant, DEFAULT, plan) => (
            format!("loader: {variant}"),
            plan.to_string(),
            &compiled.jdk,
        ),
        Job::Loader(compiled, _, setting, _) => {
            ("loader".into(), setting.name.into(), &compiled.jdk)
        }
        Job::References(scenarios, setting) => {
            ("references".into(), setting.name.into(), scenarios.jdk())
        }
        Job::Heap(compiled, setting, _) => ("heap".into(), setting.name.into(), &compiled.jdk),
        Job::Program(jdk, setting) => (PROGRAM.into(), setting.name.into(), jdk),
        Job::Start(group, order, setting, _) => {
            let order = match *setting == DEFAULT {
                true => order.to_string(),
                false => format!("{order}, {}", setting.name),
            };
            (group.agent.to_string(), order, &group.jdk)
        }
    };
    let row = [what, how, jdk.major().to_string()];
    let mut ran = true;
    let result = match job {
        Job::Loader(compiled, variant, setting, plan) => {
            recorded(compiled, *variant, *setting, *plan, RECORDING_MILLIS).map(|_| None)
        }
        Job::References(scenarios, setting) => references(scenarios, *setting),
        Job::Heap(compiled, setting, plan) => {
            heap::full(compiled, *setting, *plan, 2).map(|()| None)
        }
        Job::Program(jdk, setting) => program(jdk, *setting),
        Job::Start(group, ..) if group.failed.load(Ordering::Relaxed) >= MAX_FAILED_STARTS => {
            ran = false;
            Ok(None)
        }
        Job::Start(group, order, setting, seed) => {
            let result = match &group.beside {
                Ok(beside) => beside.start(*order, *setting, *seed),
                Err(error) => Err(TrustError::NotPrepared(error.to_string())),
            };
            if !matches!(result, Ok(None)) {
                group.failed.fetch_add(1, Ordering::Relaxed);
            }
            result
        }
    };
    let failure = result.unwrap_or_else(|error| Some(error.to_string()));
    if ran {
        eprintln!(
            "hostile: {}: {:.1} s{}",
            row.join(", "),
            begun.elapsed().as_secs_f64(),
            if failure.is_some() { ", fails" } else { "" }
        );
    }
    Outcome { row, ran, failure }
}

/// Runs the scenarios plain and observed, and reports the objects that only the observed run kept
/// alive.
fn references(scenarios: &Scenarios, setting: Setting) -> Result<Option<String>, TrustError> {
    let plain = scenarios.plain(setting)?;
    let observed = scenarios.observed(setting)?;
    let mut kept = observed.kept;
    kept.retain(|line| !plain.kept.contains(line));
    Ok((!kept.is_empty()).then(|| {
        format!(
            "{} of {} objects: {}",
            kept.len(),
            observed.dropped,
            kept.join("; ")
        )
    }))
}

/// Runs a real program under a setting, plain and under the storm.
fn program(jdk: &Jdk, setting: Setting) -> Result<Option<String>, TrustError> {
    let program = PROGRAMS.iter().find(|program| program.name == PROGRAM);
    let program = program.ok_or(TrustError::Unknown {
        kind: "program",
        name: PROGRAM,
    })?;
    let work = Folder::new("setting")?;
    let java = program
        .prepare(jdk)?
        .java(work.path())
        .env("JDK_JAVA_OPTIONS", &setting.options.join(" "));
    let limit = Duration::from_secs(180);
    let plain = run_with_thread_dump(jdk, &java, limit)?.succeeded(PROGRAM)?;
    let output = run_under_plan(jdk, Plan::Storm(3), &java, limit)?;
    Ok(difference(&plain, &output))
}
