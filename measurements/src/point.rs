//! The points at which instruments measure.

use crate::measurement::Measurement;
use serde::{Deserialize, Serialize};
use veneer_names::FragmentId;

/// The measurement of one instrument at one point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PointRow {
    /// The class name with dots: `a.b.C`, `a.b.C$D`.
    pub class: String,
    /// The method's name and descriptor: `m(I)I`.
    pub method: String,
    /// The fragment (basic block or region) in its method; `None` if the point is the whole method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragment: Option<FragmentId>,
    /// For an edge, the fragment to which the edge leads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<FragmentId>,
    /// For an instruction, its effect and its bytecode index: `call a.b.C::m @17`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// The source line at which the point begins, if the class file has line numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u16>,
    /// The measurement. JSON has its fields beside those of the point.
    #[serde(flatten)]
    pub data: Measurement,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_no_field_without_a_value() {
        let whole = PointRow {
            class: "a.B".into(),
            method: "m(I)I".into(),
            fragment: None,
            to: None,
            what: None,
            line: None,
            data: Measurement::Log {
                events: 2,
                dropped: 1,
            },
        };
        let edge = PointRow {
            fragment: Some(FragmentId(3)),
            to: Some(FragmentId(4)),
            what: Some("call a.B::m @17".into()),
            line: Some(12),
            data: Measurement::Count { hits: 7 },
            ..whole.clone()
        };
        for (row, text) in [
            (
                whole,
                r#"{"class":"a.B","method":"m(I)I","events":2,"dropped":1}"#,
            ),
            (
                edge,
                r#"{"class":"a.B","method":"m(I)I","fragment":3,"to":4,"what":"call a.B::m @17","line":12,"hits":7}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&row).unwrap(), text);
            assert_eq!(serde_json::from_str::<PointRow>(text).unwrap(), row);
        }
    }
}
