//! Tests `veneer trace` with traces that the test writes.

mod common;

use std::fs;
use std::path::Path;

use common::{outcome, refusal, veneer};
use veneer_traces::NameRecord;
use veneer_traces::format::names::{FrameKind, FrameRecord, ThreadRecord};
use veneer_traces::writer::{NamesWriter, ThreadWriter, WriterOptions};

/// Writes a trace: `main` calls `serve` three times, which calls `find`; the last `find` lasts
/// `last` microseconds, the others 1 µs.
fn write_trace(directory: &Path, last: u64) {
    let mut names = NamesWriter::create(directory, 1, "VM", "17").unwrap();
    for (id, class, name) in [
        (1, "shop.Main", "main"),
        (2, "shop.Desk", "serve"),
        (3, "shop.Dao", "find"),
    ] {
        let frame = FrameRecord {
            id,
            kind: FrameKind::Method,
            class: class.into(),
            name: name.into(),
            descriptor: "()V".into(),
            line: 0,
            probe: 0,
        };
        names.write(&NameRecord::Frame(frame)).unwrap();
    }
    let thread = ThreadRecord {
        id: 1,
        name: "worker".into(),
        ..ThreadRecord::default()
    };
    names.write(&NameRecord::Thread(thread)).unwrap();
    let mut writer = ThreadWriter::create(directory, 1, WriterOptions::default()).unwrap();
    let mut now = 0;
    writer.entry(now, 1);
    for n in 0..3 {
        writer.entry(now, 2);
        writer.entry(now, 3);
        now += if n == 2 { last * 1_000 } else { 1_000 };
        writer.exit(now);
        now += 500;
        writer.exit(now);
    }
    if last > 100 {
        writer.entry(now, 3);
        writer.exit(now);
    }
    writer.exit(now);
}

fn run(arguments: &[&str], directory: &Path) -> (Option<i32>, String, String) {
    let output = veneer()
        .arg("trace")
        .args(arguments)
        .current_dir(directory)
        .output();
    outcome(&output.unwrap())
}

fn scratch() -> tempfile::TempDir {
    let scratch = tempfile::tempdir().unwrap();
    write_trace(&scratch.path().join("t"), 1);
    write_trace(&scratch.path().join("slow"), 200);
    scratch
}

#[test]
fn show_folds_repetitions() {
    let scratch = scratch();
    let (code, stdout, stderr) = run(&["show", "t"], scratch.path());
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let expected = "\
worker (1), 4.50 µs
  shop.Main::main  4.50 µs, self 0 ns
    shop.Desk::serve  × 3  4.50 µs, self 1.50 µs
      shop.Dao::find  3.00 µs
";
    assert_eq!(stdout, expected);
    let (_, stdout, _) = run(
        &["show", "t", "--depth", "1", "--thread", "worker"],
        scratch.path(),
    );
    assert!(
        stdout.ends_with("    … 3 left out by the limits\n"),
        "{stdout}"
    );
}

#[test]
fn query_prints_tables_csv_json_and_parquet() {
    let scratch = scratch();
    let groups =
        r#"calls("shop.Desk", "shop.Dao").by("method").show("count", "sum(wall)", "avg(self)")"#;
    let (code, stdout, stderr) = run(&["query", "t", groups], scratch.path());
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let expected = "\
method            count  sum(wall)  avg(self)
shop.Dao::find        3    3.00 µs    1.00 µs
shop.Desk::serve      3    4.50 µs     500 ns
";
    assert_eq!(stdout, expected);
    let (_, stdout, _) = run(&["query", "t", groups, "--format", "csv"], scratch.path());
    let expected = "method,count,sum(wall),avg(self)\nshop.Dao::find,3,3000,1000.0\nshop.Desk::serve,3,4500,500.0\n";
    assert_eq!(stdout, expected);
    let row = r#"calls().top(1).show("method", "start", "cpu")"#;
    let (_, stdout, _) = run(&["query", "t", row, "--format", "json"], scratch.path());
    let value: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(
        value,
        serde_json::json!({"method": "shop.Dao::find", "start": 0, "cpu": null})
    );
    let arguments = [
        "query",
        "t",
        groups,
        "--format",
        "parquet",
        "-o",
        "rows.parquet",
    ];
    let (code, ..) = run(&arguments, scratch.path());
    assert_eq!(code, Some(0));
    let bytes = fs::read(scratch.path().join("rows.parquet")).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
}

#[test]
fn diff_finds_the_first_difference() {
    let scratch = scratch();
    let (code, stdout, _) = run(&["diff", "t", "t"], scratch.path());
    assert_eq!(code, Some(0));
    assert!(
        stdout.starts_with("Both traces have the same calls"),
        "{stdout}"
    );
    let (code, stdout, _) = run(&["diff", "t", "slow"], scratch.path());
    assert_eq!(code, Some(1));
    let expected = "\
worker: differs after 7 entries
  shop.Main::main
    A returns at 4.50 µs
    B enters shop.Dao::find at 204 µs
";
    assert!(stdout.starts_with(expected), "{stdout}");
    let (_, stdout, _) = run(&["diff", "t", "slow", "--collapsed"], scratch.path());
    let line = "shop.Main::main;shop.Desk::serve;shop.Dao::find 3000 202000";
    assert!(stdout.lines().any(|l| l == line), "{stdout}");
    let (code, stdout, _) = run(&["diff", "t", "slow", "--tree"], scratch.path());
    let expected = "\
total A  total B    B - A  calls A  calls B  method
4.50 µs   204 µs  +199 µs        1        1  shop.Main::main
4.50 µs   204 µs  +199 µs        3        3    shop.Desk::serve
3.00 µs   202 µs  +199 µs        3        3      shop.Dao::find
      -     0 ns     0 ns        0        1    shop.Dao::find
";
    assert_eq!((code, stdout.as_str()), (Some(1), expected));
}

#[test]
fn export_writes_each_format() {
    let scratch = scratch();
    let (_, stdout, _) = run(&["export", "t", "--collapsed"], scratch.path());
    let expected = "\
shop.Main::main;shop.Desk::serve 1500
shop.Main::main;shop.Desk::serve;shop.Dao::find 3000
";
    assert_eq!(stdout, expected);
    let (_, stdout, _) = run(
        &["export", "t", "--otlp", "--service", "shop"],
        scratch.path(),
    );
    let value: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let spans = &value["resourceSpans"][0]["scopeSpans"][0]["spans"];
    assert_eq!(spans.as_array().map(Vec::len), Some(7));
    for format in ["--perfetto", "--parquet", "--firefox"] {
        let (code, ..) = run(&["export", "t", format, "-o", "out"], scratch.path());
        assert_eq!(code, Some(0));
        assert!(fs::metadata(scratch.path().join("out")).unwrap().len() > 200);
    }
}

#[test]
fn wrong_input_is_one_line_on_standard_error() {
    let scratch = scratch();
    let trace = scratch.path().join("t");
    let line = refusal(veneer().args(["trace", "show", "/nonexistent"]));
    assert!(line.contains("/nonexistent is not a trace"), "{line}");
    let line = refusal(
        veneer()
            .args(["trace", "query"])
            .arg(&trace)
            .arg("calls().longr(5)"),
    );
    assert!(line.contains("did you mean `longer`?"), "{line}");
    let line = refusal(
        veneer()
            .args(["trace", "show"])
            .arg(&trace)
            .args(["--thread", "x"]),
    );
    assert!(line.contains("no thread x"), "{line}");
}
