//! One logged event, as versions write it into a ring.
//!
//! ```text
//!   length(4) point(4) time(8) tid(8) –(8)  value…      value: kind(8) word(8) [characters, 2 bytes each, padded to 8]
//! ```

/// A value of a Java variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`.
    Null,
    /// boolean (0 or 1), byte, char, short, int, long.
    Int(i64),
    /// float, double.
    Float(f64),
    /// A string, or for another object its class and identity.
    Text(String),
}

/// An event; which variables the values belong to is known to the point.
#[derive(Clone, Debug, PartialEq)]
pub struct Drained {
    /// The log point.
    pub point: u32,
    /// `System.nanoTime()`.
    pub time_ns: u64,
    /// The Java thread's id.
    pub thread: u64,
    /// In the order of the log's variables.
    pub values: Vec<Value>,
}

/// Reads an event. Bytes that are missing read as zero: an event never fails, it only says less.
pub fn decode(bytes: &[u8]) -> Drained {
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
            0 => Value::Null,
            1 => Value::Int(w as i64),
            2 => Value::Float(f64::from_bits(w)),
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
                Value::Text(if kind == 3 {
                    text
                } else {
                    format!("{text}@{:x}", w >> 32)
                })
            }
        });
    }
    Drained {
        point: (word(0) >> 32) as u32,
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
        let event = decode(&bytes);
        assert_eq!((event.point, event.time_ns, event.thread), (7, 5, 6));
        let expected = [
            Value::Int(42),
            Value::Float(1.5),
            Value::Null,
            Value::Text("hi".into()),
        ];
        assert_eq!(event.values, expected);
        for length in 0..bytes.len() {
            decode(&bytes[..length]);
        }
        let mut lying = bytes.clone();
        lying[72..].fill(0xFF);
        decode(&lying);
    }
}
