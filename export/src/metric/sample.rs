//! A test report with one instrument or table of each kind.

use serde_json::json;
use veneer_protocol::*;

fn point(fragment: Option<u32>, readings: Readings) -> Point {
    Point {
        class: "shop.Desk".into(),
        method: "serve(Lshop/Order;I)V".into(),
        fragment,
        to: None,
        what: None,
        line: fragment.map(|_| 41),
        readings,
    }
}

fn instrument(id: &str, name: &str, kind: Kind, points: Vec<Point>) -> Instrument {
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
    entries: Vec<(Vec<serde_json::Value>, Figures)>,
) -> Table {
    let entry = |(keys, figures)| TableEntry { keys, figures };
    Table {
        id: id.into(),
        name: name.into(),
        kind,
        plan: "hot.rhai".into(),
        attached: true,
        entries: entries.into_iter().map(entry).collect(),
        omitted: 0,
        rest: Figures::Count { count: 0 },
    }
}

pub fn report() -> Report {
    let mut report = Report::new(Jvm {
        pid: 4711,
        name: "OpenJDK 64-Bit Server VM".into(),
        version: "17.0.15+6".into(),
        millis: 5_120,
    });
    let count = |hits| Readings::Count { hits };
    let time = Readings::Time {
        count: 3,
        total_ns: 5_600,
        min_ns: 100,
        max_ns: 4_500,
    };
    let edge = Point {
        to: Some(4),
        ..point(Some(3), count(7))
    };
    let call = Point {
        what: Some("call shop.Cart::add @17".into()),
        line: None,
        ..point(Some(5), count(4))
    };
    let log = Readings::Log {
        events: 0,
        dropped: 0,
    };
    report.instruments = vec![
        instrument(
            "i1",
            "hits \"of\" a\\b",
            Kind::Counter,
            vec![point(Some(3), count(1000)), edge],
        ),
        instrument("i2", "took", Kind::Timer, vec![point(None, time)]),
        instrument("i3", "seen", Kind::Code, vec![call]),
        instrument("i4", "log of total", Kind::Log, vec![point(Some(0), log)]),
    ];
    let bucket = |value, count| Bucket {
        from: value,
        to: value,
        count,
    };
    let tally = vec![
        (
            vec![json!("ann; x\n"), json!(7)],
            Figures::Count { count: 12 },
        ),
        (vec![json!(null), json!(true)], Figures::Count { count: 3 }),
    ];
    let distribution = Figures::Distribution {
        count: 4,
        sum: 6,
        min: 0,
        max: 6,
        buckets: vec![bucket(0, 3), bucket(6, 1)],
    };
    let sums = Figures::Sums {
        count: 2,
        sum: -9,
        min: -5,
        max: -4,
    };
    let equal = Figures::Distribution {
        count: 6,
        sum: 50,
        min: 2,
        max: 23,
        buckets: vec![
            Bucket {
                from: i64::MIN,
                to: -1,
                count: 0,
            },
            Bucket {
                from: 0,
                to: 9,
                count: 3,
            },
            Bucket {
                from: 10,
                to: 19,
                count: 1,
            },
            Bucket {
                from: 20,
                to: i64::MAX,
                count: 2,
            },
        ],
    };
    let rate = Figures::Rate {
        count: 40,
        whole: 2,
        seconds: vec![Second { ago: 1, count: 30 }],
    };
    let distinct = Figures::Distinct {
        count: 9,
        distinct: 5,
    };
    let bound = Figures::Bound {
        count: 70,
        error: 8,
    };
    let moment = Figures::Moment {
        number: 0,
        time_ns: 9,
        thread: 1,
    };
    report.tables = vec![
        table("t1", "orders", TableKind::Tally, tally),
        table(
            "t2",
            "cost",
            TableKind::Histogram,
            vec![(vec![], distribution)],
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
        table("t5", "width", TableKind::Linear, vec![(vec![], equal)]),
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
    if let Some(sample) = report.tables.last_mut() {
        sample.rest = Figures::Count { count: 99 };
    }
    report.totals.classes_armed = 12;
    report.totals.dropped = 2;
    report
}
