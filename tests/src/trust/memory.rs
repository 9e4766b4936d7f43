//! The part `memory`: repeated attaching and detaching of instruments leaks no memory, neither in
//! the JVM nor in the agent. The same is true of classes that are armed, patched and unloaded with
//! their loaders.
//!
//! ```text
//!   programs ─▶ JVM under Veneer ─▶ cycles of a plan ─▶ figures ─▶ bounds on the rise ─▶ Part
//!   plain JVM: does it keep locks of unloaded methods (`locks`)? ──────────▲
//! ```

pub mod figures;
mod locks;
mod programs;
mod tracking;

use std::time::Instant;

use super::part::{Part, Scope, Table, TrustError};
use crate::bench::statistics::median;
use crate::command;
use crate::folder::{Folder, files};
use crate::java_programs::Programs;
use crate::jdk::Jdk;
use crate::live::Live;
use crate::process::Process;
use crate::workers::parallel_map_on;
use figures::{BOUNDS, Figures, OPTIONS, categories, exceeded, measure, table};

/// Numbers of cycles after which figures are taken. The second sample is the reference for later
/// ones.
const SAMPLES: [u32; 5] = [100, 250, 500, 750, 1000];

/// Numbers of loaders after which figures are taken.
const LOADERS: [u32; 4] = [100, 200, 300, 400];

/// Numbers of further cycles that also read counts, for the full and for the quick scope.
const READ_CYCLES: [u32; 2] = [200, 50];

/// Number of readings after these cycles. Single readings of the same JVM differ by some 60 KiB.
const READINGS_AFTER: usize = 3;

/// Bytes of the JVM's memory that one such cycle may cost: the method ids of all methods in which
/// the four threads may be.
const MAX_READ_COST_BYTES: i64 = 1024;

/// Numbers of cycles after which figures are taken in quick scope.
const QUICK_SAMPLES: [u32; 3] = [50, 150, 250];

/// The kind of a measured JVM.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Job {
    Plain,
    Cycles,
    Loaders,
}

/// The output of a job.
enum JobOutput {
    Plain(locks::Plain),
    Figures(Vec<Figures>, Option<ReadCost>),
}

/// The memory that reading the counts of activations in versions costs.
struct ReadCost {
    cycles: u32,
    /// Memory of the JVM itself before and after, in bytes.
    native: [i64; 2],
}

impl ReadCost {
    fn per_cycle(&self) -> i64 {
        (self.native[1] - self.native[0]) / i64::from(self.cycles)
    }
}

/// Runs the part.
pub fn run(scope: &Scope) -> Result<Part, TrustError> {
    let begun = Instant::now();
    let mut part = Part::new("memory", "Memory");
    part.words = words();
    let jobs: Vec<(Job, &Jdk)> = [Job::Plain, Job::Cycles, Job::Loaders]
        .into_iter()
        .flat_map(|job| scope.jdks.iter().map(move |jdk| (job, jdk)))
        .collect();
    // These JVMs wait most of the time.
    let said = parallel_map_on(scope.workers * 2, &jobs, |(job, jdk)| match job {
        Job::Plain => locks::plain(jdk).map(JobOutput::Plain),
        Job::Cycles if scope.quick => cycles(jdk, &QUICK_SAMPLES, READ_CYCLES[1]),
        Job::Cycles => cycles(jdk, &SAMPLES, READ_CYCLES[0]),
        Job::Loaders if scope.quick => loaders(jdk, &QUICK_SAMPLES),
        Job::Loaders => loaders(jdk, &LOADERS),
    });
    let mut reads = Table::new(
        "Cycles in which figures are read while loops run: the JVM's own memory, KiB",
        &["JDK", "cycles", "before", "after", "bytes a cycle"],
    );
    let mut plain = Vec::new();
    for ((job, jdk), said) in jobs.iter().zip(&said) {
        let (what, unit) = match job {
            Job::Loaders => ("Loaders that come and go", "loaders"),
            _ => ("Attach and detach on 202 methods", "cycles"),
        };
        match said {
            Ok(JobOutput::Plain(found)) => plain.push((*jdk, found)),
            Ok(JobOutput::Figures(figures, read)) => {
                if let Some(read) = read {
                    let [before, after] = read.native.map(|n| (n / 1024).to_string());
                    let each = read.per_cycle();
                    reads.rows.push(vec![
                        jdk.major().to_string(),
                        read.cycles.to_string(),
                        before,
                        after,
                        format!("{each:+}"),
                    ]);
                    if each > MAX_READ_COST_BYTES {
                        let f = format!("{jdk}: reading figures costs {each} bytes of the JVM");
                        part.failures.push(f);
                    }
                }
                part.tables
                    .push(table(&format!("{what}, {jdk}"), unit, figures));
                if *job == Job::Cycles {
                    let title = format!("What the JVM's tracking says at both ends, {jdk}, KiB");
                    part.tables.push(categories(&title, figures));
                }
                let keeps = plain.iter().any(|(other, p)| other == jdk && p.keeps());
                let broken = exceeded(figures, keeps);
                part.failures
                    .extend(broken.into_iter().map(|f| format!("{jdk}, {unit}: {f}")));
            }
            Err(e) => part.failures.push(format!("{jdk}, {unit}: {e}")),
        }
    }
    part.tables.push(reads);
    part.tables.push(locks::table(&plain));
    Ok(part.with_duration_since(begun))
}

/// The description of the part, and how its figures are to be read.
fn words() -> Vec<String> {
    vec![
        "A program runs 200 methods continuously in two threads, and two endless loops. A plan \
         repeatedly attaches counters to every block of all of them and detaches them. So in each \
         cycle 202 methods get a version, threads enter it, running activations move into it and \
         out of it again, and it is dropped. Figures are taken after garbage collections, and \
         after the time in which the agent releases versions that no thread needs any more. The \
         figures after 250 cycles are the reference, because all one-time memory has been \
         allocated by then. In KiB: Metaspace in use; the chunks that Metaspace has for it; code \
         cache in use; the committed memory in the JVM's native memory tracking without heap, \
         Metaspace, code, threads, the compilers' arenas and locks; and the part of the resident \
         set that is outside tracking: the agent's own memory, libraries, and the memory that \
         `malloc` keeps."
            .into(),
        format!(
            "Bounds on the rise from the second row to the last: {}. In 750 cycles, methods get a \
             version more than 150,000 times: a leak of one byte of native memory per version \
             would exceed the bound. The other bounds allow for variation. Metaspace is returned \
             in whole chunks, and classes that are still alive between dropped versions keep \
             chunks from being merged. The code cache holds recently compiled code, and `malloc` \
             keeps memory that was freed. The JVM's table of strings is kept small, so that dead \
             strings are removed during the part: linking a call site of a version adds the name \
             of its class.",
            BOUNDS
                .iter()
                .map(|(what, most)| if *what == "classes" {
                    format!("{most} {what}")
                } else {
                    format!("{what} {most} KiB")
                })
                .collect::<Vec<_>>()
                .join(", ")
        ),
        format!(
            "Reading counts has a cost of its own. If an activation is in a version at that time, \
             Veneer must know where, and asks JVMTI, which identifies methods by ids. The JVM \
             never frees the ids of an unloaded class (JDK-8268406, fixed after 25). So each \
             version found in this way costs some hundred bytes. Attaching and detaching ask for \
             Java's stack-trace names first, and need no ids if no activation is in the method. \
             The table has cycles with the two loops in versions and with the counts read: the \
             median of the readings from 250 cycles on, and of {READINGS_AFTER} readings after \
             these cycles. More than {MAX_READ_COST_BYTES} bytes a cycle would be a failure."
        ),
        "Locks are counted by themselves. From JDK 25 on, the JVM keeps the lock of a method's profile when the method's class \
         is unloaded, 104 bytes and 18 of its name (JDK-8390874), and so it does for versions that have been compiled. The last \
         table is of a program without Veneer that makes hidden classes and drops them: where it leaves a lock for each \
         method, versions may leave one for each method that was compiled; where it leaves none, they may not either."
            .into(),
        "Loaders: each cycle creates a class loader and loads five classes through it, which are \
         armed and have a version before they run, uses them, and drops the loader. The JVM gets \
         all memory back, and so does the agent: its records of unloaded classes, their class \
         files, and their counters. One row of counts is kept for all classes of the same name. \
         The bounds are the same."
            .into(),
    ]
}

/// Attaches and detaches counters, and takes figures after each of these numbers of cycles.
fn cycles(jdk: &Jdk, samples: &[u32], read: u32) -> Result<JobOutput, TrustError> {
    let folder = Folder::new("memory")?;
    let source = folder.join("Memory.java");
    std::fs::write(&source, programs::program())?;
    let classes = folder.join("classes");
    std::fs::create_dir_all(&classes)?;
    jdk.compile(&files(folder.path(), "java")?, &classes)?;
    let java = Process::new(jdk.tool("java"))
        .args(OPTIONS)
        .arg("-cp")
        .arg(&classes)
        .arg("Memory");
    let live = Live::start(&command::run(&[], &java))?;
    let plan = r#"for i in 0..5 {
        let h = methods(["Many*::m*(..)", "Memory::spin(..)", "Memory::work(..)"]).limit(10000000).blocks().before(counter());
        READ
        h.detach();
    }"#;
    let (blind, seeing) = (
        plan.replace("READ", ""),
        plan.replace("READ", r#"if h.hits() < 0 { print("never"); }"#),
    );
    let mut figures = Vec::new();
    let mut done = 0;
    for sample in samples {
        while done < *sample {
            live.value(&blind)?;
            done += 5;
        }
        let now = measure(jdk, &live, done)?;
        eprintln!("memory: {jdk}, {done} cycles: {:?}", now.values);
        figures.push(now);
    }
    for _ in 0..read / 5 {
        live.value(&seeing)?;
    }
    let mut after = Vec::new();
    for _ in 0..READINGS_AFTER {
        let now = measure(jdk, &live, done + read)?;
        eprintln!(
            "memory: {jdk}, {read} cycles with figures: {:?}",
            now.values
        );
        after.push(now.own as f64);
    }
    // All one-time memory has been allocated before the second reading.
    let before = figures.iter().skip(1).map(|f| f.own as f64).collect();
    let read = ReadCost {
        cycles: read,
        native: [before, after].map(|readings: Vec<f64>| median(&readings).unwrap_or(0.0) as i64),
    };
    // The counts show that versions were entered.
    let id = live.value(r#"methods("Many*::m*(..)").before(counter())"#)?;
    crate::live::until("hits", || live.sum(&id), |n| *n > 100)?;
    let output = live.stop()?;
    if output.code != 0 || !output.err.is_empty() {
        return Err(TrustError::ExitCode {
            program: "the program".into(),
            code: output.code,
            output: output.err,
        });
    }
    Ok(JobOutput::Figures(figures, Some(read)))
}

/// Creates and drops class loaders whose classes are armed and have versions.
fn loaders(jdk: &Jdk, samples: &[u32]) -> Result<JobOutput, TrustError> {
    let programs = Programs::compile_folder(jdk.clone(), "threads")?;
    let folder = Folder::new("memory")?;
    let classes = folder.join("guests");
    let source = folder.join("Many.java");
    std::fs::write(&source, programs::many(5))?;
    std::fs::create_dir_all(&classes)?;
    jdk.compile(&[source], &classes)?;
    let plan = folder.join("plan.rhai");
    std::fs::write(
        &plan,
        "methods(\"Many*::*(..)\").limit(10000000).blocks().before(counter());",
    )?;
    let java = Process::new(jdk.tool("java"))
        .args(OPTIONS)
        .arg("-cp")
        .arg(programs.classes().path())
        .arg("Guests")
        .arg(&classes);
    let plan = plan.display().to_string();
    let mut live = Live::start(&command::run(&["--plan", &plan], &java))?;
    let mut figures = Vec::new();
    let mut done = 0;
    for sample in samples {
        while done < *sample {
            live.say("10")?;
            live.line("done")?;
            done += 10;
        }
        let now = measure(jdk, &live, done)?;
        eprintln!("memory: {jdk}, {done} loaders: {:?}", now.values);
        figures.push(now);
    }
    let output = live.stop()?;
    if output.code != 0 {
        return Err(TrustError::ExitCode {
            program: "the program".into(),
            code: output.code,
            output: output.err,
        });
    }
    Ok(JobOutput::Figures(figures, None))
}
