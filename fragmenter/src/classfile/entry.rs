//! The kinds of constant-pool entries (JVMS 4.4).

use std::fmt;

/// The kind of a constant-pool entry (JVMS table 4.4-A). The discriminant is the tag byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ConstantTag {
    /// Text in modified UTF-8.
    Utf8 = 1,
    /// A 32-bit integer constant.
    Integer = 3,
    /// A 32-bit floating-point constant.
    Float = 4,
    /// Takes two slots.
    Long = 5,
    /// Takes two slots.
    Double = 6,
    /// A class, interface or array type.
    Class = 7,
    /// A string constant, whose text is a `Utf8`.
    String = 8,
    /// A field of a class.
    Field = 9,
    /// A method of a class.
    Method = 10,
    /// A method of an interface.
    InterfaceMethod = 11,
    /// A name with a descriptor.
    NameAndType = 12,
    /// A reference to a method or field that is called like a method.
    MethodHandle = 15,
    /// The descriptor of a method, as a constant.
    MethodType = 16,
    /// A dynamically computed constant.
    Dynamic = 17,
    /// A call site of `invokedynamic`.
    InvokeDynamic = 18,
    /// Only in `module-info`.
    Module = 19,
    /// Only in `module-info`.
    Package = 20,
}

impl ConstantTag {
    /// Returns the kind with this tag byte.
    pub fn from_byte(byte: u8) -> Option<ConstantTag> {
        Some(match byte {
            1 => ConstantTag::Utf8,
            3 => ConstantTag::Integer,
            4 => ConstantTag::Float,
            5 => ConstantTag::Long,
            6 => ConstantTag::Double,
            7 => ConstantTag::Class,
            8 => ConstantTag::String,
            9 => ConstantTag::Field,
            10 => ConstantTag::Method,
            11 => ConstantTag::InterfaceMethod,
            12 => ConstantTag::NameAndType,
            15 => ConstantTag::MethodHandle,
            16 => ConstantTag::MethodType,
            17 => ConstantTag::Dynamic,
            18 => ConstantTag::InvokeDynamic,
            19 => ConstantTag::Module,
            20 => ConstantTag::Package,
            _ => return None,
        })
    }

    /// An entry with one 16-bit number.
    pub(super) fn entry_of_one(self, value: u16) -> [u8; 3] {
        let [a, b] = value.to_be_bytes();
        [self as u8, a, b]
    }

    /// An entry with two 16-bit numbers.
    pub(super) fn entry_of_two(self, first: u16, second: u16) -> [u8; 5] {
        let ([a, b], [c, d]) = (first.to_be_bytes(), second.to_be_bytes());
        [self as u8, a, b, c, d]
    }

    /// Number of pool slots of an entry: 2 for `Long` and `Double`, else 1.
    pub fn slots(self) -> usize {
        if matches!(self, ConstantTag::Long | ConstantTag::Double) {
            2
        } else {
            1
        }
    }

    /// Number of bytes after the tag. For `Utf8`, only the two bytes of the length field.
    pub(super) fn fixed_size(self) -> usize {
        match self {
            ConstantTag::Utf8
            | ConstantTag::Class
            | ConstantTag::String
            | ConstantTag::MethodType
            | ConstantTag::Module
            | ConstantTag::Package => 2,
            ConstantTag::MethodHandle => 3,
            ConstantTag::Integer
            | ConstantTag::Float
            | ConstantTag::Field
            | ConstantTag::Method
            | ConstantTag::InterfaceMethod
            | ConstantTag::NameAndType
            | ConstantTag::Dynamic
            | ConstantTag::InvokeDynamic => 4,
            ConstantTag::Long | ConstantTag::Double => 8,
        }
    }
}

impl fmt::Display for ConstantTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ConstantTag::Field => "Fieldref",
            ConstantTag::Method => "Methodref",
            ConstantTag::InterfaceMethod => "InterfaceMethodref",
            other => return write!(f, "{other:?}"),
        })
    }
}

/// A decoded entry. Numbers of type `u16` are pool indices unless stated otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PoolEntry<'p> {
    /// Text in modified UTF-8; [`super::ConstantPool::text`] decodes it.
    Utf8(&'p [u8]),
    /// A constant of type `int`.
    Integer(i32),
    /// A constant of type `float`.
    Float(f32),
    /// A constant of type `long`.
    Long(i64),
    /// A constant of type `double`.
    Double(f64),
    /// Name (`Utf8`) of a class in internal form, or an array's descriptor.
    Class(u16),
    /// Content (`Utf8`) of a string.
    String(u16),
    /// A field of `class`.
    Field {
        /// Index of a `Class`.
        class: u16,
        /// Index of a `NameAndType`.
        name_and_type: u16,
    },
    /// A method of the class `class`.
    Method {
        /// Index of a `Class`.
        class: u16,
        /// Index of a `NameAndType`.
        name_and_type: u16,
    },
    /// A method of the interface `class`.
    InterfaceMethod {
        /// Index of a `Class`.
        class: u16,
        /// Index of a `NameAndType`.
        name_and_type: u16,
    },
    /// A name with a descriptor.
    NameAndType {
        /// Index of a `Utf8`.
        name: u16,
        /// Index of a `Utf8`.
        descriptor: u16,
    },
    /// A method handle constant (JVMS 4.4.8).
    MethodHandle {
        /// Reference kind, 1 to 9 (JVMS table 5.4.3.5-A); not an index.
        kind: u8,
        /// `Field`, `Method` or `InterfaceMethod`.
        reference: u16,
    },
    /// Descriptor (`Utf8`) of a method type.
    MethodType(u16),
    /// A dynamically computed constant (JVMS 4.4.10).
    Dynamic {
        /// Index into the class's `BootstrapMethods`; not a pool index.
        bootstrap: u16,
        /// Index of a `NameAndType`.
        name_and_type: u16,
    },
    /// A call site of `invokedynamic`.
    InvokeDynamic {
        /// Index into the class's `BootstrapMethods`; not a pool index.
        bootstrap: u16,
        /// Index of a `NameAndType`.
        name_and_type: u16,
    },
    /// Name (`Utf8`) of a module.
    Module(u16),
    /// Name (`Utf8`) of a package in internal form.
    Package(u16),
}

/// A field or method reference with its name and type resolved. The numbers are pool indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MemberRef {
    /// `Field`, `Method` or `InterfaceMethod`.
    pub tag: ConstantTag,
    /// The owner (`Class`).
    pub class: u16,
    /// The name (`Utf8`).
    pub name: u16,
    /// The descriptor (`Utf8`).
    pub descriptor: u16,
}
