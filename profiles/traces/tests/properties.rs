//! Writes random events, reads them, and compares the tree with a naive model.

mod support;

use std::ops::ControlFlow;

use proptest::prelude::*;
use support::{Collected, write_names};
use veneer_traces::format::names::ClockRecord;
use veneer_traces::format::word::kind;
use veneer_traces::query::{Readers, parse, run_with};
use veneer_traces::reader::{Ending, Node, Trace};
use veneer_traces::writer::{ArgumentValue, SegmentRing, ThreadWriter, WriterOptions};

/// A step of a random thread.
#[derive(Clone, Debug)]
enum Action {
    Enter(u64),
    /// Enter with a value, an allocation reading and a text.
    EnterWith(u64, i64, String),
    Exit,
    Throw,
    Mark(u64),
    Wait,
    /// Advance the clock by this number of ticks.
    Advance(u64),
    /// The thread was switched out; its clock advanced by this number of nanoseconds.
    Switch(u32),
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        6 => (1u64..=5).prop_map(Action::Enter),
        1 => (1u64..=5, any::<i64>(), "[a-zäß]{0,20}").prop_map(|(f, n, t)| Action::EnterWith(f, n, t)),
        6 => Just(Action::Exit),
        1 => Just(Action::Throw),
        1 => (1u64..=6).prop_map(Action::Mark),
        1 => Just(Action::Wait),
        8 => (0u64..2_000).prop_map(Action::Advance),
        1 => (0u64..(1 << 34)).prop_map(Action::Advance),
        1 => any::<u32>().prop_map(Action::Switch),
    ]
}

/// A node of the naive model.
#[derive(Clone, Debug, PartialEq)]
struct Expected {
    number: u64,
    parent: Option<u64>,
    depth: u32,
    kind: u8,
    id: u64,
    start: u64,
    end: u64,
    self_ticks: u64,
    cpu: Option<u64>,
    ending: Ending,
    children: u64,
    cost_ps: u64,
}

/// The naive model: computes each node from a list of all events, without any running totals.
#[derive(Default)]
struct Model {
    /// All nodes in the order of their beginning, with their processor time at start and end.
    nodes: Vec<(Expected, Option<u64>)>,
    open: Vec<usize>,
    now: u64,
    /// The time of the latest event. Time after it is not in the trace.
    last_event: u64,
    reading: Option<(u64, u64)>,
    order: Vec<usize>,
}

impl Model {
    fn cpu(&self) -> Option<u64> {
        self.reading.map(|(time, cpu)| cpu + (self.now - time))
    }

    fn begin(&mut self, kind: u8, id: u64, is_instant: bool) {
        let number = self.nodes.len();
        let parent = self.open.last().map(|n| *n as u64);
        let node = Expected {
            number: number as u64,
            parent,
            depth: self.open.len() as u32,
            kind,
            id,
            start: self.now,
            end: self.now,
            self_ticks: 0,
            cpu: None,
            ending: Ending::Exit,
            children: 0,
            cost_ps: 0,
        };
        let cpu = self.cpu();
        self.nodes.push((node, cpu));
        if is_instant {
            self.order.push(number);
        } else {
            self.open.push(number);
        }
    }

    fn end(&mut self, ending: Ending) {
        let Some(number) = self.open.pop() else {
            return;
        };
        let cpu = self.cpu();
        let (node, start) = &mut self.nodes[number];
        node.end = self.now;
        node.ending = ending;
        node.cpu = cpu
            .zip(*start)
            .map(|(end, start)| end.saturating_sub(start));
        self.order.push(number);
    }

    /// All nodes in the order of their ends, with the values that follow from children.
    fn finish(mut self) -> Vec<Expected> {
        self.now = self.last_event;
        while !self.open.is_empty() {
            self.end(Ending::Cut);
        }
        let all: Vec<Expected> = self.nodes.iter().map(|(node, _)| node.clone()).collect();
        let is_node = |node: &Expected| node.kind < 0x20;
        let below = |number: u64| {
            let mut count = 0;
            let mut work = vec![number];
            while let Some(next) = work.pop() {
                for child in all.iter().filter(|c| c.parent == Some(next) && is_node(c)) {
                    count += u64::from(child.kind == kind::ENTRY);
                    work.push(child.number);
                }
            }
            count
        };
        let result = self.order.iter().map(|number| {
            let mut node = all[*number].clone();
            if is_node(&node) {
                let children = || {
                    all.iter()
                        .filter(|c| c.parent == Some(node.number) && is_node(c))
                };
                let inside: u64 = children().map(|c| c.end - c.start).sum();
                node.children = children().count() as u64;
                node.self_ticks = node.end - node.start - inside;
                let own = if node.kind == kind::ENTRY { 20_000 } else { 0 };
                node.cost_ps = own + 30_000 * below(node.number);
            }
            node
        });
        result.collect()
    }
}

fn expected_of(node: &Node) -> Expected {
    Expected {
        number: node.number,
        parent: node.parent,
        depth: node.depth,
        kind: node.kind,
        id: node.id,
        start: node.start,
        end: node.end,
        self_ticks: node.self_ticks,
        cpu: node.cpu_ns,
        ending: node.ending,
        children: node.children,
        cost_ps: node.cost_ps,
    }
}

/// Writes the actions as a trace and to the model.
fn play(actions: &[Action], writer: &mut ThreadWriter) -> Model {
    let mut model = Model {
        now: 1_000,
        ..Model::default()
    };
    let mut cpu = 0;
    for action in actions {
        let now = model.now;
        if !matches!(action, Action::Advance(_)) {
            model.last_event = now;
        }
        match action {
            Action::Enter(frame) => {
                writer.entry(now, *frame);
                model.begin(kind::ENTRY, *frame, false);
            }
            Action::EnterWith(frame, value, text) => {
                let arguments = [ArgumentValue::Int(*value), ArgumentValue::Text(text)];
                writer.event_with(kind::ENTRY, now, *frame, &arguments);
                model.begin(kind::ENTRY, *frame, false);
            }
            Action::Exit => {
                writer.exit(now);
                model.end(Ending::Exit);
            }
            Action::Throw => {
                writer.throw(now);
                model.end(Ending::Throw);
            }
            Action::Mark(id) => {
                // Frame 6 has an id that does not fit into a word.
                let id = if *id == 6 { 1 << 40 } else { *id };
                writer.event(kind::MARK, now, id);
                model.begin(kind::MARK, id, true);
            }
            Action::Wait => {
                writer.event(kind::WAIT, now, 1);
                model.begin(kind::WAIT, 1, false);
            }
            Action::Advance(ticks) => model.now += ticks,
            Action::Switch(ns) => {
                cpu += u64::from(*ns);
                let reading = [ArgumentValue::Cpu(cpu)];
                writer.event_with(kind::SWITCH, now, 0, &reading);
                model.reading = Some((now, cpu));
            }
        }
    }
    model
}

const FRAMES: [(&str, &str); 5] = [
    ("a.A", "one"),
    ("a.A", "two"),
    ("a.B", "three"),
    ("a.C", "four"),
    ("a.C", "five"),
];

/// Queries of each form whose rows are held: groups, quantiles, and the first rows in an order.
const QUERIES: [&str; 6] = [
    r#"calls().by("method").show("method", "count", "sum(wall)", "min(start)", "max(end)", "p50(wall)")"#,
    r#"calls().by("caller", "depth").sort("-sum(self)").top(3)"#,
    r#"calls().by("class").show("class", "count")"#,
    r#"calls().sort("-wall").top(5)"#,
    r#"calls("a.B::three(..)").under("a.A::one(..)").sort("wall").top(7)"#,
    r#"events("wait").by("thread").show("count", "avg(wall)")"#,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_tree_is_that_of_the_model(actions in prop::collection::vec(action(), 0..400), segment in 0u32..3) {
        let scratch = tempfile::tempdir().unwrap();
        write_names(scratch.path(), &FRAMES, ClockRecord::default());
        let options = WriterOptions { segment_bytes: [256, 1024, 1 << 16][segment as usize], ring: None };
        let mut writer = ThreadWriter::create(scratch.path(), 1, options).unwrap();
        let model = play(&actions, &mut writer);
        prop_assert_eq!(writer.lost(), 0);
        let unmatched = {
            let mut depth = 0u64;
            let mut unmatched = 0;
            for action in &actions {
                match action {
                    Action::Enter(_) | Action::EnterWith(..) | Action::Wait => depth += 1,
                    Action::Exit | Action::Throw if depth == 0 => unmatched += 1,
                    Action::Exit | Action::Throw => depth -= 1,
                    _ => {}
                }
            }
            unmatched
        };
        let trace = Trace::open(scratch.path()).unwrap();
        let thread = trace.thread(1).unwrap();
        let mut collected = Collected::default();
        thread.read(&trace.names, &mut collected).unwrap();
        let read: Vec<Expected> = collected.nodes.iter().map(expected_of).collect();
        let expected = model.finish();
        prop_assert_eq!(&read, &expected);
        prop_assert_eq!(thread.index.nodes, expected.len() as u64);
        prop_assert_eq!(thread.index.findings.unmatched_exits, unmatched);

        // Reading from each snapshot gives the same nodes as reading everything.
        let stored = trace.thread(1).unwrap();
        prop_assert_eq!(&stored.index, &thread.index);
        for segment in 0..stored.index.segments.len() {
            let (at, mut builder) = stored.index.resume_at(segment);
            let mut reader = stored.events(at);
            let mut rest = Collected::default();
            while builder.read_segment(&mut reader, &trace.names, &mut rest).unwrap() {}
            let rest: Vec<Expected> = rest.nodes.iter().map(expected_of).collect();
            prop_assert_eq!(&expected[expected.len() - rest.len()..], &rest[..]);
        }
        let entries: u64 = stored.index.segments.iter().flat_map(|s| &s.shares).map(|s| s.entries).sum();
        prop_assert_eq!(entries, expected.iter().filter(|n| n.kind == kind::ENTRY).count() as u64);
        let rows = |count: usize, query: &str| {
            let mut rows = Vec::new();
            let readers = Readers { count, min_events: 1 };
            let ended = run_with(readers, &parse(query).unwrap(), &trace, |row| {
                rows.push(row);
                ControlFlow::Continue(())
            });
            ended.unwrap();
            rows
        };
        for query in QUERIES {
            prop_assert_eq!(rows(1, query), rows(3, query), "{}", query);
        }
        let mut classes: Vec<String> = Vec::new();
        for row in rows(3, r#"calls().by("class").show("class", "count")"#) {
            classes.push(row[0].to_string());
        }
        let count = classes.len();
        classes.dedup();
        prop_assert_eq!(classes.len(), count, "a class has several rows");
        let events: u64 = stored.index.pyramid.between(0, u64::MAX, 1).iter().map(|b| b.events).sum();
        prop_assert_eq!(events, stored.index.segments.iter().map(|s| s.events).sum::<u64>());
    }

    #[test]
    fn a_ring_has_the_last_nodes(
        actions in prop::collection::vec(action(), 0..600),
        keep in prop_oneof![Just(0), 0u64..50_000, Just(u64::MAX)],
    ) {
        let scratch = tempfile::tempdir().unwrap();
        write_names(scratch.path(), &FRAMES, ClockRecord::default());
        let options = WriterOptions { segment_bytes: 256, ring: Some(SegmentRing { segments: 4, keep }) };
        let mut writer = ThreadWriter::create(scratch.path(), 1, options).unwrap();
        let expected = play(&actions, &mut writer).finish();
        let trace = Trace::open(scratch.path()).unwrap();
        let thread = trace.thread(1).unwrap();
        prop_assert!(thread.index.segments.len() <= 4);
        let mut collected = Collected::default();
        thread.read(&trace.names, &mut collected).unwrap();
        // A node that began in the ring is complete; numbers count from the start of the ring.
        let complete = |n: &&Node| n.kind != 0;
        let mut at = expected.iter();
        for node in collected.nodes.iter().filter(complete) {
            let same = |e: &Expected| (e.kind, e.id, e.start, e.end, e.ending) == (node.kind, node.id, node.start, node.end, node.ending);
            prop_assert!(at.any(same), "{node:?}");
        }
    }
}

#[test]
fn a_time_that_steps_back_is_clamped() {
    let scratch = tempfile::tempdir().unwrap();
    write_names(scratch.path(), &FRAMES, ClockRecord::default());
    let mut writer = ThreadWriter::create(scratch.path(), 1, WriterOptions::default()).unwrap();
    writer.entry(5_000, 1);
    writer.entry(4_000, 2);
    writer.exit(4_500);
    writer.exit(6_000);
    let trace = Trace::open(scratch.path()).unwrap();
    let mut collected = Collected::default();
    let thread = trace.thread(1).unwrap();
    thread.read(&trace.names, &mut collected).unwrap();
    let times: Vec<_> = collected.nodes.iter().map(|n| (n.start, n.end)).collect();
    assert_eq!(times, [(5_000, 5_000), (5_000, 6_000)]);
}
