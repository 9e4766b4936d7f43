//! Conversions between values of the script and values of the runtime, and errors of API functions.

use rhai::{Dynamic, EvalAltResult, INT};

/// The result of an API function. The engine adds the position of the call to an error.
pub(super) type ApiResult<T> = Result<T, Box<EvalAltResult>>;

/// Returns an error with this message.
pub(super) fn api_error<T>(message: impl ToString) -> ApiResult<T> {
    Err(message.to_string().into())
}

/// Converts a number of the runtime to an integer of the script. A larger number becomes the
/// largest integer.
pub(super) fn int(number: impl TryInto<INT>) -> INT {
    number.try_into().unwrap_or(INT::MAX)
}

/// Converts an integer of the script to a `T`. `what` names the value in the error.
pub(super) fn number<T: TryFrom<INT>>(what: &str, value: INT) -> ApiResult<T> {
    T::try_from(value).or_else(|_| api_error(format!("{value} is no {what}")))
}

/// Converts an element of an array to a `T`. `what` names the elements in the error.
pub(super) fn downcast_element<T: Clone + Send + Sync + 'static>(
    what: &str,
    value: &Dynamic,
) -> ApiResult<T> {
    match value.clone().try_cast::<T>() {
        Some(value) => Ok(value),
        None => api_error(format!("the array must hold {what}, not `{value}`")),
    }
}

/// Converts `None` to `()`.
pub(super) fn optional(value: Option<impl Into<Dynamic>>) -> Dynamic {
    value.map_or(Dynamic::UNIT, Into::into)
}

/// Converts a number of rows or events to show.
pub(super) fn row_limit(n: INT) -> ApiResult<usize> {
    number("number of rows: write 0 or more", n)
}

/// Converts a number of columns of a terminal.
pub(super) fn table_width(columns: INT) -> ApiResult<usize> {
    number("number of columns: write 0 or more", columns)
}
