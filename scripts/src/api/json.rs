//! Values as JSON (RFC 8259). Rhai itself writes strings as Rust does: `\u{1b}` for a control character, which no reader of JSON takes.

use rhai::{Array, Dynamic, Engine, FLOAT, ImmutableString, Map};
use std::fmt::Write;

/// A value as JSON. What JSON has no form for is a string: NaN, a handle.
pub(super) fn text(value: &Dynamic) -> String {
    let mut out = String::new();
    write(&mut out, value);
    out
}

fn write(out: &mut String, value: &Dynamic) {
    if let Some(map) = value.read_lock::<Map>() {
        write_map(out, &map);
    } else if let Some(array) = value.read_lock::<Array>() {
        out.push('[');
        for (i, element) in array.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            write(out, element);
        }
        out.push(']');
    } else if let Some(string) = value.read_lock::<ImmutableString>() {
        write_string(out, &string);
    } else if value.is_unit() {
        out.push_str("null");
    } else if value.is_int() || value.is_bool() {
        let _ = write!(out, "{value}");
    } else {
        match value.as_float() {
            Ok(number) if FLOAT::is_finite(number) => {
                let _ = write!(out, "{number:?}");
            }
            _ => write_string(out, &value.to_string()),
        }
    }
}

fn write_map(out: &mut String, map: &Map) {
    out.push('{');
    for (i, (name, value)) in map.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        write_string(out, name);
        out.push(':');
        write(out, value);
    }
    out.push('}');
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

pub(super) fn register(engine: &mut Engine) {
    engine.register_fn("to_json", |map: &mut Map| -> String {
        let mut out = String::new();
        write_map(&mut out, map);
        out
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_as_json_has_it() {
        let mut engine = Engine::new();
        register(&mut engine);
        let json = |code: &str| engine.eval::<String>(code).unwrap();
        assert_eq!(
            json("#{a: [1, -2.5, true, ()], b: \"x\\u001b\\\"\\n\\\\ü\", \"c d\": #{}}.to_json()"),
            "{\"a\":[1,-2.5,true,null],\"b\":\"x\\u001b\\\"\\n\\\\ü\",\"c d\":{}}"
        );
        assert_eq!(text(&Dynamic::from(FLOAT::NAN)), "\"NaN\"");
        assert_eq!(text(&Dynamic::from(1e300)), "1e300");
    }
}
