//! Views of whole traces: filters, call contexts, folded trees, and the comparison of two traces.

mod call_contexts;
mod filter;
mod first_difference;
mod folding;
mod significance;

pub use call_contexts::{CallContext, CallContexts, differential_stacks};
pub use filter::{FilterError, FilterRule, TraceFilter};
pub use first_difference::{Difference, DifferenceSide, first_difference};
pub use folding::{FoldedItem, FoldedNode, FoldingOptions, fold_thread};
pub use significance::{MethodComparison, MethodTimes, compare_methods};
