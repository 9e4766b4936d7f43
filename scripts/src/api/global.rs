//! Global functions that need no handle: `refusals()`, `instruments()`, `stale()`, `names()`,
//! `now()`, `start_time()`, `pid()`, `param()`, `unsafe_calls()` and `detach_all()`.

use super::convert::{ApiResult, api_error, int};
use crate::context::PlanContext;
use crate::ownership::Attachment;
use rhai::{Array, Dynamic, Engine, FLOAT, INT, ImmutableString, Map};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use veneer_instruments::{AttachError, InstrumentSummary, RefusalRow};

/// The maximum number of names that one call of `names()` returns.
const MAX_NAMES: usize = 200;

fn map<const N: usize>(entries: [(&str, Dynamic); N]) -> Dynamic {
    let entries = entries
        .into_iter()
        .map(|(name, value)| (name.into(), value));
    entries.collect::<Map>().into()
}

fn refusal_map(row: RefusalRow) -> Dynamic {
    map([
        ("class", row.class.into()),
        ("method", row.method.into()),
        ("reason", row.reason.into()),
        ("detail", row.detail.into()),
    ])
}

fn summary_map(summary: InstrumentSummary) -> Dynamic {
    map([
        ("id", summary.id.to_string().into()),
        ("name", summary.name.into()),
        ("kind", summary.kind.into()),
        ("plan", summary.plan.into()),
        ("methods", int(summary.methods).into()),
        ("classes", int(summary.classes).into()),
        ("matched", int(summary.matched).into()),
        ("points", int(summary.points).into()),
        ("attached", summary.attached.into()),
    ])
}

/// Detaches the patches and instruments of all plans, newest first, and returns their number. If
/// one fails, the others are detached nevertheless, and the first error is returned.
fn detach_all(context: &PlanContext) -> ApiResult<INT> {
    let mut things = context.ownership.all();
    // The runtime may have instruments that other code than this session has attached.
    let attached = context.with_runtime(|runtime| runtime.instruments());
    for summary in attached.iter().rev().filter(|summary| summary.attached) {
        let thing = Attachment::Instrument(summary.id);
        if !things.contains(&thing) {
            things.push(thing);
        }
    }
    let mut failed: Option<AttachError> = None;
    let mut done = 0;
    for thing in things {
        match context.with_runtime(|runtime| thing.detach(runtime)) {
            Ok(()) => {
                context.ownership.record_detached(thing);
                done += 1;
            }
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    match failed {
        Some(failed) => api_error(failed),
        None => Ok(done),
    }
}

pub(super) fn register(engine: &mut Engine, context: &Arc<PlanContext>) {
    let plan = context.clone();
    engine.register_fn("refusals", move || {
        let rows = plan.with_runtime(|runtime| runtime.refusals());
        rows.into_iter().map(refusal_map).collect::<Array>()
    });
    let plan = context.clone();
    engine.register_fn("instruments", move || {
        let all = plan.with_runtime(|runtime| runtime.instruments());
        all.into_iter().map(summary_map).collect::<Array>()
    });
    let plan = context.clone();
    engine.register_fn("stale", move || {
        int(plan.with_runtime(|runtime| runtime.stale_activation_count()))
    });
    let plan = context.clone();
    engine.register_fn("now", move || plan.began.elapsed().as_secs_f64() as FLOAT);
    let plan = context.clone();
    engine.register_fn(
        "param",
        move |name: ImmutableString, default: Dynamic| -> ApiResult<Dynamic> {
            plan.params.typed(&name, &default).or_else(api_error)
        },
    );
    let plan = context.clone();
    engine.register_fn(
        "param",
        move |name: ImmutableString| -> ApiResult<ImmutableString> {
            match plan.params.get(&name) {
                Some(text) => Ok(text.into()),
                None => api_error(format!("this plan needs --set {name}=…")),
            }
        },
    );
    let plan = context.clone();
    engine.register_fn("names", move |beginning: ImmutableString| {
        let names = plan.with_runtime(|runtime| runtime.completions(&beginning, MAX_NAMES));
        names.into_iter().map(Dynamic::from).collect::<Array>()
    });
    let plan = context.clone();
    engine.register_fn("unsafe_calls", move |allowed: bool| {
        plan.calls.store(allowed, Ordering::Relaxed);
    });
    engine.register_fn(
        "hash_of_method",
        |class: ImmutableString, method: ImmutableString| {
            veneer_probes::function::hash_of_method(&format!("{class}::{method}"))
        },
    );
    let plan = context.clone();
    engine.register_fn("start_time", move || {
        plan.with_runtime(|runtime| runtime.start_time()) as FLOAT
    });
    engine.register_fn("pid", || int(std::process::id()));
    let plan = context.clone();
    engine.register_fn("detach_all", move || detach_all(&plan));
}
