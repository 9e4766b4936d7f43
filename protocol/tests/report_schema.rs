//! `docs/report.schema.json` agrees with the Rust types. A report that the types write is valid; a
//! report with a missing, an additional or a wrong field is invalid.

use serde_json::{Value, json};
use veneer_names::FragmentId;
use veneer_protocol::*;

fn schema() -> jsonschema::Validator {
    let text = include_str!("../../docs/report.schema.json");
    let schema: Value = serde_json::from_str(text).expect("the schema is JSON");
    jsonschema::meta::validate(&schema).expect("the schema is a JSON Schema");
    jsonschema::validator_for(&schema).expect("the schema compiles")
}

fn point(fragment: Option<u32>, to: Option<u32>, data: Measurement) -> PointRow {
    PointRow {
        class: "a.b.C$D".into(),
        method: "m(I)I".into(),
        fragment: fragment.map(FragmentId),
        to: to.map(FragmentId),
        what: None,
        line: fragment.map(|_| 12),
        data,
    }
}

fn instrument(id: &str, kind: InstrumentKind, points: Vec<PointRow>) -> Instrument {
    Instrument {
        id: id.into(),
        name: "hits".into(),
        kind,
        plan: "plans/hot.rhai".into(),
        attached: id != "i2",
        points,
    }
}

fn table(id: &str, kind: TableKind, figures: EntryMetrics, rest: EntryMetrics) -> Table {
    Table {
        id: id.into(),
        name: "orders".into(),
        kind,
        plan: "plans/hot.rhai".into(),
        attached: id != "t2",
        entries: vec![TableEntry {
            keys: vec![json!("ann"), json!(-7), json!(0.5), json!(null)],
            figures,
        }],
        call_tree: true,
        omitted: 2,
        rest,
    }
}

/// A table of each kind.
fn tables() -> Vec<Table> {
    let (sum, min, max) = (-3, i64::MIN, i64::MAX);
    let count = EntryMetrics::Count { count: u64::MAX };
    let sums = EntryMetrics::Sums {
        count: 4,
        sum,
        min,
        max,
    };
    let bucket = Bucket {
        from: i64::MIN,
        to: -1,
        count: 4,
    };
    let distribution = EntryMetrics::Distribution {
        count: 4,
        sum,
        min,
        max,
        buckets: vec![bucket],
    };
    let moment = EntryMetrics::Occurrence {
        number: 3,
        time_ns: 5_000,
        thread: 1,
    };
    let rate = EntryMetrics::Rate {
        count: 4,
        whole: 60,
        seconds: vec![SecondCount { ago: 0, count: 4 }],
    };
    let distinct = EntryMetrics::Distinct {
        count: 4,
        distinct: 3,
    };
    let bound = EntryMetrics::UpperBound { count: 4, error: 3 };
    vec![
        table("t1", TableKind::Tally, count.clone(), count.clone()),
        table("t2", TableKind::Sums, sums.clone(), sums),
        table(
            "t3",
            TableKind::Histogram,
            distribution.clone(),
            distribution.clone(),
        ),
        table("t4", TableKind::Last, moment.clone(), count.clone()),
        table("t5", TableKind::Linear, distribution.clone(), distribution),
        table("t6", TableKind::Rate, rate.clone(), rate),
        table("t7", TableKind::Distinct, distinct, count.clone()),
        table("t8", TableKind::Top, bound, count.clone()),
        table("t9", TableKind::Sample, moment, count),
    ]
}

/// A report that uses every field and every variant.
fn sample() -> Report {
    let mut report = Report::new(JvmInfo {
        pid: 4711,
        name: "OpenJDK 64-Bit Server VM".into(),
        version: "17.0.15+6".into(),
        millis: 5_120,
    });
    let count = Measurement::Count { hits: u64::MAX };
    let time = Measurement::Time {
        count: 3,
        total_ns: 600,
        min_ns: 100,
        max_ns: 300,
    };
    let log = Measurement::Log {
        events: 64,
        dropped: 1,
    };
    report.instruments = vec![
        instrument(
            "i1",
            InstrumentKind::Counter,
            vec![
                point(Some(3), None, count),
                point(Some(3), Some(4), count),
                point(None, None, count),
            ],
        ),
        instrument("i2", InstrumentKind::Timer, vec![point(None, None, time)]),
        instrument("i3", InstrumentKind::Log, vec![point(Some(0), None, log)]),
        instrument(
            "i4",
            InstrumentKind::Code,
            vec![PointRow {
                what: Some("call a.b.C::n @17".into()),
                ..point(Some(0), None, count)
            }],
        ),
    ];
    report.tables = tables();
    report.patches.push(Patch {
        id: "p1".into(),
        plan: "-".into(),
        patterns: vec!["a.b.C::m(..)".into()],
        edits: vec![
            EditKind::Redirect {
                from: FragmentId(1),
                to: FragmentId(2),
                target: FragmentId(3),
            },
            EditKind::Skip {
                fragment: FragmentId(4),
            },
            EditKind::Replace {
                fragment: FragmentId(5),
                by: FragmentId(6),
            },
            EditKind::Split { budget: 5_000 },
            EditKind::Duplicate {
                path: vec![FragmentId(1), FragmentId(3)],
            },
            EditKind::Unswitch {
                fragment: FragmentId(5),
            },
            EditKind::Specialise {
                parameter: 1,
                value: 8,
            },
            EditKind::Devirtualise {
                calls: "@17".into(),
                receivers: vec!["a.b.D".into()],
            },
        ],
        methods: 1,
        active: true,
    });
    report.refusals.push(RefusalRow {
        class: "a.b.Big".into(),
        method: "".into(),
        reason: "MethodTooLarge".into(),
        detail: "65000 bytes".into(),
    });
    report.problems.push(Problem {
        plan: "plans/hot.rhai".into(),
        message: "line 3: stopped by its limit of operations".into(),
    });
    report.totals.hits = 9;
    report
}

#[test]
fn a_full_report_is_valid_and_reads_back() {
    let report = sample();
    let value = serde_json::to_value(&report).unwrap();
    let problems: Vec<String> = schema()
        .iter_errors(&value)
        .map(|error| format!("{}: {error}", error.instance_path))
        .collect();
    assert!(problems.is_empty(), "{problems:#?}");
    assert_eq!(serde_json::from_value::<Report>(value).unwrap(), report);
}

#[test]
fn an_empty_report_is_valid() {
    let value = serde_json::to_value(Report::new(sample().jvm)).unwrap();
    assert!(schema().is_valid(&value));
}

#[test]
fn every_field_of_the_types_is_in_the_schema_and_the_reverse() {
    // Remove one field at a time, then add an unknown field. The schema must reject each change.
    let whole = serde_json::to_value(sample()).unwrap();
    let schema = schema();
    let optional = ["line", "fragment", "to", "what"];
    let mut tried = 0;
    for pointer in objects(&whole, String::new()) {
        let names: Vec<String> = whole
            .pointer(&pointer)
            .unwrap()
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect();
        for name in names {
            let mut broken = whole.clone();
            let object = broken
                .pointer_mut(&pointer)
                .unwrap()
                .as_object_mut()
                .unwrap();
            object.remove(&name);
            // Each of the four optional fields may be absent. Only `fragment` is required if the
            // point is an edge (has `to`), because an edge without its source has no meaning.
            let allowed = pointer.contains("/points/")
                && optional.contains(&name.as_str())
                && !(name == "fragment" && object.contains_key("to"));
            assert_eq!(
                schema.is_valid(&broken),
                allowed,
                "without {pointer}/{name}"
            );
            tried += 1;
        }
        let mut broken = whole.clone();
        broken
            .pointer_mut(&pointer)
            .unwrap()
            .as_object_mut()
            .unwrap()
            .insert("surprise".into(), json!(1));
        assert!(!schema.is_valid(&broken), "with {pointer}/surprise");
    }
    assert!(tried > 60, "{tried} fields tried");
}

#[test]
fn figures_fit_the_kind_of_instrument() {
    let mut value = serde_json::to_value(sample()).unwrap();
    value["instruments"][0]["kind"] = json!("timer");
    assert!(!schema().is_valid(&value));
    let mut value = serde_json::to_value(sample()).unwrap();
    value["schema"] = json!(2);
    assert!(!schema().is_valid(&value));
    let mut value = serde_json::to_value(sample()).unwrap();
    value["tables"][0]["kind"] = json!("sums");
    assert!(!schema().is_valid(&value));
    let mut value = serde_json::to_value(sample()).unwrap();
    value["instruments"][0]["points"][0]["hits"] = json!(-1);
    assert!(!schema().is_valid(&value));
}

/// The JSON pointers of all objects in a value, including the value itself.
fn objects(value: &Value, at: String) -> Vec<String> {
    match value {
        Value::Object(members) => {
            let inner = members
                .iter()
                .flat_map(|(name, value)| objects(value, format!("{at}/{name}")));
            std::iter::once(at.clone()).chain(inner).collect()
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .flat_map(|(index, value)| objects(value, format!("{at}/{index}")))
            .collect(),
        _ => Vec::new(),
    }
}
