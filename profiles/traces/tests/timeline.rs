//! The picture of a thread, against all its nodes.

mod support;

use proptest::prelude::*;
use support::{Collected, write_names};
use veneer_traces::analysis::{Timeline, TimelineBox, TimelineView, timeline};
use veneer_traces::format::names::ClockRecord;
use veneer_traces::reader::{Node, Trace};
use veneer_traces::writer::{ThreadWriter, WriterOptions};

const FRAMES: [(&str, &str); 3] = [("a.A", "one"), ("a.B", "two"), ("a.C", "three")];

/// Writes random calls, with segments that are so small that reading begins at many of them.
fn write_calls(writer: &mut ThreadWriter, steps: &[(u8, u64)]) {
    let (mut now, mut depth) = (1_000, 0_u32);
    for (what, ticks) in steps {
        now += ticks;
        if *what < 5 && depth < 12 {
            writer.entry(now, u64::from(what % 3) + 1);
            depth += 1;
        } else if depth > 0 {
            writer.exit(now);
            depth -= 1;
        }
    }
}

/// Compares a picture with all nodes of the thread.
fn check(nodes: &[Node], boxes: &[TimelineBox], view: &TimelineView) -> Result<(), TestCaseError> {
    let column = view.column_ticks();
    let is_shown = |node: &&Node| {
        node.depth < view.max_depth && node.end >= view.from && node.start <= view.to
    };
    let shown: Vec<&Node> = nodes.iter().filter(is_shown).collect();
    let calls: u64 = boxes.iter().map(|shown| shown.calls).sum();
    prop_assert_eq!(calls, shown.len() as u64);
    for node in &shown {
        let around = boxes.iter().filter(|one| {
            one.depth == node.depth
                && one.start <= node.start
                && (one.end >= node.end || one.is_open)
        });
        let around: Vec<_> = around.collect();
        prop_assert!(!around.is_empty(), "{:?} is in no box", node);
        // A call that is a column wide has a box of its own.
        if node.ticks() >= column {
            let own = |one: &&&TimelineBox| {
                one.calls == 1 && one.start == node.start && one.slot == node.slot
            };
            prop_assert!(
                around.iter().any(|one| own(&one)),
                "{:?} has no box of its own",
                node
            );
        }
    }
    // Boxes of one depth follow each other, and a column has few of them.
    for pair in boxes.windows(2) {
        let [one, next] = pair else { continue };
        prop_assert!((one.depth, one.start) <= (next.depth, next.start));
        if one.depth == next.depth {
            prop_assert!(one.end <= next.start, "{:?} overlaps {:?}", one, next);
        }
    }
    let most = (2 * view.columns + 2) * u64::from(view.max_depth);
    prop_assert!(boxes.len() as u64 <= most);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_picture_shows_every_call_of_its_interval(
        steps in prop::collection::vec((0_u8..10, prop_oneof![0_u64..20, 0_u64..3_000]), 0..800),
        from in 0_u64..400_000,
        length in prop_oneof![1_u64..100, 1_u64..400_000],
        columns in 1_u64..300,
        max_depth in prop_oneof![Just(1_u32), Just(20)],
    ) {
        let scratch = tempfile::tempdir().unwrap();
        write_names(scratch.path(), &FRAMES, ClockRecord::default());
        let options = WriterOptions { segment_bytes: 512, ring: None };
        let mut writer = ThreadWriter::create(scratch.path(), 1, options).unwrap();
        write_calls(&mut writer, &steps);
        drop(writer);
        let trace = Trace::open(scratch.path()).unwrap();
        let thread = trace.thread(1).unwrap();
        let mut all = Collected::default();
        thread.read(&trace.names, &mut all).unwrap();
        let view = TimelineView { from, to: from + length, columns, max_depth, max_events: u64::MAX };
        let Timeline::Calls(boxes) = timeline(&thread, &trace.names, &view).unwrap() else {
            panic!("a summary of {} events", all.nodes.len());
        };
        check(&all.nodes, &boxes, &view)?;
    }
}

#[test]
fn a_long_interval_is_summarised() {
    let scratch = tempfile::tempdir().unwrap();
    write_names(scratch.path(), &FRAMES, ClockRecord::default());
    let mut writer = ThreadWriter::create(scratch.path(), 1, WriterOptions::default()).unwrap();
    for n in 0..50_000 {
        writer.entry(1_000 + 10 * n, 1);
        writer.exit(1_008 + 10 * n);
    }
    drop(writer);
    let trace = Trace::open(scratch.path()).unwrap();
    let thread = trace.thread(1).unwrap();
    let view = TimelineView {
        from: 0,
        to: 600_000,
        columns: 10,
        max_depth: 5,
        max_events: 1_000,
    };
    let Timeline::Summary(parts) = timeline(&thread, &trace.names, &view).unwrap() else {
        panic!("no summary");
    };
    assert!((1..=10).contains(&parts.len()), "{parts:?}");
    assert_eq!(parts.iter().map(|part| part.events).sum::<u64>(), 100_000);
    assert!(parts.iter().all(|part| part.busiest == trace.names.slot(1)));
}

#[test]
fn a_call_that_ends_after_the_interval_is_not_merged() {
    let scratch = tempfile::tempdir().unwrap();
    write_names(scratch.path(), &FRAMES, ClockRecord::default());
    let options = WriterOptions {
        segment_bytes: 512,
        ring: None,
    };
    let mut writer = ThreadWriter::create(scratch.path(), 1, options).unwrap();
    writer.entry(1_900, 1);
    writer.exit(1_950);
    writer.entry(1_990, 2);
    // The long call ends in a segment that no picture of the interval reads.
    for n in 0..500 {
        writer.entry(2_100 + 10 * n, 3);
        writer.exit(2_105 + 10 * n);
    }
    writer.exit(9_000);
    drop(writer);
    let trace = Trace::open(scratch.path()).unwrap();
    let thread = trace.thread(1).unwrap();
    let view = TimelineView {
        from: 1_000,
        to: 2_000,
        columns: 1,
        max_depth: 5,
        max_events: u64::MAX,
    };
    let Timeline::Calls(boxes) = timeline(&thread, &trace.names, &view).unwrap() else {
        panic!("a summary of few events");
    };
    let seen: Vec<_> = boxes
        .iter()
        .map(|one| (one.start, one.calls, one.is_open))
        .collect();
    assert_eq!(seen, [(1_900, 1, false), (1_990, 1, true)]);
}

#[test]
fn an_interval_without_events_is_empty() {
    let scratch = tempfile::tempdir().unwrap();
    write_names(scratch.path(), &FRAMES, ClockRecord::default());
    let mut writer = ThreadWriter::create(scratch.path(), 1, WriterOptions::default()).unwrap();
    writer.entry(1_000, 1);
    writer.exit(2_000);
    drop(writer);
    let trace = Trace::open(scratch.path()).unwrap();
    let thread = trace.thread(1).unwrap();
    for (from, to) in [(0, 999), (2_001, 9_000)] {
        let view = TimelineView {
            from,
            to,
            columns: 100,
            max_depth: 5,
            max_events: 1_000,
        };
        let seen = timeline(&thread, &trace.names, &view).unwrap();
        assert_eq!(seen, Timeline::Calls(Vec::new()));
    }
}
