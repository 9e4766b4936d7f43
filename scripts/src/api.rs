//! The functions that a plan can call, one noun per file.

mod armed;
mod call_stacks;
pub(crate) mod component;
mod convert;
mod global;
mod handle;
mod instrument;
mod json;
mod optimise;
mod passes;
mod patch;
mod selection;
mod speedup;
mod structure;
mod tally;
mod tally_row;
pub(crate) mod timing;
mod transformation;
pub(crate) mod vm_events;

use crate::component::Components;
use crate::context::PlanContext;
use rhai::Engine;
use std::sync::Arc;

/// Registers the functions of a plan with its engine. `components` are the components of the
/// session.
pub(crate) fn register(
    engine: &mut Engine,
    context: &Arc<PlanContext>,
    components: &Arc<Components>,
) {
    selection::register(engine, context);
    instrument::register(engine);
    json::register(engine);
    handle::register(engine, context);
    tally::register(engine, context);
    call_stacks::register(engine, context);
    patch::register(engine, context);
    optimise::register(engine, context);
    transformation::register(engine, context);
    speedup::register(engine, context);
    timing::register(engine, context);
    vm_events::register(engine, context);
    armed::register(engine, context);
    component::register(engine, context, components);
    structure::register(engine, context);
    global::register(engine, context);
}
