//! Class files in, fragments out: the part of Veneer that knows bytecode and no JVM.
//!
//! ```text
//!   bytes ─▶ classfile ─▶ method (flow graph, types, liveness, loops, monitors)
//!                            ├─▶ points ─▶ arming     the method's own code plus capture points, and its anchor class
//!                            └─▶ patch ─▶ version     the method as fragments along the edited graph, instruments inlined
//! ```
//!
//! **Invariant:** nothing here loads a class, asks a JVM, or needs to know a class hierarchy.
//! **Invariant:** what cannot be done is a [`Refusal`] with a name; nothing here panics on what a class file holds.

pub mod advice;
pub mod anchor;
pub mod arming;
pub mod bootstrap;
pub mod bytecode;
mod capture;
pub mod cell_path;
pub mod check;
pub mod classfile;
pub mod counting;
pub mod descriptor;
pub mod edit_points;
pub mod flowgraph;
pub mod frames;
pub mod inference;
pub mod listing;
pub mod metadata;
pub mod method;
pub mod monitors;
pub mod outline;
pub mod patch;
pub mod points;
pub mod policy;
pub mod readable;
pub mod refusal;
pub mod regions;
pub mod runtime;
pub mod types;
pub mod verify;
pub mod version;

pub use refusal::Refusal;
