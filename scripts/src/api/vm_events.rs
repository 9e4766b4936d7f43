//! `on("gc", |e| …)`: callbacks for events of the JVM.

use super::convert::{ApiResult, api_error, int, optional};
use super::timing::{Timer, add};
use crate::context::{PlanContext, Schedule};
use rhai::{Dynamic, Engine, FnPtr, INT, Map, NativeCallContext};
use std::sync::Arc;
use veneer_instruments::{UNAVAILABLE_VM_EVENTS, VmEvent, VmEventKind, nearest_words};

/// The kind of event of this name.
fn kind_named(name: &str) -> ApiResult<VmEventKind> {
    if let Some(kind) = VmEventKind::named(name) {
        return Ok(kind);
    }
    let unavailable = UNAVAILABLE_VM_EVENTS.iter().find(|one| one.0 == name);
    if let Some((name, reason)) = unavailable {
        return api_error(format!("EventUnavailable: {name}: {reason}"));
    }
    let names = VmEventKind::ALL.iter().map(|kind| kind.name());
    let near = nearest_words(name, names.clone(), 1);
    match near.first() {
        Some(near) => api_error(format!(
            "there is no event `{name}`: did you mean `{near}`?"
        )),
        None => api_error(format!(
            "there is no event `{name}`; events are {}",
            names.collect::<Vec<_>>().join(", ")
        )),
    }
}

/// An event as a map. A field that the event does not have is `()`.
pub(crate) fn event_map(event: &VmEvent) -> Map {
    let number = |value: Option<u64>| optional(value.map(|value| -> INT { int(value) }));
    let text = |value: &Option<String>| optional(value.clone());
    let fields: [(&str, Dynamic); 11] = [
        ("kind", event.kind.name().into()),
        ("time_ns", int(event.time_ns).into()),
        ("took_ns", number(event.took_ns)),
        ("thread_name", text(&event.thread)),
        ("class", text(&event.class)),
        ("object", number(event.object.map(u64::from))),
        ("owner", text(&event.owner)),
        ("method", text(&event.method)),
        ("bytes", number(event.bytes)),
        ("timed_out", optional(event.timed_out)),
        ("dropped", int(event.dropped).into()),
    ];
    let fields = fields.into_iter();
    fields.map(|(name, value)| (name.into(), value)).collect()
}

pub(super) fn register(engine: &mut Engine, context: &Arc<PlanContext>) {
    let plan = context.clone();
    engine.register_fn(
        "on",
        move |call: NativeCallContext, name: &str, function: FnPtr| -> ApiResult<Timer> {
            let schedule = Schedule::On(kind_named(name)?);
            add(&plan, &call, schedule, function, None)
        },
    );
    let plan = context.clone();
    engine.register_fn("dropped_events", move |name: &str| -> ApiResult<INT> {
        let kind = kind_named(name)?;
        Ok(int(plan.with_runtime(|r| r.dropped_vm_events(kind))))
    });
}
