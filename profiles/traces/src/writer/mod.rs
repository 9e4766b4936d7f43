//! Writes traces: a names file, and an events file for each thread.

mod event_arguments;
mod names_writer;
mod thread_writer;

pub use event_arguments::ArgumentValue;
pub use names_writer::NamesWriter;
pub use thread_writer::{SegmentRing, ThreadWriter, WriterOptions, WriterPosition};
