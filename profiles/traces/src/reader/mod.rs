//! Reads traces that may be truncated, damaged, sparse, or written by a later minor version.
//!
//! ```text
//!   names file ──▶ Names ──────────────┐
//!   events file ─▶ SegmentTable ─▶ EventReader ─▶ TreeBuilder ─▶ Visitor: enter, instant, leave
//!                                                     ▲
//!                       ThreadIndex ── snapshots ─────┘
//! ```

mod arguments;
mod byte_source;
mod codec;
mod context_tree;
mod events;
mod findings;
mod index;
mod index_file;
mod name_table;
mod pyramid;
mod segment_table;
mod thread_trace;
mod trace;
mod tree;

pub use arguments::{Argument, arguments};
pub use byte_source::ByteSource;
pub use context_tree::{ContextNode, ContextTree, ProcessorTimes, Submission};
pub use events::{EventReader, Step};
pub use findings::Findings;
pub use index::{FrameShare, SegmentSummary, ThreadIndex};
pub use name_table::{FrameSlot, Names, ProbeCost, UNKNOWN_FRAME};
pub use pyramid::{ZoomBucket, ZoomPyramid};
pub use segment_table::{SegmentPlace, SegmentTable};
pub use thread_trace::ThreadTrace;
pub use trace::{Trace, TraceThread};
pub use tree::{Ending, Node, OpenNode, TreeBuilder, Visitor};
