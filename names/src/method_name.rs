//! The name of a method within its class: name and descriptor, `run(I)V`.

use crate::method_descriptor::MethodDescriptor;
use crate::name_error::NameError;
use crate::raw::DescriptorError;
use std::fmt;
use thiserror::Error;

/// Why a text does not name a method.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum MethodNameError {
    /// The text has no `(`.
    #[error("the text has no descriptor")]
    NoDescriptor,
    /// No `(` of the text begins a valid descriptor. The error is that of the first `(`.
    #[error("the descriptor is malformed: {0}")]
    Descriptor(#[from] DescriptorError),
    /// The name before the descriptor is malformed.
    #[error("the method name is malformed: {0}")]
    Name(#[from] NameError),
}

/// The name and the descriptor of a method. Together they identify the method within its class.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MethodName {
    /// The name: `run`, `<init>`.
    pub name: String,
    /// The descriptor: `(I)V`.
    pub descriptor: String,
}

impl fmt::Display for MethodName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.name, self.descriptor)
    }
}

/// A name and a valid descriptor, as one text. It borrows the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MethodRef<'t> {
    /// The name: `run`, `<init>`.
    pub name: &'t str,
    /// The descriptor, a part of the same text.
    pub descriptor: MethodDescriptor<'t>,
}

impl<'t> MethodRef<'t> {
    /// Splits a text such as `run(I)V`. A name may contain `(`, so the descriptor begins at the
    /// first `(` from which the rest of the text is a valid descriptor.
    ///
    /// # Errors
    /// If the text has no valid descriptor at its end, or if no valid name precedes it (JVMS
    /// §4.2.2).
    pub fn parse(text: &'t str) -> Result<Self, MethodNameError> {
        let mut first_error = None;
        for (at, _) in text.match_indices('(') {
            let (name, descriptor) = text.split_at(at);
            match MethodDescriptor::parse(descriptor) {
                Ok(descriptor) => {
                    check_name(name)?;
                    return Ok(MethodRef { name, descriptor });
                }
                Err(error) => drop(first_error.get_or_insert(error)),
            }
        }
        Err(first_error.map_or(MethodNameError::NoDescriptor, MethodNameError::Descriptor))
    }

    /// The method in Java form, without its result: `run(int, java.lang.String[])`.
    pub fn java_form(self) -> String {
        format!("{}({})", self.name, self.descriptor.java_parameters())
    }

    /// The method in Java form with simple class names, without its result: `run(int, String[])`.
    pub fn short_java_form(self) -> String {
        format!("{}({})", self.name, self.descriptor.short_java_parameters())
    }
}

/// Checks the name of a method (JVMS §4.2.2). Only `<init>` and `<clinit>` contain `<` or `>`.
fn check_name(name: &str) -> Result<(), NameError> {
    if name.is_empty() {
        return Err(NameError::Empty);
    }
    if matches!(name, "<init>" | "<clinit>") {
        return Ok(());
    }
    let forbidden = |c: &(usize, char)| matches!(c.1, '.' | ';' | '[' | '/' | '<' | '>');
    match name.char_indices().find(forbidden) {
        Some((at, character)) => Err(NameError::Forbidden { character, at }),
        None => Ok(()),
    }
}

impl fmt::Display for MethodRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.name, self.descriptor)
    }
}

/// A method in Java form, without its result: `run(I)V` becomes `run(int)`. A text without a valid
/// descriptor is unchanged.
pub fn java_signature(method: &str) -> String {
    MethodRef::parse(method).map_or_else(|_| method.to_owned(), MethodRef::java_form)
}

/// A method in Java form with simple class names, without its result. A text without a valid
/// descriptor is unchanged.
pub fn short_java_signature(method: &str) -> String {
    MethodRef::parse(method).map_or_else(|_| method.to_owned(), MethodRef::short_java_form)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_is_shown_as_in_source() {
        for (text, java, short) in [
            (
                "serve(Ljava/lang/String;[I)V",
                "serve(java.lang.String, int[])",
                "serve(String, int[])",
            ),
            ("<init>()V", "<init>()", "<init>()"),
            (
                "m(J[[La/B$C;Z)Ljava/util/List;",
                "m(long, a.B$C[][], boolean)",
                "m(long, B$C[][], boolean)",
            ),
            ("odd(name(I)V", "odd(name(int)", "odd(name(int)"),
            ("m(La(b;)V", "m(a(b)", "m(a(b)"),
        ] {
            let method = MethodRef::parse(text).unwrap();
            assert_eq!(method.java_form(), java);
            assert_eq!(method.short_java_form(), short);
            assert_eq!(method.to_string(), text);
            assert_eq!(
                (java_signature(text), short_java_signature(text)),
                (java.into(), short.into())
            );
        }
    }

    #[test]
    fn texts_that_name_no_method_are_refused() {
        assert_eq!(MethodRef::parse("odd"), Err(MethodNameError::NoDescriptor));
        for text in ["odd(Q)V", "odd(La/B)V", "odd([)V", "odd()", "m(", "m(é)V"] {
            let error = MethodRef::parse(text);
            assert!(
                matches!(error, Err(MethodNameError::Descriptor(_))),
                "{text}"
            );
            assert_eq!(
                (java_signature(text), short_java_signature(text)),
                (text.into(), text.into())
            );
        }
        for text in ["()V", "a.b()V", "<x>()V"] {
            let error = MethodRef::parse(text);
            assert!(matches!(error, Err(MethodNameError::Name(_))), "{text}");
        }
    }
}
