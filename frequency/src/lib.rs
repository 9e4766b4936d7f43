//! How often everything in a flow graph ran, from counters on as few and as cold edges as can be.
//!
//! What goes into a node comes out of it. So not every edge needs a counter: where the counts of all edges of a node but one
//! are known, the last follows. The edges without a counter form a spanning tree of the graph (Knuth and Stevenson, *Optimal
//! measurement points for program frequency counts*, BIT 13, 1973); if it is the one of the greatest weight, where an
//! edge weighs as much as it is expected to be passed, the counters stand where they cost least (Ball and Larus,
//! *Optimally profiling and tracing programs*, TOPLAS 16(4), 1994).
//!
//! ```text
//!        outside ◀────────┐            ──▶  no counter: follows from the others
//!           │             ●            ──●▶ a counter
//!           ▼             │
//!           0 ───▶ 1 ───▶ 3            count(0) = (3→outside)      count(3) = (3→outside)
//!                 ▲│                   count(2) = (2→1)
//!                 ●▼                   count(1) = (2→1) + (3→outside)
//!                  2
//! ```
//!
//! Methods are left by exceptions too, and activations come and go between versions in the middle of a method. Each such way
//! is an edge from or to the outside that always has a counter ([`Edge::always`]); it is rare, and with it the sums come out
//! exactly. An activation that stands in a node right now has gone in and not yet out: whoever knows where they stand gets exact
//! figures; else figures may be off by one for each of them.

mod counts;
mod edge;
mod flow;
mod placement;

pub use counts::Counts;
pub use edge::{Edge, Node};
pub use flow::{Flow, Line};
pub use placement::place;
