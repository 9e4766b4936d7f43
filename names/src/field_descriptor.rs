//! Field descriptors: `I`, `Ljava/lang/String;`, `[[J` (JVMS §4.3.2).

use crate::class_name::{java_form, simple_name, type_descriptor};
use crate::primitive::Primitive;
use crate::raw::{self, DescriptorError};
use std::fmt;

/// The descriptor of `java.lang.Object`.
pub const OBJECT_DESCRIPTOR: &str = "Ljava/lang/Object;";

/// A valid field descriptor. It borrows its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FieldDescriptor<'t>(&'t str);

/// The Java form of the type that a `Class` constant names (JVMS §4.4.1): `int[][]` of `[[I`. The function
/// checks nothing, as [`java_form`] does not.
pub fn java_form_of_type(name: &str) -> String {
    let descriptor = type_descriptor(name);
    let parsed = FieldDescriptor::parse(&descriptor);
    parsed.map_or_else(|_| java_form(name), FieldDescriptor::java_form)
}

/// The three kinds of types that a field descriptor describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldKind<'t> {
    /// A primitive type.
    Primitive(Primitive),
    /// A class or interface, by its internal name.
    Class(&'t str),
    /// An array, by the descriptor of its components.
    Array(FieldDescriptor<'t>),
}

impl<'t> FieldDescriptor<'t> {
    /// Parses a descriptor.
    ///
    /// # Errors
    /// If the text is not exactly one field descriptor.
    pub fn parse(text: &'t str) -> Result<Self, DescriptorError> {
        let (descriptor, rest) = Self::first(text)?;
        match rest.is_empty() {
            true => Ok(descriptor),
            false => Err(DescriptorError::Surplus {
                at: descriptor.0.len(),
            }),
        }
    }

    /// Parses the descriptor at the beginning of a text. Also returns the text after it.
    pub(crate) fn first(text: &'t str) -> Result<(Self, &'t str), DescriptorError> {
        let end = raw::field_end(text.as_bytes(), 0)?;
        let (descriptor, rest) = text.split_at(end);
        Ok((FieldDescriptor(descriptor), rest))
    }

    /// A descriptor that has been parsed before.
    pub(crate) fn from_parsed(text: &'t str) -> Self {
        FieldDescriptor(text)
    }

    /// The text of the descriptor.
    pub fn as_str(self) -> &'t str {
        self.0
    }

    /// The kind of the type.
    pub fn kind(self) -> FieldKind<'t> {
        let (first, rest) = self.0.split_at(1);
        match first
            .as_bytes()
            .first()
            .copied()
            .map(|b| (b, Primitive::from_letter(b)))
        {
            Some((_, Some(primitive))) => FieldKind::Primitive(primitive),
            Some((b'[', None)) => FieldKind::Array(FieldDescriptor(rest)),
            _ => FieldKind::Class(rest.strip_suffix(';').unwrap_or(rest)),
        }
    }

    /// The number of dimensions of an array type; 0 for other types.
    pub fn dimensions(self) -> usize {
        self.0.bytes().take_while(|b| *b == b'[').count()
    }

    /// The type without its array dimensions.
    pub fn element(self) -> FieldDescriptor<'t> {
        FieldDescriptor(self.0.trim_start_matches('['))
    }

    /// The internal name of the class; `None` for arrays and primitive types.
    pub fn class(self) -> Option<&'t str> {
        match self.kind() {
            FieldKind::Class(name) => Some(name),
            _ => None,
        }
    }

    /// The name by which a `Class` constant names the type (JVMS §4.4.1): the internal name of a
    /// class, or the descriptor of an array. `None` for primitive types.
    pub fn constant_name(self) -> Option<&'t str> {
        match self.kind() {
            FieldKind::Class(name) => Some(name),
            FieldKind::Array(_) => Some(self.0),
            FieldKind::Primitive(_) => None,
        }
    }

    /// Whether values of the type are references: objects or arrays.
    pub fn is_reference(self) -> bool {
        raw::is_reference(self.0.as_bytes())
    }

    /// The number of local-variable slots or stack words of a value (JVMS §2.6.1).
    pub fn slots(self) -> u16 {
        raw::slots(self.0.as_bytes())
    }

    /// The descriptor with `java.lang.Object` in place of every class and array.
    pub fn erased(self) -> &'t str {
        if self.is_reference() {
            OBJECT_DESCRIPTOR
        } else {
            self.0
        }
    }

    /// The type in Java form: `java.lang.String[]`.
    pub fn java_form(self) -> String {
        self.element_java_form() + &"[]".repeat(self.dimensions())
    }

    /// The element type in Java form: `java.lang.String` of `[Ljava/lang/String;`.
    pub fn element_java_form(self) -> String {
        match self.element().kind() {
            FieldKind::Primitive(primitive) => primitive.java_name().to_owned(),
            FieldKind::Class(name) => java_form(name),
            FieldKind::Array(component) => component.java_form(),
        }
    }

    /// The type in Java form with the simple name of the class: `String[]`.
    pub fn short_java_form(self) -> String {
        let brackets = "[]".repeat(self.dimensions());
        match self.element().class() {
            Some(name) => format!("{}{brackets}", simple_name(name)),
            None => self.java_form(),
        }
    }
}

impl fmt::Display for FieldDescriptor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> FieldDescriptor<'_> {
        FieldDescriptor::parse(text).unwrap()
    }

    #[test]
    fn a_class_constant_names_a_type() {
        let forms = ["a/B$C", "[I", "[[La/B;", "[", "a;b"].map(java_form_of_type);
        assert_eq!(forms, ["a.B$C", "int[]", "a.B[][]", "[", "a;b"]);
    }

    #[test]
    fn types_have_a_kind_and_forms() {
        for (text, java, short, slots) in [
            ("Z", "boolean", "boolean", 1),
            ("J", "long", "long", 2),
            ("[J", "long[]", "long[]", 1),
            ("La/B$C;", "a.B$C", "B$C", 1),
            ("[[La/B;", "a.B[][]", "B[][]", 1),
            ("LMain;", "Main", "Main", 1),
        ] {
            let descriptor = parsed(text);
            assert_eq!(descriptor.java_form(), java);
            assert_eq!(descriptor.short_java_form(), short);
            assert_eq!(descriptor.slots(), slots);
            assert_eq!(descriptor.to_string(), text);
        }
        assert_eq!(parsed("D").kind(), FieldKind::Primitive(Primitive::Double));
        assert_eq!(parsed("LLa/B;").kind(), FieldKind::Class("La/B"));
        assert_eq!(parsed("[[I").kind(), FieldKind::Array(parsed("[I")));
        assert_eq!(parsed("[[I").element(), parsed("I"));
    }

    #[test]
    fn constants_name_classes_and_arrays() {
        assert_eq!(parsed("La/B;").constant_name(), Some("a/B"));
        assert_eq!(parsed("[La/B;").constant_name(), Some("[La/B;"));
        assert_eq!(parsed("I").constant_name(), None);
        assert_eq!(parsed("[La/B;").class(), None);
        assert_eq!(parsed("[La/B;").element().class(), Some("a/B"));
        assert_eq!(
            (parsed("[I").erased(), parsed("I").erased()),
            (OBJECT_DESCRIPTOR, "I")
        );
    }

    #[test]
    fn errors_name_the_place() {
        use DescriptorError::*;
        for (text, error) in [
            ("", Truncated { at: 0 }),
            ("[[", Truncated { at: 2 }),
            ("V", NoType { at: 0 }),
            ("[Q", NoType { at: 1 }),
            ("La/B", Unterminated { at: 1 }),
            ("L;", ClassName(crate::NameError::Empty)),
            ("II", Surplus { at: 1 }),
            ("La/B;I", Surplus { at: 5 }),
        ] {
            assert_eq!(FieldDescriptor::parse(text), Err(error), "{text}");
        }
    }
}
