//! Numbers in the output of programs.

use std::str::FromStr;

use crate::trust::part::TrustError;

/// Parses a number that a program has printed.
pub(crate) fn printed_number<N: FromStr>(text: &str) -> Result<N, TrustError> {
    text.trim().parse().map_err(|_| TrustError::Missing {
        wanted: "number",
        found: text.to_string(),
    })
}
