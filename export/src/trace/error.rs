//! The errors of converting a trace.

use std::io;

use thiserror::Error;
use veneer_traces::TraceError;
use veneer_traces::query::RunError;

/// Why a trace could not be converted.
#[derive(Debug, Error)]
pub enum TraceExportError {
    /// The trace could not be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The rows of the trace could not be read.
    #[error(transparent)]
    Rows(#[from] RunError),
    /// The output could not be written.
    #[error("the trace cannot be written: {0}")]
    Write(#[from] io::Error),
    /// A profile for the Firefox Profiler could not be written.
    #[error(transparent)]
    Firefox(#[from] veneer_firefox::FirefoxError),
    /// A row could not be encoded as Parquet.
    #[error("the rows cannot be written as Parquet: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
}
