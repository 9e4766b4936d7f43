//! The bytes of a trace: event words, segment headers and records of the names file.
//! `docs/traces.md` is the specification.

pub mod context_node;
pub mod names;
pub mod segment;
pub mod word;

/// The version of the format that this crate writes. Readers refuse a higher major version and
/// accept a higher minor version.
pub const VERSION: (u16, u16) = (1, 0);
/// File name of the names file.
pub const NAMES_FILE: &str = "names";
/// First part of the file name of an events file: `thread-7.events`.
pub const EVENTS_PREFIX: &str = "thread-";
/// Last part of the file name of an events file.
pub const EVENTS_SUFFIX: &str = ".events";

/// The file name of the events of a thread.
pub fn events_file(thread: u32) -> String {
    format!("{EVENTS_PREFIX}{thread}{EVENTS_SUFFIX}")
}
