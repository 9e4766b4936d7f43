//! Reads class files, analyses their methods and emits instrumented class files. This crate
//! contains all bytecode knowledge of Veneer. It has no connection to a JVM.
//!
//! A *fragment* is a basic block, or a larger single-entry region of a method.
//!
//! ```text
//!   bytes ─▶ classfile ─▶ method (flow graph, types, liveness, loops, monitors)
//!                           ├─▶ points ─▶ arming   the method's own code with a check at each
//!                           │                      capture point, and the anchor with the cells
//!                           └─▶ patch ─▶ version   a hidden class with the method along its
//!                                                  edited graph, instruments inlined
//! ```
//!
//! **Invariant:** No code in this crate loads a class, calls a JVM or needs to know a class
//! hierarchy. **Invariant:** Whatever the crate cannot do is reported as a named [`Refusal`]. The
//! crate does not panic on any class file.

pub mod advice;
pub mod anchor;
pub mod arming;
pub mod bootstrap;
pub mod bytecode;
pub mod call_counters;
pub mod cell_path;
pub mod check;
pub mod classfile;
pub mod code_hash;
pub mod counted_steps;
pub mod counting;
pub mod descriptor;
pub mod devirtualisation;
pub mod duplication;
mod edit_conditions;
pub mod edit_points;
pub mod endless;
pub mod flowgraph;
pub mod frames;
pub mod guard_outcome;
pub mod hotspot;
pub mod inference;
pub mod listing;
pub mod method;
pub mod monitors;
mod node_copies;
mod osr_exit;
pub mod outline;
pub mod patch;
pub mod patched_node;
mod point_values;
pub mod points;
pub mod policy;
pub mod readable;
pub mod refusal;
pub mod regions;
pub mod runtime;
pub mod specialisation;
pub mod split;
pub mod types;
mod unswitching;
pub mod use_def;
mod value_type;
pub mod verify;
pub mod version;

pub use refusal::Refusal;
