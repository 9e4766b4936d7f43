//! Call graphs and calling-context trees, as data. The crate knows no JVM.
//!
//! ```text
//!   recorder ─▶ file ─▶ CallProfile ─┬─ merge ── diff
//!                                    ├─ Selection ─┬─ methods, packages, never called     (cost)
//!                                    │             ├─ caller and callee tables           (gprof)
//!                                    │             ├─ call tree, callers upwards          (tree)
//!                                    │             └─ JSON, CSV, DOT, pprof,            (output)
//!                                    │                collapsed stacks, Firefox
//!                                    ├─ probabilistic: contexts from single numbers
//!                                    └─ bursts: when contexts are recorded
//! ```
//!
//! The *call graph* has a node for each method and an edge for each call site and each method that
//! it called. The *calling-context tree* has a node for each method and each chain of call sites
//! through which it was reached. A graph says how often `a` called `b`; a tree also says on whose
//! behalf, and which part of the time of `b` belongs to `a`.
//!
//! **Residue.** The entries of a method that no edge explains are its residue: calls by native code,
//! by the JVM, or by classes that were not recorded. Every view shows it.

pub mod bursts;
mod call;
mod context;
mod cost;
pub mod diff;
pub mod file;
mod fold;
pub mod gprof;
mod labels;
mod measure;
mod merge;
mod method;
pub mod output;
pub mod probabilistic;
mod profile;
mod selection;
pub mod tree;

pub use call::{Allocation, CallEdge, CallKind, Site, UnseenClass};
pub use context::{Context, ContextCost, ContextId, Origin, Parent, Thread, ThreadId};
pub use cost::{MethodCost, NeverCalled, PackageCost};
pub use labels::Labels;
pub use measure::Measure;
pub use method::{Loader, LoaderId, Method, MethodForm, MethodId, MethodName};
pub use profile::CallProfile;
pub use selection::{Query, QueryError, SelectedContext, Selection};
