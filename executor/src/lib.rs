//! The agent: it inspects and changes a running Java program at the level of single basic blocks.
//! The JVM loads it through the library in `executor/agent`.
//!
//! ```text
//!   JVM events ─▶ hook (arming)  prepared (weaving)  thread end  death      application threads
//!   plan thread ─▶ scripts ─▶ runtime ─▶ woven methods ─▶ version class ─▶ cell
//!   request thread ─▶ OSR entries for activations that ask
//!   client threads ─▶ control socket
//! ```
//!
//! | folder     | content                                                              |
//! |------------|----------------------------------------------------------------------|
//! | `jvm/`     | JNI, JVMTI and the Java runtime classes                              |
//! | `data/`    | counters, event rings, aggregations, and their files                 |
//! | `observation/` | events of the JVM, for the recorder and for plans              |
//! | `classes/` | class loading: arming, retransformation, the registry of classes     |
//! | `weaving/` | join points, probes and versions of methods                          |
//! | `speedup/` | virtual speed-ups, which stop threads of the application             |
//! | `plans/`   | the plan thread, instruments, reports                                |
//! | `control/` | the control socket and its clients                                   |
//!
//! A folder may import only the folders above it in this table. `agent.rs` has the state that all
//! of them share.
//!
//! **Invariant:** no panic leaves an exported function (`guard.rs`), because a panic that reaches the
//! JVM ends the process.
//!
//! **Invariant:** no lock of the agent is held while Java code runs, because that code may call the
//! agent again.
//!
//! **Invariant:** application threads do not wait for threads of the agent, so that the agent cannot
//! stop the application. There are three exceptions, of up to 10 seconds each. Before its start, the
//! application waits for the top levels of the plans. At its end, the JVM waits for `at_exit`. A virtual
//! speed-up, which only a plan begins, stops threads on purpose.

mod agent;
mod classes;
mod control;
mod data;
mod diagnostics;
mod events;
mod guard;
mod jvm;
pub mod natives;
mod observation;
mod plans;
mod speedup;
pub mod startup;
mod weaving;
