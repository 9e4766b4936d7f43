//! The agent: a library that the JVM loads, and that lets plans look into and change the running program.
//!
//! ```text
//!   JVM events ─▶ hook (arming)  prepared (weaving)  thread end  death      application threads, no lock held over Java
//!   plan thread ─▶ scripts ─▶ runtime ─▶ methods ─▶ version class ─▶ cell
//!   request thread ─▶ resume bodies for activations that ask
//!   client threads ─▶ control socket
//! ```
//!
//! **Invariant:** no panic leaves an exported function. **Invariant:** the application's threads wait for no thread of the agent
//! (the wait for the first plans, before the application starts, and for the last figures, after it ended, aside).

mod agent;
mod classes;
mod control;
mod data;
mod diagnostics;
mod events;
mod guard;
mod jvm;
pub mod natives;
mod plans;
pub mod startup;
mod weaving;
