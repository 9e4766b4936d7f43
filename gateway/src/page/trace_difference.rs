//! The comparison of two traces, as `veneer trace diff` prints it.

use std::path::Path;

use serde::Serialize;
use veneer_traces::analysis::{
    Difference, DifferenceSide, MethodComparison, compare_methods, first_difference,
};

use super::api_error::ApiError;
use super::opened_trace::{open, unreadable};

/// The most threads and methods of an answer.
const MAX_THREADS: usize = 200;
const MAX_METHODS: usize = 500;

/// Two traces in comparison.
#[derive(Debug, Serialize)]
pub struct TraceDifference {
    /// The first difference of each thread that differs.
    pub threads: Vec<ThreadDifference>,
    pub threads_left_out: usize,
    /// The methods, with the largest difference of total time first.
    pub methods: Vec<MethodRow>,
    pub methods_left_out: usize,
}

/// The first difference of a thread.
#[derive(Debug, Serialize)]
pub struct ThreadDifference {
    pub name: String,
    /// The number of equal entries before.
    pub entries: u64,
    /// The open calls of both, the outermost first.
    pub path: Vec<String>,
    /// The event in each trace; `null` if it has no such thread.
    pub a: Option<Side>,
    pub b: Option<Side>,
}

/// An event of one trace.
#[derive(Debug, Serialize)]
pub struct Side {
    pub thread: u32,
    pub event: String,
    /// Nanoseconds since the beginning of the trace.
    pub at: u64,
}

/// A method in both traces. Times are nanoseconds.
#[derive(Debug, Serialize)]
pub struct MethodRow {
    pub method: String,
    pub calls: [u64; 2],
    pub wall: [u64; 2],
    /// The duration of a call in the second trace, divided by that in the first, and the bounds of the 95 %
    /// confidence interval; `null` with fewer than 30 calls in a trace.
    pub ratio: Option<[f64; 3]>,
    /// The probability of such a difference without a cause.
    pub error: Option<f64>,
}

/// Compares two traces.
///
/// # Errors
/// A trace cannot be read.
pub fn difference(a: &Path, b: &Path) -> Result<TraceDifference, ApiError> {
    let (a, b) = (open(a)?, open(b)?);
    let threads = first_difference(&a, &b).map_err(|error| unreadable(&error))?;
    let methods = compare_methods(&a, &b).map_err(|error| unreadable(&error))?;
    Ok(TraceDifference {
        threads_left_out: threads.len().saturating_sub(MAX_THREADS),
        threads: threads
            .into_iter()
            .take(MAX_THREADS)
            .map(of_thread)
            .collect(),
        methods_left_out: methods.len().saturating_sub(MAX_METHODS),
        methods: methods
            .into_iter()
            .take(MAX_METHODS)
            .map(of_method)
            .collect(),
    })
}

fn of_thread(one: Difference) -> ThreadDifference {
    let side = |side: DifferenceSide| Side {
        thread: side.thread,
        event: side.event,
        at: side.at_ns,
    };
    ThreadDifference {
        name: one.name,
        entries: one.entries,
        path: one.path,
        a: one.a.map(side),
        b: one.b.map(side),
    }
}

fn of_method(one: MethodComparison) -> MethodRow {
    MethodRow {
        method: one.method,
        calls: [one.a.calls, one.b.calls],
        wall: [one.a.wall_ns, one.b.wall_ns],
        ratio: one.ratio.map(|(ratio, low, high)| [ratio, low, high]),
        error: one.probability,
    }
}
