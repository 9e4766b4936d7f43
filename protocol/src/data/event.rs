//! One logged event, as a version (the specialised code version of a method) writes it into a ring
//! buffer.
//!
//! ```text
//!   event   length(4) point(4) time(8) tid(8) unused(8)  value…
//!   value   kind(8) word(8) [characters, 2 bytes each, padded to a multiple of 8 bytes]
//! ```
//!
//! Numbers have the byte order of the machine. The kind of a value selects the meaning of its word:
//!
//! | kind | word |
//! | --- | --- |
//! | 0 | unused; the value is `null` |
//! | 1 | an integer |
//! | 2 | the bits of a double |
//! | 3 | the number of characters of a string |
//! | others | low half: characters of the class name; high half: identity hash of the object |

use veneer_measurements::EventValue;
use veneer_names::LogPoint;

/// A logged event. The event has no variable names; the log point has them in the same order.
#[derive(Clone, Debug, PartialEq)]
pub struct DecodedEvent {
    /// The log point.
    pub point: LogPoint,
    /// `System.nanoTime()` when the application thread passed the point.
    pub time_ns: u64,
    /// The Java thread's id.
    pub thread: u64,
    /// In the order of the log's variables.
    pub values: Vec<EventValue>,
}

/// Decodes an event. Missing bytes read as zero, so decoding never fails; a truncated event has
/// fewer or empty values.
pub fn decode_event(bytes: &[u8]) -> DecodedEvent {
    let word = |at: usize| {
        bytes
            .get(at..at.saturating_add(8))
            .and_then(|b| b.try_into().ok())
            .map_or(0, u64::from_ne_bytes)
    };
    let mut values = Vec::new();
    let mut at = 32;
    while at + 16 <= bytes.len() {
        let (kind, w) = (word(at), word(at + 8));
        at += 16;
        values.push(match kind {
            0 => EventValue::Null,
            1 => EventValue::Int(w as i64),
            2 => EventValue::Float(f64::from_bits(w)),
            _ => {
                let n = (w & 0xFFFF_FFFF) as usize;
                let chars: Vec<u16> = bytes
                    .get(at..at + 2 * n)
                    .unwrap_or_default()
                    .chunks_exact(2)
                    .map(|c| u16::from_ne_bytes([c[0], c[1]]))
                    .collect();
                at += (2 * n).next_multiple_of(8);
                let text = String::from_utf16_lossy(&chars);
                EventValue::Text(if kind == 3 {
                    text
                } else {
                    format!("{text}@{:x}", w >> 32)
                })
            }
        });
    }
    DecodedEvent {
        point: LogPoint((word(0) >> 32) as u32),
        time_ns: word(8),
        thread: word(16),
        values,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_each_kind_and_broken_ones() {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(&0u32.to_ne_bytes());
        bytes.extend_from_slice(&7u32.to_ne_bytes());
        for word in [5u64, 6, 0, 1, 42, 2, 1.5f64.to_bits(), 0, 0, 3, 2] {
            bytes.extend_from_slice(&word.to_ne_bytes());
        }
        for unit in [b'h' as u16, b'i' as u16, 0, 0] {
            bytes.extend_from_slice(&unit.to_ne_bytes());
        }
        let event = decode_event(&bytes);
        assert_eq!(
            (event.point, event.time_ns, event.thread),
            (LogPoint(7), 5, 6)
        );
        let expected = [
            EventValue::Int(42),
            EventValue::Float(1.5),
            EventValue::Null,
            EventValue::Text("hi".into()),
        ];
        assert_eq!(event.values, expected);
        for length in 0..bytes.len() {
            decode_event(&bytes[..length]);
        }
        let mut lying = bytes.clone();
        lying[72..].fill(0xFF);
        decode_event(&lying);
    }
}
