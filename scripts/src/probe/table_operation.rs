//! The operations on tables in code at a point, by the names in plans and in probes.

use thiserror::Error;
use veneer_instruments::TallyKind;

/// Why a table has no operation of a name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum TableUsageError {
    /// Another table has the operation. The text says how this kind of table is used.
    #[error("{usage}")]
    OtherKind { usage: &'static str },
    #[error(
        "a table takes no `.{name}(…)` in code at a point: there are .count(key, …), .add(key, …, value) and .put(value, …)"
    )]
    Unknown { name: String },
}

/// The message for a wrong use of a `per_object(0)`.
pub(super) const PER_OBJECT_USAGE: &str =
    "a per_object(0) takes .set(object, value), and gives values with .get(object)";

/// Returns the name of the probe operation that reads a per-thread stack.
pub(super) fn stack_operation(operation: &str, kind: TallyKind) -> Option<&'static str> {
    match (operation, kind) {
        ("pop", TallyKind::Numbers) => Some("pop"),
        ("top", TallyKind::Numbers) => Some("top"),
        ("pop", TallyKind::Objects) => Some("take"),
        ("top", TallyKind::Objects) => Some("peek"),
        _ => None,
    }
}

/// Returns the name of the probe operation that updates a table of this kind.
pub(super) fn table_operation(
    name: &str,
    kind: TallyKind,
) -> Result<&'static str, TableUsageError> {
    use TallyKind::*;
    let usage = match (name, kind) {
        ("set", PerObject) => return Ok("set"),
        (_, PerObject) => PER_OBJECT_USAGE,
        ("push", Numbers) => return Ok("push"),
        ("push", Objects) => return Ok("keep"),
        (_, kind) if kind.is_stack() => "a per_thread(…) takes .push(value), .pop() and .top()",
        ("count", Count | Sums | Histogram | Linear(_)) => return Ok("count"),
        ("count", Rate) => return Ok("count_rate"),
        ("count", Top) => return Ok("count_top"),
        ("add", Sums | Histogram) => return Ok("add"),
        ("add", Linear(_)) => return Ok("add_linear"),
        ("add", Distinct) => return Ok("add_distinct"),
        ("put", Last) => return Ok("put"),
        ("put", Sample) => return Ok("put_sample"),
        ("count", Distinct) => "a distinct() counts different values: write .add(key, …, value)",
        ("count" | "add", Last) => "a last(n) keeps the values themselves: write .put(value, …)",
        ("count" | "add", Sample) => {
            "a sample(n) keeps the values themselves: write .put(value, …)"
        }
        ("add", Count) => "a tally() only counts: make the table with sums() or histogram()",
        ("add", Rate) => "a rate() only counts: write .count(key, …)",
        ("add", Top) => "a top(k) only counts: write .count(key, …)",
        ("put", _) => {
            "a table with keys takes .count(key, …) or .add(key, …, value); .put(…) is for last(n) and sample(n)"
        }
        (other, _) => {
            return Err(TableUsageError::Unknown { name: other.into() });
        }
    };
    Err(TableUsageError::OtherKind { usage })
}
