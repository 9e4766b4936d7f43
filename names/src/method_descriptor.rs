//! Method descriptors: `(I[Ljava/lang/String;)V` (JVMS §4.3.3).

use crate::field_descriptor::FieldDescriptor;
use crate::raw::{self, DescriptorError, MAX_PARAMETER_SLOTS};
use std::fmt;

/// A valid method descriptor. It borrows its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MethodDescriptor<'t> {
    text: &'t str,
    /// The offset of the `)` after the parameters.
    end: usize,
    /// The number of slots of the parameters.
    slots: u16,
}

impl<'t> MethodDescriptor<'t> {
    /// Parses a descriptor.
    ///
    /// # Errors
    /// If the text is not exactly one method descriptor, or if the parameters without a receiver
    /// need more than 255 slots.
    pub fn parse(text: &'t str) -> Result<Self, DescriptorError> {
        let bytes = text.as_bytes();
        if bytes.first() != Some(&b'(') {
            return Err(DescriptorError::NoParenthesis);
        }
        let (mut end, mut slots) = (1, 0);
        while bytes.get(end) != Some(&b')') {
            let next = raw::field_end(bytes, end)?;
            slots += raw::slots(&bytes[end..next]);
            if slots > MAX_PARAMETER_SLOTS {
                return Err(DescriptorError::TooManySlots);
            }
            end = next;
        }
        let result = end + 1;
        let after = match bytes.get(result) {
            Some(b'V') => result + 1,
            _ => raw::field_end(bytes, result)?,
        };
        match after == bytes.len() {
            true => Ok(MethodDescriptor { text, end, slots }),
            false => Err(DescriptorError::Surplus { at: after }),
        }
    }

    /// The text of the descriptor.
    pub fn as_str(self) -> &'t str {
        self.text
    }

    /// The parameters, in order. The receiver is not among them.
    pub fn parameters(self) -> Parameters<'t> {
        Parameters(&self.text[1..self.end])
    }

    /// The part of the text with the parameters and their parentheses: `(I[Ljava/lang/String;)`.
    pub fn parameter_text(self) -> &'t str {
        &self.text[..=self.end]
    }

    /// The type of the result; `None` for `void`.
    pub fn result(self) -> Option<FieldDescriptor<'t>> {
        match self.result_text() {
            "V" => None,
            text => Some(FieldDescriptor::from_parsed(text)),
        }
    }

    /// The result: `V` or a field descriptor.
    pub fn result_text(self) -> &'t str {
        &self.text[self.end + 1..]
    }

    /// The number of local-variable slots of the parameters, without a receiver (JVMS §2.6.1).
    pub fn slots(self) -> u16 {
        self.slots
    }

    /// The descriptor with `java.lang.Object` in place of every class and array.
    pub fn erased(self) -> String {
        let mut out = String::with_capacity(self.text.len());
        out.push('(');
        out.extend(self.parameters().map(FieldDescriptor::erased));
        out.push(')');
        out += self.result().map_or("V", FieldDescriptor::erased);
        out
    }

    /// The parameters in Java form, without parentheses: `int, java.lang.String[]`.
    pub fn java_parameters(self) -> String {
        let types: Vec<String> = self.parameters().map(FieldDescriptor::java_form).collect();
        types.join(", ")
    }

    /// The parameters in Java form with simple class names: `int, String[]`.
    pub fn short_java_parameters(self) -> String {
        let types = self.parameters().map(FieldDescriptor::short_java_form);
        types.collect::<Vec<String>>().join(", ")
    }
}

impl fmt::Display for MethodDescriptor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}

/// The parameters of a method descriptor.
#[derive(Clone, Debug)]
pub struct Parameters<'t>(&'t str);

impl<'t> Iterator for Parameters<'t> {
    type Item = FieldDescriptor<'t>;

    fn next(&mut self) -> Option<FieldDescriptor<'t>> {
        let length = raw::field_length(self.0.as_bytes())?;
        let (first, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(FieldDescriptor::from_parsed(first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name_error::NameError;

    #[test]
    fn parameters_and_result_are_split() {
        let text = "(I[[JLa/B;[Lc/D;)Z";
        let descriptor = MethodDescriptor::parse(text).unwrap();
        let parameters: Vec<&str> = descriptor.parameters().map(|p| p.as_str()).collect();
        assert_eq!(parameters, ["I", "[[J", "La/B;", "[Lc/D;"]);
        assert_eq!(descriptor.parameter_text(), "(I[[JLa/B;[Lc/D;)");
        assert_eq!(descriptor.result_text(), "Z");
        assert_eq!(descriptor.slots(), 4);
        assert_eq!(descriptor.java_parameters(), "int, long[][], a.B, c.D[]");
        assert_eq!(descriptor.short_java_parameters(), "int, long[][], B, D[]");
        let object = "Ljava/lang/Object;";
        assert_eq!(descriptor.erased(), format!("(I{object}{object}{object})Z"));
        assert_eq!(MethodDescriptor::parse("()V").unwrap().result(), None);
        assert_eq!(MethodDescriptor::parse("(JID)V").unwrap().slots(), 5);
    }

    #[test]
    fn class_names_may_contain_parentheses() {
        let descriptor = MethodDescriptor::parse("(I[La)b;J)[Lc)d;").unwrap();
        assert_eq!(descriptor.result_text(), "[Lc)d;");
        assert_eq!(descriptor.parameters().count(), 3);
    }

    #[test]
    fn malformed_descriptors_are_refused() {
        use DescriptorError::*;
        for (text, error) in [
            ("", NoParenthesis),
            ("I", NoParenthesis),
            ("(", Truncated { at: 1 }),
            ("(I", Truncated { at: 2 }),
            ("()", Truncated { at: 2 }),
            ("([)V", NoType { at: 2 }),
            ("(V)V", NoType { at: 1 }),
            ("()VV", Surplus { at: 3 }),
            ("(La/B)V", Unterminated { at: 2 }),
            ("(La//B;)V", ClassName(NameError::EmptyPart { at: 4 })),
        ] {
            assert_eq!(MethodDescriptor::parse(text), Err(error), "{text}");
        }
    }

    #[test]
    fn parameters_have_at_most_255_slots() {
        let text =
            |longs: usize, ints: usize| format!("({}{})V", "J".repeat(longs), "I".repeat(ints));
        let most = text(127, 1);
        assert_eq!(MethodDescriptor::parse(&most).map(|d| d.slots()), Ok(255));
        let error = MethodDescriptor::parse(&text(128, 0)).map(|d| d.slots());
        assert_eq!(error, Err(DescriptorError::TooManySlots));
    }
}
