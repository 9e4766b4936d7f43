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
mod error;
pub mod firefox;
pub mod json;
pub mod pprof;
pub mod stacks;

pub use error::OutputError;
