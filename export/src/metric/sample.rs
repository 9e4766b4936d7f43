//! A test report with one instrument or table of each kind.

use serde_json::json;
use veneer_names::FragmentId;
use veneer_protocol::*;

fn point(fragment: Option<u32>, data: Measurement) -> PointRow {
    PointRow {
        class: "shop.Desk".into(),
        method: "serve(Lshop/Order;I)V".into(),
        fragment: fragment.map(FragmentId),
        to: None,
        what: None,
        line: fragment.map(|_| 41),
        data,
    }
}

fn instrument(id: &str, name: &str, kind: InstrumentKind, points: Vec<PointRow>) -> Instrument {
    Instrument {
        id: id.into(),
        name: name.into(),
        kind,
        plan: "hot.rhai".into(),
        attached: true,
        points,
    }
}

fn table(
    id: &str,
    name: &str,
    kind: TableKind,
    entries: Vec<(Vec<serde_json::Value>, EntryMetrics)>,
) -> Table {
    let entry = |(keys, figures)| TableEntry { keys, figures };
    Table {
        id: id.into(),
        name: name.into(),
        kind,
        plan: "hot.rhai".into(),
        attached: true,
        entries: entries.into_iter().map(entry).collect(),
        call_tree: false,
        omitted: 0,
        rest: EntryMetrics::Count { count: 0 },
    }
}

/// A report with one instrument of each kind.
pub fn report() -> Report {
    let mut report = Report::new(JvmInfo {
        pid: 4711,
        name: "OpenJDK 64-Bit Server VM".into(),
        version: "17.0.15+6".into(),
        millis: 5_120,
    });
    report.instruments = instruments();
    report.tables = tables();
    report.totals.classes_armed = 12;
    report.totals.dropped = 2;
    report
}

fn instruments() -> Vec<Instrument> {
    let count = |hits| Measurement::Count { hits };
    let time = Measurement::Time {
        count: 3,
        total_ns: 5_600,
        min_ns: 100,
        max_ns: 4_500,
    };
    let edge = PointRow {
        to: Some(FragmentId(4)),
        ..point(Some(3), count(7))
    };
    let call = PointRow {
        what: Some("call shop.Cart::add @17".into()),
        line: None,
        ..point(Some(5), count(4))
    };
    let log = Measurement::Log {
        events: 0,
        dropped: 0,
    };
    vec![
        instrument(
            "i1",
            "hits \"of\" a\\b",
            InstrumentKind::Counter,
            vec![point(Some(3), count(1000)), edge],
        ),
        instrument("i2", "took", InstrumentKind::Timer, vec![point(None, time)]),
        instrument("i3", "seen", InstrumentKind::Code, vec![call]),
        instrument(
            "i4",
            "log of total",
            InstrumentKind::Log,
            vec![point(Some(0), log)],
        ),
    ]
}

fn tables() -> Vec<Table> {
    let sums = EntryMetrics::Sums {
        count: 2,
        sum: -9,
        min: -5,
        max: -4,
    };
    let rate = EntryMetrics::Rate {
        count: 40,
        whole: 2,
        seconds: vec![SecondCount { ago: 1, count: 30 }],
    };
    let distinct = EntryMetrics::Distinct {
        count: 9,
        distinct: 5,
    };
    let bound = EntryMetrics::UpperBound {
        count: 70,
        error: 8,
    };
    let moment = EntryMetrics::Occurrence {
        number: 0,
        time_ns: 9,
        thread: 1,
    };
    let mut tables = vec![
        table("t1", "orders", TableKind::Tally, tally_entries()),
        table(
            "t2",
            "cost",
            TableKind::Histogram,
            vec![(vec![], histogram())],
        ),
        table(
            "t3",
            "owed",
            TableKind::Sums,
            vec![(vec![json!("ann")], sums)],
        ),
        table(
            "t4",
            "latest",
            TableKind::Last,
            vec![(vec![json!(3)], moment.clone())],
        ),
        table(
            "t5",
            "width",
            TableKind::Linear,
            vec![(vec![], linear_histogram())],
        ),
        table(
            "t6",
            "often",
            TableKind::Rate,
            vec![(vec![json!("ann")], rate)],
        ),
        table(
            "t7",
            "users",
            TableKind::Distinct,
            vec![(vec![json!("shop")], distinct)],
        ),
        table(
            "t8",
            "paths",
            TableKind::Top,
            vec![(vec![json!("/a")], bound)],
        ),
        table(
            "t9",
            "drawn",
            TableKind::Sample,
            vec![(vec![json!(3)], moment)],
        ),
    ];
    // Values that the sample did not select.
    if let Some(sample) = tables.last_mut() {
        sample.rest = EntryMetrics::Count { count: 99 };
    }
    tables
}

fn tally_entries() -> Vec<(Vec<serde_json::Value>, EntryMetrics)> {
    vec![
        (
            vec![json!("ann; x\n"), json!(7)],
            EntryMetrics::Count { count: 12 },
        ),
        (
            vec![json!(null), json!(true)],
            EntryMetrics::Count { count: 3 },
        ),
    ]
}

fn bucket(from: i64, to: i64, count: u64) -> Bucket {
    Bucket { from, to, count }
}

fn histogram() -> EntryMetrics {
    EntryMetrics::Distribution {
        count: 4,
        sum: 6,
        min: 0,
        max: 6,
        buckets: vec![bucket(0, 0, 3), bucket(6, 6, 1)],
    }
}

fn linear_histogram() -> EntryMetrics {
    EntryMetrics::Distribution {
        count: 6,
        sum: 50,
        min: 2,
        max: 23,
        buckets: vec![
            bucket(i64::MIN, -1, 0),
            bucket(0, 9, 3),
            bucket(10, 19, 1),
            bucket(20, i64::MAX, 2),
        ],
    }
}
