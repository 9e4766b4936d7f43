//! The values that a log records.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The value of a variable when a log recorded it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum EventValue {
    /// The Java constant `null`.
    Null,
    /// A `boolean` (0 or 1), `byte`, `char`, `short`, `int` or `long`.
    Int(i64),
    /// A `float` or `double`.
    Float(f64),
    /// A string, or `class@hash` with the identity hash for any other object.
    Text(String),
}

impl fmt::Display for EventValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EventValue::Null => f.write_str("null"),
            EventValue::Int(value) => write!(f, "{value}"),
            EventValue::Float(value) => write!(f, "{value:?}"),
            EventValue::Text(text) => write!(f, "{text:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_the_plain_value() {
        let values = [
            EventValue::Null,
            EventValue::Int(-1),
            EventValue::Float(1.5),
            EventValue::Text("a\n".into()),
        ];
        let text = r#"[null,-1,1.5,"a\n"]"#;
        assert_eq!(serde_json::to_string(&values).unwrap(), text);
        assert_eq!(
            serde_json::from_str::<Vec<EventValue>>(text).unwrap(),
            values
        );
        let shown: Vec<String> = values.iter().map(EventValue::to_string).collect();
        assert_eq!(shown, ["null", "-1", "1.5", r#""a\n""#]);
    }
}
