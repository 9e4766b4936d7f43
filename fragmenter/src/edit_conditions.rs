//! Conditions on the fragments of an edit ([`crate::patch`]).

use crate::flowgraph::{Fragment, FragmentId};
use crate::method::Method;
use crate::refusal::Refusal;

/// Whether a position in a fragment lies before the end of `super(…)` or `this(…)`. `position`
/// returns an instruction index. Versions contain no code from before this call.
pub(crate) fn before_super(
    method: &Method,
    f: FragmentId,
    position: impl Fn(&Fragment) -> usize,
) -> bool {
    let begins = method.after_super.unwrap_or(0);
    method.flow.get(f).is_some_and(|f| position(f) <= begins)
}

/// Checks that a fragment is no exception handler.
pub(crate) fn refuse_handler(method: &Method, f: FragmentId) -> Result<(), Refusal> {
    let start = method.flow.get(f).map(|f| f.start);
    if method
        .code
        .exceptions
        .iter()
        .any(|e| Some(e.handler) == start)
    {
        Err(Refusal::HandlerEdited(f.0))
    } else {
        Ok(())
    }
}
