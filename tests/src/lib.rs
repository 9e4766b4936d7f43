//! What the end-to-end tests, the demonstration and the benchmarks share.
//!
//! Everything here looks at Veneer from outside: it starts real JVMs through the command `veneer`, reads
//! the report that the command writes, and compares it with what a Java source says about itself.
//!
//! ```text
//!   tests/java/counts/Loops.java ──► program  (expectations beside the lines)
//!             │ javac (jdk)                        │
//!             ▼                                    ▼
//!   veneer run … java Loops ──► report ──►  comparison ──► failures: file:line expected/actual
//! ```
//!
//! **Invariant:** no crate of the project is linked. A fault in the agent cannot hide itself by being in the
//! test as well.

pub mod agreement;
pub mod background;
pub mod bench;
pub mod command;
pub mod comparison;
pub mod desk;
pub mod expectation;
pub mod fetched;
pub mod figures;
pub mod folder;
pub mod generator;
pub mod jars;
pub mod jdk;
pub mod live;
pub mod process;
pub mod program;
pub mod random;
pub mod report;
pub mod running;
pub mod said;
pub mod screen;
pub mod terminal;
pub mod trust;
pub mod workers;
