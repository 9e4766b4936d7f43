//! The vocabulary for the measurements of instruments, shared by all crates.
//!
//! ```text
//!   agent ── PointRow, EntryMetrics, RefusalRow ─┬──▶ plans        functions of handles
//!     │                                          ├──▶ tables       text for readers
//!     └── metadata journal, data directory ──────┴──▶ protocol     JSON: report, updates, journal
//! ```
//!
//! The types have one JSON form, which is that of the report. Everything else is converted at the
//! wire, in `veneer-protocol` and in the agent's report.

mod edit;
mod entry_metrics;
mod event_value;
mod histogram_buckets;
mod id;
mod measurement;
mod point;
mod refusal;

pub use edit::EditKind;
pub use entry_metrics::{Bucket, EntryMetrics, SecondCount};
pub use event_value::EventValue;
pub use histogram_buckets::{HISTOGRAM_BUCKETS, bucket_bounds, bucket_range, bucket_start};
pub use id::{IdError, InstrumentId, PatchId, PlanInstanceId};
pub use measurement::Measurement;
pub use point::PointRow;
pub use refusal::RefusalRow;
