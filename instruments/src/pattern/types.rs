//! Types in patterns, such as `(int, *..String[])` and `-> void`, and in descriptors (JVMS 4.3).

use super::class_pattern::ClassPattern;
use super::glob;
use std::fmt;

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
    glob::matches_sequence(
        patterns,
        types,
        |pattern| matches!(pattern, Argument::Any),
        |pattern, found| match pattern {
            Argument::Any => false,
            Argument::Type(pattern) => pattern.matches(found),
        },
    )
}

/// Parses the first type of a part of a descriptor. Returns the type and the rest of the text.
fn first(text: &str) -> Option<(ErasedType, &str)> {
    let base = text.trim_start_matches('[');
    let dimensions = text.len() - base.len();
    let (element, after) = if let Some(class) = base.strip_prefix('L') {
        let (name, after) = class.split_once(';')?;
        (name.replace('/', "."), after)
    } else {
        let name = primitive_type_name(base.chars().next()?)?;
        (name.to_owned(), base.get(1..)?)
    };
    let found = ErasedType {
        element,
        dimensions,
    };
    Some((found, after))
}

/// Returns the argument types of a descriptor; `None` if the descriptor is malformed.
pub(super) fn argument_types(descriptor: &str) -> Option<Vec<ErasedType>> {
    let (mut rest, _) = descriptor.strip_prefix('(')?.split_once(')')?;
    let mut types = Vec::new();
    while !rest.is_empty() {
        let (found, after) = first(rest)?;
        types.push(found);
        rest = after;
    }
    Some(types)
}

/// Returns the result type of a descriptor, including `void`; `None` if the descriptor is
/// malformed.
pub(super) fn result_type(descriptor: &str) -> Option<ErasedType> {
    let (_, result) = descriptor.strip_prefix('(')?.split_once(')')?;
    if result == "V" {
        return Some(ErasedType {
            element: "void".to_owned(),
            dimensions: 0,
        });
    }
    first(result)
        .filter(|(_, after)| after.is_empty())
        .map(|(found, _)| found)
}

/// Returns the argument types of a descriptor in the syntax of patterns; `None` if the descriptor
/// is malformed.
pub(crate) fn argument_names(descriptor: &str) -> Option<Vec<String>> {
    let types = argument_types(descriptor)?.into_iter();
    Some(
        types
            .map(|t| t.element + &"[]".repeat(t.dimensions))
            .collect(),
    )
}

/// Returns the Java name of a primitive type's descriptor letter (JVMS 4.3.2).
pub(crate) fn primitive_type_name(letter: char) -> Option<&'static str> {
    Some(match letter {
        'Z' => "boolean",
        'B' => "byte",
        'C' => "char",
        'S' => "short",
        'I' => "int",
        'J' => "long",
        'F' => "float",
        'D' => "double",
        _ => return None,
    })
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
