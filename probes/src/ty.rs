//! The types of values in a probe.

use serde::{Deserialize, Serialize};
use std::fmt;
use veneer_names::{FieldDescriptor, FieldKind, OBJECT_DESCRIPTOR, Primitive, STRING, java_form};

/// The type of a value in a probe. The crate documentation says how Java types map to these types.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Ty {
    /// `byte`, `short`, `char`, `int` and `long`: 64 bits.
    Long,
    /// `float` and `double`: 64 bits.
    Double,
    /// `boolean`.
    Bool,
    /// An instance of a class, or null. The name is internal (`a/b/C`). A `String` is
    /// `Object("java/lang/String")`.
    Object(String),
    /// An array, or null. The text is the descriptor of the elements (`I`, `Ljava/lang/String;`,
    /// `[D`).
    Array(String),
    /// The constant `null`.
    Null,
    /// A call stack, represented by its number. A call stack can only be used as a key.
    Stack,
}

impl Ty {
    /// Returns the type for a Java type descriptor; `None` if the text is not a type descriptor.
    pub fn from_descriptor(descriptor: &str) -> Option<Self> {
        Some(match FieldDescriptor::parse(descriptor).ok()?.kind() {
            FieldKind::Primitive(Primitive::Boolean) => Self::Bool,
            FieldKind::Primitive(Primitive::Float | Primitive::Double) => Self::Double,
            FieldKind::Primitive(_) => Self::Long,
            FieldKind::Class(name) => Self::Object(name.to_string()),
            FieldKind::Array(component) => Self::Array(component.to_string()),
        })
    }

    /// Returns the descriptor of a parameter of this type.
    pub fn descriptor(&self) -> String {
        match self {
            Self::Long | Self::Stack => "J".into(),
            Self::Double => "D".into(),
            Self::Bool => "Z".into(),
            Self::Object(class) => format!("L{class};"),
            Self::Array(element) => format!("[{element}"),
            Self::Null => OBJECT_DESCRIPTOR.into(),
        }
    }

    /// The number of stack words or local-variable slots: 2 for 64-bit values, otherwise 1.
    pub fn words(&self) -> u16 {
        1 + u16::from(matches!(self, Self::Long | Self::Double | Self::Stack))
    }

    /// Whether values of this type are references.
    pub fn is_reference(&self) -> bool {
        matches!(self, Self::Object(_) | Self::Array(_) | Self::Null)
    }

    /// Whether this is the type `java.lang.String`.
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
            Self::Object(class) => f.write_str(&java_form(class)),
            Self::Array(element) => match Self::from_descriptor(element) {
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
        assert_eq!(Ty::from_descriptor("C"), Some(Ty::Long));
        assert_eq!(
            Ty::from_descriptor("[[I").map(|t| t.to_string()).as_deref(),
            Some("array of array of integer")
        );
        assert_eq!(
            Ty::from_descriptor("Ljava/lang/String;").map(|t| t.is_text()),
            Some(true)
        );
        assert_eq!(
            (
                Ty::from_descriptor("V"),
                Ty::from_descriptor(""),
                Ty::from_descriptor("Lx")
            ),
            (None, None, None)
        );
    }
}
