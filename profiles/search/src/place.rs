//! Places of a program: the *where* axis, and the names that a driver declares.

use serde::{Deserialize, Serialize};

/// A number that the driver chose for a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MethodId(pub u32);

/// A number that the driver chose for a group of threads, for instance `http-*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GroupId(pub u32);

impl std::fmt::Display for MethodId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "method {}", self.0)
    }
}

impl std::fmt::Display for GroupId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "group {}", self.0)
    }
}

/// The name of a method, as users read it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MethodName {
    /// The Java module, if the class is in a named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// The class in Java form, for instance `com.shop.Desk`.
    pub class: String,
    /// The name of the method, for instance `serve`.
    pub method: String,
    /// The source file, for instance `Desk.java`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

impl MethodName {
    /// Returns the package of the class, without the last dot. The default package is empty.
    pub fn package(&self) -> &str {
        self.class
            .rsplit_once('.')
            .map_or("", |(package, _)| package)
    }

    /// Returns the class without its package, and the method: `Desk.serve`.
    pub fn short(&self) -> String {
        let class = self
            .class
            .rsplit_once('.')
            .map_or(self.class.as_str(), |(_, class)| class);
        format!("{class}.{}", self.method)
    }
}

/// A place: a method, or a loop or block in it. Lines are numbers of the source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// A method with everything that it calls.
    Method(MethodId),
    /// The own code of a method in the loop whose header is at `line`.
    Loop {
        /// The method that contains the loop.
        method: MethodId,
        /// The line in the source file.
        line: u32,
    },
    /// The own code of a method at `line`.
    Block {
        /// The method that contains the line.
        method: MethodId,
        /// The line in the source file.
        line: u32,
    },
}

impl Place {
    /// Returns the method that contains the place.
    pub fn method(self) -> MethodId {
        match self {
            Place::Method(method) | Place::Loop { method, .. } | Place::Block { method, .. } => {
                method
            }
        }
    }

    /// Returns the line of a loop or block.
    pub fn line(self) -> Option<u32> {
        match self {
            Place::Method(_) => None,
            Place::Loop { line, .. } | Place::Block { line, .. } => Some(line),
        }
    }
}
