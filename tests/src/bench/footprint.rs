//! Measures memory: the cost of an armed class and the cost of a counter, each as the slope over
//! their number.

use std::time::Instant;

use super::loading::Loading;
use super::mass_attach::{METHODS, call_all_methods, compiled};
use super::record::{Goal, Record};
use super::slope::{FittedLine, fit};
use crate::command;
use crate::jdk::Jdk;
use crate::live::Live;
use crate::process::Process;
use crate::trust::memory::figures::{OPTIONS, measure};
use crate::trust::part::Table;
use crate::trust::part::{Scope, TrustError};

/// Numbers of loaded H2 classes and of generated classes with counted blocks, for a full and for a
/// quick run.
const LOADED: [usize; 4] = [200, 450, 700, 950];
const LOADED_QUICK: [usize; 2] = [200, 900];
const COUNTED: [usize; 4] = [10, 40, 70, 100];
const COUNTED_QUICK: [usize; 2] = [10, 60];

/// Memory in KiB that the JVM and the agent hold.
#[derive(Clone, Copy, Debug)]
struct MemoryUse {
    metaspace: i64,
    native: i64,
    agent: i64,
}

impl MemoryUse {
    fn all(self) -> f64 {
        (self.metaspace + self.native + self.agent) as f64 * 1024.0
    }

    fn cells(self) -> [String; 4] {
        [
            self.metaspace,
            self.native,
            self.agent,
            self.metaspace + self.native + self.agent,
        ]
        .map(|kib| kib.to_string())
    }
}

/// Runs the part `memory`.
pub fn run(scope: &Scope) -> Result<Record, TrustError> {
    let begun = Instant::now();
    let mut record = Record::new("memory", "Memory", scope)?;
    record.options = OPTIONS.iter().map(ToString::to_string).collect();
    record.part.words = vec![format!(
        "In KiB after garbage collections, from the JVM's native memory tracking and the kernel: \
         Metaspace, the JVM's own native memory, and memory outside tracking (the agent, and \
         `malloc`). The heap has the same size in all runs. *Armed*: a program that loads classes \
         of H2 and waits, with `--arm-all`. *Under Veneer*: the same without options, which arms \
         classes with a loop. *Counted*: generated classes of {METHODS} small methods that run, \
         armed, and with a counter on every block. The cost of a class is the slope over the \
         number of classes, armed minus plain. The cost of a counter is the slope over the number \
         of counters, counted minus armed."
    )];
    let jdk = scope.jdks.first().ok_or(TrustError::NoJdk)?;
    let (class, loaded) = classes(&mut record, jdk, scope.quick)?;
    if let Some(loaded) = loaded {
        let what = "memory of a loaded class under `veneer run`";
        record.figure("memory", "", what, "bytes", &[loaded]);
    }
    let counter = counters(&mut record, jdk, scope.quick)?;
    for (what, most, value) in [
        ("memory of a class armed", 3072.0, class),
        (
            "memory of a counter, with its part of the version",
            100.0,
            counter,
        ),
    ] {
        if let Some(value) = value {
            record.figure("memory", "", what, "bytes", &[value]);
            record.goals.push(Goal::at_most(what, most, "bytes", value));
        }
    }
    record.part = record.part.with_duration_since(begun);
    Ok(record)
}

const COLUMNS: [&str; 4] = ["Metaspace", "JVM native", "agent and malloc", "all"];

/// How the classes of H2 are loaded: the words for it, and the options of `veneer run`.
const HOW: [(&str, Option<&[&str]>); 3] = [
    ("plain", None),
    ("armed", Some(&["--arm-all"])),
    ("under Veneer", Some(&[])),
];

/// Returns the bytes that a class costs more than plain: armed, and loaded under Veneer without options.
fn classes(
    record: &mut Record,
    jdk: &Jdk,
    quick: bool,
) -> Result<(Option<f64>, Option<f64>), TrustError> {
    let sizes: &[usize] = if quick { &LOADED_QUICK } else { &LOADED };
    let program = Loading::new(jdk)?;
    let mut table = Table::new("Classes of H2", &["classes", "how"]);
    table.columns.extend(COLUMNS.map(ToString::to_string));
    let mut lines = Vec::new();
    for (how, options) in HOW {
        let mut line = Vec::new();
        for classes in sizes {
            let java = program.java(jdk, &OPTIONS, *classes);
            let live = Live::start(&match options {
                Some(options) => command::run(options, &java),
                None => java,
            })?;
            let held = measure_memory(jdk, &live)?;
            live.stop()?;
            eprintln!("bench: memory, {classes} classes, {how}: {held:?}");
            line.push((*classes as f64, held.all()));
            let mut row = vec![classes.to_string(), how.to_string()];
            row.extend(held.cells());
            table.rows.push(row);
        }
        lines.push(fit(&line));
    }
    record.part.tables.push(table);
    let [Some(plain), Some(armed), Some(loaded)] = &lines[..] else {
        return Ok((None, None));
    };
    record.part.words.push(format!(
        "A class of H2: {:.0} bytes plain, {:.0} armed, {:.0} under Veneer without options (fit {:.3}, {:.3} and {:.3}).",
        plain.slope, armed.slope, loaded.slope, plain.fit, armed.fit, loaded.fit
    ));
    let more = |line: &FittedLine| Some(line.slope - plain.slope);
    Ok((more(armed), more(loaded)))
}

/// Returns the bytes that a counter costs.
fn counters(record: &mut Record, jdk: &Jdk, quick: bool) -> Result<Option<f64>, TrustError> {
    let sizes: &[usize] = if quick { &COUNTED_QUICK } else { &COUNTED };
    let mut table = Table::new("Generated classes", &["classes", "how", "counters"]);
    table.columns.extend(COLUMNS.map(ToString::to_string));
    let mut more = Vec::new();
    for classes in sizes {
        let program = compiled(jdk, *classes)?;
        let java = Process::new(jdk.tool("java"))
            .args(OPTIONS)
            .arg("-cp")
            .arg(program.class_path(&[]))
            .args(["Pauses", &classes.to_string(), "1"]);
        let mut idle = 0.0;
        for counted in [false, true] {
            let mut live = Live::start(&command::run(&[], &java))?;
            for _ in 0..20 {
                call_all_methods(&mut live)?;
            }
            let mut points = 0;
            if counted {
                let plan =
                    "let h = methods(\"Many*\").limit(10000000).blocks().before(counter()); h.id()";
                let id = live.value(plan)?;
                for _ in 0..20 {
                    call_all_methods(&mut live)?;
                }
                points = live.hits(id.trim_matches('"'))?.len();
            }
            let held = measure_memory(jdk, &live)?;
            live.stop()?;
            eprintln!("bench: memory, {classes} classes, {points} counters: {held:?}");
            if counted {
                more.push((points as f64, held.all() - idle));
            } else {
                idle = held.all();
            }
            let how = if counted { "counted" } else { "armed" };
            let mut row = vec![classes.to_string(), how.to_string(), points.to_string()];
            row.extend(held.cells());
            table.rows.push(row);
        }
    }
    record.part.tables.push(table);
    Ok(fit(&more).map(|line| line.slope))
}

fn measure_memory(jdk: &Jdk, live: &Live) -> Result<MemoryUse, TrustError> {
    let [_, metaspace, _, _, native, agent] = measure(jdk, live, 0)?.values;
    Ok(MemoryUse {
        metaspace,
        native,
        agent,
    })
}
