//! `every(1.0, || …)`, `after(5.0, || …)`, `at_exit(|| …)` and `when(|| …, || …)`: callbacks.

use super::convert::{ApiResult, api_error};
use crate::context::{Callback, CallbackSlot, PlanContext, Schedule};
use crate::limits;
use rhai::{Engine, FLOAT, FnPtr, INT, NativeCallContext};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use veneer_instruments::table::format_count;

/// The handle of a registered callback, which can be cancelled.
#[derive(Clone, Debug)]
pub(crate) struct Timer {
    cancelled: Arc<AtomicBool>,
}

fn seconds(value: FLOAT, least: f64) -> ApiResult<Duration> {
    if !(least..=limits::MAX_DELAY_SECONDS).contains(&value) {
        return api_error(format!(
            "{value} is no number of seconds here: write {least} to {}",
            format_count(limits::MAX_DELAY_SECONDS as u64)
        ));
    }
    Duration::try_from_secs_f64(value).or_else(api_error)
}

fn every(value: FLOAT) -> ApiResult<Schedule> {
    seconds(value, limits::MIN_PERIOD_SECONDS).map(Schedule::Every)
}

fn after(value: FLOAT) -> ApiResult<Schedule> {
    seconds(value, 0.0).map(Schedule::After)
}

pub(super) fn add(
    context: &PlanContext,
    call: &NativeCallContext,
    schedule: Schedule,
    function: FnPtr,
    condition: Option<FnPtr>,
) -> ApiResult<Timer> {
    if context.analysing.load(Ordering::Relaxed) {
        return api_error("an analyser only reports: register callbacks at the plan's top level");
    }
    let Some(slot) = CallbackSlot::reserve(&context.slots) else {
        return api_error(format!(
            "{} callbacks wait already, the limit of a session: cancel some with .cancel()",
            format_count(limits::MAX_CALLBACKS as u64)
        ));
    };
    let cancelled = Arc::new(AtomicBool::new(false));
    context.register(Callback {
        schedule,
        function,
        condition,
        position: call.call_position(),
        cancelled: cancelled.clone(),
        slot,
    });
    Ok(Timer { cancelled })
}

pub(super) fn register(engine: &mut Engine, context: &Arc<PlanContext>) {
    engine.register_type_with_name::<Timer>("Timer");
    for (name, schedule) in [
        ("every", every as fn(FLOAT) -> ApiResult<Schedule>),
        ("after", after),
    ] {
        let plan = context.clone();
        engine.register_fn(
            name,
            move |call: NativeCallContext, time: FLOAT, function: FnPtr| {
                add(&plan, &call, schedule(time)?, function, None)
            },
        );
        let plan = context.clone();
        engine.register_fn(
            name,
            move |call: NativeCallContext, time: INT, function: FnPtr| {
                add(&plan, &call, schedule(time as FLOAT)?, function, None)
            },
        );
    }
    let plan = context.clone();
    engine.register_fn(
        "at_exit",
        move |call: NativeCallContext, function: FnPtr| {
            add(&plan, &call, Schedule::AtExit, function, None)
        },
    );
    let plan = context.clone();
    engine.register_fn(
        "when",
        move |call: NativeCallContext, condition: FnPtr, function: FnPtr| {
            let often = Schedule::Every(limits::CONDITION_CHECK_INTERVAL);
            add(&plan, &call, often, function, Some(condition))
        },
    );
    engine.register_fn("cancel", |timer: &mut Timer| {
        timer.cancelled.store(true, Ordering::Relaxed);
    });
    for show in ["to_string", "to_debug"] {
        engine.register_fn(show, |timer: &mut Timer| {
            let cancelled = timer.cancelled.load(Ordering::Relaxed);
            if cancelled {
                "cancelled timer"
            } else {
                "timer"
            }
            .to_owned()
        });
    }
}
