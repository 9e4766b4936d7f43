//! Events of the JVM: contention, waits, threads, collections, classes and compilations.
//!
//! ```text
//!   recorder: kinds of its filter ─┐
//!                                  ├─▶ subscriptions ─▶ JVMTI ─▶ callbacks ─┬─▶ the thread's own events file
//!   plans: kinds of on("gc", …)  ──┘                                        └─▶ queue ─▶ plan thread
//! ```
//!
//! A kind is enabled in the JVM only while a recorder or a plan asks for it. The JVM calls the
//! callbacks on the thread of the event, and for collections on a thread of its own while all
//! application threads are stopped. There a callback may use neither JNI nor most of JVMTI.

pub mod callbacks;
pub mod heap_sampler;
pub mod queue;
pub mod sampled_objects;
pub mod subscriptions;
