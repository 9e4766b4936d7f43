//! Formats values as JSON (RFC 8259).
//!
//! Rhai's own formatter writes strings as Rust does: `\u{1b}` for a control character, which is
//! invalid in JSON.

use rhai::{Array, Dynamic, FLOAT, ImmutableString, Map};
use std::fmt::Write;

/// Formats a value as JSON. A value without a JSON form, such as NaN or a handle, becomes a string.
pub(crate) fn to_json(value: &Dynamic) -> String {
    to_json_within(value, usize::MAX).unwrap_or_default()
}

/// Formats a value as JSON; `None` if the text is longer than `limit` bytes.
pub(crate) fn to_json_within(value: &Dynamic, limit: usize) -> Option<String> {
    let mut out = Text {
        text: String::new(),
        limit,
    };
    out.write(value);
    (out.text.len() <= limit).then_some(out.text)
}

/// Formats a map as a JSON object.
pub(crate) fn map_to_json(map: &Map) -> String {
    let mut out = Text {
        text: String::new(),
        limit: usize::MAX,
    };
    out.write_map(map);
    out.text
}

/// A JSON writer that stops soon after the text exceeds a limit.
struct Text {
    text: String,
    limit: usize,
}

impl Text {
    fn is_full(&self) -> bool {
        self.text.len() > self.limit
    }

    fn write(&mut self, value: &Dynamic) {
        if let Some(map) = value.read_lock::<Map>() {
            self.write_map(&map);
        } else if let Some(array) = value.read_lock::<Array>() {
            self.text.push('[');
            for (i, element) in array.iter().enumerate() {
                if self.is_full() {
                    break;
                }
                if i > 0 {
                    self.text.push(',');
                }
                self.write(element);
            }
            self.text.push(']');
        } else if let Some(string) = value.read_lock::<ImmutableString>() {
            write_string(&mut self.text, &string);
        } else if value.is_unit() {
            self.text.push_str("null");
        } else if value.is_int() || value.is_bool() {
            let _ = write!(self.text, "{value}");
        } else {
            match value.as_float() {
                Ok(number) if FLOAT::is_finite(number) => {
                    let _ = write!(self.text, "{number:?}");
                }
                _ => write_string(&mut self.text, &value.to_string()),
            }
        }
    }

    fn write_map(&mut self, map: &Map) {
        self.text.push('{');
        for (i, (name, value)) in map.iter().enumerate() {
            if self.is_full() {
                break;
            }
            if i > 0 {
                self.text.push(',');
            }
            write_string(&mut self.text, name);
            self.text.push(':');
            self.write(value);
        }
        self.text.push('}');
    }
}

fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_without_a_json_form_are_strings_and_long_texts_are_refused() {
        assert_eq!(to_json(&Dynamic::from(FLOAT::NAN)), "\"NaN\"");
        assert_eq!(to_json(&Dynamic::from(1e300)), "1e300");
        let long: Dynamic = vec![Dynamic::from("x".repeat(9)); 1000].into();
        assert_eq!(to_json_within(&long, 12_001).map(|t| t.len()), Some(12_001));
        assert_eq!(to_json_within(&long, 12_000), None);
    }
}
