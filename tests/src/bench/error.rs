//! Conversion of errors.

use crate::trust::part::TrustError;

/// Converts any displayable error to a `TrustError`.
pub(crate) fn other(error: impl std::fmt::Display) -> TrustError {
    TrustError::Other(error.to_string())
}
