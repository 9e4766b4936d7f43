//! Events of the JVM in traces and in plans. The program `observed.Work` has a known number of
//! contentions with a known owner, waits, threads, collections, loaded and unloaded classes; it
//! prints the JVM's own counts and an upper bound of the time in which it was blocked.

use std::error::Error;
use std::path::Path;
use std::process::Child;

use serde_json::Value;
use veneer_tests::browser::until_nothing_is_attached;
use veneer_tests::command::run;
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::live::{Live, until};
use veneer_tests::process::Process;
use veneer_tests::skip::{Need, skip};
use veneer_tests::trace_recording::start_recording;
use veneer_tests::trace_rows::query;

const PACKAGE: &str = "observed";
/// The numbers of `observed.Work`.
const ROUNDS: usize = 5;
/// Half of the time for which the holder keeps the monitor. The JVM shows a thread as blocked shortly
/// before it reports the event.
const HOLD_NANOS: u64 = 20_000_000;
const TIMED_OUT_WAITS: usize = 3;
const WAIT_NANOS: u64 = 30_000_000;
const CHILDREN: usize = 4;
/// The shortest time of a sleep of `observed.Parking`.
const SLEEP_NANOS: u64 = 20_000_000;

/// The numbers that the program prints about itself.
struct Printed {
    blocked_at_most: u64,
    blocked_count: u64,
    collections: u64,
}

/// Lets the program work once.
fn work(live: &mut Live) -> Result<Printed, Box<dyn Error>> {
    live.say("run")?;
    let blocked_count = live.line("blocked count ")?.parse()?;
    let blocked_at_most = live.line("blocked at most ")?.parse()?;
    let collections = live.line("collections ")?.parse()?;
    live.line("done")?;
    Ok(Printed {
        blocked_at_most,
        blocked_count,
        collections,
    })
}

/// The command that starts the program. The serial collector counts each pause as a collection.
fn java(programs: &Programs) -> Process {
    programs
        .launcher()
        .args(["-XX:+UseSerialGC", "-Xlog:disable", "-cp"])
        .arg(programs.classes().path())
        .arg("observed.Main")
}

/// The rows of events of one kind, in the order of their beginning.
fn events(trace: &Path, kind: &str) -> Result<Vec<Value>, Box<dyn Error>> {
    let columns =
        r#""thread_name", "method", "caller", "owner", "values", "start", "wall", "ended""#;
    query(
        trace,
        &format!(r#"events("{kind}").show({columns}).sort("start")"#),
    )
}

fn text<'r>(row: &'r Value, column: &str) -> &'r str {
    row[column].as_str().unwrap_or_default()
}

fn wall(row: &Value) -> u64 {
    row["wall"].as_u64().unwrap_or(0)
}

/// Checks all events of a recording of the whole program.
fn check_trace(trace: &Path, printed: &Printed) -> Outcome {
    let contended = events(trace, "contended")?;
    let lock: Vec<&Value> = contended
        .iter()
        .filter(|row| text(row, "method") == "contended observed.Work$Lock")
        .collect();
    assert_eq!(lock.len(), ROUNDS, "{contended:#?}");
    for row in &lock {
        assert_eq!(text(row, "thread_name"), "blocked");
        assert_eq!(text(row, "owner"), "holder", "{row}");
        assert_eq!(text(row, "caller"), "observed.Work::enter");
        assert_eq!(text(row, "ended"), "exit");
        assert!(wall(row) >= HOLD_NANOS, "{row}");
        assert!(text(row, "values").starts_with("observed.Work$Lock@"));
    }
    let blocked: u64 = lock.iter().map(|row| wall(row)).sum();
    assert!(blocked <= printed.blocked_at_most, "{blocked}");
    let of_thread = |row: &&Value| text(row, "thread_name") == "blocked";
    let all = contended.iter().filter(of_thread).count() as u64;
    assert_eq!(all, printed.blocked_count, "the JVM's own count");

    let waits = events(trace, "wait")?;
    let mail: Vec<&Value> = waits
        .iter()
        .filter(|row| text(row, "method") == "wait observed.Work$Mail")
        .collect();
    let is_timed_out = |row: &&&Value| text(row, "values").ends_with(" 30 1");
    let timed_out: Vec<_> = mail.iter().filter(is_timed_out).collect();
    assert_eq!(timed_out.len(), TIMED_OUT_WAITS, "{mail:#?}");
    assert!(timed_out.iter().all(|row| wall(row) >= WAIT_NANOS));
    let notified = mail
        .iter()
        .filter(|row| text(row, "values").ends_with(" 0 0"));
    assert!(notified.count() >= 1, "{mail:#?}");
    assert!(mail.iter().all(|row| text(row, "thread_name") == "waiter"));
    assert!(
        mail.iter()
            .all(|row| text(row, "caller") == "observed.Work::waitOften")
    );

    for (kind, column) in [("thread_start", "starts"), ("thread_end", "ends")] {
        let mut names: Vec<String> = events(trace, kind)?
            .iter()
            .map(|row| {
                let thread = text(row, "thread_name");
                assert_eq!(text(row, "method"), format!("{kind} {thread}"), "{column}");
                thread.to_owned()
            })
            .filter(|name| name.starts_with("child-"))
            .collect();
        names.sort();
        let expected: Vec<String> = (0..CHILDREN).map(|n| format!("child-{n}")).collect();
        assert_eq!(names, expected, "{kind}");
    }
    check_jvm_events(trace, printed)
}

/// Checks the events of collections, classes and compilations.
fn check_jvm_events(trace: &Path, printed: &Printed) -> Outcome {
    let collections = events(trace, "gc")?;
    // The program asks for three collections, and for one more that unloads a class.
    assert!(printed.collections >= 4);
    assert_eq!(collections.len() as u64, printed.collections);
    for row in &collections {
        assert_eq!(text(row, "thread_name"), "JVM: collections");
        assert!(wall(row) > 0, "{row}");
    }
    let loaded = events(trace, "class_load")?;
    let late: Vec<&Value> = loaded
        .iter()
        .filter(|row| text(row, "method") == "class_load observed.Late")
        .collect();
    assert_eq!(late.len(), 1, "{loaded:#?}");
    assert_eq!(text(late[0], "thread_name"), "main");
    assert_eq!(text(late[0], "caller"), "observed.Work::load");
    let has_own = |row: &Value| text(row, "method").contains("Veneer");
    assert!(!loaded.iter().any(has_own), "{loaded:#?}");
    let unloaded = events(trace, "class_unload")?;
    let brief = "class_unload observed.Brief";
    let count = unloaded.iter().filter(|row| text(row, "method") == brief);
    assert_eq!(count.count(), 1, "{unloaded:#?}");
    let compiled = events(trace, "compile")?;
    let hot = compiled
        .iter()
        .filter(|row| text(row, "method") == "compile observed.Hot::hot");
    let hot: Vec<&Value> = hot.collect();
    assert!(!hot.is_empty(), "{compiled:#?}");
    let bytes = |row: &&Value| text(row, "values").parse::<u64>().unwrap_or(0);
    assert!(hot.iter().all(|row| bytes(row) > 0), "{hot:#?}");
    Ok(())
}

#[test]
fn a_trace_has_the_events_of_the_jvm_in_the_threads_and_calls_where_they_happen() -> Outcome {
    on_a_jdk_with(PACKAGE, |programs| {
        let trace = programs.classes().join("trace");
        let place = trace.to_string_lossy().into_owned();
        let options = [
            "--arm",
            "observed.Work",
            "--trace",
            &place,
            "--trace-events",
            "all",
        ];
        let mut live = Live::start(&run(&options, &java(programs)))?;
        let printed = work(&mut live)?;
        let output = live.stop()?;
        assert_eq!(output.code, 0, "{}", output.err);
        check_trace(&trace, &printed).map_err(|error| format!("{error}\n{}", output.err).into())
    })
}

#[test]
fn the_directives_of_a_filter_turn_events_on_and_others_stay_off() -> Outcome {
    on_a_jdk_with(PACKAGE, |programs| {
        let mut live = Live::start(&java(programs))?;
        let trace = programs.classes().join("filtered");
        let filter = programs.classes().join("filter");
        let directives = "observe_monitor_contention\nobserve_method_invocations\n\
                          includemethod observed.* *\nexcludemethod * *\n";
        std::fs::write(&filter, directives)?;
        let filter = filter.to_string_lossy();
        let options = ["--for", "6", "--filter", &*filter];
        let mut recording = start_recording(&live, "observed.Work", &options, &trace)?;
        work(&mut live)?;
        assert!(recording.wait()?.success());
        live.stop()?;
        let rows = query(&trace, r#"events().by("kind").show("count")"#)?;
        let kinds: Vec<&str> = rows.iter().map(|row| text(row, "kind")).collect();
        assert!(kinds.contains(&"contended"), "{kinds:?}");
        assert!(
            kinds
                .iter()
                .all(|kind| ["call", "contended"].contains(kind)),
            "{kinds:?}"
        );
        Ok(())
    })
}

/// Checks the events of `observed.Parking`. `waited` has the JVM's own number of waits of a thread.
fn check_parking(trace: &Path, waited: &dyn Fn(&str) -> Option<usize>) -> Outcome {
    let of_thread = |rows: &[Value], name: &str| -> Vec<Value> {
        let rows = rows.iter();
        rows.filter(|row| text(row, "thread_name") == name)
            .cloned()
            .collect()
    };
    let (parks, sleeps) = (events(trace, "park")?, events(trace, "sleep")?);
    for name in ["taker", "napper", "giver", "sleeper"] {
        let found = of_thread(&parks, name).len() + of_thread(&sleeps, name).len();
        assert_eq!(Some(found), waited(name), "{name}: {parks:#?} {sleeps:#?}");
    }
    let taken = of_thread(&parks, "taker");
    let condition = "park java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject";
    let long = taken.iter().filter(|row| wall(row) >= SLEEP_NANOS);
    let long: Vec<&str> = long.map(|row| text(row, "method")).collect();
    assert_eq!(long, [condition; ROUNDS], "{taken:#?}");
    for row in of_thread(&parks, "napper") {
        assert_eq!(text(&row, "method"), "park observed.Parking$Bench");
        assert!(wall(&row) >= SLEEP_NANOS, "{row}");
        assert_eq!(text(&row, "ended"), "exit");
    }
    let slept = of_thread(&sleeps, "giver");
    assert_eq!(slept.len(), ROUNDS);
    for row in &slept {
        assert_eq!(text(row, "caller"), "observed.Parking::give");
        assert_eq!(text(row, "values"), "20");
        assert!(wall(row) >= SLEEP_NANOS, "{row}");
    }
    // The first sleep ends by an exception, and the second one begins in the same call.
    let interrupted = of_thread(&sleeps, "sleeper");
    let values: Vec<&str> = interrupted.iter().map(|row| text(row, "values")).collect();
    assert_eq!(values, ["60000", "20"]);
    assert!(wall(&interrupted[0]) < 60_000_000_000, "{interrupted:#?}");
    let unparked = of_thread(&events(trace, "unpark")?, "giver");
    let taker = unparked
        .iter()
        .filter(|row| text(row, "method") == "unpark taker");
    assert!(taker.count() >= ROUNDS, "{unparked:#?}");
    let notified = of_thread(&events(trace, "notify")?, "giver");
    assert_eq!(notified.len(), ROUNDS, "{notified:#?}");
    for row in &notified {
        assert_eq!(text(row, "method"), "notify observed.Parking$Bench");
    }
    Ok(())
}

#[test]
fn a_trace_has_what_the_program_parks_sleeps_and_wakes() -> Outcome {
    on_a_jdk_with(PACKAGE, |programs| {
        let mut live = Live::start(&java(programs))?;
        let trace = programs.classes().join("parking");
        let options = ["--for", "6", "--events", "park,unpark,sleep,notify"];
        let mut recording = start_recording(&live, "observed.Parking", &options, &trace)?;
        live.say("park")?;
        let mut waited = Vec::new();
        // The threads end in any order.
        while waited.len() < 4 {
            if let Some((name, count)) = live.line("")?.split_once(" waited ") {
                waited.push((name.to_owned(), count.parse::<usize>()?));
            }
        }
        live.line("done")?;
        assert!(recording.wait()?.success());
        // The code at calls is detached with the recorder.
        until_nothing_is_attached(&live)?;
        live.stop()?;
        let waited = |name: &str| waited.iter().find(|one| one.0 == name).map(|one| one.1);
        check_parking(&trace, &waited)
    })
}

/// The number of bytes for which the JVM samples one object on average.
const SAMPLED_BYTES: f64 = 524_288.0;

#[test]
fn a_trace_has_sampled_allocations_and_the_deaths_of_their_objects() -> Outcome {
    on_a_jdk_with(PACKAGE, |programs| {
        let mut live = Live::start(&java(programs))?;
        let trace = programs.classes().join("heap");
        let options = ["--for", "8", "--events", "free,allocate"];
        let mut recording = start_recording(&live, "observed.Heap", &options, &trace)?;
        live.say("heap")?;
        let blocks: f64 = live.line("blocks ")?.parse()?;
        live.line("done")?;
        assert!(recording.wait()?.success());
        live.stop()?;
        let of_block = |kind: &str| -> Result<Vec<Value>, Box<dyn Error>> {
            let method = format!("{kind} observed.Heap$Block");
            let mut rows = events(&trace, kind)?;
            rows.retain(|row| text(row, "method") == method);
            Ok(rows)
        };
        let (born, dead) = (of_block("allocate")?, of_block("free")?);
        let bytes: f64 = text(&born[0], "values").parse()?;
        assert!((144.0..=160.0).contains(&bytes), "{}", born[0]);
        // The number of samples has a Poisson distribution: six standard deviations.
        let expected = blocks * bytes / SAMPLED_BYTES;
        let found = born.len() as f64;
        assert!(
            (found - expected).abs() < 6.0 * expected.sqrt(),
            "{found} samples instead of {expected}"
        );
        for row in &born {
            assert_eq!(text(row, "thread_name"), "allocator");
            assert_eq!(text(row, "caller"), "observed.Heap::allocate");
        }
        assert_eq!(dead.len(), born.len(), "all objects have died");
        for row in &dead {
            assert_eq!(text(row, "thread_name"), "JVM: freed objects");
            let life = text(row, "values").split_once(' ').ok_or("no life")?;
            assert_eq!(life.0, text(&born[0], "values"));
            assert!(life.1.parse::<u64>()? < 8_000_000_000, "{row}");
        }
        Ok(())
    })
}

/// A program that competes for a processor until it is dropped.
struct Competitor(Child);

impl Competitor {
    fn start() -> Result<Competitor, Box<dyn Error>> {
        let process = Process::new("taskset").args(["-c", "0", "sh", "-c", "while :; do :; done"]);
        Ok(Competitor(process.start()?))
    }
}

impl Drop for Competitor {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The only call of a method: its duration and its processor time.
fn only_call(trace: &Path, method: &str) -> Result<(u64, u64), Box<dyn Error>> {
    let rows = query(trace, &format!(r#"calls("{method}").show("wall", "cpu")"#))?;
    let [row] = rows.as_slice() else {
        return Err(format!("{} calls of {method}", rows.len()).into());
    };
    Ok((wall(row), row["cpu"].as_u64().ok_or("no processor time")?))
}

#[test]
fn processor_times_are_those_of_the_thread_clock_beside_a_competitor() -> Outcome {
    if Process::new("taskset").arg("--version").run().is_err() {
        return Ok(skip(Need::Program("taskset"))?);
    }
    on_a_jdk_with(PACKAGE, |programs| {
        for source in ["rseq", "clock"] {
            let mut live = Live::start(&java(programs))?;
            let trace = programs.classes().join(&format!("spin-{source}"));
            let filter = programs.classes().join(&format!("filter-{source}"));
            std::fs::write(&filter, format!("processor_time {source}\n"))?;
            let filter = filter.to_string_lossy();
            let options = ["--for", "8", "--filter", &*filter];
            let pid = live.pid().to_string();
            let mut recording = start_recording(&live, "observed.Spin", &options, &trace)?;
            let _competitor = Competitor::start()?;
            // It fails if a thread ends meanwhile.
            let pin = || {
                let pinned = Process::new("taskset").args(["-a", "-p", "-c", "0", &pid]);
                Ok(pinned.run()?)
            };
            until("all threads on one processor", pin, |pinned| {
                pinned.code == 0
            })?;
            live.say("spin")?;
            let measured: u64 = live.line("cpu ")?.parse()?;
            assert!(recording.wait()?.success());
            live.stop()?;
            let (wall, cpu) = only_call(&trace, "observed.Spin::burn(..)")?;
            assert!(
                wall > measured * 5 / 4,
                "no contention: {wall} and {measured}"
            );
            let difference = cpu.abs_diff(measured);
            assert!(
                difference < measured / 100,
                "{source}: {cpu} and {measured} by the clock"
            );
            let steps = r#"calls("observed.Spin::step(..)").by("method").show("sum(cpu)")"#;
            let steps = query(&trace, steps)?;
            let sum = steps[0]["sum(cpu)"].as_u64().ok_or("no sum")?;
            assert!(sum <= cpu && sum > cpu / 2, "{sum} of {cpu}");
            let names = std::fs::read_to_string(trace.join("names"))?;
            assert!(
                names.contains(&format!("processor-time\t{source}")),
                "{names}"
            );
            println!("{source}: {cpu} ns, {measured} ns by the thread clock, wall {wall} ns");
        }
        Ok(())
    })
}

/// A plan that prints each event in a line.
const PLAN: &str = r#"
let contended = 0;
on("contended", |e| if e.class == "observed.Work$Lock" {
    print(`contended ${e.thread_name} ${e.owner} ${e.took_ns >= 20000000} ${e.dropped}`);
});
on("wait", |e| if e.class == "observed.Work$Mail" && e.timed_out {
    print(`wait ${e.thread_name} ${e.took_ns >= 30000000}`);
});
on("thread_start", |e| if e.thread_name.starts_with("child-") { print(`start ${e.thread_name}`); });
on("thread_end", |e| if e.thread_name.starts_with("child-") { print(`end ${e.thread_name}`); });
on("gc", |e| print(`gc ${e.took_ns > 0} ${e.thread_name == ()}`));
on("class_load", |e| if e.class == "observed.Late" { print(`load ${e.class} ${e.thread_name}`); });
on("class_unload", |e| if e.class == "observed.Brief" { print(`unload ${e.class}`); });
on("compile", |e| if e.class == "observed.Hot" && e.method == "hot(I)I" {
    print(`compile ${e.method} ${e.bytes > 0}`);
});
at_exit(|| print(`dropped ${dropped_events("gc")}`));
"#;

#[test]
fn plans_see_the_events_of_the_jvm_with_their_fields() -> Outcome {
    on_a_jdk_with(PACKAGE, |programs| {
        let plan = programs.classes().join("events.rhai");
        std::fs::write(&plan, PLAN)?;
        let plan = plan.to_string_lossy().into_owned();
        let mut live = Live::start(&run(&["--plan", &plan], &java(programs)))?;
        let printed = work(&mut live)?;
        let output = live.stop()?;
        assert_eq!(output.code, 0, "{}", output.err);
        let count = |line: &str| output.err.lines().filter(|one| *one == line).count();
        assert_eq!(
            count("contended blocked holder true 0"),
            ROUNDS,
            "{}",
            output.err
        );
        assert_eq!(count("wait waiter true"), TIMED_OUT_WAITS, "{}", output.err);
        for child in 0..CHILDREN {
            assert_eq!(count(&format!("start child-{child}")), 1, "{}", output.err);
            assert_eq!(count(&format!("end child-{child}")), 1, "{}", output.err);
        }
        let collections = usize::try_from(printed.collections)?;
        assert_eq!(count("gc true true"), collections, "{}", output.err);
        assert_eq!(count("load observed.Late main"), 1, "{}", output.err);
        assert_eq!(count("unload observed.Brief"), 1, "{}", output.err);
        assert!(count("compile hot(I)I true") >= 1, "{}", output.err);
        assert_eq!(count("dropped 0"), 1, "{}", output.err);
        Ok(())
    })
}

#[test]
fn an_event_that_jvmti_does_not_have_is_refused() -> Outcome {
    on_a_jdk_with(PACKAGE, |programs| {
        let live = Live::start(&run(&[], &java(programs)))?;
        let refused = live.exec(r#"on("deoptimise", |e| print(e))"#)?;
        assert_ne!(refused.code, 0);
        assert!(
            refused.err.contains("EventUnavailable: deoptimise"),
            "{}",
            refused.err
        );
        live.stop()?;
        Ok(())
    })
}
