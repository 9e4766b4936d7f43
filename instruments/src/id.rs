//! Names of what a plan has attached: instruments (`i7`) and patches (`p7`).
//!
//! Both are given out by the runtime, counted up from 0 and never used again, so an id that a script
//! kept for an hour cannot come to mean something else.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// One attached instrument. Displays as `i7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InstrumentId(pub u32);

/// One edit of the flow graph that can be taken back. Displays as `p7`.
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

/// A text that is no id.
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
