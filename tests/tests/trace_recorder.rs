//! `veneer trace PID`: the recorded tree of each thread is compared with an agent of the test, which
//! writes the entries and exits of methods by JVMTI events (`tests/native/call_trace.c`), and with a
//! tree that is known from the source. Another test kills the JVM while it records.
//!
//! The comparison leaves out what `docs/traces.md` names as not recorded: the activation of `main`,
//! which began before its class was armed, and a constructor whose entry is recorded after `super(…)`.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Child;
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use veneer_tests::call_oracle::compile_library;
use veneer_tests::command::{run, veneer};
use veneer_tests::java_programs::{Outcome, Programs, on_a_jdk_with};
use veneer_tests::live::Live;
use veneer_tests::process::Process;
use veneer_tests::skip::{Need, skip};
use veneer_tests::trace_rows::query;

/// Package of the programs.
const PACKAGE: &str = "tracing";
/// The method whose only activation is older than the recording.
const MAIN: &str = "tracing.Main::main([Ljava/lang/String;)V";
/// The constructor that calls another constructor of the program. The entry of a constructor is
/// recorded after that call, so the filter leaves this one out.
const CONSTRUCTOR: &str = "tracing.Doubled::<init>()V";
/// A filter in the form of JPMT.
const FILTER: &str = "# test\nexcludemethod *.Doubled <init>\nincludemethod * *\n";
/// The method that `main` calls once before the recording, and once during it.
const EARLY: &str = "tracing.Early::touch(I)J";
/// The method that virtual threads call this often.
const VIRTUAL: (&str, u32) = ("tracing.Work::inVirtualThread()V", 30);
/// The events of a segment: 256 KiB without the header, in words of 8 bytes.
const EVENTS_PER_SEGMENT: usize = (256 * 1024 - 64) / 8;
/// The number of times that the JVM is killed. `VENEER_KILLS` replaces it.
const KILLS: u32 = 5;
/// The threads of the program that is killed.
const ENDLESS_THREADS: usize = 3;

/// A call: its depth, its method, and whether it ended with an exception.
type Call = (usize, String, bool);
/// The calls of each thread, by the name of the thread, in the order of their beginning.
type Trees = BTreeMap<String, Vec<Call>>;

/// A running `veneer trace`.
struct Recording {
    child: Child,
    errors: JoinHandle<String>,
}

impl Recording {
    /// Starts a recording, and waits until its instruments are attached.
    fn start(live: &Live, options: &[&str], output: &Path) -> Result<Recording, Box<dyn Error>> {
        let pid = live.pid().to_string();
        let command = veneer()
            .args(["trace", &pid, "tracing..*"])
            .args(options)
            .arg("-o")
            .arg(output);
        let mut child = command.start()?;
        let errors = child.stderr.take().ok_or("no standard error")?;
        let mut lines = BufReader::new(errors).lines();
        let mut seen = String::new();
        for line in lines.by_ref() {
            let line = line?;
            if line.contains("recording the calls") {
                let rest = move || lines.map_while(Result::ok).collect::<Vec<_>>().join("\n");
                let errors = thread::spawn(rest);
                return Ok(Recording { child, errors });
            }
            seen += &line;
        }
        Err(format!("the command records nothing: {seen}").into())
    }

    /// Waits for the end of the recording. Returns standard output and standard error.
    fn finish(mut self) -> Result<(String, String), Box<dyn Error>> {
        let mut output = String::new();
        let mut from = self.child.stdout.take().ok_or("no standard output")?;
        from.read_to_string(&mut output)?;
        let status = self.child.wait()?;
        let errors = self.errors.join().map_err(|_| "the reader panicked")?;
        assert!(status.success(), "{status}: {errors}");
        Ok((output, errors))
    }
}

/// Runs the program with the agent of the test, and reads what the agent wrote.
fn oracle(programs: &Programs, skipped: &[&str]) -> Result<Trees, Box<dyn Error>> {
    let library = compile_library(programs, "call_trace")?;
    let written = programs.classes().join("call_trace.txt");
    let agent = format!(
        "-agentpath:{}={},{PACKAGE}/",
        library.display(),
        written.display()
    );
    let java = programs
        .launcher()
        .args([&agent, "-cp"])
        .arg(programs.classes().path())
        .arg("tracing.Main");
    let mut live = Live::start(&java)?;
    work(&mut live)?;
    live.stop()?.succeeded("tracing.Main")?;
    let text = std::fs::read_to_string(&written)?;
    trees_of_events(&text, skipped)
}

/// Builds the trees from the events of the agent of the test, without some methods.
fn trees_of_events(text: &str, skipped: &[&str]) -> Result<Trees, Box<dyn Error>> {
    let (lines, last) = text.trim_end().rsplit_once('\n').ok_or("no event")?;
    assert_eq!(last, "end");
    let mut trees = Trees::new();
    let mut name = String::new();
    let mut open: Vec<Option<usize>> = Vec::new();
    for line in lines.lines() {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        let calls = trees.entry(name.clone()).or_default();
        match kind {
            "thread" => {
                name = rest.to_owned();
                open.clear();
            }
            ">" => {
                let (class, method) = rest.split_once(' ').ok_or("no method")?;
                let class = class.replace('/', ".");
                let method = format!("{class}::{method}");
                // The classes of lambdas and virtual threads are not recorded.
                if class.contains("$$Lambda") || skipped.contains(&&*method) {
                    open.push(None);
                    continue;
                }
                let depth = open.iter().flatten().count();
                open.push(Some(calls.len()));
                calls.push((depth, method, false));
            }
            _ => {
                if let Some(Some(call)) = open.pop() {
                    calls[call].2 = kind == "!";
                }
            }
        }
    }
    trees.retain(|_, calls| !calls.is_empty());
    Ok(trees)
}

/// Lets the program work once, as in the recording.
fn work(live: &mut Live) -> Outcome {
    live.say("run")?;
    live.line("sum ")?;
    Ok(())
}

/// The recorded trees, read with `veneer trace query`.
fn recorded(trace: &Path) -> Result<Trees, Box<dyn Error>> {
    let columns = r#"calls().show("thread_name", "node", "depth", "method", "descriptor", "ended").sort("node")"#;
    let mut trees: BTreeMap<String, BTreeMap<u64, Call>> = BTreeMap::new();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for row in query(trace, columns)? {
        let name = text(&row["method"]) + &text(&row["descriptor"]);
        let is_thrown = match row["ended"].as_str() {
            Some("throw") => true,
            Some("exit") => false,
            other => return Err(format!("{name} ended with {other:?}").into()),
        };
        let depth = row["depth"].as_u64().ok_or("no depth")? as usize;
        let node = row["node"].as_u64().ok_or("no node")?;
        let tree = trees.entry(text(&row["thread_name"])).or_default();
        tree.insert(node, (depth, name, is_thrown));
    }
    let in_order = |tree: BTreeMap<u64, Call>| tree.into_values().collect();
    Ok(trees
        .into_iter()
        .map(|(name, tree)| (name, in_order(tree)))
        .collect())
}

/// Fails at the first difference of two trees.
fn assert_same(name: &str, found: &[Call], expected: &[Call]) {
    let at = found.iter().zip(expected).position(|(a, b)| a != b);
    if let Some(at) = at {
        let from = at.saturating_sub(3);
        panic!(
            "{name}, call {at}: recorded {:?}, expected {:?}",
            &found[from..(at + 2).min(found.len())],
            &expected[from..(at + 2).min(expected.len())]
        );
    }
    assert_eq!(found.len(), expected.len(), "{name}: number of calls");
}

/// The calls below the only call of `Work.known`, which follow from its source.
fn known_tree() -> Vec<Call> {
    let call = |depth, method: &str, is_thrown| {
        let method = format!("tracing.Work::{method}");
        (depth, method, is_thrown)
    };
    let leaf = |depth| call(depth, "leaf(I)I", false);
    let middle = || [call(1, "middle(I)I", false), leaf(2), leaf(2)];
    let mut calls = vec![leaf(1)];
    calls.extend(middle());
    calls.extend(middle());
    calls.push(call(1, "caught(I)I", false));
    calls.extend((2..6).map(|depth| call(depth, "thrown(I)I", true)));
    calls.extend([leaf(5), leaf(4), leaf(3), leaf(2)]);
    calls
}

/// The calls below the first call of a method, with depths relative to it.
fn below(calls: &[Call], method: &str) -> Vec<Call> {
    let Some(at) = calls.iter().position(|call| call.1 == method) else {
        return Vec::new();
    };
    let top = calls[at].0;
    let inner = calls[at + 1..].iter().take_while(|call| call.0 > top);
    inner
        .map(|(depth, name, thrown)| (depth - top, name.clone(), *thrown))
        .collect()
}

#[test]
fn the_recorded_tree_of_each_thread_is_the_one_that_the_jvm_reports() -> Outcome {
    if Process::new("cc").arg("--version").run().is_err() {
        return Ok(skip(Need::Program("cc"))?);
    }
    on_a_jdk_with(PACKAGE, |programs| {
        let mut expected = oracle(programs, &[MAIN, CONSTRUCTOR, VIRTUAL.0])?;
        let main = expected.get_mut("main").ok_or("no main thread")?;
        assert_eq!(main[0], (0, EARLY.to_owned(), false));
        // This call is before the recording.
        main.remove(0);
        let mut live = Live::start(&programs.java("tracing.Main"))?;
        let trace = programs.classes().join("trace");
        let filter = programs.classes().join("filter");
        std::fs::write(&filter, FILTER)?;
        let filter = filter.to_string_lossy().into_owned();
        let recording = Recording::start(&live, &["--for", "6", "--filter", &filter], &trace)?;
        work(&mut live)?;
        let (summary, _) = recording.finish()?;
        let output = live.stop()?;
        assert_eq!(output.code, 0, "{}", output.err);

        let found = recorded(&trace)?;
        assert_eq!(
            found.keys().collect::<Vec<_>>(),
            expected.keys().collect::<Vec<_>>()
        );
        for (name, calls) in &expected {
            assert_same(name, &found[name], calls);
        }
        assert_same(
            "known",
            &below(&found["main"], "tracing.Work::known()J"),
            &known_tree(),
        );
        let longest = expected.values().map(Vec::len).max().unwrap_or(0);
        assert!(2 * longest > 3 * EVENTS_PER_SEGMENT, "{longest}");
        check_summary(&summary, &found, programs.jdk().major() >= 21);
        Ok(())
    })
}

#[test]
fn a_program_is_recorded_from_its_start() -> Outcome {
    if Process::new("cc").arg("--version").run().is_err() {
        return Ok(skip(Need::Program("cc"))?);
    }
    on_a_jdk_with(PACKAGE, |programs| {
        let expected = oracle(programs, &[CONSTRUCTOR, VIRTUAL.0])?;
        let trace = programs.classes().join("from-start");
        let filter = programs.classes().join("filter");
        std::fs::write(&filter, FILTER)?;
        let java = programs.java("tracing.Main");
        let (place, filter) = (trace.to_string_lossy(), filter.to_string_lossy());
        let options = [
            "--arm",
            "tracing..*",
            "--trace",
            &place,
            "--filter",
            &filter,
        ];
        let mut live = Live::start(&run(&options, &java))?;
        work(&mut live)?;
        let output = live.stop()?;
        assert_eq!(output.code, 0, "{}", output.err);
        let found = recorded(&trace)?;
        let names = |trees: &Trees| trees.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&found), names(&expected), "{}", output.err);
        for (name, calls) in &expected {
            assert_same(name, &found[name], calls);
        }
        let line = format!("calls in threads without an events file: {}\n", VIRTUAL.1);
        let has_virtual_threads = programs.jdk().major() >= 21;
        assert_eq!(
            output.err.contains(&line),
            has_virtual_threads,
            "{}",
            output.err
        );
        assert!(
            output.err.contains("left out by the filter: 1\n"),
            "{}",
            output.err
        );
        Ok(())
    })
}

/// The calls of `tracing.Durations` that are short, or in the thread that the filter leaves out.
const LEFT_OUT: usize = 3 * 2 * (1_000 + 100) + 2 + 2 * 100;

#[test]
fn a_filter_leaves_out_short_calls_and_threads_and_counts_them() -> Outcome {
    on_a_jdk_with("tracing", |programs| {
        let (trace, filter) = (
            programs.classes().join("longer"),
            programs.classes().join("f"),
        );
        std::fs::write(
            &filter,
            "includethread main\nexcludethread *\nlonger 0.01\n",
        )?;
        let (place, filter) = (trace.to_string_lossy(), filter.to_string_lossy());
        let options = [
            "--arm",
            "tracing.Durations",
            "--trace",
            &place,
            "--filter",
            &filter,
        ];
        let output = run(&options, &programs.java("tracing.Durations")).run()?;
        assert_eq!(output.code, 0, "{}", output.err);
        let start = "veneer: not recorded: calls that are shorter than 10 ms, or in threads that the \
                     filter leaves out, or in threads without an events file: ";
        let left_out = output.err.lines().find_map(|line| line.strip_prefix(start));
        let left_out: usize = left_out.ok_or("no number")?.parse()?;
        let rows = query(
            &trace,
            r#"calls().show("thread_name", "method", "wall", "start").sort("start")"#,
        )?;
        let name = |row: &serde_json::Value| row["method"].as_str().unwrap_or_default().to_owned();
        let is_long = |row: &&serde_json::Value| {
            let long =
                ["main", "round", "slow"].map(|method| format!("tracing.Durations::{method}"));
            long.contains(&name(row))
        };
        let (long, short): (Vec<_>, Vec<_>) = rows.iter().partition(is_long);
        // A call is kept if the thread was switched out at its beginning, or for 10 ms during it.
        assert!(short.len() < 50, "{short:#?}");
        assert_eq!(short.len() + left_out, LEFT_OUT);
        let long: Vec<String> = long
            .iter()
            .map(|row| {
                assert_eq!(row["thread_name"], "main");
                assert!(row["wall"].as_u64() >= Some(10_000_000), "{row}");
                name(row)
            })
            .collect();
        let round = ["tracing.Durations::round", "tracing.Durations::slow"];
        let expected: Vec<&str> = ["tracing.Durations::main"]
            .into_iter()
            .chain([round; 3].into_iter().flatten())
            .collect();
        assert_eq!(long, expected);
        Ok(())
    })
}

/// The summary has the number of calls, what the filter left out, and the calls in virtual threads.
fn check_summary(summary: &str, found: &Trees, has_virtual_threads: bool) {
    let calls: usize = found.values().map(Vec::len).sum();
    let title = format!(": {calls} calls in {} threads, ", found.len());
    assert!(summary.contains(&title), "{summary}");
    assert!(
        summary.contains("  not recorded: 1 method, by the filter\n"),
        "{summary}"
    );
    let (method, count) = VIRTUAL;
    let line = format!("  not recorded: {count} calls in threads without an events file");
    let of = format!("    {count} of {method}\n");
    assert_eq!(summary.contains(&line), has_virtual_threads, "{summary}");
    assert_eq!(summary.contains(&of), has_virtual_threads, "{summary}");
    for word in [
        "lost",
        "damaged",
        "unmatched",
        "without an end",
        "incomplete",
    ] {
        assert!(!summary.contains(word), "{summary}");
    }
}

/// The steps that a thread began and completed, by the file that the program wrote.
fn progress(path: &Path) -> Result<Vec<(u64, u64)>, Box<dyn Error>> {
    let bytes = std::fs::read(path)?;
    let numbers = bytes.chunks_exact(8).map(|word| {
        let number = word
            .iter()
            .rev()
            .fold(0, |n, byte| n << 8 | u64::from(*byte));
        let completed = number.div_ceil(2);
        (number / 2 + 1, completed)
    });
    Ok(numbers.collect())
}

#[test]
fn after_a_kill_everything_but_the_last_event_of_each_thread_is_there() -> Outcome {
    let kills = std::env::var("VENEER_KILLS").ok();
    let kills = kills.and_then(|text| text.parse().ok()).unwrap_or(KILLS);
    on_a_jdk_with(PACKAGE, |programs| {
        for kill in 0..kills {
            let wait = random_wait()?;
            killed(programs, &format!("{kill}"), wait)
                .map_err(|error| format!("killed after {wait:?}: {error}"))?;
        }
        Ok(())
    })
}

/// A time of at most 0.4 seconds, by the nanoseconds of the clock.
fn random_wait() -> Result<Duration, Box<dyn Error>> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    let spread = u64::from(now.subsec_nanos()).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    Ok(Duration::from_micros(spread % 400_000))
}

/// Kills the JVM after this time, and compares the trace with the progress of the program.
fn killed(programs: &Programs, name: &str, wait: Duration) -> Outcome {
    let numbers = programs.classes().join(&format!("numbers-{name}"));
    let trace = programs.classes().join(&format!("killed-{name}"));
    let java = programs
        .java("tracing.Endless")
        .arg(&numbers)
        .arg(ENDLESS_THREADS.to_string());
    let mut live = Live::start(&java)?;
    let recording = Recording::start(&live, &["--for", "60"], &trace)?;
    live.say("go")?;
    thread::sleep(wait);
    let pid = i32::try_from(live.pid())?;
    // SAFETY: a system call with plain values; the process is a child of this test.
    assert_eq!(unsafe { libc::kill(pid, libc::SIGKILL) }, 0);
    let (summary, errors) = recording.finish()?;
    assert!(errors.contains("has ended"), "{errors}");
    for word in ["lost", "damaged", "unmatched", "unknown", "incomplete"] {
        assert!(!summary.contains(word), "{summary}");
    }
    let mut steps: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for row in query(
        &trace,
        r#"calls("tracing.Endless::step(..)").by("thread_name", "ended").show("count")"#,
    )? {
        let thread = row["thread_name"].as_str().ok_or("no thread")?.to_owned();
        let count = row["count"].as_u64().ok_or("no count")?;
        let (begun, ended) = steps.entry(thread).or_default();
        *begun += count;
        if row["ended"] == "exit" {
            *ended += count;
        }
    }
    for (n, (begun, completed)) in progress(&numbers)?.into_iter().enumerate() {
        let found = steps
            .get(&format!("endless-{n}"))
            .copied()
            .unwrap_or_default();
        assert!(
            found.1 >= completed && found.0 <= begun,
            "thread {n} began {begun} and completed {completed}, recorded {found:?}"
        );
    }
    std::fs::remove_dir_all(&trace)?;
    Ok(())
}
