//! The primitive types of Java.

use std::fmt;

/// A primitive type (JVMS §4.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // The variants are the types of these names.
pub enum Primitive {
    Boolean,
    Byte,
    Char,
    Short,
    Int,
    Long,
    Float,
    Double,
}

impl Primitive {
    /// All primitive types.
    pub const ALL: [Primitive; 8] = [
        Primitive::Boolean,
        Primitive::Byte,
        Primitive::Char,
        Primitive::Short,
        Primitive::Int,
        Primitive::Long,
        Primitive::Float,
        Primitive::Double,
    ];

    /// The type of a descriptor letter (JVMS table 4.3-A); `None` for any other byte.
    pub const fn from_letter(letter: u8) -> Option<Primitive> {
        Some(match letter {
            b'Z' => Primitive::Boolean,
            b'B' => Primitive::Byte,
            b'C' => Primitive::Char,
            b'S' => Primitive::Short,
            b'I' => Primitive::Int,
            b'J' => Primitive::Long,
            b'F' => Primitive::Float,
            b'D' => Primitive::Double,
            _ => return None,
        })
    }

    /// The element type of a `newarray` instruction (JVMS table 6.5.newarray-A); `None` for any
    /// other code.
    pub const fn from_array_code(code: u8) -> Option<Primitive> {
        Some(match code {
            4 => Primitive::Boolean,
            5 => Primitive::Char,
            6 => Primitive::Float,
            7 => Primitive::Double,
            8 => Primitive::Byte,
            9 => Primitive::Short,
            10 => Primitive::Int,
            11 => Primitive::Long,
            _ => return None,
        })
    }

    /// The keyword of the type in Java: `int`.
    pub const fn java_name(self) -> &'static str {
        match self {
            Primitive::Boolean => "boolean",
            Primitive::Byte => "byte",
            Primitive::Char => "char",
            Primitive::Short => "short",
            Primitive::Int => "int",
            Primitive::Long => "long",
            Primitive::Float => "float",
            Primitive::Double => "double",
        }
    }

    /// The number of local-variable slots or stack words of a value: 2 for `long` and `double`,
    /// otherwise 1 (JVMS §2.6.1).
    pub const fn slots(self) -> u16 {
        match self {
            Primitive::Long | Primitive::Double => 2,
            _ => 1,
        }
    }
}

impl fmt::Display for Primitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.java_name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_and_array_codes_select_all_types() {
        let by_letter = b"ZBCSIJFD".map(Primitive::from_letter);
        assert_eq!(by_letter, Primitive::ALL.map(Some));
        let by_code: Vec<&str> = (4..=11)
            .filter_map(Primitive::from_array_code)
            .map(Primitive::java_name)
            .collect();
        let all = "boolean char float double byte short int long";
        assert_eq!(by_code.join(" "), all);
        assert_eq!(
            (
                Primitive::from_array_code(3),
                Primitive::from_array_code(12)
            ),
            (None, None)
        );
        assert_eq!(
            (Primitive::from_letter(b'V'), Primitive::from_letter(b'L')),
            (None, None)
        );
    }
}
