//! Field and method descriptors (JVMS §4.3) as verification types of local variables and stack
//! slots.

use crate::bytecode::opcode::{ARETURN, DRETURN, FRETURN, IRETURN, LRETURN, RETURN};
use crate::value_type::Type;
use veneer_names::{
    FieldDescriptor, FieldKind, MethodDescriptor, OBJECT_DESCRIPTOR, Primitive, type_descriptor,
};

/// A method's parameters and result as verification types. The receiver is not included.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodType {
    /// The declared parameters, in order.
    pub parameters: Vec<Type>,
    /// The result; `None` for `void`.
    pub result: Option<Type>,
}

impl MethodType {
    /// Opcode of the instruction that returns from a method of this type.
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
        let descriptor = MethodDescriptor::parse(text).ok()?;
        Some(MethodType {
            parameters: descriptor.parameters().map(verification_type).collect(),
            result: descriptor.result().map(verification_type),
        })
    }

    /// Number of local-variable slots that the parameters occupy. A `long` or `double` occupies
    /// two.
    pub fn slots(&self) -> u16 {
        self.parameters.iter().map(Type::width).sum()
    }
}

/// The verification type of values with this descriptor.
fn verification_type(descriptor: FieldDescriptor) -> Type {
    match descriptor.kind() {
        FieldKind::Primitive(Primitive::Long) => Type::Long,
        FieldKind::Primitive(Primitive::Float) => Type::Float,
        FieldKind::Primitive(Primitive::Double) => Type::Double,
        FieldKind::Primitive(_) => Type::Int,
        FieldKind::Class(name) => Type::object(name),
        FieldKind::Array(_) => Type::object(descriptor.as_str()),
    }
}

/// Parses one field descriptor. Returns `None` if the text is not exactly one field descriptor.
pub fn field(text: &str) -> Option<Type> {
    FieldDescriptor::parse(text).ok().map(verification_type)
}

/// The field descriptor of a verification type: `Ljava/lang/String;`, `[I` or `J`. Returns `None`
/// if no descriptor can name the type.
pub fn field_descriptor(t: &Type) -> Option<String> {
    Some(match t {
        Type::Int => "I".into(),
        Type::Long => "J".into(),
        Type::Float => "F".into(),
        Type::Double => "D".into(),
        Type::Null => OBJECT_DESCRIPTOR.into(),
        Type::Object(name) => type_descriptor(name),
        Type::Top | Type::UninitializedThis | Type::Uninitialized(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_become_verification_types() {
        let array = Type::object("[La/B;");
        let method = MethodType {
            parameters: vec![Type::Int, Type::Long, Type::object("a/B")],
            result: Some(array.clone()),
        };
        assert_eq!(MethodType::parse("(ZJLa/B;)[La/B;"), Some(method));
        assert_eq!(field("[La/B;"), Some(array.clone()));
        assert_eq!(field_descriptor(&array).as_deref(), Some("[La/B;"));
        assert_eq!(field("La/B;I"), None);
    }

    /// The class hook reads class files that the JVM has not checked yet.
    #[test]
    fn an_array_of_too_many_dimensions_is_refused() {
        let array = "[".repeat(65_534) + "I";
        assert_eq!((field(&array), MethodType::parse(&array)), (None, None));
        assert_eq!(MethodType::parse(&format!("({array})V")), None);
    }
}
