//! The ids of instruments (`i7`) and patches (`p7`).
//!
//! The runtime numbers instruments and patches separately, from 1, and never reuses a number. An id
//! that a script has kept therefore never refers to another instrument.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The id of an attached instrument, displayed as `i7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InstrumentId(pub u32);

/// The id of an edit of the flow graph that can be undone, displayed as `p7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PatchId(pub u32);

impl fmt::Display for InstrumentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "i{}", self.0)
    }
}

impl fmt::Display for PatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}", self.0)
    }
}

/// The error for a text that is not an id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no id: write `{letter}` and a number, as in `{letter}7`")]
pub struct IdError {
    text: String,
    letter: char,
}

fn number(text: &str, letter: char) -> Result<u32, IdError> {
    text.strip_prefix(letter)
        .filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(|| IdError {
            text: text.to_owned(),
            letter,
        })
}

impl FromStr for InstrumentId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        number(text, 'i').map(InstrumentId)
    }
}

impl FromStr for PatchId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        number(text, 'p').map(PatchId)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_read_back_what_they_display() {
        assert_eq!("i7".parse(), Ok(InstrumentId(7)));
        assert_eq!(InstrumentId(7).to_string(), "i7");
        assert_eq!(PatchId(12).to_string().parse(), Ok(PatchId(12)));
        for wrong in ["", "i", "7", "p7", "i-1", "i+1", "i99999999999"] {
            let error = wrong.parse::<InstrumentId>().expect_err(wrong).to_string();
            assert!(error.contains("as in `i7`"), "{error}");
        }
    }
}
