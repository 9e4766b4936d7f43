//! The arguments of an event, decoded from their words.

use crate::format::word::{FIRST_ARGUMENT, VALUE_BITS, argument, kind_of, value_of};

/// The most bytes of a text argument. A damaged trace could have longer ones.
const MAX_TEXT_BYTES: usize = 1 << 16;

/// An argument of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// An id that replaces the one in the event word.
    Id(u64),
    /// A whole number.
    Int(i64),
    /// A number with a point.
    Double(f64),
    /// The id of a string of the names file.
    String(u64),
    /// A text in place. Invalid UTF-8 is replaced.
    Text(String),
    /// An object: the string id of its class, and its identity hash.
    Object(u64, u32),
    /// The value `null`.
    Null,
    /// The thread's processor time in nanoseconds.
    Cpu(u64),
    /// Bytes that the thread has allocated so far.
    Allocated(u64),
    /// The id of a call site.
    Site(u64),
    /// The number of the thread that owns a monitor.
    Owner(u64),
    /// The name of the next argument: the id of a string.
    Label(u64),
    /// An argument of a kind that this version does not know, and its value.
    Unknown(u8, u64),
}

impl Argument {
    /// Whether the argument is a value that a plan named, or its name, and not a property of the event.
    pub fn is_value(&self) -> bool {
        matches!(
            self,
            Argument::Int(_)
                | Argument::Double(_)
                | Argument::String(_)
                | Argument::Text(_)
                | Argument::Object(..)
                | Argument::Null
                | Argument::Label(_)
        )
    }
}

/// Decodes the words of arguments. Words that are no arguments are skipped.
pub fn arguments(words: &[u64]) -> impl Iterator<Item = Argument> + '_ {
    let mut words = words.iter().copied();
    std::iter::from_fn(move || next_argument(&mut words))
}

fn next_argument(words: &mut impl Iterator<Item = u64>) -> Option<Argument> {
    let mut high = None;
    let mut text: Vec<u8> = Vec::new();
    loop {
        let Some(word) = words.next() else {
            // The writer was killed within a text.
            return (!text.is_empty()).then(|| Argument::Text(lossy(&text)));
        };
        let value = value_of(word);
        return Some(match kind_of(word) {
            argument::HIGH => {
                high = Some(value << VALUE_BITS);
                continue;
            }
            argument::TEXT_PART => {
                if text.len() < MAX_TEXT_BYTES {
                    text.extend_from_slice(&value.to_le_bytes()[..7]);
                }
                continue;
            }
            argument::TEXT => {
                let bytes = value.to_le_bytes();
                let length = bytes[..7].iter().position(|b| *b == 0).unwrap_or(7);
                text.extend_from_slice(&bytes[..length]);
                Argument::Text(lossy(&text))
            }
            argument::ID => Argument::Id(value),
            argument::INT => Argument::Int(match high {
                Some(high) => (high | value) as i64,
                None => ((value << (64 - VALUE_BITS)) as i64) >> (64 - VALUE_BITS),
            }),
            argument::DOUBLE => Argument::Double(f64::from_bits(high.unwrap_or(0) | value)),
            argument::STRING => Argument::String(value),
            argument::OBJECT => Argument::Object(value >> 32, value as u32),
            argument::NULL => Argument::Null,
            argument::CPU => Argument::Cpu(value),
            argument::ALLOCATED => Argument::Allocated(value),
            argument::SITE => Argument::Site(value),
            argument::OWNER => Argument::Owner(value),
            argument::LABEL => Argument::Label(value),
            kind if kind >= FIRST_ARGUMENT => Argument::Unknown(kind, value),
            _ => continue,
        });
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::writer::ArgumentValue;

    fn round_trip(value: ArgumentValue<'_>) -> Vec<Argument> {
        let mut words = Vec::new();
        value.write(|word| words.push(word));
        assert_eq!(words.len(), value.words(), "{value:?}");
        arguments(&words).collect()
    }

    #[test]
    fn each_value_is_read_as_it_was_written() {
        for n in [0, 1, -1, 1 << 54, 1 << 55, -(1 << 55), i64::MAX, i64::MIN] {
            assert_eq!(round_trip(ArgumentValue::Int(n)), [Argument::Int(n)]);
        }
        for x in [0.0, -0.0, 1.5, f64::MIN_POSITIVE, f64::INFINITY, -1e300] {
            assert_eq!(round_trip(ArgumentValue::Double(x)), [Argument::Double(x)]);
        }
        for text in ["", "seven77", "eight888", "größer als sieben Zeichen"] {
            let read = round_trip(ArgumentValue::Text(text));
            assert_eq!(read, [Argument::Text(text.into())]);
        }
        let object = round_trip(ArgumentValue::Object(9, 0xdead_beef));
        assert_eq!(object, [Argument::Object(9, 0xdead_beef)]);
    }
}
