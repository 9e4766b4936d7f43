//! The functions that a plan can call, one noun per file.

mod armed;
mod call_stacks;
pub(crate) mod component;
mod global;
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

/// The result of an API function. The engine adds the position of the call to an error.
type ApiResult<T> = Result<T, Box<EvalAltResult>>;

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
    global::register(engine, context);
}

/// Returns an error with this message.
fn error<T>(message: impl ToString) -> ApiResult<T> {
    Err(message.to_string().into())
}

/// Converts a number of the runtime to an integer of the script. A larger number becomes the
/// largest integer.
fn int(number: impl TryInto<INT>) -> INT {
    number.try_into().unwrap_or(INT::MAX)
}

/// Converts an integer of the script to a `T`. `what` names the value in the error.
fn number<T: TryFrom<INT>>(what: &str, value: INT) -> ApiResult<T> {
    T::try_from(value).or_else(|_| error(format!("{value} is no {what}")))
}

/// Converts an element of an array to a `T`. `what` names the elements in the error.
fn element<T: Clone + Send + Sync + 'static>(what: &str, value: &Dynamic) -> ApiResult<T> {
    match value.clone().try_cast::<T>() {
        Some(value) => Ok(value),
        None => error(format!("the array must hold {what}, not `{value}`")),
    }
}

/// Converts `None` to `()`.
fn optional(value: Option<impl Into<Dynamic>>) -> Dynamic {
    value.map_or(Dynamic::UNIT, Into::into)
}

/// Converts a number of rows or events to show.
fn at_most(n: INT) -> ApiResult<usize> {
    number("number of rows: write 0 or more", n)
}
