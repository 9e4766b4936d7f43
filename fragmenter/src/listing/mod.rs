//! Listings of a method's fragments (basic blocks or larger single-entry regions), as text, as a
//! Graphviz graph, and as JSON.
//!
//! ```text
//!   Method ─┬─ regions ──┐
//!           ├─ points ───┼─▶ MethodListing ─┬─▶ text     aligned, at most 100 columns
//!           └─ layout ───┘                  ├─▶ dot      Graphviz
//!                                           └─▶ serde    field names are part of the public interface
//! ```
//!
//! A listing holds only texts and numbers, so it can outlive the class file.

mod dot;
mod edited;
mod flow_graph;
mod method;
mod method_listing;
mod summary;
mod text;
mod variables;

pub use dot::TypeNames;
pub use edited::edited;
pub use flow_graph::{GraphListing, ParameterListing, PlaceListing, graph};
pub use method::from_class_file;
pub use method_listing::{
    BlockListing, EdgeListing, FragmentListing, HandlerListing, MethodListing, PointListing,
    RefusalListing, VariableListing,
};
pub use summary::{ClassListing, heading};
pub use text::WIDTH;
