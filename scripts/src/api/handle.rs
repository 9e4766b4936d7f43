//! The handle of an attached instrument: its data, and detaching it.

use super::convert::{ApiResult, api_error, int, optional, row_limit, table_width};
use crate::context::PlanContext;
use crate::ownership::Attachment;
use rhai::{Array, Dynamic, Engine, INT, ImmutableString, Map};
use std::sync::Arc;
use veneer_instruments::{
    EventValue, InstrumentId, LogEvent, Measurement, PointRow, RecordingSummary, Runtime, table,
};

#[derive(Clone, Debug)]
pub(super) struct InstrumentHandle {
    pub(super) id: InstrumentId,
    /// Whether the instrument is a value log, whose table shows events.
    pub(super) log: bool,
}

/// The number of rows of a table, unless the plan sets it.
const DEFAULT_ROWS: usize = 20;

impl InstrumentHandle {
    fn table(&self, runtime: &dyn Runtime, n: usize, width: usize) -> String {
        let rows = runtime.rows(self.id);
        if self.log {
            table::render_events(&rows, &runtime.events(self.id, n), n)
        } else {
            table::render_rows_within(&rows, n, width)
        }
    }

    fn hits(&self, runtime: &dyn Runtime) -> INT {
        let rows = runtime.rows(self.id);
        let hits = rows.iter().map(|row| row.data.hits());
        int(hits.fold(0u64, u64::saturating_add))
    }
}

fn set(map: &mut Map, name: &str, value: impl Into<Dynamic>) {
    map.insert(name.into(), value.into());
}

fn row_map(row: PointRow) -> Dynamic {
    let mut map = Map::new();
    set(&mut map, "class", row.class);
    set(&mut map, "method", row.method);
    set(
        &mut map,
        "fragment",
        optional(row.fragment.map(|f| int(f.0))),
    );
    set(&mut map, "to", optional(row.to.map(|f| int(f.0))));
    set(&mut map, "what", optional(row.what));
    set(&mut map, "line", optional(row.line.map(int)));
    match row.data {
        Measurement::Count { hits } => set(&mut map, "hits", int(hits)),
        Measurement::Time {
            count,
            total_ns,
            min_ns,
            max_ns,
        } => {
            set(&mut map, "count", int(count));
            set(&mut map, "total_ns", int(total_ns));
            set(&mut map, "min_ns", int(min_ns));
            set(&mut map, "max_ns", int(max_ns));
        }
        Measurement::Log { events, dropped } => {
            set(&mut map, "events", int(events));
            set(&mut map, "dropped", int(dropped));
        }
    }
    map.into()
}

fn event_map(event: LogEvent) -> Dynamic {
    let mut map = Map::new();
    let values = event.values.into_iter().map(|(name, value)| {
        let value = match value {
            EventValue::Null => Dynamic::UNIT,
            EventValue::Int(value) => value.into(),
            EventValue::Float(value) => value.into(),
            EventValue::Text(text) => text.into(),
        };
        (name.into(), value)
    });
    set(&mut map, "values", values.collect::<Map>());
    set(&mut map, "class", event.class);
    set(&mut map, "method", event.method);
    set(
        &mut map,
        "fragment",
        optional(event.fragment.map(|f| int(f.0))),
    );
    set(&mut map, "line", optional(event.line.map(int)));
    // `thread` is reserved in Rhai, so a plan could not read it as a property.
    set(&mut map, "thread_id", int(event.thread));
    set(&mut map, "time_ns", int(event.time_ns));
    map.into()
}

fn recording_map(recording: RecordingSummary) -> Map {
    let mut map = Map::new();
    set(&mut map, "directory", recording.directory);
    set(&mut map, "threads", int(recording.threads));
    set(&mut map, "methods", int(recording.methods));
    set(
        &mut map,
        "excluded_methods",
        int(recording.excluded_methods),
    );
    set(&mut map, "problem", optional(recording.problem));
    map
}

fn detach(context: &PlanContext, id: InstrumentId) -> ApiResult<()> {
    context
        .with_runtime(|runtime| runtime.detach(id))
        .or_else(api_error)?;
    context
        .ownership
        .record_detached(Attachment::Instrument(id));
    Ok(())
}

pub(super) fn register(engine: &mut Engine, context: &Arc<PlanContext>) {
    engine.register_type_with_name::<InstrumentHandle>("Handle");
    let plan = context.clone();
    engine.register_fn(
        "table",
        move |handle: &mut InstrumentHandle, n: INT| -> ApiResult<String> {
            let n = row_limit(n)?;
            Ok(plan.with_runtime(|runtime| handle.table(runtime, n, table::TABLE_WIDTH)))
        },
    );
    let plan = context.clone();
    engine.register_fn(
        "table",
        move |handle: &mut InstrumentHandle, n: INT, width: INT| -> ApiResult<String> {
            let (n, width) = (row_limit(n)?, table_width(width)?);
            Ok(plan.with_runtime(|runtime| handle.table(runtime, n, width)))
        },
    );
    let plan = context.clone();
    engine.register_fn("table", move |handle: &mut InstrumentHandle| {
        plan.with_runtime(|runtime| handle.table(runtime, DEFAULT_ROWS, table::TABLE_WIDTH))
    });
    let plan = context.clone();
    engine.register_fn("rows", move |handle: &mut InstrumentHandle| {
        let rows = plan.with_runtime(|runtime| runtime.rows(handle.id));
        rows.into_iter().map(row_map).collect::<Array>()
    });
    let plan = context.clone();
    engine.register_fn("hits", move |handle: &mut InstrumentHandle| {
        plan.with_runtime(|runtime| handle.hits(runtime))
    });
    let plan = context.clone();
    engine.register_fn(
        "events",
        move |handle: &mut InstrumentHandle, n: INT| -> ApiResult<Array> {
            let n = row_limit(n)?;
            let events = plan.with_runtime(|runtime| runtime.events(handle.id, n));
            Ok(events.into_iter().map(event_map).collect())
        },
    );
    let plan = context.clone();
    engine.register_fn("detach", move |handle: &mut InstrumentHandle| {
        detach(&plan, handle.id)
    });
    let plan = context.clone();
    engine.register_fn("detach", move |id: ImmutableString| {
        detach(&plan, id.parse().or_else(api_error)?)
    });
    let plan = context.clone();
    engine.register_fn("recording", move |handle: &mut InstrumentHandle| {
        optional(plan.with_runtime(|runtime| runtime.recording(handle.id).map(recording_map)))
    });
    let plan = context.clone();
    engine.register_fn(
        "recording",
        move |id: ImmutableString| -> ApiResult<Dynamic> {
            let id = id.parse().or_else(api_error)?;
            Ok(optional(plan.with_runtime(|runtime| {
                runtime.recording(id).map(recording_map)
            })))
        },
    );
    let plan = context.clone();
    engine.register_fn("attached", move |handle: &mut InstrumentHandle| {
        let all = plan.with_runtime(|runtime| runtime.instruments());
        all.iter()
            .any(|summary| summary.id == handle.id && summary.attached)
    });
    engine.register_fn("id", |handle: &mut InstrumentHandle| handle.id.to_string());
    for show in ["to_string", "to_debug"] {
        engine.register_fn(show, |handle: &mut InstrumentHandle| handle.id.to_string());
    }
}
