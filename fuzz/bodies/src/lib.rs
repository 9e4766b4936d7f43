//! What the fuzz targets do with an input, as functions: libFuzzer calls them with inputs that it makes up,
//! `cargo test` with those that are kept in `fuzz/corpus`.
//!
//! ```text
//!   reader     any bytes ─▶ class file, code, stack maps ─▶ the same bytes again, or an error
//!   pipeline   class file + choices ─▶ arm, edit, emit ─▶ the verifier accepts it, or a refusal
//!   maps       class file + damage ─▶ version 50 raised to 51 ─▶ the type checker accepts it, or a refusal
//!   plans      any text ─▶ a plan loaded, its timers run ─▶ within the limits, or an error
//!   protocol   any bytes in any pieces ─▶ messages ─▶ the same messages again, or an error
//!   patterns   any text ─▶ a pattern ─▶ text ─▶ the same pattern, or an error
//! ```
//!
//! A body panics where a promise is broken, and only there. Memory is counted by [`memory`], so that its bounds hold in
//! both kinds of run.

pub mod maps;
pub mod memory;
pub mod mutation;
pub mod patterns;
pub mod pipeline;
pub mod plans;
pub mod protocol;
pub mod reader;
mod recorder;

#[path = "../../../fragmenter/tests/arming_support/mod.rs"]
mod verifier;
