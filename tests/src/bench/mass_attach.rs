//! Measures an attachment to thousands of running methods at once: its duration, and how long the
//! application pauses.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use super::first::thread_time;
use super::groups::first_line;
use super::jvm_options::OPTIONS;
use super::peers::{byteman, flight_recorder};
use super::prepare::Compiled;
use super::printed_number::printed_number;
use super::record::shown;
use super::record::{Goal, Record};
use crate::command;
use crate::jdk::Jdk;
use crate::live::Live;
use crate::process::Process;
use crate::trust::part::Table;
use crate::trust::part::{Scope, TrustError};

/// Number of methods per class.
pub const METHODS: usize = 100;
/// Number of classes.
const CLASSES: usize = 50;

/// Runs the part `crowd`.
pub fn run(scope: &Scope) -> Result<Record, TrustError> {
    let begun = Instant::now();
    let mut record = Record::new("crowd", "Attaching to 5,000 methods at once", scope)?;
    let times = if scope.quick { 1 } else { 7 };
    record.part.words = vec![
        "50 classes with 100 methods each, which one thread calls repeatedly, while another \
         thread runs an endless loop. A counter is attached to the entries of all 5,000 methods \
         at once. *Attach*: the duration measured by the plan (Byteman: from sending 5,000 rules \
         to the answer; JFR: the command). *Longest pause*: the longest delay of a thread that \
         repeatedly sleeps for 0.1 ms, from the call until every method has been called once \
         more; beside it the longest delay in a second without an attachment. *Its processor \
         time*: the processor time of the attaching thread as the kernel reports it, in steps of \
         10 ms. During the rest of the time, the program's two threads and the JIT compilers used \
         both processors."
            .into(),
    ];
    let jdk = scope.jdks.first().ok_or(TrustError::NoJdk)?;
    let mut table = Table::new(
        "",
        &[
            "how",
            "attach, ms",
            "its processor time, ms",
            "longest pause, ms",
            "without, ms",
            "methods that hit",
            "",
        ],
    );
    let peers: [(&str, Attach); 3] = [
        ("Veneer", measure_veneer),
        (byteman::NAME, measure_byteman),
        (flight_recorder::NAME, measure_flight_recorder),
    ];
    // A quick run leaves out the other tools, because they take most of the time.
    let shown_here = if scope.quick { 1 } else { peers.len() };
    for (name, how) in peers.into_iter().take(shown_here) {
        let found = how(
            jdk,
            CLASSES,
            if name == "Veneer" {
                times
            } else {
                times.min(3)
            },
        );
        let (seen, error) = match found {
            Ok(seen) => (seen, String::new()),
            Err(e) => (AttachMeasurements::default(), first_line(&e.to_string())),
        };
        eprintln!("bench: crowd, {name}: {seen:?} {error}");
        let attach = record.figure("attach 5,000", "crowd", name, "ms", &seen.attach);
        let pause = record.figure("longest pause", "crowd", name, "ms", &seen.pause);
        record.figure("longest pause without", "crowd", name, "ms", &seen.idle);
        let hit = seen.hit.map_or("not told".into(), |n| n.to_string());
        if name == "Veneer" {
            if seen.hit != Some(CLASSES * METHODS) {
                record.part.failures.push(format!(
                    "{hit} of {} methods hit {error}",
                    CLASSES * METHODS
                ));
            }
            for (what, most, value) in [
                ("attach to 5,000 methods at once", 1000.0, attach),
                ("the same: longest pause of the application", 20.0, pause),
            ] {
                record
                    .goals
                    .extend(value.map(|v| Goal::at_most(what, most, "ms", v)));
            }
        }
        table.rows.push(vec![
            name.to_string(),
            shown(&seen.attach, 0),
            shown(&seen.work, 0),
            shown(&seen.pause, 1),
            shown(&seen.idle, 1),
            hit,
            error,
        ]);
    }
    record.part.tables.push(table);
    record.part = record.part.with_duration_since(begun);
    Ok(record)
}

/// The measurements of attaching to many methods, one value for each repetition.
#[derive(Clone, Debug, Default)]
pub struct AttachMeasurements {
    /// Duration of the call in milliseconds.
    pub attach: Vec<f64>,
    /// Processor time of the agent's plan thread during the call, in milliseconds.
    pub work: Vec<f64>,
    /// Longest delay of the pause meter, in milliseconds.
    pub pause: Vec<f64>,
    /// Longest delay of the pause meter in one second before the attachment, in milliseconds.
    pub idle: Vec<f64>,
    /// Number of methods whose counter has counted, if the tool reports it.
    pub hit: Option<usize>,
}

type Attach = fn(&Jdk, usize, usize) -> Result<AttachMeasurements, TrustError>;

/// Compiles the program with `classes` generated classes.
pub fn compiled(jdk: &Jdk, classes: usize) -> Result<Compiled, TrustError> {
    let sources = ["tests/bench/Pauses.java", "tests/bench/Caller.java"];
    let compiled = Compiled::new(jdk, &sources, &[])?;
    let many = compiled.join("Many.java");
    std::fs::write(&many, source(classes))?;
    Process::new(jdk.tool("javac"))
        .args(["-g", "-nowarn", "-d"])
        .arg(compiled.classes())
        .arg("-cp")
        .arg(compiled.classes())
        .arg(&many)
        .run()?
        .succeeded("javac")?;
    Ok(compiled)
}

/// Generates the sources of the classes `Many0`, `Many1`, … with [`METHODS`] methods each, which
/// have three forms.
fn source(classes: usize) -> String {
    let mut out = String::new();
    for class in 0..classes {
        let _ = writeln!(
            out,
            "final class Many{class} implements Caller {{\n    public Many{class}() {{}}\n"
        );
        let mut calls = String::new();
        for m in 0..METHODS {
            let n = m * 7 + class + 1;
            let body = match m % 3 {
                0 => format!("return x * 31 + {n};"),
                1 => format!("if ((x & 1) == 0) {{ return x + {n}; }} return x >> 1;"),
                _ => format!("for (int i = 0; i < 3; i++) {{ x ^= i + {n}; }} return x;"),
            };
            let _ = writeln!(out, "    static long m{m}(long x) {{ {body} }}");
            let _ = writeln!(calls, "        x = m{m}(x);");
        }
        let _ = writeln!(
            out,
            "    public long all(long x) {{\n{calls}        return x;\n    }}\n}}\n"
        );
    }
    out
}

/// The process of the program for a number of classes and of threads.
pub fn java(
    jdk: &Jdk,
    compiled: &Compiled,
    classes: usize,
    threads: usize,
    options: &[String],
    path: &[&Path],
) -> Process {
    Process::new(jdk.tool("java"))
        .args(OPTIONS)
        .args(options)
        .arg("-cp")
        .arg(compiled.class_path(path))
        .args(["Pauses", &classes.to_string(), &threads.to_string()])
}

/// Returns the longest pause since the previous call, in milliseconds.
pub fn pause(live: &mut Live) -> Result<f64, TrustError> {
    live.say("pause")?;
    let line = live.line("pause ")?;
    let micros: f64 = printed_number(&line)?;
    Ok(micros / 1e3)
}

/// Waits until every method has been called once more.
pub fn call_all_methods(live: &mut Live) -> Result<(), TrustError> {
    live.say("round")?;
    live.line("round ")?;
    Ok(())
}

/// Returns the longest pause of one second in which nothing is attached, in milliseconds.
fn idle(live: &mut Live) -> Result<f64, TrustError> {
    pause(live)?;
    std::thread::sleep(Duration::from_secs(1));
    pause(live)
}

/// Starts the program and waits until the JIT has compiled its methods.
pub fn start(process: &Process) -> Result<Live, TrustError> {
    let mut live = Live::start(process)?;
    for _ in 0..20 {
        call_all_methods(&mut live)?;
    }
    std::thread::sleep(Duration::from_secs(3));
    Ok(live)
}

/// Measures Veneer: attaches counters to the entries of all methods and detaches them, `times`
/// times.
fn measure_veneer(
    jdk: &Jdk,
    classes: usize,
    times: usize,
) -> Result<AttachMeasurements, TrustError> {
    let compiled = compiled(jdk, classes)?;
    let process = command::run(&[], &java(jdk, &compiled, classes, 1, &[], &[]));
    let mut live = start(&process)?;
    let mut seen = AttachMeasurements::default();
    for _ in 0..times {
        let (one, hit) = attach(&mut live, "methods(\"Many*::m*(..)\")")?;
        seen.attach.push(one.took);
        seen.work.push(one.work);
        seen.pause.push(one.pause);
        seen.idle.push(one.idle);
        seen.hit = Some(seen.hit.unwrap_or(hit).min(hit));
    }
    live.stop()?;
    Ok(seen)
}

/// The measurements of one attachment, in milliseconds.
pub struct Attachment {
    /// Duration of the call as the plan measures it.
    pub took: f64,
    /// Processor time of the agent's plan thread.
    pub work: f64,
    /// The longest pause until every method has been called once more.
    pub pause: f64,
    /// The longest pause in one second before the attachment.
    pub idle: f64,
}

/// The name of the agent's plan thread.
const PLANS: &str = "veneer-plans";

/// Attaches counters, and returns the measurements and the number of methods that were hit.
pub fn attach(live: &mut Live, points: &str) -> Result<(Attachment, usize), TrustError> {
    let before = idle(live)?;
    let worked = thread_time(live.pid(), PLANS);
    let plan = format!(
        "let begin = now();\nlet h = {points}.before(counter());\nlet took = (now() - begin) * 1000.0;\n`${{took}} ${{h.id()}}`"
    );
    let said = live.value(&plan)?;
    let work = thread_time(live.pid(), PLANS) - worked;
    let said = said.trim_matches('"').to_string();
    let (took, id) = said.split_once(' ').unwrap_or((&said, ""));
    let took: f64 = printed_number(took)?;
    call_all_methods(live)?;
    let longest = pause(live)?;
    let report = live.report()?;
    let hit: BTreeSet<(String, String)> = report
        .instruments
        .iter()
        .filter(|one| one.id.as_str() == Some(id))
        .flat_map(|one| &one.points)
        .filter(|point| point.hits > 0)
        .map(|point| (point.class.clone(), point.method.clone()))
        .collect();
    live.value(&format!("detach(\"{id}\")"))?;
    call_all_methods(live)?;
    let one = Attachment {
        took,
        work,
        pause: longest,
        idle: before,
    };
    Ok((one, hit.len()))
}

/// Measures Byteman with one rule for each method.
fn measure_byteman(
    jdk: &Jdk,
    classes: usize,
    times: usize,
) -> Result<AttachMeasurements, TrustError> {
    let compiled = compiled(jdk, classes)?;
    let helper = compiled.join("byteman");
    let agent = byteman::prepare(jdk, "Stopwatch.java", &helper)?;
    let mut seen = AttachMeasurements::default();
    for _ in 0..times {
        let port = free_port()?;
        let options = [byteman::COMPILED.into(), byteman::listening(&agent, port)];
        let mut live = start(&java(jdk, &compiled, classes, 1, &options, &[&helper]))?;
        seen.idle.push(idle(&mut live)?);
        let mut text = String::new();
        for class in 0..classes {
            for m in 0..METHODS {
                let _ = writeln!(
                    text,
                    "RULE r{class}.{m}\nCLASS Many{class}\nMETHOD m{m}\nHELPER Stopwatch\nAT ENTRY\nIF TRUE\nDO begin()\nENDRULE"
                );
            }
        }
        let begin = Instant::now();
        let answer = byteman::submit(port, &text)?;
        seen.attach.push(begin.elapsed().as_secs_f64() * 1e3);
        if !answer.contains("install rule") {
            return Err(TrustError::Rejected(answer));
        }
        call_all_methods(&mut live)?;
        seen.pause.push(pause(&mut live)?);
        live.stop()?;
    }
    Ok(seen)
}

/// Measures the method timing of Flight Recorder on all methods of the classes.
fn measure_flight_recorder(
    jdk: &Jdk,
    classes: usize,
    times: usize,
) -> Result<AttachMeasurements, TrustError> {
    if jdk.major() < flight_recorder::MIN_JDK {
        return Err(TrustError::OnlyFrom(flight_recorder::MIN_JDK));
    }
    let compiled = compiled(jdk, classes)?;
    let mut live = start(&java(jdk, &compiled, classes, 1, &[], &[]))?;
    let mut seen = AttachMeasurements::default();
    let filter: Vec<String> = (0..classes).map(|c| format!("Many{c}")).collect();
    for i in 0..times {
        seen.idle.push(idle(&mut live)?);
        let begin = Instant::now();
        let said = flight_recorder::start(jdk, live.pid(), &format!("r{i}"), &filter.join(";"))?;
        seen.attach.push(begin.elapsed().as_secs_f64() * 1e3);
        if !said.contains("Started recording") {
            return Err(TrustError::Rejected(said));
        }
        call_all_methods(&mut live)?;
        seen.pause.push(pause(&mut live)?);
        flight_recorder::stop(jdk, live.pid(), &format!("r{i}"))?;
        call_all_methods(&mut live)?;
    }
    live.stop()?;
    Ok(seen)
}

/// Returns a local port on which no process listens.
pub fn free_port() -> Result<u16, TrustError> {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
    Ok(listener.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generated_classes_have_their_methods() {
        let text = source(2);
        assert!(text.contains("class Many1 implements Caller"));
        assert_eq!(text.matches("static long m").count(), 2 * METHODS);
    }
}
