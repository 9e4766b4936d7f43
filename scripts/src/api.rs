//! What a plan can call, one noun a file.

mod ambient;
mod armed;
mod call_stacks;
pub(crate) mod component;
mod handle;
mod instrument;
pub(crate) mod json;
mod patch;
mod selection;
mod structure;
pub(crate) mod tally;
mod timing;

use crate::context::Context;
use rhai::{Dynamic, Engine, EvalAltResult, INT};
use std::sync::Arc;

/// What a function of the API returns: an error gets the position of the call from the engine.
type Answer<T> = Result<T, Box<EvalAltResult>>;

pub(crate) fn register(engine: &mut Engine, context: &Arc<Context>) {
    selection::register(engine, context);
    instrument::register(engine);
    json::register(engine);
    handle::register(engine, context);
    tally::register(engine, context);
    call_stacks::register(engine, context);
    patch::register(engine, context);
    timing::register(engine, context);
    armed::register(engine, context);
    component::register(engine, context);
    structure::register(engine, context);
    ambient::register(engine, context);
}

/// An error with this message.
fn error<T>(message: impl ToString) -> Answer<T> {
    Err(message.to_string().into())
}

/// A number of the runtime as the script's integer; beyond its range, the largest.
fn int(number: impl TryInto<INT>) -> INT {
    number.try_into().unwrap_or(INT::MAX)
}

/// A script's integer as a `T`; `what` names it in the error.
fn number<T: TryFrom<INT>>(what: &str, value: INT) -> Answer<T> {
    T::try_from(value).or_else(|_| error(format!("{value} is no {what}")))
}

/// An element of an array as a `T`; `what` names it in the error.
fn element<T: Clone + Send + Sync + 'static>(what: &str, value: &Dynamic) -> Answer<T> {
    match value.clone().try_cast::<T>() {
        Some(value) => Ok(value),
        None => error(format!("the array must hold {what}, not `{value}`")),
    }
}

/// Nothing as `()`.
fn optional(value: Option<impl Into<Dynamic>>) -> Dynamic {
    value.map_or(Dynamic::UNIT, Into::into)
}

/// How many rows or events to show.
fn at_most(n: INT) -> Answer<usize> {
    number("number of rows: write 0 or more", n)
}
