//! Descriptors as bytes (JVMS §4.3). The text of a class file is modified UTF-8, which need not be
//! valid UTF-8.
//!
//! All characters with a meaning are ASCII, and no byte of a longer character is equal to one of
//! them. A descriptor in a `str` can therefore be cut at the offsets that these functions return.

use crate::name_error::NameError;
use crate::primitive::Primitive;
use thiserror::Error;

/// The maximum number of dimensions of an array type (JVMS §4.3.2).
pub const MAX_DIMENSIONS: usize = 255;

/// The maximum number of slots of a method's parameters, including the receiver (JVMS §4.3.3).
pub const MAX_PARAMETER_SLOTS: u16 = 255;

/// Why a text is not a descriptor (JVMS §4.3). Offsets are in bytes from the start of the text.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum DescriptorError {
    /// The text ends where a type or a parenthesis must follow.
    #[error("the descriptor ends at byte {at}, where a type or `)` must follow")]
    Truncated {
        /// The length of the text.
        at: usize,
    },
    /// The byte is not the beginning of a type.
    #[error("no type begins at byte {at}")]
    NoType {
        /// The offset of the byte.
        at: usize,
    },
    /// A class type has no `;`.
    #[error("the class name at byte {at} has no `;`")]
    Unterminated {
        /// The offset of the class name.
        at: usize,
    },
    /// A class type has a malformed name.
    #[error("the descriptor has a malformed class name: {0}")]
    ClassName(#[from] NameError),
    /// An array type has more than [`MAX_DIMENSIONS`] dimensions.
    #[error("the array type at byte {at} has more than {MAX_DIMENSIONS} dimensions")]
    TooManyDimensions {
        /// The offset of the type.
        at: usize,
    },
    /// A method descriptor does not begin with `(`.
    #[error("the method descriptor does not begin with `(`")]
    NoParenthesis,
    /// Text follows the descriptor.
    #[error("the descriptor has surplus text from byte {at} on")]
    Surplus {
        /// The offset of the surplus text.
        at: usize,
    },
    /// The parameters need more than [`MAX_PARAMETER_SLOTS`] slots.
    #[error("the parameters need more than {MAX_PARAMETER_SLOTS} slots")]
    TooManySlots,
}

/// Marks the bytes that have a meaning in class names.
const IN_CLASS_NAMES: [bool; 256] = {
    let mut table = [false; 256];
    table[b'/' as usize] = true;
    table[b'.' as usize] = true;
    table[b'[' as usize] = true;
    table[b';' as usize] = true;
    table
};

/// The offset at which an internal class name (JVMS §4.2.1) ends that begins at `start`: the offset
/// of the first `;`, or the length of the text.
pub(crate) fn class_name_end(text: &[u8], start: usize) -> Result<usize, NameError> {
    let mut part = start;
    let mut at = start;
    while let Some(byte) = text.get(at) {
        if IN_CLASS_NAMES[usize::from(*byte)] {
            match byte {
                b';' => break,
                b'/' if at == part => return Err(NameError::EmptyPart { at }),
                b'/' => part = at + 1,
                _ => {
                    let character = char::from(*byte);
                    return Err(NameError::Forbidden { character, at });
                }
            }
        }
        at += 1;
    }
    match part == at {
        true if at == start => Err(NameError::Empty),
        true => Err(NameError::EmptyPart { at: part }),
        false => Ok(at),
    }
}

/// The offset after the field descriptor that begins at `start`.
pub(crate) fn field_end(text: &[u8], start: usize) -> Result<usize, DescriptorError> {
    let rest = text.get(start..).unwrap_or_default();
    let dimensions = rest.iter().take_while(|b| **b == b'[').count();
    if dimensions > MAX_DIMENSIONS {
        return Err(DescriptorError::TooManyDimensions { at: start });
    }
    let at = start + dimensions;
    match text.get(at) {
        None => Err(DescriptorError::Truncated { at: text.len() }),
        Some(b'L') => {
            let name = at + 1;
            let end = class_name_end(text, name)?;
            match end == text.len() {
                true => Err(DescriptorError::Unterminated { at: name }),
                false => Ok(end + 1),
            }
        }
        Some(letter) if Primitive::from_letter(*letter).is_some() => Ok(at + 1),
        Some(_) => Err(DescriptorError::NoType { at }),
    }
}

/// The length in bytes of the field descriptor at the beginning of a text; `None` if there is none.
/// The name of a class is not checked, because the class hook asks this for each descriptor of each
/// class.
pub fn field_length(text: &[u8]) -> Option<usize> {
    let dimensions = text.iter().take_while(|b| **b == b'[').count();
    if dimensions > MAX_DIMENSIONS {
        return None;
    }
    match text.get(dimensions)? {
        b'L' => text.iter().position(|b| *b == b';').map(|end| end + 1),
        letter => Primitive::from_letter(*letter).map(|_| dimensions + 1),
    }
}

/// The number of local-variable slots or stack words of a value with this field descriptor, or of
/// the result `V`, which has none. A malformed descriptor counts as an `int`; an empty one has no
/// slot.
pub fn slots(descriptor: &[u8]) -> u16 {
    match descriptor.first() {
        Some(b'J' | b'D') => 2,
        Some(b'V') | None => 0,
        Some(_) => 1,
    }
}

/// Whether values of a type with this field descriptor are references: objects or arrays.
pub fn is_reference(descriptor: &[u8]) -> bool {
    matches!(descriptor.first(), Some(b'L' | b'['))
}

/// The name of the class in the descriptor of a class type; `None` for other types.
pub fn class(descriptor: &[u8]) -> Option<&[u8]> {
    descriptor.strip_prefix(b"L")?.strip_suffix(b";")
}

/// The name by which a `Class` constant names a reference type (JVMS §4.4.1): the internal name of a
/// class, or the descriptor of an array. A descriptor of another type is unchanged.
pub fn constant_name(descriptor: &[u8]) -> &[u8] {
    class(descriptor).unwrap_or(descriptor)
}

/// The constant name of an array's components; `None` for arrays of primitive values, and for names
/// of classes.
pub fn component_name(array: &[u8]) -> Option<&[u8]> {
    let component = array.strip_prefix(b"[")?;
    is_reference(component).then(|| constant_name(component))
}

/// The descriptor of a type, given its constant name.
pub fn type_descriptor(name: &[u8]) -> Vec<u8> {
    if name.starts_with(b"[") {
        name.to_vec()
    } else {
        [b"L", name, b";"].concat()
    }
}

/// The field descriptors of a method's parameters, in order. The iteration ends at the `)`, or at
/// the first malformed type.
pub fn parameters(descriptor: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    let mut rest = descriptor.strip_prefix(b"(").unwrap_or_default();
    std::iter::from_fn(move || {
        let (parameter, others) = rest.split_at_checked(field_length(rest)?)?;
        rest = others;
        Some(parameter)
    })
}

/// The result of a method descriptor: `V` or a field descriptor. Empty if the descriptor is
/// malformed. A search for the first `)` would be wrong, because a class name may contain one.
pub fn result(descriptor: &[u8]) -> &[u8] {
    let length: usize = parameters(descriptor).map(<[u8]>::len).sum();
    let rest = descriptor.get(length + 1..).unwrap_or_default();
    rest.strip_prefix(b")").unwrap_or_default()
}

/// The number of slots of a method's parameters, without a receiver.
pub fn parameter_slots(descriptor: &[u8]) -> u16 {
    parameters(descriptor).map(slots).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_are_read() {
        let descriptor = b"(IL\xED\xA0\x80;[J)[La/B;";
        let found: Vec<&[u8]> = parameters(descriptor).collect();
        assert_eq!(found, [&b"I"[..], b"L\xED\xA0\x80;", b"[J"]);
        assert_eq!(result(descriptor), b"[La/B;");
        assert_eq!((parameter_slots(descriptor), slots(b"J")), (3, 2));
        assert_eq!(class(b"L\xED\xA0\x80;"), Some(&b"\xED\xA0\x80"[..]));
        assert_eq!(component_name(b"[[La/B;"), Some(&b"[La/B;"[..]));
        assert_eq!(component_name(b"[La/B;"), Some(&b"a/B"[..]));
        assert_eq!(
            (component_name(b"[J"), component_name(b"a/B")),
            (None, None)
        );
        assert_eq!(type_descriptor(b"a/B"), b"La/B;");
    }

    #[test]
    fn malformed_descriptors_have_no_result() {
        for text in ["", "I", "(", "(I", "(La", "(Q)V", "(V)V"] {
            assert_eq!(result(text.as_bytes()), b"", "{text}");
        }
        assert_eq!(parameters(b"(IQ)V").count(), 1);
        assert_eq!((slots(b"V"), slots(b"")), (0, 0));
    }

    #[test]
    fn arrays_have_at_most_255_dimensions() {
        let array = |dimensions| "[".repeat(dimensions) + "I";
        assert_eq!(field_length(array(255).as_bytes()), Some(256));
        let error = field_end(array(256).as_bytes(), 0);
        assert_eq!(error, Err(DescriptorError::TooManyDimensions { at: 0 }));
        // A long text must not use the stack of the thread.
        assert_eq!(field_length(array(65_534).as_bytes()), None);
    }
}
