//! Virtual speed-ups: an agent thread watches the stacks of all threads, and stops threads for the time
//! by which others are to be faster.
//!
//! ```text
//!   plan thread ── begin ─▶ Speedups ◀── wait, finish ── observer thread
//!        ▲                     │                            │  each 2 ms: stacks ─▶ place ─▶ ledger
//!        └── end: window ◀─────┘                            └▶ stop and resume threads that owe time
//! ```
//!
//! The method is that of Coz (Curtsinger and Berger, SOSP 2015, section 3). Coz samples the processor
//! time of threads; this observer looks at all threads at random times, so that waiting in a method, such
//! as for a disk, can be sped up too.
//!
//! **Invariant:** each stopped thread is resumed when its speed-up ends, also if the observer panics.

pub mod ledger;
pub mod observer;
pub mod place;
pub mod speedups;
