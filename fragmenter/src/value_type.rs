//! The types of single values.

use std::fmt;
use std::sync::Arc;
use veneer_names::{FieldDescriptor, java_form};

/// A verification type (JVMS §4.10.1.2) with class names in internal form (`a/b/C`, arrays as
/// descriptors).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// No usable value: the slot is unset, or holds the second half of a `long` or `double`.
    Top,
    /// `int`, and all smaller integral types and `boolean`.
    Int,
    /// A `float` value.
    Float,
    /// A `long` value.
    Long,
    /// A `double` value.
    Double,
    /// The constant `null` alone.
    Null,
    /// `this` in a constructor before the call of `super(…)` or `this(…)`.
    UninitializedThis,
    /// Created by the `new` at this pc and not yet initialised.
    Uninitialized(u16),
    /// An initialised object of this class, an array of this descriptor, or null.
    Object(Arc<str>),
}

impl Type {
    /// A class type by its internal name.
    pub fn object(name: &str) -> Self {
        Type::Object(Arc::from(name))
    }
    /// Number of slots that a value occupies: 2 for `long` and `double`, otherwise 1.
    pub fn width(&self) -> u16 {
        if matches!(self, Type::Long | Type::Double) {
            2
        } else {
            1
        }
    }
    /// Whether values of this type are initialised references or null.
    pub fn is_reference(&self) -> bool {
        matches!(self, Type::Null | Type::Object(_))
    }
    /// Whether values of this type are objects on which no constructor has completed.
    pub fn is_uninitialized(&self) -> bool {
        matches!(self, Type::UninitializedThis | Type::Uninitialized(_))
    }
    /// Whether a value of this type is assignable to `to`, as far as this is known without loading
    /// a class. The answer `true` is reliable. The answer `false` may only mean that the class
    /// hierarchy would have to be consulted.
    pub fn assignable_to(&self, to: &Type) -> bool {
        match (self, to) {
            (_, Type::Top) => true,
            (Type::Null, Type::Object(_)) => true,
            (Type::Object(_), Type::Object(t)) if &**t == "java/lang/Object" => true,
            (a, b) => a == b,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Top => f.write_str("top"),
            Type::Int => f.write_str("int"),
            Type::Float => f.write_str("float"),
            Type::Long => f.write_str("long"),
            Type::Double => f.write_str("double"),
            Type::Null => f.write_str("null"),
            Type::UninitializedThis => f.write_str("uninit-this"),
            Type::Uninitialized(pc) => write!(f, "uninit@{pc}"),
            Type::Object(name) => f.write_str(&java_type_name(name)),
        }
    }
}

/// The Java form of the class or array that a `Class` constant names: `a.b.C` or `int[]`.
pub(crate) fn java_type_name(name: &str) -> String {
    let array = FieldDescriptor::parse(name)
        .ok()
        .filter(|d| d.dimensions() > 0);
    array.map_or_else(|| java_form(name), FieldDescriptor::java_form)
}
