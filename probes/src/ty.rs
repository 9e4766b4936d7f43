//! Types of values in a probe.

use serde::{Deserialize, Serialize};
use std::fmt;

/// See the module documentation of the crate for how Java's types become these.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Ty {
    /// `byte`, `short`, `char`, `int`, `long`: 64 bits.
    Long,
    /// `float`, `double`: 64 bits.
    Double,
    /// `boolean`.
    Bool,
    /// An object of a class, or null; the name is internal (`a/b/C`). A `String` is `Object("java/lang/String")`.
    Object(String),
    /// An array of elements of a descriptor (`I`, `Ljava/lang/String;`, `[D`), or null.
    Array(String),
    /// Null itself.
    Null,
    /// A call stack, by its number: good as a key and for nothing else.
    Stack,
}

/// The class of strings.
pub const STRING: &str = "java/lang/String";

impl Ty {
    /// That of a Java type by descriptor. `None` of what is none.
    pub fn of(descriptor: &str) -> Option<Self> {
        Some(match descriptor.as_bytes().first()? {
            b'B' | b'S' | b'C' | b'I' | b'J' => Self::Long,
            b'F' | b'D' => Self::Double,
            b'Z' => Self::Bool,
            b'L' => Self::Object(descriptor.strip_prefix('L')?.strip_suffix(';')?.to_string()),
            b'[' => Self::Array(descriptor.strip_prefix('[')?.to_string()),
            _ => return None,
        })
    }

    /// The descriptor under which a value of this type is handed on.
    pub fn descriptor(&self) -> String {
        match self {
            Self::Long | Self::Stack => "J".into(),
            Self::Double => "D".into(),
            Self::Bool => "Z".into(),
            Self::Object(class) => format!("L{class};"),
            Self::Array(element) => format!("[{element}"),
            Self::Null => "Ljava/lang/Object;".into(),
        }
    }

    /// Words of the stack and of local variables.
    pub fn words(&self) -> u16 {
        1 + u16::from(matches!(self, Self::Long | Self::Double | Self::Stack))
    }

    /// Whether it is a reference.
    pub fn is_reference(&self) -> bool {
        matches!(self, Self::Object(_) | Self::Array(_) | Self::Null)
    }

    /// Whether it is a string.
    pub fn is_text(&self) -> bool {
        matches!(self, Self::Object(class) if class == STRING)
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Long => f.write_str("integer"),
            Self::Double => f.write_str("floating-point number"),
            Self::Bool => f.write_str("boolean"),
            Self::Object(class) => f.write_str(&class.replace('/', ".")),
            Self::Array(element) => match Self::of(element) {
                Some(of) => write!(f, "array of {of}"),
                None => f.write_str("array"),
            },
            Self::Null => f.write_str("()"),
            Self::Stack => f.write_str("call stack"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn java_types_become_types_of_probes() {
        assert_eq!(Ty::of("C"), Some(Ty::Long));
        assert_eq!(
            Ty::of("[[I").map(|t| t.to_string()).as_deref(),
            Some("array of array of integer")
        );
        assert_eq!(
            Ty::of("Ljava/lang/String;").map(|t| t.is_text()),
            Some(true)
        );
        assert_eq!((Ty::of("V"), Ty::of(""), Ty::of("Lx")), (None, None, None));
    }
}
