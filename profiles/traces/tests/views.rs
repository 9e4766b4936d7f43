//! Folded trees, call contexts and differences of small traces.

mod support;

use std::path::Path;

use support::write_names;
use veneer_traces::analysis::{
    CallContexts, CorrectedTimes, FoldedItem, FoldingOptions, compare_methods, differential_stacks,
    first_difference, fold_thread,
};
use veneer_traces::format::names::ClockRecord;
use veneer_traces::reader::Trace;
use veneer_traces::writer::{ThreadWriter, WriterOptions};

const FRAMES: [(&str, &str); 4] = [("m", "main"), ("m", "lock"), ("m", "work"), ("m", "unlock")];

/// Writes calls as a text: a digit enters a frame and advances 10 ns, `)` ends a call.
fn trace(directory: &Path, calls: &str) -> Trace {
    write_names(directory, &FRAMES, ClockRecord::default());
    let mut writer = ThreadWriter::create(directory, 1, WriterOptions::default()).unwrap();
    let mut now = 0;
    for c in calls.chars() {
        now += 10;
        match c.to_digit(10) {
            Some(frame) => writer.entry(now, frame.into()),
            None => writer.exit(now),
        }
    }
    Trace::open(directory).unwrap()
}

fn text(items: &[FoldedItem]) -> String {
    let one = |item: &FoldedItem| {
        let count = match item.count {
            1 => String::new(),
            n => format!("×{n}"),
        };
        match &item.node {
            Some(node) => format!("{}{count}[{}]", &node.text[3..], text(&node.items)),
            None => format!("({}){count}", text(&item.block)),
        }
    };
    items.iter().map(one).collect::<Vec<_>>().join(" ")
}

#[test]
fn repetitions_are_folded() {
    for (calls, folded) in [
        ("1)", "main[]"),
        ("12)2)2))", "main[lock×3[]]"),
        ("12)3)2)3)2)3))", "main[(lock[] work[])×3]"),
        ("12)2)3)2)2)3))", "main[(lock×2[] work[])×2]"),
        ("12)2)3)2)3))", "main[lock×2[] work[] lock[] work[]]"),
        ("123))23))24)))", "main[lock×2[work[]] lock[unlock[]]]"),
        (
            "12)3)4)3)4)2)3)4)3)4))",
            "main[(lock[] (work[] unlock[])×2)×2]",
        ),
    ] {
        let scratch = tempfile::tempdir().unwrap();
        let trace = trace(scratch.path(), calls);
        let thread = trace.thread(1).unwrap();
        let tree = fold_thread(&thread, &trace.names, FoldingOptions::default()).unwrap();
        let found = text(&tree.items);
        assert_eq!(found, folded, "{calls}");
        let total: u64 = tree
            .items
            .iter()
            .filter_map(|i| i.node.as_ref())
            .map(|n| n.wall_ns)
            .sum();
        assert_eq!(total, 10 * (calls.len() as u64 - 1), "{calls}");
    }
}

#[test]
fn folded_calls_have_the_sum_of_their_corrected_times() {
    let scratch = tempfile::tempdir().unwrap();
    write_names(scratch.path(), &FRAMES, ClockRecord::default());
    let options = WriterOptions::default();
    let mut writer = ThreadWriter::create(scratch.path(), 1, options).unwrap();
    // `main` of 3 µs calls `lock` three times for 500 ns each. A probe costs 20 ns inside a call and 10 ns
    // around it, with an uncertainty of 1 ns.
    writer.entry(0, 1);
    for start in [300, 1_200, 2_100] {
        writer.entry(start, 2);
        writer.exit(start + 500);
    }
    writer.exit(3_000);
    let trace = Trace::open(scratch.path()).unwrap();
    let thread = trace.thread(1).unwrap();
    let tree = fold_thread(&thread, &trace.names, FoldingOptions::default()).unwrap();
    let main = tree.items[0].node.as_ref().unwrap();
    assert_eq!((main.wall_ns, main.self_ns), (3_000, 1_500));
    let corrected = CorrectedTimes {
        wall_ns: 3_000 - 20 - 3 * 30,
        self_ns: 1_500 - 20 - 3 * 10,
        unexplained_ns: 4,
    };
    assert_eq!(main.corrected, Some(corrected));
    assert_eq!(main.items[0].count, 3);
    let lock = main.items[0].node.as_ref().unwrap();
    let corrected = CorrectedTimes {
        wall_ns: 3 * 480,
        self_ns: 3 * 480,
        unexplained_ns: 3,
    };
    assert_eq!((lock.wall_ns, lock.corrected), (1_500, Some(corrected)));
}

#[test]
fn contexts_have_all_own_times() {
    let scratch = tempfile::tempdir().unwrap();
    let trace = trace(scratch.path(), "123))3)2))");
    let contexts = CallContexts::of_trace(&trace).unwrap();
    let expected =
        "m::main 40\nm::main;m::lock 30\nm::main;m::lock;m::work 10\nm::main;m::work 10\n";
    assert_eq!(contexts.collapsed(), expected);
}

#[test]
fn the_first_difference_has_the_path_and_both_events() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let a = trace(one.path(), "12)3)23)))");
    let same = first_difference(&a, &a).unwrap();
    assert_eq!(same, []);
    let b = trace(two.path(), "12)3)24)))");
    let found = first_difference(&a, &b).unwrap();
    assert_eq!(found.len(), 1);
    let difference = &found[0];
    assert_eq!(
        (difference.name.as_str(), difference.entries),
        ("worker-1", 4)
    );
    assert_eq!(difference.path, ["m::main", "m::lock"]);
    assert_eq!(difference.a.as_ref().unwrap().event, "enters m::work");
    assert_eq!(difference.b.as_ref().unwrap().event, "enters m::unlock");
    let (a, b) = (
        CallContexts::of_trace(&a).unwrap(),
        CallContexts::of_trace(&b).unwrap(),
    );
    let stacks = differential_stacks(&a, &b);
    assert!(
        stacks.contains("m::main;m::lock;m::work 10 0\n"),
        "{stacks}"
    );
    assert!(
        stacks.contains("m::main;m::lock;m::unlock 0 10\n"),
        "{stacks}"
    );
}

#[test]
fn methods_of_two_traces_are_compared() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let a = trace(one.path(), &format!("1{})", "2)".repeat(40)));
    let b = trace(two.path(), &format!("1{})", "23))".repeat(40)));
    let found = compare_methods(&a, &b).unwrap();
    let lock = found.iter().find(|m| m.method == "m::lock()V").unwrap();
    assert_eq!((lock.a.calls, lock.b.calls), (40, 40));
    let (ratio, ..) = lock.ratio.unwrap();
    assert!((ratio - 3.0).abs() < 1e-9, "{ratio}");
    assert!(lock.probability.unwrap() < 1e-9);
    let main = found.iter().find(|m| m.method == "m::main()V").unwrap();
    assert_eq!(main.probability, None);
}
