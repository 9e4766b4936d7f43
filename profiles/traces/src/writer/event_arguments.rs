//! The words of an event's arguments.

use crate::format::word::{MAX_VALUE, VALUE_BITS, argument, long};

/// Bytes of text in one argument word.
const TEXT_BYTES: usize = 7;

/// An argument of an event, as a recorder writes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ArgumentValue<'t> {
    /// An id that does not fit into the event word.
    Id(u64),
    /// A whole number.
    Int(i64),
    /// A number with a point.
    Double(f64),
    /// The id of a string of the names file.
    String(u64),
    /// A text in place. Text after a NUL character is dropped.
    Text(&'t str),
    /// An object: the string id of its class, and its identity hash. The id has 24 bits.
    Object(u32, u32),
    /// The value `null`.
    Null,
    /// The thread's processor time in nanoseconds.
    Cpu(u64),
    /// Bytes that the thread has allocated so far.
    Allocated(u64),
    /// The id of a call site.
    Site(u64),
    /// The number of the thread that owns a monitor.
    Owner(u32),
}

impl ArgumentValue<'_> {
    /// The number of words of the argument.
    pub fn words(&self) -> usize {
        match self {
            ArgumentValue::Int(value) => 1 + usize::from(!fits(*value)),
            ArgumentValue::Double(value) => 1 + usize::from(value.to_bits() > MAX_VALUE),
            ArgumentValue::Text(text) => visible(text).len().div_ceil(TEXT_BYTES).max(1),
            _ => 1,
        }
    }

    /// Passes each word of the argument to `put`.
    pub fn write(&self, mut put: impl FnMut(u64)) {
        match *self {
            ArgumentValue::Id(id) => put(long(argument::ID, id & MAX_VALUE)),
            ArgumentValue::Int(value) => {
                if !fits(value) {
                    put(long(argument::HIGH, (value as u64) >> VALUE_BITS));
                }
                put(long(argument::INT, value as u64 & MAX_VALUE));
            }
            ArgumentValue::Double(value) => {
                let bits = value.to_bits();
                if bits > MAX_VALUE {
                    put(long(argument::HIGH, bits >> VALUE_BITS));
                }
                put(long(argument::DOUBLE, bits & MAX_VALUE));
            }
            ArgumentValue::String(id) => put(long(argument::STRING, id & MAX_VALUE)),
            ArgumentValue::Text(text) => write_text(visible(text), put),
            ArgumentValue::Object(class, hash) => {
                let value = (u64::from(class) << 32) | u64::from(hash);
                put(long(argument::OBJECT, value & MAX_VALUE));
            }
            ArgumentValue::Null => put(long(argument::NULL, 0)),
            ArgumentValue::Cpu(time) => put(long(argument::CPU, time & MAX_VALUE)),
            ArgumentValue::Allocated(bytes) => put(long(argument::ALLOCATED, bytes & MAX_VALUE)),
            ArgumentValue::Site(id) => put(long(argument::SITE, id & MAX_VALUE)),
            ArgumentValue::Owner(thread) => put(long(argument::OWNER, u64::from(thread))),
        }
    }
}

/// Whether a number has at most 56 bits, its sign included.
fn fits(value: i64) -> bool {
    let free = 64 - VALUE_BITS;
    (value << free) >> free == value
}

fn visible(text: &str) -> &[u8] {
    text.split('\0').next().unwrap_or_default().as_bytes()
}

fn write_text(bytes: &[u8], mut put: impl FnMut(u64)) {
    let mut chunks = bytes.chunks(TEXT_BYTES).peekable();
    if chunks.peek().is_none() {
        put(long(argument::TEXT, 0));
    }
    while let Some(chunk) = chunks.next() {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let kind = match chunks.peek() {
            Some(_) => argument::TEXT_PART,
            None => argument::TEXT,
        };
        put(long(kind, u64::from_le_bytes(word)));
    }
}
