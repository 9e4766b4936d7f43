//! Types in patterns, such as `(int, *..String[])` and `-> void`, and the types of descriptors.

use super::class_pattern::ClassPattern;
use std::fmt;
use veneer_names::{FieldDescriptor, MethodDescriptor};
use veneer_text::matches_sequence;

/// A type in a pattern: the element type and the number of `[]` after it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct TypePattern {
    pub(super) element: ClassPattern,
    pub(super) dimensions: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Argument {
    /// `..`: any number of arguments.
    Any,
    Type(TypePattern),
}

/// A type of a descriptor: the dotted or primitive name of its element, and its array dimensions.
pub(super) struct ErasedType {
    element: String,
    dimensions: usize,
}

impl TypePattern {
    pub(super) fn matches(&self, found: &ErasedType) -> bool {
        let star = self.element.is_star();
        // `*` matches any one type, including arrays. `*[]` matches any array.
        (found.dimensions == self.dimensions || star && found.dimensions > self.dimensions)
            && (star || self.element.matches(&found.element))
    }
}

pub(super) fn matches_arguments(patterns: &[Argument], types: &[ErasedType]) -> bool {
    matches_sequence(
        patterns,
        types,
        |pattern| matches!(pattern, Argument::Any),
        |pattern, found| match pattern {
            Argument::Any => false,
            Argument::Type(pattern) => pattern.matches(found),
        },
    )
}

impl ErasedType {
    fn from_descriptor(descriptor: FieldDescriptor) -> ErasedType {
        ErasedType {
            element: descriptor.element_java_form(),
            dimensions: descriptor.dimensions(),
        }
    }
}

/// Returns the argument types of a descriptor; `None` if the descriptor is malformed.
pub(super) fn argument_types(descriptor: &str) -> Option<Vec<ErasedType>> {
    let parameters = MethodDescriptor::parse(descriptor).ok()?.parameters();
    Some(parameters.map(ErasedType::from_descriptor).collect())
}

/// Returns the result type of a descriptor, including `void`; `None` if the descriptor is
/// malformed.
pub(super) fn result_type(descriptor: &str) -> Option<ErasedType> {
    let result = MethodDescriptor::parse(descriptor).ok()?.result();
    let void = || ErasedType {
        element: "void".to_owned(),
        dimensions: 0,
    };
    Some(result.map_or_else(void, ErasedType::from_descriptor))
}

impl fmt::Display for TypePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.element, "[]".repeat(self.dimensions))
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Argument::Any => f.write_str(".."),
            Argument::Type(pattern) => write!(f, "{pattern}"),
        }
    }
}
