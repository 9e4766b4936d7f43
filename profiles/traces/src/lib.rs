//! Event traces of Java threads: the format, a writer, a reader, and what can be asked of a trace.
//!
//! ```text
//!   ThreadWriter, NamesWriter ──▶ trace directory ──▶ Trace ─┬─▶ query    rows, groups
//!                                  names                     ├─▶ folding  a tree to read
//!                                  thread-1.events           └─▶ diff     two traces
//!                                  thread-2.events …
//! ```
//!
//! A recorder writes 8 bytes per event into one file per thread. Everything else is derived by the
//! reader: the tree of calls, the processor time of each call, and times without the cost of
//! observing. The specification of the format is `docs/traces.md`.
//!
//! The idea is that of JPMT: Harkema et al., "Performance Monitoring of Java Applications" (WOSP
//! 2002).

pub mod analysis;
pub mod error;
pub mod format;
pub mod query;
pub mod reader;
pub mod writer;

pub use error::TraceError;
pub use format::names::NameRecord;
pub use reader::{
    ContextNode, ContextTree, Findings, Names, Node, ProcessorTimes, Submission, ThreadTrace,
    Trace, Visitor,
};
