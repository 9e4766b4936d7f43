//! Code at a point: what a plan's closure becomes before it is bytecode.
//!
//! ```text
//!   closure of a plan ─▶ Code (a tree, no types)           once, when the plan attaches it
//!                          │   for each point: Scope says which variables are live there, and what fields their classes have
//!                          ▼
//!                        Method (typed steps, one frame)   what does not fit is refused with its place in the plan
//!                          │
//!                          ▼
//!                        a static method of the version    `probe$7(live values)V`, which the JIT compiler inlines
//! ```
//!
//! A probe reads and never writes what is the application's: variables, fields, elements. It calls nothing of the application (where
//! the plan does not ask for it: `Shape::Invoke`), allocates nothing (but for the first value of an object) and takes no lock. Integers of all widths are 64-bit numbers in it, `float` is `double`; a field of `null` is
//! `0`, `0.0`, `false` or `null`. What it writes are tables of its own.
//!
//! All steps between two labels leave the stack empty at the labels, and every variable of the probe has a value from its
//! beginning, so one stack map frame serves for all labels of a method.
//! This crate knows neither Rhai nor class files.

pub mod compile;
pub mod error;
pub mod function;
pub mod scope;
pub mod step;
mod text;
pub mod tree;
pub mod ty;

pub use compile::{Method, compile};
pub use error::{ProbeError, Reason};
pub use scope::{Field, Scope};
pub use step::{Callee, Label, Step};
pub use tree::{Code, Expr, Operator, Place, Shape, Statement};
pub use ty::Ty;
