//! The formats in which other programs read a profile.
//!
//! | format | for | has |
//! | --- | --- | --- |
//! | [`json`] | scripts | everything; `docs/calls.schema.json` is its schema |
//! | [`csv`] | spreadsheets | methods, edges, allocations and contexts, a row each |
//! | [`dot`] | Graphviz | methods and edges |
//! | [`pprof`] | `go tool pprof` and compatible programs | contexts, or else edges |
//! | [`collapsed`] | flame graphs | contexts, or else edges |
//! | [`firefox`] | the Firefox Profiler | contexts, or else edges |
//!
//! A profile without contexts has no stacks. [`stacks`] then makes a stack of two frames from each
//! edge, and a stack of one frame from the residue of each method.

pub mod collapsed;
pub mod csv;
pub mod dot;
pub mod firefox;
pub mod json;
pub mod pprof;
pub mod stacks;

use thiserror::Error;

/// Why a profile could not be written.
#[derive(Debug, Error)]
pub enum OutputError {
    /// The output failed.
    #[error("the output cannot be written: {0}")]
    Io(#[from] std::io::Error),
    /// The JSON writer failed, in most cases because the output did.
    #[error("the profile cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The CSV writer failed, in most cases because the output did.
    #[error("the profile cannot be written as CSV: {0}")]
    Csv(#[from] ::csv::Error),
    /// Formats with stacks need an index of 32 bits for each of them.
    #[error("the profile has too many stacks for this format")]
    TooLarge,
}
