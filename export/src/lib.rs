//! Figures of a JVM in the forms that other programs read.
//!
//! ```text
//!   Report ─ Scope ─┬─▶ metric ─┬─▶ openmetrics   text, for Prometheus and its kin
//!                   │           └─▶ otlp          protobuf or JSON, for OpenTelemetry collectors
//!                   ├─▶ collapsed                 stacks, for flame graphs
//!                   ├─▶ csv                       a row for each point and each entry
//!                   └─▶ json                      the report itself
//!   Update, Update, … ───▶ perfetto               a trace: what was logged, and counters over time
//! ```
//!
//! The crate knows no connection and no file: it turns values of `veneer-protocol` into bytes.

pub mod collapsed;
pub mod csv;
pub mod descriptor;
pub mod metric;
pub mod openmetrics;
pub mod otlp;
pub mod perfetto;
mod scope;

pub use scope::Scope;
