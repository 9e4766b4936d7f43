//! Measures the cost of exact call graphs and calling-context trees on each workload, beside counters on
//! all blocks and beside an agent that uses the JVM's own events of calls.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::graph_sizes::GraphSizes;
use super::groups::{CheckError, Variant, measure};
use super::peers::folder_bytes;
use super::prepare::{Compiled, plan};
use super::ratio_table::RatioTable;
use super::record::{Goal, Record};
use super::workload::Workload;
use crate::command;
use crate::folder::{Folder, workspace};
use crate::jdk::Jdk;
use crate::process::Process;
use crate::trust::part::{Scope, TrustError};

const COUNTED: &str = "every block counted";
const GRAPH: &str = "call graph";
const COMPLETE: &str = "call graph of all classes";
const CONTEXTS: &str = "call graph and contexts";
const EXACT_CONTEXTS: &str = "call graph and contexts, exact times";
const EVENTS: &str = "JVMTI events of calls";
/// The goal of a call graph, as a ratio to the counters on all blocks.
const GRAPH_TO_COUNTED: f64 = 1.2;
/// The goal of a call graph of all classes, as a ratio to the plain program.
const MOST_COMPLETE: f64 = 1.5;
/// The goal of contexts, as a ratio to the plain program.
const MOST_CONTEXTS: f64 = 1.6;

/// The file of a graph in its folder.
const FILE: &str = "program.calls";

/// The longest time of a run with the JVM's events of calls. Most programs take longer.
const MAX_EVENTS_TIME: Duration = Duration::from_secs(40);

/// The number of groups. Some variants take very long.
const GROUPS: usize = 3;

/// Runs the part `call-graph`.
pub fn run(scope: &Scope) -> Result<Record, TrustError> {
    let begun = Instant::now();
    let mut record = Record::new("call-graph", "Call graphs and calling contexts", scope)?;
    record.part.words = vec![
        "The call graph of all calls in the program's own code and that of its libraries, with the count of \
         each call site (`veneer run --call-graph`); the same with the tree of calling contexts of each \
         thread, with calls and wall time (`--contexts`, and with `--exact-times`); and the graph of all classes, those of \
         the JDK too (`--complete`). An agent that takes the JVM's events of entries \
         and exits (JVMTI), and does nothing with them, is the floor of tools that need no code in the \
         program; it may take 40 seconds, and a quick session leaves it out. The paper on dyko has \
         2.0 to 6.4 for its graphs, the one on JP 4.2 for its context trees, \
         both on other machines and programs."
            .into(),
    ];
    let jdk = scope.jdks.first().ok_or(TrustError::NoJdk)?;
    let agent = events_agent(jdk)?;
    let mut table = RatioTable::new("ratio with call graph", "file, KB");
    let sizes = RefCell::new(GraphSizes::new());
    table.add_all(&mut record, scope, |workload, record, table| {
        let graph = one(workload, jdk, scope, &agent.library, record, table)?;
        sizes.borrow_mut().add(workload, &graph.join(FILE))
    });
    if let Some(ratio) = table.relative_mean(GRAPH, COUNTED) {
        let what = "a call graph, relative to counters on all blocks";
        record
            .goals
            .push(Goal::at_most(what, GRAPH_TO_COUNTED, "", ratio));
    }
    if let Some(mean) = table.mean(COMPLETE) {
        let what = "a call graph of all classes";
        record
            .goals
            .push(Goal::at_most(what, MOST_COMPLETE, "", mean));
    }
    if let Some(mean) = table.mean(CONTEXTS) {
        let what = "a call graph with calling contexts";
        record
            .goals
            .push(Goal::at_most(what, MOST_CONTEXTS, "", mean));
    }
    record.part.tables.push(table.finish());
    record.part.tables.push(sizes.into_inner().finish());
    record.part = record.part.with_duration_since(begun);
    Ok(record)
}

/// Measures a workload in all variants. Returns the folder with the graph of all classes.
fn one(
    workload: &Workload,
    jdk: &Jdk,
    scope: &Scope,
    agent: &Path,
    record: &mut Record,
    table: &mut RatioTable,
) -> Result<Folder, TrustError> {
    let compiled = Compiled::workload(jdk, workload)?;
    let rounds = workload.rounds(true);
    let plain = workload.java(jdk, &compiled, rounds, &[], &[]);
    let mut counted = workload.arming();
    let text = format!(
        "methods({}).limit(10000000).blocks().before(counter());\n",
        workload.pattern()
    );
    counted.extend(plan(&compiled.join("counted.rhai"), &text)?);
    let counted: Vec<&str> = counted.iter().map(String::as_str).collect();
    let events = format!("-agentpath:{}", agent.display());
    let (graph, contexts) = (compiled.join("graph"), compiled.join("contexts"));
    let exact = compiled.join("exact-contexts");
    let complete = Folder::new("complete")?;
    let arm = workload.patterns_to_arm();
    let mut variants = vec![
        Variant::new("plain", plain.clone()),
        Variant::new(COUNTED, command::run(&counted, &plain)),
        recorded(GRAPH, arm.clone(), &plain, &graph)?,
        recorded(
            CONTEXTS,
            [arm, vec!["--contexts".into()]].concat(),
            &plain,
            &contexts,
        )?,
        recorded(
            EXACT_CONTEXTS,
            [
                workload.patterns_to_arm(),
                vec!["--contexts".into(), "--exact-times".into()],
            ]
            .concat(),
            &plain,
            &exact,
        )?,
        recorded(COMPLETE, vec!["--complete".into()], &plain, complete.path())?,
    ];
    if !scope.quick {
        let java = workload.java(jdk, &compiled, rounds, &[events], &[]);
        variants.push(Variant::peer(EVENTS, Ok(java)).within(MAX_EVENTS_TIME));
    }
    let groups = if scope.quick { 2 } else { GROUPS };
    let series = measure(workload.name, groups, &variants);
    table.add(record, workload.name, &series, |variant| {
        let folder = match variant {
            GRAPH => graph.as_path(),
            CONTEXTS => contexts.as_path(),
            COMPLETE => complete.path(),
            _ => return String::new(),
        };
        let kilobytes = folder_bytes(folder).unwrap_or(0) as f64 / 1e3;
        format!("{kilobytes:.0}")
    });
    Ok(complete)
}

/// The program whose call graph is recorded in a folder of its own.
fn recorded(
    name: &str,
    mut options: Vec<String>,
    plain: &Process,
    folder: &Path,
) -> Result<Variant, TrustError> {
    std::fs::create_dir_all(folder)?;
    let file = folder.join(FILE);
    options.extend(["--call-graph".into(), file.display().to_string()]);
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let variant = Variant::new(name, command::run(&options, plain));
    Ok(variant.checked(move |_| match std::fs::metadata(&file) {
        Ok(data) if data.len() > 0 => Ok(()),
        _ => Err(CheckError::NothingWritten),
    }))
}

/// The agent that takes the JVM's events of calls.
struct EventsAgent {
    library: PathBuf,
    _folder: Folder,
}

fn events_agent(jdk: &Jdk) -> Result<EventsAgent, TrustError> {
    let folder = Folder::new("events")?;
    let library = folder.join("call_events.so");
    let include = jdk.home().join("include");
    Process::new("cc")
        .args(["-shared", "-fPIC", "-O2", "-o"])
        .arg(&library)
        .arg("-I")
        .arg(&include)
        .arg("-I")
        .arg(include.join("linux"))
        .arg(workspace().join("tests/native/call_events.c"))
        .run()?
        .succeeded("cc")?;
    Ok(EventsAgent {
        library,
        _folder: folder,
    })
}
