//! Why a profile could not be written.

use thiserror::Error;

/// Why a profile could not be written.
#[derive(Debug, Error)]
pub enum OutputError {
    /// The output failed.
    #[error("the output cannot be written: {0}")]
    Io(#[from] std::io::Error),
    /// The JSON writer failed, in most cases because the output did.
    #[error("the profile cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The CSV writer failed, in most cases because the output did.
    #[error("the profile cannot be written as CSV: {0}")]
    Csv(#[from] csv::Error),
    /// A profile for the Firefox Profiler could not be written.
    #[error(transparent)]
    Firefox(#[from] veneer_firefox::FirefoxError),
    /// Formats with stacks need an index of 32 bits for each of them.
    #[error("the profile has too many stacks for this format")]
    TooLarge,
}
