//! Converts event traces. Each converter reads the trace once and holds a part of it only, so the
//! length of a trace is not limited by the memory. [`write_profile`] holds one thread.

mod error;
mod firefox;
mod otlp;
mod parquet;
mod perfetto;

pub use error::TraceExportError;
pub use firefox::write_profile;
pub use otlp::write_spans;
pub use parquet::{ParquetRows, write_nodes};
pub use perfetto::write_slices;
