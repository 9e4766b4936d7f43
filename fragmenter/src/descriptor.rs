//! Field and method descriptors (JVMS §4.3) as verification types of local variables and stack
//! slots.

use crate::bytecode::opcode::{ARETURN, DRETURN, FRETURN, IRETURN, LRETURN, RETURN};
use crate::value_type::Type;
use std::sync::Arc;

/// A method's parameters and result as verification types. The receiver is not included.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodDescriptor {
    /// The declared parameters, in order.
    pub parameters: Vec<Type>,
    /// The result; `None` for `void`.
    pub result: Option<Type>,
}

impl MethodDescriptor {
    /// Opcode of the instruction that returns from a method with this descriptor.
    pub fn returns_by(&self) -> u8 {
        match self.result {
            None => RETURN,
            Some(Type::Int) => IRETURN,
            Some(Type::Long) => LRETURN,
            Some(Type::Float) => FRETURN,
            Some(Type::Double) => DRETURN,
            Some(_) => ARETURN,
        }
    }

    /// Parses a descriptor such as `(I[Ljava/lang/String;)V`. Returns `None` if the text is not a
    /// method descriptor.
    pub fn parse(text: &str) -> Option<Self> {
        let mut rest = text.strip_prefix('(')?;
        let mut parameters = Vec::new();
        while !rest.starts_with(')') {
            let (t, n) = field_prefix(rest)?;
            parameters.push(t);
            rest = &rest[n..];
        }
        let result = match &rest[1..] {
            "V" => None,
            r => Some(field(r)?),
        };
        Some(MethodDescriptor { parameters, result })
    }

    /// Number of local-variable slots that the parameters occupy. A `long` or `double` occupies
    /// two.
    pub fn slots(&self) -> u16 {
        self.parameters.iter().map(Type::width).sum()
    }
}

/// Parses one field descriptor. Returns `None` if text follows it.
pub fn field(text: &str) -> Option<Type> {
    field_prefix(text)
        .filter(|(_, n)| *n == text.len())
        .map(|(t, _)| t)
}

fn field_prefix(text: &str) -> Option<(Type, usize)> {
    Some(match text.as_bytes().first()? {
        b'Z' | b'B' | b'C' | b'S' | b'I' => (Type::Int, 1),
        b'J' => (Type::Long, 1),
        b'F' => (Type::Float, 1),
        b'D' => (Type::Double, 1),
        b'L' => {
            let end = text.find(';')?;
            (Type::Object(Arc::from(&text[1..end])), end + 1)
        }
        b'[' => {
            let (_, n) = field_prefix(&text[1..])?;
            (Type::Object(Arc::from(&text[..n + 1])), n + 1)
        }
        _ => return None,
    })
}

/// The result part of a method descriptor: `V`, `I` or `[La/B;`. The function parses the parameters
/// one by one, because a class name may contain `)`. Returns `V` if the text is not a descriptor.
pub fn result_descriptor(text: &str) -> &str {
    let mut rest = text.strip_prefix('(').unwrap_or(")V");
    while !rest.starts_with(')') {
        match field_prefix(rest) {
            Some((_, n)) => rest = &rest[n..],
            None => return "V",
        }
    }
    &rest[1..]
}

/// The field descriptor of a verification type: `Ljava/lang/String;`, `[I` or `J`. Returns `None`
/// if no descriptor can name the type.
pub fn field_descriptor(t: &Type) -> Option<String> {
    Some(match t {
        Type::Int => "I".into(),
        Type::Long => "J".into(),
        Type::Float => "F".into(),
        Type::Double => "D".into(),
        Type::Null => "Ljava/lang/Object;".into(),
        Type::Object(name) if name.starts_with('[') => name.to_string(),
        Type::Object(name) => format!("L{name};"),
        Type::Top | Type::UninitializedThis | Type::Uninitialized(_) => return None,
    })
}

/// A method descriptor in which every class and array is replaced by `java.lang.Object`. Returns
/// `None` if the text is not a descriptor.
pub fn erased(text: &str) -> Option<String> {
    let erase = |field: &str| match field.as_bytes().first() {
        Some(b'L' | b'[') => "Ljava/lang/Object;".to_string(),
        _ => field.to_string(),
    };
    let mut out = String::from("(");
    let mut rest = text.strip_prefix('(')?;
    while !rest.starts_with(')') {
        let (_, n) = field_prefix(rest)?;
        out += &erase(&rest[..n]);
        rest = &rest[n..];
    }
    out.push(')');
    match &rest[1..] {
        "V" => out.push('V'),
        result => {
            field(result)?;
            out += &erase(result);
        }
    }
    Some(out)
}

/// Length in bytes of the first field descriptor of a text.
pub(crate) fn field_length(text: &[u8]) -> Option<usize> {
    let dimensions = text.iter().take_while(|b| **b == b'[').count();
    match text.get(dimensions)? {
        b'Z' | b'B' | b'C' | b'S' | b'I' | b'J' | b'F' | b'D' => Some(dimensions + 1),
        b'L' => text.iter().position(|b| *b == b';').map(|end| end + 1),
        _ => None,
    }
}

/// Number of words of a value with this descriptor.
pub(crate) fn width(descriptor: &[u8]) -> u16 {
    match descriptor.first() {
        Some(b'J' | b'D') => 2,
        Some(b'V') | None => 0,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_and_arrays_are_erased() {
        let erased = |text| erased(text).unwrap_or_default();
        assert_eq!(
            erased("(I[La/B;JLa/C;)[[I"),
            "(ILjava/lang/Object;JLjava/lang/Object;)Ljava/lang/Object;"
        );
        assert_eq!(erased("()V"), "()V");
        assert_eq!(erased("(La"), "");
    }

    #[test]
    fn a_result_is_found_behind_odd_class_names() {
        assert_eq!(result_descriptor("(I[La)b;J)[Lc)d;"), "[Lc)d;");
        assert_eq!(result_descriptor("()V"), "V");
        assert_eq!(result_descriptor("no descriptor"), "V");
        assert_eq!(result_descriptor("(La"), "V");
    }
}
