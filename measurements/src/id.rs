//! The ids of instruments (`i7`), patches (`p7`) and plan instances (`l7`).
//!
//! The runtime numbers the three kinds separately, from 1, and never reuses a number. An id that a
//! script has kept therefore never refers to another instrument.

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

/// The id of a plan instance, that is of one loading of a plan, displayed as `l7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlanInstanceId(pub u64);

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

impl fmt::Display for PlanInstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "l{}", self.0)
    }
}

/// The error for a text that is not an id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no id: write `{letter}` and a number, as in `{letter}7`")]
pub struct IdError {
    text: String,
    letter: char,
}

fn number<N: FromStr>(text: &str, letter: char) -> Result<N, IdError> {
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

impl FromStr for PlanInstanceId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        number(text, 'l').map(PlanInstanceId)
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
        for id in [1, 3, u64::MAX].map(PlanInstanceId) {
            assert_eq!(id.to_string().parse(), Ok(id));
        }
        for wrong in [
            "",
            "l",
            "3",
            "i3",
            "lx",
            "l-1",
            "l3 ",
            "l18446744073709551616",
        ] {
            assert!(wrong.parse::<PlanInstanceId>().is_err(), "{wrong}");
        }
    }
}
