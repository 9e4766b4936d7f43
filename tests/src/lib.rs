//! Shared code of the end-to-end tests, the demonstration and the benchmarks.
//!
//! Everything in this crate looks at Veneer from outside. It starts real JVMs through the command
//! `veneer` and reads the report that the command writes. It compares the report with the
//! expectations that a Java source states in its comments.
//!
//! ```text
//!   tests/java/counts/Loops.java ──► program  (expectations beside the lines)
//!             │ javac (jdk)                        │
//!             ▼                                    ▼
//!   veneer run … java Loops ──► report ──►  comparison ──► failures: file:line expected/actual
//! ```
//!
//! **Invariant:** no crate of the project is linked. Otherwise a fault in the agent's code could be
//! in the test as well, and the test would not notice it.

pub mod arguments;
pub mod background;
pub mod bench;
pub mod browser;
pub mod call_oracle;
pub mod call_window;
pub mod class_cache;
pub mod command;
pub mod comparison;
pub mod downloads;
pub mod equivalence;
pub mod expectation;
pub mod firefox_profiler;
pub mod folder;
pub mod generator;
pub mod house;
pub mod huge_method;
pub mod jars;
pub mod java_programs;
pub mod jdk;
pub mod live;
pub mod machine;
pub mod mcp_client;
pub mod observing_cost;
pub mod output;
pub mod page_server;
pub mod phases;
pub mod process;
pub mod program;
pub mod random;
pub mod report;
pub mod sample_service;
pub mod screen;
pub mod skip;
pub mod terminal;
pub mod trace_recording;
pub mod trace_rows;
pub mod trust;
pub mod wide_classes;
pub mod wide_page;
pub mod workers;
