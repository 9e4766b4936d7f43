//! The data plane: counters, ring buffers of events, and aggregation maps in mapped files.
//!
//! The files are in the data directory of the JVM. The command can read counters and events from
//! there after the JVM has ended.

pub mod access_form;
pub mod aggregations;
pub mod append_file;
pub mod call_stacks;
pub mod class_facts_file;
pub mod clock;
pub mod coarse_clock;
pub mod complete_calls;
pub mod context_file;
pub mod data_directory;
pub mod event_log;
pub mod lifetime_recorder;
pub mod memory;
pub mod metadata_journal;
pub mod monotonic;
pub mod processor_clock;
pub mod recorder;
pub mod rings;
#[cfg(test)]
pub mod scratch;
pub mod shards;
pub mod thread_age;
pub mod time_stamp_counter;
pub mod trace_clock;
