//! The numbers of fragments.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The number of a fragment (basic block or region) in its method, from 0, in the order of bytecode
/// addresses. It is written `f3`, and a plain number in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FragmentId(pub u32);

impl FragmentId {
    /// The index of the fragment in a list of all fragments of its method.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for FragmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "f{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fragment_is_a_plain_number_in_json_and_has_a_letter_in_text() {
        let id = FragmentId(3);
        assert_eq!(id.to_string(), "f3");
        assert_eq!(id.index(), 3);
        assert_eq!(serde_json::to_string(&id).unwrap(), "3");
        assert_eq!(serde_json::from_str::<FragmentId>("3").unwrap(), id);
        assert!(serde_json::from_str::<FragmentId>("-1").is_err());
    }
}
