//! The search, driven by a simulator of programs with known bottlenecks.
//!
//! The simulator runs call trees event by event in simulated time, with random durations from
//! stated seeds, and charges the cost of each probe and stack sample to the program. It knows the
//! true share of each place, so the tests state how often the search finds what is there, and how
//! often it reports what is not.

mod bad_input;
mod detection;
mod draw;
mod driver;
mod fuzz;
mod locality;
mod loops;
mod machine;
mod pictures;
mod program;
mod programs;
mod records;
mod strategies;
