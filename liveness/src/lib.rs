//! Data-flow analyses over fragment graphs: live variables, dominators and natural loops.
//!
//! A *fragment* is a basic block, or a larger single-entry region of a method. A fragment graph is
//! a [`petgraph`] directed graph whose nodes read and write numbered *variables*. For every node
//! this crate computes the live variables, the dominators, and the loops that contain the node.
//!
//! This crate has no knowledge of Java. The caller numbers local variables first and operand-stack
//! slots after them. The caller describes each node by a [`UseDef`] and each edge by an
//! [`EdgeTransfer`].
//!
//! ```text
//!                         live_in(n0) = {a}
//!                      ┌──────────────────────┐
//!          ┌──────────▶│ n0  uses a   defs b  │- - - - - - - ┐ exceptional: taken from
//!          │           └──────────┬───────────┘              ╎ any point inside n0, so b
//!          │  live_out(n0) = {b}  │                          ╎ may not be written yet
//!          │                      ▼ normal: b is written     ▼
//!          │           ┌──────────────────────┐     ┌──────────────────┐
//!          └───────────│ n1  uses b   defs a  │     │ n2  uses a       │
//!         back edge    └──────────────────────┘     └──────────────────┘
//!     (n0 dominates n1:                              live_in(n2) = {a}, so a is live
//!      a loop, header n0)                            throughout n0; a stack slot would
//!                                                    not survive this edge
//! ```
//!
//! | question | function or type |
//! | --- | --- |
//! | Which variables may be read after this node before they are written again? | [`liveness()`] |
//! | In which order should a forward problem be solved? | [`reverse_postorder`] |
//! | Does every path from the entry to `b` contain `a`? | [`Dominators`] |
//! | Which loops exist, how do they nest, and which cycles are irreducible? | [`loops()`] |
//!
//! All results are indexed by [`NodeIndex::index`](petgraph::graph::NodeIndex::index). No function
//! of this crate panics on any graph:
//!
//! * a missing effect counts as empty;
//! * bits past the width are ignored;
//! * unreachable nodes are solved like all others.
//!
//! ```
//! use petgraph::graph::DiGraph;
//! use veneer_liveness::{UseDef, EdgeTransfer, liveness};
//!
//! let mut graph = DiGraph::<(), EdgeTransfer>::new();
//! let (n0, n1, n2) = (graph.add_node(()), graph.add_node(()), graph.add_node(()));
//! graph.add_edge(n0, n1, EdgeTransfer::Normal);
//! graph.add_edge(n0, n2, EdgeTransfer::Exceptional);
//!
//! let (a, b) = (0, 1);
//! let mut use_def = vec![UseDef::new(2); 3];
//! use_def[n0.index()].write(a);
//! use_def[n1.index()].read(a);
//! use_def[n2.index()].read(b);
//!
//! let live = liveness(&graph, 2, 2, &use_def, |edge| graph[edge]);
//! assert!(live.live_out[n0.index()][a], "n1 reads it");
//! assert!(!live.live_in[n0.index()][a], "n0 writes it first");
//! assert!(live.live_in[n0.index()][b], "the handler n2 reads it");
//! ```

mod dominators;
mod effect;
mod liveness;
mod loops;
mod order;
mod set;
mod worklist;

pub use dominators::Dominators;
pub use effect::{EdgeTransfer, UseDef};
pub use liveness::{Liveness, liveness};
pub use loops::{Loop, LoopForest, LoopId, loops};
pub use order::reverse_postorder;
pub use set::BitSet;
