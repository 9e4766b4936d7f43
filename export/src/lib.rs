//! Converts reports and updates of an agent into formats of other tools.
//!
//! ```text
//!   Report ─ Scope ─┬─▶ metric ─┬─▶ openmetrics   text, for Prometheus and compatible scrapers
//!                   │           └─▶ otlp          protobuf or JSON, for OpenTelemetry collectors
//!                   ├─▶ collapsed                 collapsed stacks, for flame graphs
//!                   ├─▶ csv                       one row per point and per table entry
//!                   └─▶ json                      the report itself
//!   Update, Update, … ───▶ perfetto               a trace: logged values, and counters over time
//!   event trace ─────────▶ trace                  Perfetto, the Firefox Profiler, OpenTelemetry spans, Parquet
//! ```
//!
//! The crate opens no connection and writes no file. It converts values of `veneer-protocol` and
//! event traces into bytes.

pub mod collapsed;
pub mod csv;
pub mod metric;
pub mod openmetrics;
pub mod otlp;
pub mod perfetto;
mod scope;
pub mod trace;

pub use scope::ExportScope;
