//! `tally()`, `sums()`, `histogram()`: tables that code at points fills, and what a plan makes of them.

use super::{Answer, at_most, error, int, number};
use crate::context::Context;
use rhai::{Array, Dynamic, Engine, INT, ImmutableString, Map};
use std::sync::Arc;
use veneer_instruments::{Entry, Key, Runtime, Tally, TallyKind, bucket_start, table};

/// A table. Clones are one.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) number: u32,
    pub(crate) kind: TallyKind,
}

/// Combinations of keys where the plan does not say.
const ENTRIES: u32 = 1_000;
/// Entries of a text where the plan does not say.
const ROWS: usize = 20;

fn key(key: Key) -> Dynamic {
    match key {
        Key::Integer(n) => n.into(),
        Key::Float(x) => x.into(),
        Key::Bool(b) => b.into(),
        Key::Text(Some(text)) => text.into(),
        Key::Text(None) | Key::Object(0) => Dynamic::UNIT,
        other @ Key::Object(_) => other.to_string().into(),
    }
}

fn map(entry: Entry, kind: TallyKind) -> Map {
    let mut map = Map::new();
    let keys: Array = entry.keys.into_iter().map(key).collect();
    if let Some(at) = entry.at {
        map.insert("values".into(), keys.into());
        map.insert("number".into(), int(at.number).into());
        map.insert("time_ns".into(), int(at.time_ns).into());
        map.insert("thread_id".into(), at.thread_id.into());
        return map;
    }
    map.insert("keys".into(), keys.into());
    map.insert("count".into(), int(entry.count).into());
    if matches!(kind, TallyKind::Sums | TallyKind::Histogram) {
        let avg = if entry.count == 0 {
            0.0
        } else {
            entry.sum as f64 / entry.count as f64
        };
        map.insert("sum".into(), entry.sum.into());
        map.insert("avg".into(), avg.into());
        map.insert("min".into(), entry.min.into());
        map.insert("max".into(), entry.max.into());
    }
    if kind == TallyKind::Histogram {
        let full = entry.buckets.iter().enumerate().filter(|b| *b.1 > 0);
        let pairs = full.map(|(n, count)| {
            let from = bucket_start(n).map_or(-1, int);
            Dynamic::from(vec![Dynamic::from(from), int(*count).into()])
        });
        map.insert("buckets".into(), pairs.collect::<Array>().into());
    }
    map
}

impl Table {
    fn now(&self, runtime: &dyn Runtime) -> Tally {
        let mut now = runtime.tally_now(self.number);
        now.entries.sort_by(|a, b| {
            let keys = || {
                a.keys
                    .partial_cmp(&b.keys)
                    .unwrap_or(std::cmp::Ordering::Equal)
            };
            b.count.cmp(&a.count).then(a.at.cmp(&b.at)).then_with(keys)
        });
        now
    }
}

/// A histogram's entries as bars.
fn bars(table: &Table, plan: &Arc<Context>, n: usize) -> Answer<String> {
    if table.kind != TallyKind::Histogram {
        return error("bars are for a histogram()");
    }
    let now = plan.ask(|runtime| table.now(runtime));
    Ok(table::render_bars(&now, n))
}

pub(super) fn register(engine: &mut Engine, context: &Arc<Context>) {
    engine.register_type_with_name::<Table>("Table");
    for (name, kind) in [
        ("tally", TallyKind::Count),
        ("sums", TallyKind::Sums),
        ("histogram", TallyKind::Histogram),
        ("last", TallyKind::Last),
    ] {
        let make = |context: Arc<Context>| {
            move |entries: u32| -> Answer<Table> {
                let made = context.ask(|runtime| {
                    let made = runtime.tally(kind, entries);
                    if let Ok(number) = made {
                        runtime.tally_is(number, &context.name, None);
                    }
                    made
                });
                let number = made.or_else(error)?;
                Ok(Table { number, kind })
            }
        };
        let few = make(context.clone());
        engine.register_fn(name, move || few(ENTRIES));
        let many = make(context.clone());
        engine.register_fn(name, move |entries: INT| {
            many(number("number of entries: write 1 to 100000", entries)?)
        });
    }
    let plan = context.clone();
    engine.register_fn("named", move |table: &mut Table, name: ImmutableString| {
        plan.ask(|runtime| runtime.tally_is(table.number, &plan.name, Some(&name)));
        table.clone()
    });
    let stack = |context: &Arc<Context>, kind: TallyKind| -> Answer<Table> {
        let made = context.ask(|runtime| runtime.tally(kind, ENTRIES));
        let number = made.or_else(error)?;
        Ok(Table { number, kind })
    };
    let plan = context.clone();
    engine.register_fn("per_thread", move |default: INT| -> Answer<Table> {
        match default {
            0 => stack(&plan, TallyKind::Numbers),
            _ => error("per_thread(0) is for whole numbers, and per_thread(()) for objects"),
        }
    });
    let plan = context.clone();
    engine.register_fn("per_thread", move |(): ()| stack(&plan, TallyKind::Objects));
    let plan = context.clone();
    engine.register_fn("rows", move |table: &mut Table| -> Array {
        let now = plan.ask(|runtime| table.now(runtime));
        let rows = now.entries.into_iter();
        rows.map(|entry| map(entry, table.kind).into()).collect()
    });
    let plan = context.clone();
    engine.register_fn("rest", move |table: &mut Table| -> Map {
        let now = plan.ask(|runtime| runtime.tally_now(table.number));
        map(now.rest, table.kind)
    });
    let plan = context.clone();
    engine.register_fn("clear", move |table: &mut Table| {
        plan.ask(|runtime| runtime.tally_clear(table.number));
    });
    let shown = |table: &Table, plan: &Arc<Context>, n: usize| {
        let now = plan.ask(|runtime| table.now(runtime));
        table::render_tally(&now, table.kind, n)
    };
    let plan = context.clone();
    engine.register_fn("table", move |table: &mut Table| shown(table, &plan, ROWS));
    let plan = context.clone();
    engine.register_fn(
        "table",
        move |table: &mut Table, n: INT| -> Answer<String> { Ok(shown(table, &plan, at_most(n)?)) },
    );
    let plan = context.clone();
    engine.register_fn("bars", move |table: &mut Table| -> Answer<String> {
        bars(table, &plan, ROWS)
    });
    let plan = context.clone();
    engine.register_fn("bars", move |table: &mut Table, n: INT| {
        bars(table, &plan, at_most(n)?)
    });
    let plan = context.clone();
    engine.register_fn("csv", move |table: &mut Table| {
        let now = plan.ask(|runtime| table.now(runtime));
        table::render_csv(&now, table.kind)
    });
    let plan = context.clone();
    engine.register_fn("json", move |table: &mut Table| {
        let now = plan.ask(|runtime| table.now(runtime));
        let rows = now.entries.into_iter();
        let rows = rows.map(|entry| super::json::text(&map(entry, table.kind).into()));
        format!("[{}]", rows.collect::<Vec<_>>().join(","))
    });
    for show in ["to_string", "to_debug"] {
        engine.register_fn(show, |table: &mut Table| -> ImmutableString {
            format!("table {}", table.number).into()
        });
    }
}
