//! Views of whole traces: filters, call contexts, folded trees, the comparison of two traces, and the
//! cost of probes.

mod aligned_contexts;
mod call_contexts;
mod filter;
mod first_difference;
mod folding;
mod probe_cost;
mod significance;
mod timeline;

pub use aligned_contexts::{AlignedContext, ContextSums, align_contexts};
pub use call_contexts::{CallContext, CallContexts, differential_stacks};
pub use filter::{FilterError, FilterRule, TraceFilter};
pub use first_difference::{Difference, DifferenceSide, first_difference};
pub use folding::{CorrectedTimes, FoldedItem, FoldedNode, FoldingOptions, NodeName, fold_thread};
pub use probe_cost::{EmptyCall, empty_calls, probe_cost};
pub use significance::{MethodComparison, MethodTimes, compare_methods};
pub use timeline::{Timeline, TimelineBox, TimelineSummary, TimelineView, timeline};
