//! Edge profiling: execution counts of all nodes and edges of a flow graph, from counters on as few
//! and as cold edges as possible.
//!
//! **Kirchhoff's law.** Each activation that enters a node leaves it again, so the counts of a
//! node's incoming edges and of its outgoing edges have the same sum. If the counts of all edges of
//! a node but one are known, the last count follows.
//!
//! **Placement.** The edges without a counter form a spanning tree of the graph. Knuth and
//! Stevenson prove that no placement has fewer counters (*Optimal measurement points for program
//! frequency counts*, BIT 13, 1973; cited as Knuth 1973). The tree is the spanning tree of the
//! greatest weight, where the weight of an edge is its expected count. The counters are then on the
//! edges where they cost least (Ball and Larus, *Optimally profiling and tracing programs*, TOPLAS
//! 16(4), 1994).
//!
//! ```text
//!        outside ◀────────┐            ──▶  no counter: derived from the others
//!           │             ●            ──●▶ a counter
//!           ▼             │
//!           0 ───▶ 1 ───▶ 3            count(0) = (3→outside)      count(3) = (3→outside)
//!                 ▲│                   count(2) = (2→1)
//!                 ●▼                   count(1) = (2→1) + (3→outside)
//!                  2
//! ```
//!
//! **Outside.** Exceptions also leave methods, and activations move between versions in the middle
//! of a method. Each such external entry or exit is an edge from or to the outside that always has
//! a counter ([`Edge::always_counted`]). These edges are rare, and with their counters the sums are
//! exact.
//!
//! **Running activations.** An activation that is currently inside a node has entered but not left
//! the node. If the caller passes the nodes of all running activations, the counts are exact.
//! Otherwise each running activation can change a count by one.

mod counts;
mod edge;
mod flow;
mod placement;

pub use counts::EdgeProfile;
pub use edge::{CountedEdge, Edge, Endpoint};
pub use flow::CountedGraph;
pub use placement::place_counters;
