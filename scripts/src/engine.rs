//! Configures the script engine for plans: sets the limits, and removes functions that would block
//! or read files.

use crate::api;
use crate::context::Context;
use crate::limits;
use rhai::module_resolvers::DummyModuleResolver;
use rhai::{Dynamic, Engine, EvalAltResult, FLOAT, INT};
use std::sync::Arc;
use veneer_instruments::table::count;

/// Returns an engine that can parse plans. Only [`for_plan`] returns an engine that can run them.
pub(crate) fn for_reading() -> Engine {
    let mut engine = Engine::new();
    engine
        .set_max_operations(limits::MAX_OPERATIONS)
        .set_max_call_levels(limits::MAX_CALL_DEPTH)
        .set_max_expr_depths(limits::MAX_EXPRESSION_DEPTH, limits::MAX_EXPRESSION_DEPTH)
        .set_max_string_size(limits::MAX_STRING_BYTES)
        .set_max_array_size(limits::MAX_ARRAY_ELEMENTS)
        .set_max_map_size(limits::MAX_MAP_PROPERTIES)
        .set_max_variables(limits::MAX_VARIABLES)
        .set_max_functions(limits::MAX_FUNCTIONS)
        // With strict variables, a misspelt variable is an error at load time and not an hour later
        // in a callback.
        .set_strict_variables(true)
        // Positions in an evaluated text would not be positions in the plan.
        .disable_symbol("eval")
        .set_module_resolver(DummyModuleResolver::new());
    engine
}

/// Returns an engine that runs one plan.
pub(crate) fn for_plan(context: &Arc<Context>) -> Engine {
    let mut engine = for_reading();
    let budget = context.clone();
    engine.on_progress(move |operations| {
        // Reading the clock costs about as much as a cheap operation. An expensive operation, such
        // as copying a large array, may take 20 ms. With much rarer checks, a plan could exceed its
        // time limit by far.
        if operations % 16 == 0 && budget.out_of_time() {
            let seconds = limits::MAX_CALL_DURATION.as_secs();
            return Some(Dynamic::from(format!(
                "more than {seconds} s in one call, the limit of a plan ({} operations done); for what goes on, use every(seconds, …) in place of a loop",
                count(operations)
            )));
        }
        None
    });
    let out = context.clone();
    engine.on_print(move |text| out.ask(|runtime| runtime.print(text)));
    let out = context.clone();
    engine.on_debug(move |text, _, position| {
        let place = out.place(position);
        out.ask(|runtime| runtime.print(&format!("{place}: {text}")));
    });
    // The engine's own `sleep` would block the thread that all plans share.
    engine.register_fn("sleep", |_: INT| no_sleep());
    engine.register_fn("sleep", |_: FLOAT| no_sleep());
    api::register(&mut engine, context);
    engine
}

fn no_sleep() -> Result<(), Box<EvalAltResult>> {
    Err("a plan cannot sleep, since all plans share one thread: write after(seconds, || …)".into())
}
