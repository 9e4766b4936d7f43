//! Plans at run time: the thread that runs them, what they have attached, and the reports about it.
//! A *plan* is a Rhai script that attaches instruments or patches.

pub mod agent_threads;
pub mod budget;
pub mod class_code;
pub mod class_code_error;
pub mod class_unloading;
pub mod cost_sample;
pub mod derived_counts;
pub mod detach;
pub mod heap_recording;
pub mod instrument_registry;
pub mod jobs;
pub mod journal_records;
pub mod lifetimes;
pub mod outbox;
pub mod own_counters;
pub mod plan_instances;
pub mod plan_loop;
pub mod plan_output;
pub mod protocol_forms;
pub mod readings;
pub mod repl;
pub mod report;
pub mod runtime;
pub mod status;
pub mod thread_bound;
pub mod unload;
pub mod warnings;
