//! The typed intermediate representation of probes.
//!
//! A *probe* is a closure of a plan that runs at a join point. This crate compiles the closure into
//! typed steps, which another crate emits as bytecode.
//!
//! ```text
//!   closure of a plan ─▶ Code (a tree, no types)     once, when the plan attaches it
//!                          │
//!                          │   for each point: Scope names the variables that are live there,
//!                          │   and the fields of their classes
//!                          ▼
//!                        Method (typed steps)         a type error is refused with its position
//!                          │                          in the plan
//!                          ▼
//!                        a static method of the       `run0(live values)V`, which the JIT
//!                        version                      compiler inlines
//! ```
//!
//! **Restrictions.** A probe neither changes the state of the application nor waits for it:
//!
//! * A probe reads variables, fields and array elements of the application and never writes them.
//! * A probe calls no method of the application, unless the plan asks for it
//!   ([`ExprKind::Invoke`]). The restrictions then do not apply to the called methods.
//! * A probe takes no lock.
//! * A probe allocates no memory, except for the first value of an object.
//! * A probe writes only to the tables of its plan.
//!
//! **Values.** All Java integer types become 64-bit integers, and `float` becomes `double`. A field
//! of `null` reads as `0`, `0.0`, `false` or `null`.
//!
//! **Stack maps.** The operand stack is empty at every label, and every variable of the probe has a
//! value from the start of the method. One stack-map frame therefore describes all labels of a
//! method.
//!
//! This crate depends neither on Rhai nor on the class-file format.

pub mod compile;
pub mod error;
pub mod function;
mod object_lives;
pub mod scope;
pub mod step;
mod text;
pub mod tree;
pub mod ty;

pub use compile::{ProbeMethod, compile};
pub use error::{ProbeError, Reason};
pub use object_lives::follows_objects;
pub use scope::{Field, Scope};
pub use step::{Callee, Label, ProbeStep};
pub use tree::{Expr, ExprKind, KeptStacks, Operator, ProbeCode, SourcePosition, Statement};
pub use ty::Ty;
