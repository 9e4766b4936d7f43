//! The bodies of the fuzz targets, as functions of an input. libFuzzer calls them with generated
//! inputs; `cargo test` calls them with the inputs that are kept in `fuzz/corpus`.
//!
//! ```text
//!   reader     any bytes ─▶ class file, code, stack maps ─▶ the same bytes again, or an error
//!   pipeline   class file + choices ─▶ arm, edit, emit ─▶ the verifier accepts it, or a refusal
//!   maps       class file + damage ─▶ version 50 raised to 51 ─▶ accepted by the type checker,
//!              or a refusal
//!   plans      any text ─▶ a plan loaded, its timers run ─▶ within the limits, or an error
//!   protocol   any bytes in any pieces ─▶ messages ─▶ the same messages again, or an error
//!   traces     any bytes ─▶ names and events of a trace ─▶ a tree, the same from each snapshot
//!   patterns   any text ─▶ a pattern ─▶ text ─▶ the same pattern, or an error
//!   calls      any bytes ─▶ a call profile ─▶ the same file again, and every view, or an error
//!   caches     a description + accesses ─▶ the outcomes of the naive model, or an error
//!   profiles   any bytes ─▶ a memory profile ─▶ the same profile again, or an error
//! ```
//!
//! A body panics if and only if the tested code breaks a promise. [`memory`] counts allocated
//! bytes, so the memory bounds are checked both by libFuzzer and by `cargo test`.

pub mod caches;
pub mod calls;
pub mod maps;
pub mod memory;
pub mod mutation;
pub mod patterns;
pub mod pipeline;
pub mod plans;
pub mod profiles;
pub mod protocol;
pub mod reader;
mod recorder;
pub mod traces;

#[path = "../../../fragmenter/tests/arming_support/mod.rs"]
mod verifier;

#[path = "../../../profiles/memory/tests/naive/mod.rs"]
mod naive;
