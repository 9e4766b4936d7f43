//! Queries over a small trace with known times.

mod support;

use std::ops::ControlFlow;
use std::path::Path;

use support::write_names;
use veneer_traces::format::names::ClockRecord;
use veneer_traces::format::word::kind;
use veneer_traces::query::{Cell, parse, run};
use veneer_traces::reader::Trace;
use veneer_traces::writer::{ArgumentValue, ThreadWriter, WriterOptions};

const FRAMES: [(&str, &str); 3] = [
    ("shop.Desk", "serve"),
    ("shop.UserDao", "find"),
    ("shop.Main", "main"),
];

/// Two threads. In each, `main` calls `serve` 100 times, and each `serve` calls `find` once, which
/// takes `n` microseconds in the n-th call. Thread 2 also waits for 5 µs in each `serve`.
fn write_trace(directory: &Path) {
    write_names(directory, &FRAMES, ClockRecord::default());
    for thread in [1, 2] {
        let options = WriterOptions {
            segment_bytes: 512,
            ring: None,
        };
        let mut writer = ThreadWriter::create(directory, thread, options).unwrap();
        let mut now = 1_000;
        writer.entry(now, 3);
        for n in 1..=100u64 {
            writer.event_with(kind::ENTRY, now, 1, &[ArgumentValue::Int(n as i64)]);
            writer.entry(now + 100, 2);
            now += 100 + n * 1_000;
            writer.exit(now);
            if thread == 2 {
                writer.event(kind::WAIT, now, 1);
                now += 5_000;
                writer.exit(now);
            }
            now += 100;
            writer.exit(now);
        }
        writer.exit(now);
    }
}

fn rows(text: &str) -> Vec<Vec<Cell>> {
    let scratch = tempfile::tempdir().unwrap();
    write_trace(scratch.path());
    let trace = Trace::open(scratch.path()).unwrap();
    let query = parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
    let mut all = Vec::new();
    let take = |row| {
        all.push(row);
        ControlFlow::Continue(())
    };
    run(&query, &trace, take).unwrap();
    all
}

fn number(n: u64) -> Cell {
    Cell::Number(n)
}

fn text(t: &str) -> Cell {
    Cell::Text(t.into())
}

#[test]
fn a_row_has_the_values_of_its_call() {
    let rows = rows(r#"calls("shop.Desk::serve(..)").thread("worker-1").top(2)"#);
    let row = |parent, start, wall, values| {
        vec![
            number(1),
            number(1),
            number(parent),
            text("shop.Desk::serve"),
            Cell::Null,
            number(start),
            number(wall),
            Cell::Null,
            number(200),
            Cell::Null,
            text(values),
        ]
    };
    assert_eq!(rows, [row(0, 1_000, 1_200, "1"), row(0, 2_200, 2_200, "2")]);
}

/// A call that lasts over many segments has the values of the plan's events directly in it, the first ones
/// only, and none of those in other calls.
#[test]
fn a_call_takes_the_values_of_events_in_it() {
    let scratch = tempfile::tempdir().unwrap();
    write_names(scratch.path(), &FRAMES, ClockRecord::default());
    let mut writer = ThreadWriter::create(
        scratch.path(),
        1,
        WriterOptions {
            segment_bytes: 512,
            ring: None,
        },
    )
    .unwrap();
    let mut now = 1_000;
    writer.entry(now, 3);
    for n in 0..100 {
        now += 10;
        writer.entry(now, 1);
        if n % 2 == 0 {
            writer.event_with(kind::USER, now, 1, &[ArgumentValue::Int(n)]);
            writer.event_with(kind::USER, now, 2, &[ArgumentValue::Text("a longer text")]);
        }
        writer.exit(now);
        writer.event_with(kind::USER, now, 1, &[ArgumentValue::Double(0.5)]);
    }
    writer.exit(now);
    drop(writer);
    let trace = Trace::open(scratch.path()).unwrap();
    let values_of = |pattern: &str| {
        let query = parse(&format!(r#"calls("{pattern}").show("values")"#)).unwrap();
        let mut all = Vec::new();
        let take = |row: Vec<Cell>| {
            all.extend(row.into_iter().map(|cell| cell.to_string()));
            ControlFlow::Continue(())
        };
        run(&query, &trace, take).unwrap();
        all
    };
    let [one, two] = [1, 2].map(|id| trace.names.text(id).unwrap_or("?").to_owned());
    let calls = values_of("shop.Desk::serve(..)");
    assert_eq!(calls.len(), 100);
    assert_eq!(calls[1], "");
    assert_eq!(calls[98], format!("{one}=98 {two}=a longer text"));
    let main = values_of("shop.Main::main(..)");
    let first = format!("{one}=0.5");
    let expected: Vec<&str> = main[0].split(' ').collect();
    assert!(expected.iter().all(|value| *value == first), "{main:?}");
    assert!((10..64).contains(&expected.len()), "{main:?}");
}

#[test]
fn filters_and_relations_select_calls() {
    for (query, count) in [
        ("calls()", 402),
        (r#"calls("shop.*Dao")"#, 200),
        (r#"calls("shop.*Dao").longer(90 us)"#, 20),
        (r#"calls("shop.*Dao").shorter(10 us).thread("2")"#, 9),
        (r#"calls("shop.*Dao").under("shop.Main")"#, 200),
        (r#"calls("shop.*Dao").directly_under("shop.Main")"#, 0),
        (r#"calls("shop.*Dao").directly_under("shop.Desk")"#, 200),
        (r#"calls().without("shop.Desk", "shop.Main")"#, 200),
        (r#"events("wait")"#, 100),
        (
            r#"events("wait").under("shop.Desk::serve(..)").thread("worker-*")"#,
            100,
        ),
        (r#"calls("shop.Desk").between(2100 ns, 4400 ns)"#, 2),
        (r#"calls().when(depth == 1 && self > 250ns)"#, 0),
        (r#"calls().when(class == "shop.Desk" || !(depth > 0))"#, 202),
        (r#"calls().when(wall == self && corrected < 1 us)"#, 2),
        (r#"calls().thread("nobody")"#, 0),
    ] {
        assert_eq!(rows(query).len(), count, "{query}");
    }
}

#[test]
fn groups_have_exact_figures() {
    let query = r#"calls("shop.*Dao").by("thread_name", "method")
        .show("count", "sum(wall)", "min(wall)", "p50(wall)", "p99(wall)", "max(wall)", "avg(wall)")"#;
    let row = |thread| {
        vec![
            text(thread),
            text("shop.UserDao::find"),
            number(100),
            number(5_050_000),
            number(1_000),
            number(50_000),
            number(99_000),
            number(100_000),
            Cell::Real(50_500.0),
        ]
    };
    assert_eq!(rows(query), [row("worker-1"), row("worker-2")]);
    let query = r#"calls().by("method").show("sum(self)").sort("-sum(self)").top(2)"#;
    let found = rows(query);
    assert_eq!(found[0], [text("shop.UserDao::find"), number(10_100_000)]);
    assert_eq!(found[1], [text("shop.Desk::serve"), number(40_000)]);
}

/// More rows than a sorted result holds, many of them with equal durations: the first ones are those of a
/// stable sort of all rows.
#[test]
fn a_long_sorted_result_begins_like_a_stable_sort_of_all_rows() {
    let scratch = tempfile::tempdir().unwrap();
    write_names(scratch.path(), &FRAMES, ClockRecord::default());
    let mut writer = ThreadWriter::create(scratch.path(), 1, WriterOptions::default()).unwrap();
    let mut now = 1_000;
    for n in 0..20_000u64 {
        writer.entry(now, 2);
        now += n * 7_919 % 997;
        writer.exit(now);
        now += 1;
    }
    drop(writer);
    let trace = Trace::open(scratch.path()).unwrap();
    let rows = |text: &str| {
        let mut all = Vec::new();
        let take = |row: Vec<Cell>| {
            all.push(row);
            ControlFlow::Continue(())
        };
        run(&parse(text).unwrap(), &trace, take).unwrap();
        all
    };
    let wall = |row: &Vec<Cell>| match row[0] {
        Cell::Number(number) => number,
        _ => panic!("{row:?}"),
    };
    let all = rows(r#"calls().show("wall", "start")"#);
    assert_eq!(all.len(), 20_000);
    for top in [1, 20, 700] {
        for sign in ["", "-"] {
            let text = format!(r#"calls().show("wall", "start").sort("{sign}wall").top({top})"#);
            let mut expected = all.clone();
            match sign {
                "" => expected.sort_by_key(wall),
                _ => expected.sort_by_key(|row| std::cmp::Reverse(wall(row))),
            }
            expected.truncate(top);
            assert_eq!(rows(&text), expected, "{text}");
        }
    }
}

#[test]
fn a_sorted_result_has_the_first_rows_of_all() {
    let query = r#"calls("shop.*Dao").show("wall", "thread").sort("-wall").top(3)"#;
    let walls: Vec<Cell> = rows(query).into_iter().map(|row| row[0].clone()).collect();
    assert_eq!(walls, [number(100_000), number(100_000), number(99_000)]);
}
