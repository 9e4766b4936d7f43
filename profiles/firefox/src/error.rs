//! Why a profile could not be written.

use thiserror::Error;

/// Why a profile could not be written.
#[derive(Debug, Error)]
pub enum FirefoxError {
    /// The output failed.
    #[error("the output cannot be written: {0}")]
    Io(#[from] std::io::Error),
    /// The JSON writer failed, in most cases because the output did.
    #[error("the profile cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}
