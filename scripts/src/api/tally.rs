//! `tally()`, `sums()`, `histogram()` …: the tables that probes fill, and their functions.

use super::convert::{ApiResult, api_error, downcast_element, int, number, row_limit, table_width};
use super::tally_row::{RowScope, row_map};
use crate::context::PlanContext;
use crate::json;
use parking_lot::Mutex;
use rhai::{Array, Engine, INT, ImmutableString, Map};
use std::sync::Arc;
use veneer_instruments::{
    DEFAULT_TABLE_ENTRIES, LinearBuckets, Runtime, Tally, TallyKind, merge_tables, table,
};
use veneer_probes::tree::KeptStacks;

/// A table. Clones refer to the same table. When the last clone is dropped, the plan can read the
/// table no more.
#[derive(Clone, Debug)]
pub(crate) struct TableHandle {
    pub(crate) number: u32,
    pub(crate) kind: TallyKind,
    own: Arc<OwnTable>,
}

/// The part of a table that all clones of its handle share.
struct OwnTable {
    number: u32,
    runtime: Arc<dyn Runtime>,
    /// The content at the last call of `diff`.
    seen: Mutex<Tally>,
    /// The names of columns that the plan has set, from the left.
    titles: Mutex<Vec<String>>,
}

impl std::fmt::Debug for OwnTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "table {}", self.number)
    }
}

impl Drop for OwnTable {
    fn drop(&mut self) {
        self.runtime.drop_table(self.number);
    }
}

/// The stacks of a `per_call()`. The plan has both tables until the last clone is dropped.
#[derive(Clone, Debug)]
pub(crate) struct KeptHandle {
    numbers: TableHandle,
    objects: TableHandle,
}

impl KeptHandle {
    /// The numbers of the two tables.
    pub(crate) fn stacks(&self) -> KeptStacks {
        KeptStacks {
            numbers: self.numbers.number,
            objects: self.objects.number,
        }
    }
}

/// The default number of objects that can have a value.
const DEFAULT_OBJECTS: INT = 100_000;
/// The default number of entries of a rendered table.
const DEFAULT_ROWS: usize = 20;

/// The name of a number of entries in messages.
const ENTRY_COUNT_NAME: &str = "number of entries: write 1 to 100000";

impl TableHandle {
    /// The handle of a table that `plan` has made.
    fn new(plan: &PlanContext, number: u32, kind: TallyKind) -> Self {
        let own = OwnTable {
            number,
            runtime: plan.runtime.clone(),
            seen: Mutex::default(),
            titles: Mutex::default(),
        };
        let own = Arc::new(own);
        TableHandle { number, kind, own }
    }

    /// Returns the current content in display form.
    pub(super) fn read(&self, runtime: &dyn Runtime) -> Tally {
        shown(runtime.read_table(self.number), self.kind)
    }

    /// Returns the values recorded since the last call, in display form.
    fn since(&self, runtime: &dyn Runtime) -> Tally {
        let now = runtime.read_table(self.number);
        let before = std::mem::replace(&mut *self.own.seen.lock(), now.clone());
        shown(now.difference_since(&before, self.kind), self.kind)
    }
}

/// Sorts the entries for display. For a `distinct()`, groups the entries by their keys first.
fn shown(tally: Tally, kind: TallyKind) -> Tally {
    let mut tally = match kind {
        TallyKind::Distinct => tally.count_distinct(),
        _ => tally,
    };
    tally.sort();
    tally
}

fn rows(tally: Tally, kind: TallyKind, scope: RowScope) -> Array {
    let entries = tally.entries.into_iter();
    entries
        .map(|entry| row_map(entry, kind, scope).into())
        .collect()
}

/// Returns the merged rows of several tables.
fn merge(tables: &Array, plan: &Arc<PlanContext>) -> ApiResult<Array> {
    let tables = tables
        .iter()
        .map(|table| downcast_element::<TableHandle>("tables", table));
    let tables = tables.collect::<ApiResult<Vec<TableHandle>>>()?;
    let now = plan.with_runtime(|runtime| {
        let tables = tables.iter();
        let now = tables.map(|table| (table.kind, runtime.read_table(table.number)));
        now.collect::<Vec<_>>()
    });
    let (kind, both) = merge_tables(now).or_else(api_error)?;
    let both = if kind.has_occurrences() {
        // The entries are sorted by time, because the numbers of different tables are independent.
        both
    } else {
        shown(both, kind)
    };
    Ok(rows(both, kind, RowScope::All))
}

/// Renders the entries of a histogram as bars.
fn bars(table: &TableHandle, plan: &Arc<PlanContext>, n: usize) -> ApiResult<String> {
    if !table.kind.has_buckets() {
        return api_error("bars are for a histogram() and a linear(from, step, buckets)");
    }
    let now = plan.with_runtime(|runtime| table.read(runtime));
    Ok(table::render_bars(&now, table.kind, n))
}

pub(super) fn register(engine: &mut Engine, context: &Arc<PlanContext>) {
    engine.register_type_with_name::<TableHandle>("Table");
    register_kinds(engine, context);
    register_linear(engine, context);
    register_values(engine, context);
    register_readings(engine, context);
    register_renderings(engine, context);
}

/// Returns a function that makes a table with the plan's name.
fn table_maker(
    context: &Arc<PlanContext>,
) -> impl Fn(TallyKind, u32) -> ApiResult<TableHandle> + 'static {
    let context = context.clone();
    move |kind: TallyKind, entries: u32| -> ApiResult<TableHandle> {
        let made = context.with_runtime(|runtime| {
            let made = runtime.create_table(kind, entries);
            if let Ok(number) = made {
                runtime.label_table(number, &context.name, None);
            }
            made
        });
        Ok(TableHandle::new(&context, made.or_else(api_error)?, kind))
    }
}

/// Registers `tally()`, `sums()` and the other kinds that take at most a number of entries,
/// `named` and `call_tree`.
fn register_kinds(engine: &mut Engine, context: &Arc<PlanContext>) {
    for kind in TallyKind::PLAIN {
        if let Some(entries) = kind.default_entries() {
            let few = table_maker(context);
            engine.register_fn(kind.plan_function(), move || few(kind, entries));
        }
        let many = table_maker(context);
        engine.register_fn(kind.plan_function(), move |entries: INT| {
            many(kind, number(ENTRY_COUNT_NAME, entries)?)
        });
    }
    let plan = context.clone();
    engine.register_fn(
        "named",
        move |table: &mut TableHandle, name: ImmutableString| {
            plan.with_runtime(|runtime| runtime.label_table(table.number, &plan.name, Some(&name)));
            table.clone()
        },
    );
    let plan = context.clone();
    engine.register_fn(
        "call_tree",
        move |table: &mut TableHandle| -> ApiResult<TableHandle> {
            if !matches!(table.kind, TallyKind::Count | TallyKind::Sums) {
                return api_error("a call tree is a tally() or a sums()");
            }
            plan.with_runtime(|runtime| runtime.mark_call_tree(table.number, &plan.name));
            Ok(table.clone())
        },
    );
}

/// Registers `linear(from, step, buckets)`.
fn register_linear(engine: &mut Engine, context: &Arc<PlanContext>) {
    let linear = |from: INT, step: INT, buckets: INT| -> ApiResult<TallyKind> {
        let linear = LinearBuckets::new(from, step, buckets).or_else(api_error)?;
        Ok(TallyKind::Linear(linear))
    };
    let few = table_maker(context);
    engine.register_fn("linear", move |from: INT, step: INT, buckets: INT| {
        few(linear(from, step, buckets)?, DEFAULT_TABLE_ENTRIES)
    });
    let many = table_maker(context);
    engine.register_fn(
        "linear",
        move |from: INT, step: INT, buckets: INT, entries: INT| {
            many(
                linear(from, step, buckets)?,
                number(ENTRY_COUNT_NAME, entries)?,
            )
        },
    );
}

/// Registers the values of threads and of objects.
fn register_values(engine: &mut Engine, context: &Arc<PlanContext>) {
    let stack = |context: &Arc<PlanContext>, kind: TallyKind| -> ApiResult<TableHandle> {
        let made =
            context.with_runtime(|runtime| runtime.create_table(kind, DEFAULT_TABLE_ENTRIES));
        Ok(TableHandle::new(context, made.or_else(api_error)?, kind))
    };
    let plan = context.clone();
    engine.register_fn(
        "per_thread",
        move |default: INT| -> ApiResult<TableHandle> {
            match default {
                0 => stack(&plan, TallyKind::Numbers),
                _ => {
                    api_error("per_thread(0) is for whole numbers, and per_thread(()) for objects")
                }
            }
        },
    );
    let plan = context.clone();
    engine.register_fn("per_thread", move |(): ()| stack(&plan, TallyKind::Objects));
    engine.register_type_with_name::<KeptHandle>("PerCall");
    let plan = context.clone();
    engine.register_fn("per_call", move || -> ApiResult<KeptHandle> {
        Ok(KeptHandle {
            numbers: stack(&plan, TallyKind::Numbers)?,
            objects: stack(&plan, TallyKind::Objects)?,
        })
    });
    let of_objects = |context: &Arc<PlanContext>| {
        let context = context.clone();
        move |default: INT, objects: INT| -> ApiResult<TableHandle> {
            if default != 0 {
                return api_error(
                    "per_object(0) is for whole numbers, 0 where an object has none yet",
                );
            }
            let objects = number("number of objects: write 1 to 100000", objects)?;
            let made =
                context.with_runtime(|runtime| runtime.create_table(TallyKind::PerObject, objects));
            Ok(TableHandle::new(
                &context,
                made.or_else(api_error)?,
                TallyKind::PerObject,
            ))
        }
    };
    engine.register_fn("per_object", of_objects(context));
    let all = of_objects(context);
    engine.register_fn("per_object", move |default: INT| {
        all(default, DEFAULT_OBJECTS)
    });
}

/// Registers the functions that return or clear the content of tables.
fn register_readings(engine: &mut Engine, context: &Arc<PlanContext>) {
    let plan = context.clone();
    engine.register_fn("rows", move |table: &mut TableHandle| -> Array {
        let now = plan.with_runtime(|runtime| table.read(runtime));
        rows(now, table.kind, RowScope::All)
    });
    let plan = context.clone();
    engine.register_fn("diff", move |table: &mut TableHandle| -> Array {
        let since = plan.with_runtime(|runtime| table.since(runtime));
        rows(since, table.kind, RowScope::Since)
    });
    let plan = context.clone();
    engine.register_fn("merge", move |tables: Array| merge(&tables, &plan));
    let plan = context.clone();
    engine.register_fn("rest", move |table: &mut TableHandle| -> Map {
        let now = plan.with_runtime(|runtime| runtime.read_table(table.number));
        row_map(now.rest, table.kind, RowScope::All)
    });
    let plan = context.clone();
    engine.register_fn("total", move |table: &mut TableHandle| -> INT {
        let now = plan.with_runtime(|runtime| runtime.read_table(table.number));
        int(now.total())
    });
    let plan = context.clone();
    engine.register_fn("clear", move |table: &mut TableHandle| {
        plan.with_runtime(|runtime| runtime.clear_table(table.number));
        *table.own.seen.lock() = Tally::default();
    });
}

/// Registers the functions that render tables as text.
fn register_renderings(engine: &mut Engine, context: &Arc<PlanContext>) {
    engine.register_fn(
        "titled",
        |table: &mut TableHandle, titles: Array| -> ApiResult<TableHandle> {
            let titles = titles
                .iter()
                .map(|title| downcast_element::<ImmutableString>("titles of columns", title));
            let titles = titles.collect::<ApiResult<Vec<_>>>()?;
            *table.own.titles.lock() = titles.iter().map(ToString::to_string).collect();
            Ok(table.clone())
        },
    );
    let text = |table: &TableHandle, plan: &Arc<PlanContext>, n: usize, width: usize| {
        let now = plan.with_runtime(|runtime| table.read(runtime));
        let titles = table.own.titles.lock();
        table::render_tally_within(&now, table.kind, n, &titles, width)
    };
    let plan = context.clone();
    engine.register_fn("table", move |table: &mut TableHandle| {
        text(table, &plan, DEFAULT_ROWS, table::TABLE_WIDTH)
    });
    let plan = context.clone();
    engine.register_fn(
        "table",
        move |table: &mut TableHandle, n: INT| -> ApiResult<String> {
            Ok(text(table, &plan, row_limit(n)?, table::TABLE_WIDTH))
        },
    );
    let plan = context.clone();
    engine.register_fn(
        "table",
        move |table: &mut TableHandle, n: INT, width: INT| -> ApiResult<String> {
            Ok(text(table, &plan, row_limit(n)?, table_width(width)?))
        },
    );
    let plan = context.clone();
    engine.register_fn(
        "bars",
        move |table: &mut TableHandle| -> ApiResult<String> { bars(table, &plan, DEFAULT_ROWS) },
    );
    let plan = context.clone();
    engine.register_fn("bars", move |table: &mut TableHandle, n: INT| {
        bars(table, &plan, row_limit(n)?)
    });
    let plan = context.clone();
    engine.register_fn("csv", move |table: &mut TableHandle| {
        let now = plan.with_runtime(|runtime| table.read(runtime));
        table::render_csv(&now, table.kind).or_else(api_error)
    });
    let plan = context.clone();
    engine.register_fn("json", move |table: &mut TableHandle| {
        let now = plan.with_runtime(|runtime| table.read(runtime));
        let rows = rows(now, table.kind, RowScope::All);
        json::to_json(&rows.into())
    });
    for show in ["to_string", "to_debug"] {
        engine.register_fn(show, |table: &mut TableHandle| -> ImmutableString {
            format!("table {}", table.number).into()
        });
    }
}
