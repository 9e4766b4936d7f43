//! The numbers of instrumented methods.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The id of an armed method in its JVM. Ids distinguish methods of equal name and class name in
/// different class loaders. The methods of one class have consecutive ids.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct MethodId(pub u32);

impl MethodId {
    /// The id of the method that is `methods` places after this one in its class.
    #[must_use]
    pub const fn plus(self, methods: u32) -> MethodId {
        MethodId(self.0 + methods)
    }

    /// The id as an `int` of the Java runtime classes. Ids are below 2²⁴.
    pub const fn as_java(self) -> i32 {
        self.0 as i32
    }
}

impl fmt::Display for MethodId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_plain_number_in_json_and_text() {
        let id = MethodId(40).plus(2);
        assert_eq!(id.to_string(), "42");
        assert_eq!(serde_json::to_string(&id).unwrap(), "42");
        assert_eq!(serde_json::from_str::<MethodId>("42").unwrap(), id);
        assert_eq!(id.as_java(), 42);
    }
}
