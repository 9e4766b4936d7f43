//! `veneer trace export` and Parquet files of queries: the programs that they are for read the figures
//! of a recorded program as `veneer trace query` prints them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use serde_json::Value;
use veneer_tests::command::{run, veneer};
use veneer_tests::downloads::{node, python, python_with_duckdb, receiver};
use veneer_tests::firefox_profiler::FirefoxProfiler;
use veneer_tests::java_programs::{Outcome, Programs};
use veneer_tests::jdk;
use veneer_tests::live::Live;
use veneer_tests::process::Process;
use veneer_tests::skip::skip;
use veneer_tests::trace_recording::start_recording;
use veneer_tests::trace_rows::query;

type AnyError = Box<dyn std::error::Error>;
/// Calls of a method in a thread: their number, and the sums of their times and own times in
/// nanoseconds.
type Calls = BTreeMap<(String, String), (u64, u64, u64)>;

/// Fewer events than the default, because the readers are slow. Each thread still sleeps twice.
const FEWER_TURNS: &str = "-Dtracing.turns=4001";

/// A trace of `tracing.Main` with values and with the sleeps of its threads.
struct Recorded {
    _programs: Programs,
    trace: PathBuf,
    calls: Calls,
    /// The number of sleeps of each thread.
    sleeps: BTreeMap<String, u64>,
}

impl Recorded {
    /// Uses one JDK, because the readers see the file only.
    fn new() -> Result<Recorded, AnyError> {
        let programs = Programs::compile_folder(jdk::oldest(), "tracing")?;
        let java = programs
            .launcher()
            .arg("-cp")
            .arg(programs.classes().path())
            .args([FEWER_TURNS, "tracing.Main"]);
        let mut live = Live::start(&run(&[], &java))?;
        let trace = programs.classes().join("trace");
        let options = ["--for", "4", "--value", "n", "--events", "sleep,contended"];
        let mut recording = start_recording(&live, "tracing..*", &options, &trace)?;
        live.say("run")?;
        live.line("sum ")?;
        assert!(recording.wait()?.success());
        live.stop()?.succeeded("tracing.Main")?;
        let columns = r#".by("thread_name", "method").show("thread_name", "method", "count", "sum(wall)", "sum(self)")"#;
        let calls = calls(&query(&trace, &format!("calls(){columns}"))?);
        let sleeps = query(
            &trace,
            r#"events("sleep").by("thread_name").show("thread_name", "count")"#,
        )?;
        let sleeps = sleeps
            .iter()
            .map(|row| (text(&row["thread_name"]), number(&row["count"])));
        Ok(Recorded {
            trace,
            calls,
            sleeps: sleeps.collect(),
            _programs: programs,
        })
    }

    /// Exports the trace to a file.
    fn export(&self, format: &str) -> Result<PathBuf, AnyError> {
        let file = self.trace.with_extension(format.trim_start_matches('-'));
        let export = veneer().args(["trace", "export"]).arg(&self.trace);
        let output = export.args([format, "-o"]).arg(&file).run()?;
        output.succeeded("veneer trace export")?;
        Ok(file)
    }
}

/// The trace for the tests that run at the same time. It is removed after the last of them.
fn recorded() -> Result<Arc<Recorded>, AnyError> {
    static SHARED: Mutex<Weak<Recorded>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(recorded) = shared.upgrade() {
        return Ok(recorded);
    }
    let recorded = Arc::new(Recorded::new()?);
    *shared = Arc::downgrade(&recorded);
    Ok(recorded)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(u64::MAX)
}

/// The calls of the rows of a query.
fn calls(rows: &[Value]) -> Calls {
    let rows = rows.iter().map(|row| {
        let key = (text(&row["thread_name"]), text(&row["method"]));
        let times = (number(&row["sum(wall)"]), number(&row["sum(self)"]));
        (key, (number(&row["count"]), times.0, times.1))
    });
    rows.collect()
}

/// The lines of JSON that a receiver prints.
fn lines(receiver: Process) -> Result<Vec<Value>, AnyError> {
    let output = receiver.run()?.succeeded("the receiver")?;
    let lines = output.out.lines().map(serde_json::from_str);
    Ok(lines.collect::<Result<_, _>>()?)
}

/// Asks DuckDB about a Parquet file.
fn ask(python: &Process, file: &Path, queries: &[&str]) -> Result<Vec<Value>, AnyError> {
    lines(
        python
            .clone()
            .arg(receiver("parquet.py"))
            .arg(file)
            .args(queries.iter().copied()),
    )
}

#[test]
fn duckdb_reads_the_calls_of_a_trace_and_the_rows_of_a_query() -> Outcome {
    let python = match python_with_duckdb()? {
        Ok(python) => python,
        Err(tool) => return Ok(skip(tool)?),
    };
    let recorded = recorded()?;
    let answers = ask(
        &python,
        &recorded.export("--parquet")?,
        &[
            "select thread_name, method, count(*), sum(wall)::bigint, sum(self)::bigint from rows \
             where kind = 'call' group by all",
            "select thread_name, count(*) from rows where kind = 'sleep' group by all",
            "select values, count(*) from rows where method = 'tracing.Work::leaf' and thread_name = 'main' \
             group by all order by values",
            "select count(*) from rows child join rows parent on child.thread = parent.thread \
             and child.parent = parent.node and child.start < parent.start",
        ],
    )?;
    let rows = |answer: &Value| answer.as_array().cloned().unwrap_or_default();
    let found = rows(&answers[0]).into_iter().map(|row| {
        let key = (text(&row[0]), text(&row[1]));
        (key, (number(&row[2]), number(&row[3]), number(&row[4])))
    });
    assert_eq!(found.collect::<Calls>(), recorded.calls);
    let sleeps = rows(&answers[1]);
    let sleeps = sleeps.iter().map(|row| (text(&row[0]), number(&row[1])));
    assert_eq!(sleeps.collect::<BTreeMap<_, _>>(), recorded.sleeps);
    // `Work.known` calls `leaf` with these numbers, see its comment.
    let expected = serde_json::json!([["n=0", 2], ["n=1", 4], ["n=2", 1], ["n=3", 2]]);
    assert_eq!(answers[2], expected);
    assert_eq!(answers[3], serde_json::json!([[0]]));

    let file = recorded.trace.with_extension("query");
    let output = veneer()
        .args(["trace", "query"])
        .arg(&recorded.trace)
        .args([
            r#"calls("tracing.Work::middle(..)").by("thread_name").show("thread_name", "count", "avg(wall)", "max(wall)")"#,
            "--format",
            "parquet",
            "-o",
        ])
        .arg(&file);
    output.run()?.succeeded("veneer trace query")?;
    let answers = ask(
        &python,
        &file,
        &[
            r#"select thread_name, count, "avg(wall)" * count from rows order by thread_name"#,
            r#"select count(*) from rows where "max(wall)" >= "avg(wall)""#,
        ],
    )?;
    let middle = |(key, _): &(&(String, String), &(u64, u64, u64))| key.1 == "tracing.Work::middle";
    let expected: Vec<_> = recorded.calls.iter().filter(middle).collect();
    let found = rows(&answers[0]);
    assert_eq!((found.len(), expected.len()), (4, 4));
    for (row, (key, (count, wall, _))) in found.iter().zip(expected) {
        assert_eq!((text(&row[0]), number(&row[1])), (key.0.clone(), *count));
        let sum = row[2].as_f64().unwrap_or(f64::NAN);
        assert!((sum - *wall as f64).abs() < 1.0, "{row} {wall}");
    }
    assert_eq!(answers[1], serde_json::json!([[4]]));
    Ok(())
}

#[test]
fn the_perfetto_trace_processor_reads_the_slices_of_a_trace() -> Outcome {
    let (python, node) = match (python()?, node()?) {
        (Ok(python), Ok(node)) => (python, node),
        (Err(tool), _) | (_, Err(tool)) => return Ok(skip(tool)?),
    };
    let recorded = recorded()?;
    let answers = lines(
        python
            .arg(receiver("sql.py"))
            .arg(&node)
            .arg(recorded.export("--perfetto")?)
            .args([
                "select track.name as thread, slice.name as name, count(*) as n, sum(slice.dur) as wall, \
                 sum((select int_value from args where args.arg_set_id = slice.arg_set_id \
                 and args.key = 'debug.self_ns')) as own \
                 from slice join track on slice.track_id = track.id group by 1, 2",
                "select count(*) as n from stats where severity = 'error' and value > 0",
                "select count(*) as n from slice where dur < 0",
            ]),
    )?;
    let rows = answers[0].as_array().cloned().unwrap_or_default();
    let mut sleeps = BTreeMap::new();
    let mut calls = Calls::new();
    for row in rows {
        let (thread, name) = (text(&row[0]), text(&row[1]));
        if name.starts_with("sleep") {
            *sleeps.entry(thread).or_default() += number(&row[2]);
        } else if !name.starts_with("contended") && !name.starts_with("user") {
            calls.insert(
                (thread, name),
                (number(&row[2]), number(&row[3]), number(&row[4])),
            );
        }
    }
    assert_eq!(calls, recorded.calls);
    assert_eq!(sleeps, recorded.sleeps);
    assert_eq!(
        &answers[1..],
        [serde_json::json!([[0]]), serde_json::json!([[0]])]
    );
    Ok(())
}

#[test]
fn the_firefox_profiler_reads_the_own_times_and_events_of_a_trace() -> Outcome {
    let profiler = match FirefoxProfiler::new()? {
        Ok(profiler) => profiler,
        Err(tool) => return Ok(skip(tool)?),
    };
    let recorded = recorded()?;
    profiler.load(&recorded.export("--firefox")?)?;
    let mut threads = 0;
    for (handle, thread) in profiler.threads()? {
        let found = profiler.self_times(&handle)?;
        let of_thread = recorded
            .calls
            .iter()
            .filter(|((name, _), _)| *name == thread);
        for ((_, method), (count, _, own)) in of_thread {
            let time = found.get(method).copied().unwrap_or_default();
            // Each time is rounded to nanoseconds.
            let difference = (time * 1e6 - *own as f64).abs();
            assert!(
                difference <= *count as f64,
                "{thread} {method}: {time} ms, {own} ns"
            );
        }
        let events = profiler.events(&handle)?;
        let sleeps = recorded.sleeps.get(&thread).copied();
        assert_eq!(events.get("sleep").copied(), sleeps, "{thread}: {events:?}");
        // `leaf` has the parameter `n`, so each call is an event with a value.
        let leaf = "tracing.Work::leaf".to_owned();
        let key = (thread, leaf.clone());
        let leaves = recorded.calls.get(&key).map(|calls| calls.0);
        assert_eq!(events.get(&leaf).copied(), leaves, "{events:?}");
        threads += usize::from(sleeps.is_some());
    }
    assert_eq!((threads, recorded.sleeps.len()), (3, 3));
    Ok(())
}

#[test]
fn opentelemetry_reads_a_span_for_each_call() -> Outcome {
    let python = match python()? {
        Ok(python) => python,
        Err(tool) => return Ok(skip(tool)?),
    };
    let recorded = recorded()?;
    let spans = lines(
        python
            .arg(receiver("spans.py"))
            .arg(recorded.export("--otlp")?),
    )?;
    let mut calls = Calls::new();
    for span in spans {
        let key = (text(&span["thread"]), text(&span["name"]));
        if recorded.calls.contains_key(&key) {
            let sums = calls.entry(key).or_default();
            sums.0 += 1;
            sums.1 += number(&span["wall"]);
            sums.2 += number(&span["self"]);
        }
    }
    assert_eq!(calls, recorded.calls);
    Ok(())
}

#[test]
fn collapsed_stacks_have_the_own_times_of_the_methods() -> Outcome {
    let recorded = recorded()?;
    let stacks = std::fs::read_to_string(recorded.export("--collapsed")?)?;
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    for line in stacks.lines() {
        let (frames, own) = line.rsplit_once(' ').ok_or("a line without a number")?;
        let method = frames.rsplit(';').next().unwrap_or_default();
        *found.entry(method.into()).or_default() += own.parse::<u64>()?;
    }
    found.retain(|method, _| method.starts_with("tracing."));
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    for ((_, method), (_, _, own)) in &recorded.calls {
        *expected.entry(method.clone()).or_default() += own;
    }
    assert_eq!(found, expected);
    Ok(())
}
