//! Configures the script engine that runs a plan: the time limit, the output, and the functions of
//! plans.

use crate::api;
use crate::component::Components;
use crate::context::PlanContext;
use crate::limits;
use crate::parser_engine;
use rhai::{Dynamic, Engine, EvalAltResult, FLOAT, INT};
use std::sync::Arc;
use veneer_instruments::table::format_count;

/// Returns an engine that runs one plan. `components` are the components of the session.
pub(crate) fn plan_engine(context: &Arc<PlanContext>, components: &Arc<Components>) -> Engine {
    let mut engine = parser_engine::new();
    let budget = context.clone();
    engine.on_progress(move |operations| {
        // Reading the clock costs about as much as a cheap operation. An expensive operation, such
        // as copying a large array, may take 20 ms. With much rarer checks, a plan could exceed its
        // time limit by far.
        if operations % 16 == 0 && budget.is_past_deadline() {
            let seconds = limits::MAX_CALL_DURATION.as_secs();
            return Some(Dynamic::from(format!(
                "more than {seconds} s in one call, the limit of a plan ({} operations done); for what goes on, use every(seconds, …) in place of a loop",
                format_count(operations)
            )));
        }
        None
    });
    let out = context.clone();
    engine.on_print(move |text| out.with_runtime(|runtime| runtime.print(text)));
    let out = context.clone();
    engine.on_debug(move |text, _, position| {
        let place = out.place(position);
        out.with_runtime(|runtime| runtime.print(&format!("{place}: {text}")));
    });
    // The engine's own `sleep` would block the thread that all plans share.
    engine.register_fn("sleep", |_: INT| no_sleep());
    engine.register_fn("sleep", |_: FLOAT| no_sleep());
    api::register(&mut engine, context, components);
    engine
}

fn no_sleep() -> Result<(), Box<EvalAltResult>> {
    Err("a plan cannot sleep, since all plans share one thread: write after(seconds, || …)".into())
}
