//! Unit tests of the registry.

use super::*;
use std::time::Duration;
use veneer_frequency::{CountedGraph, Edge, Endpoint};
use veneer_instruments::{AdviceKind, DEFAULT_MAX_POINTS, InstrumentKind, PointSelector};
use veneer_names::LogPoint;

pub fn spec(kind: InstrumentKind) -> InstrumentSpec {
    InstrumentSpec {
        name: Some("calls".into()),
        plan: "a.rhai".into(),
        patterns: Vec::new(),
        only: None,
        place: PointSelector::Method,
        when: AdviceKind::Before,
        kind,
        limit: DEFAULT_MAX_POINTS,
        each: false,
        times: None,
        late: false,
        budget: None,
    }
}

pub fn instrument(kind: InstrumentKind) -> Instrument {
    let cost = CostSample {
        passes: 0,
        cpu: Duration::ZERO,
    };
    Instrument::new(spec(kind), Vec::new(), cost)
}

/// A point of the class `C<class>` whose only counter is `slot`.
pub fn point(class: u32, method: u32, slot: u32) -> InstalledPoint {
    InstalledPoint {
        class: format!("C{class}").into(),
        method: "m()V".into(),
        fragment: None,
        to: None,
        node: None,
        what: None,
        line: Some(7),
        slot: PointSlot::Counter(CounterSlot(slot)),
        step: PlannedAction::Count,
        values: Vec::new(),
        base: [0, 0],
        last: None,
        key: SlotKey {
            method: MethodId(method),
            site: Site::Entry,
            step: PlannedAction::Count,
        },
        row: None,
        is_unloaded: false,
    }
}

/// A point of a log in the class `C<class>`.
pub fn log_point(class: u32, method: u32, number: u32) -> InstalledPoint {
    let mut log = point(class, method, 0);
    (log.step, log.key.step) = (PlannedAction::Log, PlannedAction::Log);
    log.slot = PointSlot::Log(LogPoint(number));
    log
}

fn hits(hits: u64) -> Measurement {
    Measurement::Count { hits }
}

/// Every point has as many hits as the number of its counter.
fn readings(points: &[InstalledPoint]) -> Vec<Measurement> {
    let all = points.iter();
    all.map(|p| hits(u64::from(p.slot.number()))).collect()
}

fn block(method: u32, first: u32) -> Arc<CounterBlock> {
    let (a, b) = (Endpoint::Node(0), Endpoint::Node(1));
    let edge = |from, to| Edge {
        from,
        to,
        weight: 1,
        always_counted: false,
    };
    let flow = CountedGraph::new(2, &[edge(a, b), edge(b, a), edge(a, a)]);
    assert!(flow.counter_count() > 0);
    Arc::new(CounterBlock::for_graph(
        MethodId(method),
        CounterSlot(first),
        &flow,
    ))
}

fn add(table: &mut InstrumentTable, points: Vec<InstalledPoint>) -> InstrumentId {
    let mut one = instrument(InstrumentKind::Counter);
    one.methods = points.iter().map(|p| p.key.method).collect();
    one.tried = one.methods.clone();
    one.points = points;
    table.add(one)
}

/// Detaches an instrument as the plan thread does.
fn detach(table: &mut InstrumentTable, id: InstrumentId) {
    let one = table.instrument(id).expect("an instrument");
    one.attached = false;
    let points = one.points.clone();
    for (point, data) in one.points.iter_mut().zip(readings(&points)) {
        (point.last, point.row) = (Some(data), None);
    }
    table.release_counters(points);
    table.retire(id);
}

fn points(table: &mut InstrumentTable, id: InstrumentId) -> Vec<InstalledPoint> {
    let one = table.instrument(id);
    one.expect("an instrument").points.clone()
}

#[test]
fn ids_begin_at_1_and_unknown_ids_have_no_instrument() {
    let mut table = InstrumentTable::default();
    assert!(table.instrument(InstrumentId(1)).is_none());
    let (one, two) = (add(&mut table, Vec::new()), add(&mut table, Vec::new()));
    assert_eq!(table.ids(), [one, two]);
    assert_eq!([one, two], [InstrumentId(1), InstrumentId(2)]);
    assert!(table.instrument(InstrumentId(0)).is_none());
    assert!(table.instrument(InstrumentId(3)).is_none());
    assert!(table.patch(PatchId(0)).is_none());
}

#[test]
fn detached_instruments_are_folded_oldest_first_and_keep_their_sums() {
    let mut table = InstrumentTable::default();
    let many = MAX_DETACHED_POINTS as u32 / 2;
    let old = add(&mut table, (1..=many).map(|n| point(n, n, n)).collect());
    let middle = add(&mut table, (1..=many).map(|n| point(n, n, 1)).collect());
    let new = add(&mut table, vec![point(1, 1, 5), point(2, 2, 6)]);
    detach(&mut table, old);
    detach(&mut table, middle);
    assert_eq!(points(&mut table, old).len(), many as usize, "all fit");
    detach(&mut table, new);
    let folded = points(&mut table, old);
    assert_eq!(folded.len(), 1);
    assert_eq!(
        (&*folded[0].class, &*folded[0].method),
        ("*", "(16384 points)")
    );
    let sum = u64::from(many) * (u64::from(many) + 1) / 2;
    assert_eq!((folded[0].last, folded[0].line), (Some(hits(sum)), None));
    let old = table.instrument(old).expect("an instrument");
    assert_eq!((old.method_count(), old.methods.len()), (many as usize, 0));
    assert!(old.tried.is_empty());
    assert_eq!(points(&mut table, middle).len(), many as usize);
    assert_eq!(points(&mut table, new).len(), 2);
    assert_eq!(table.detached_points, 1 + many as usize + 2);
}

#[test]
fn the_latest_detached_instrument_is_never_folded() {
    let mut table = InstrumentTable::default();
    let many = MAX_DETACHED_POINTS as u32 + 1;
    let one = add(&mut table, (0..many).map(|n| point(n, n, n)).collect());
    detach(&mut table, one);
    assert_eq!(points(&mut table, one).len(), many as usize);
    let two = add(&mut table, vec![point(1, 1, 1)]);
    detach(&mut table, two);
    assert_eq!(points(&mut table, one).len(), 1);
}

#[test]
fn an_instrument_without_points_or_with_one_is_folded_to_itself() {
    let mut one = instrument(InstrumentKind::Counter);
    assert_eq!((one.fold(), one.points.len()), (0, 0));
    one.points = vec![point(3, 3, 3)];
    one.methods = [MethodId(3)].into();
    assert_eq!((one.fold(), &*one.points[0].class), (0, "C3"));
    assert_eq!(one.method_count(), 1);
}

#[test]
fn points_of_unloaded_methods_become_final_and_the_others_stay_live() {
    let mut table = InstrumentTable::default();
    let log = log_point(1, 10, 3);
    let id = add(&mut table, vec![point(1, 10, 100), point(2, 20, 200), log]);
    let finals = table.finalize(&|method: MethodId| method.0 == 10, &readings);
    assert_eq!(finals.len(), 1);
    let found: Vec<_> = finals[0].points.iter().map(|p| (p.slot, p.width)).collect();
    assert_eq!(
        (finals[0].instrument, found),
        (id, vec![(CounterSlot(100), 1)])
    );
    assert_eq!(finals[0].points[0].data, hits(100));
    let state: Vec<_> = points(&mut table, id)
        .iter()
        .map(|p| (p.is_unloaded, p.last))
        .collect();
    assert_eq!(
        state,
        [(true, Some(hits(100))), (false, None), (false, None)]
    );
    let one = table.instrument(id).expect("an instrument");
    assert_eq!(
        (one.methods.len(), one.unloaded_methods, one.method_count()),
        (1, 1, 2)
    );
    assert!(!one.tried.contains(&MethodId(10)) && one.tried.contains(&MethodId(20)));
    // Final readings are not finalised again.
    assert!(
        table
            .finalize(&|method: MethodId| method.0 == 10, &readings)
            .is_empty()
    );
}

#[test]
fn unloaded_classes_of_one_name_are_merged_and_live_ones_are_not() {
    let mut table = InstrumentTable::default();
    // Three loaders have loaded class C1; the third one is alive.
    let mut other_line = point(1, 10, 1_000);
    other_line.line = Some(8);
    let all = vec![
        point(1, 10, 1),
        point(1, 11, 20),
        point(1, 12, 300),
        other_line,
    ];
    let id = add(&mut table, all);
    table.finalize(&|method: MethodId| method.0 == 10, &readings);
    table.finalize(&|method: MethodId| method.0 == 11, &readings);
    let found: Vec<_> = points(&mut table, id)
        .iter()
        .map(|p| (p.line, p.is_unloaded, p.last))
        .collect();
    let expected = [
        (Some(7), true, Some(hits(21))),
        (Some(7), false, None),
        (Some(8), true, Some(hits(1_000))),
    ];
    assert_eq!(found, expected);
    assert_eq!(table.instrument(id).map(|i| i.method_count()), Some(3));
}

#[test]
fn instructions_on_one_line_of_unloaded_classes_stay_apart() {
    let call = |method: u32, slot: u32, what: &str| InstalledPoint {
        what: Some(what.into()),
        ..point(1, method, slot)
    };
    let mut table = InstrumentTable::default();
    let all = vec![
        call(10, 1, "new A @2"),
        call(10, 20, "invokestatic A::f()V @5"),
        call(11, 300, "new A @2"),
        call(11, 4_000, "invokestatic A::f()V @5"),
    ];
    let id = add(&mut table, all);
    table.finalize(&|method: MethodId| method.0 < 12, &readings);
    let found: Vec<_> = points(&mut table, id)
        .iter()
        .map(|p| (p.what.as_deref().map(str::to_owned), p.last))
        .collect();
    let expected = [
        (Some("new A @2".to_owned()), Some(hits(301))),
        (
            Some("invokestatic A::f()V @5".to_owned()),
            Some(hits(4_020)),
        ),
    ];
    assert_eq!(found, expected);
}

#[test]
fn too_many_unloaded_points_become_one() {
    let mut table = InstrumentTable::default();
    let many = MAX_UNLOADED_POINTS as u32 + 1;
    let mut all: Vec<_> = (0..many).map(|n| point(n, n, 2)).collect();
    all.push(point(9, many, 5));
    let id = add(&mut table, all);
    table.finalize(&|method: MethodId| method.0 < many, &readings);
    let found = points(&mut table, id);
    assert_eq!(found.len(), 2);
    assert_eq!((&*found[0].class, found[0].is_unloaded), ("C9", false));
    assert_eq!((&*found[1].class, &*found[1].method), ("*", "(unloaded)"));
    assert_eq!(found[1].last, Some(hits(2 * u64::from(many))));
    assert_eq!(
        table.instrument(id).map(|i| i.method_count()),
        Some(many as usize + 1)
    );
}

#[test]
fn a_detached_instrument_keeps_its_readings_and_its_number_of_methods() {
    let mut table = InstrumentTable::default();
    let id = add(&mut table, vec![point(1, 10, 100), point(2, 20, 200)]);
    detach(&mut table, id);
    assert!(
        table
            .finalize(&|_| true, &|_| panic!("the readings are final"))
            .is_empty()
    );
    assert_eq!(table.instrument(id).map(|i| i.method_count()), Some(2));
    assert_eq!(points(&mut table, id)[1].last, Some(hits(200)));
}

#[test]
fn patches_count_their_unloaded_methods() {
    let mut table = InstrumentTable::default();
    let id = table.add_patch(Patch {
        spec: EditSpec {
            plan: "a.rhai".into(),
            patterns: Vec::new(),
            edits: Vec::new(),
            passes: Vec::new(),
            only: Vec::new(),
        },
        active: true,
        methods: [1, 2, 3].map(MethodId).into(),
        unloaded_methods: 0,
    });
    table.finalize(&|method: MethodId| method.0 == 2, &readings);
    table.finalize(&|method: MethodId| method.0 == 2, &readings);
    let patch = table.patch(id).expect("a patch");
    assert_eq!(
        (&patch.methods[..], patch.unloaded_methods),
        (&[1, 3].map(MethodId)[..], 1)
    );
}

#[test]
fn counters_of_unloaded_methods_are_reusable_by_width() {
    let mut table = InstrumentTable::default();
    let mut timer = point(1, 10, 40);
    (timer.step, timer.key.step) = (PlannedAction::Start, PlannedAction::Start);
    let shared = block(10, 500);
    let mut counted = [point(1, 10, 7), point(1, 10, 8)];
    for one in &mut counted {
        one.row = Some(shared.clone());
    }
    let attached = add(&mut table, [vec![timer.clone()], counted.to_vec()].concat());
    // Counters that detached instruments have left, in an unloaded method and in a live one.
    let mut detached = [point(1, 10, 60), point(2, 20, 70)];
    detached[0].key.site = Site::Return;
    let id = add(&mut table, detached.to_vec());
    detach(&mut table, id);
    let is_gone = |method: MethodId| method.0 == 10;
    let finals = table.finalize(&is_gone, &readings);
    assert_eq!(finals[0].rows.len(), 1, "one block for both points");
    assert!(
        table.free_by_width.is_empty(),
        "not before the journal has the final readings"
    );
    table.reuse(&is_gone, &finals);
    let mut single = table.free_by_width.remove(&1).unwrap_or_default();
    let blocks = table.free_by_width.remove(&shared.width);
    if shared.width == 1 {
        single.retain(|slot| *slot != CounterSlot(500));
    } else {
        assert_eq!(blocks, Some(vec![CounterSlot(500)]));
    }
    single.sort_unstable();
    assert_eq!(single, [7, 8, 60].map(CounterSlot));
    assert_eq!(table.free_by_width.remove(&4), Some(vec![CounterSlot(40)]));
    assert!(table.free_by_width.is_empty());
    let left: Vec<_> = table.free_by_key.values().flatten().copied().collect();
    assert_eq!(left, [CounterSlot(70)]);
    assert!(points(&mut table, attached).iter().all(|p| p.row.is_none()));
}

#[test]
fn counters_of_a_detached_instrument_are_reusable_at_the_same_point_only() {
    let mut table = InstrumentTable::default();
    let log = log_point(1, 10, 3);
    let mut unloaded = point(3, 30, 9);
    unloaded.is_unloaded = true;
    let id = add(&mut table, vec![point(1, 10, 100), log, unloaded]);
    detach(&mut table, id);
    let key = point(1, 10, 0).key;
    assert_eq!(table.free_by_key.get(&key), Some(&vec![CounterSlot(100)]));
    assert_eq!(
        table.free_by_key.len(),
        1,
        "no number of a log point, no lost counter"
    );
    let other = SlotKey {
        site: Site::Return,
        ..key
    };
    assert_eq!(table.free_by_key.get(&other), None);
    let other = SlotKey {
        step: PlannedAction::CodeOnly,
        ..key
    };
    assert_eq!(table.free_by_key.get(&other), None);
    assert!(table.free_by_width.is_empty());
}

#[test]
fn a_counter_block_is_in_quarantine_until_its_versions_are_collected() {
    let mut table = InstrumentTable::default();
    let (one, two) = (block(10, 500), block(20, 600));
    let mut all = vec![point(1, 10, 1), point(1, 10, 2), point(2, 20, 3)];
    all[0].row = Some(one.clone());
    all[1].row = Some(one.clone());
    all[2].row = Some(two.clone());
    let id = add(&mut table, all);
    detach(&mut table, id);
    let firsts = |table: &InstrumentTable| -> Vec<u32> {
        table.quarantine.iter().map(|row| row.first.0).collect()
    };
    assert_eq!(firsts(&table), [500, 600]);
    table.release_quarantined(|_| false);
    assert_eq!((firsts(&table).len(), table.free_by_width.len()), (2, 0));
    table.release_quarantined(|row| row.first == CounterSlot(500));
    assert_eq!(firsts(&table), [600]);
    assert_eq!(
        table.free_by_width.get(&one.width),
        Some(&vec![CounterSlot(500)])
    );
}
