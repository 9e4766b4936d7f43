//! `veneer trace PID --value EXPR`: the parts of the plan that write values of calls into the trace.
//!
//! ```text
//!   order.id   ─▶  v.before(|p| trace_event("order.id", p["order"]["id"]));            after the recorder
//!   result     ─▶  v.exits().before(|p| trace_event("result", p["result"]));           before the recorder
//!   exception  ─▶  v.after(|p| { … trace_event("exception", class_of(p["exception"])); })      the same
//! ```
//!
//! Instruments at the same point act in the order in which they were attached. A value of the entry comes
//! after the beginning of the call, and a value of the end before its end. So both are inside the call.

use thiserror::Error;

use crate::ask::expression::{ELAPSED, EXCEPTION, RESULT, reads, to_plan_expression};
use veneer_client::plan_text::literal;

/// The function of plans that writes a value into the trace.
pub const TRACE_EVENT: &str = "trace_event";

/// Why a value cannot be recorded.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ValueError {
    /// The trace has the duration of each call anyway.
    #[error(
        "--value cannot read `elapsed`: the trace has the duration of each call, in the column `wall`"
    )]
    Duration,
    /// There is no moment at which both are known.
    #[error("--value {0}: one value reads either `result` or `exception`")]
    TwoEnds(String),
}

/// The plan code of the recorded values, for the methods `v`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ValueCode {
    /// The code to attach before the recorder.
    pub at_exits: String,
    /// The code to attach after the recorder.
    pub at_entries: String,
}

impl ValueCode {
    /// The code that records these expressions.
    pub fn new(expressions: &[String]) -> Result<ValueCode, ValueError> {
        let mut code = ValueCode::default();
        for typed in expressions {
            if reads(typed, ELAPSED) {
                return Err(ValueError::Duration);
            }
            let (label, value) = (literal(typed.trim()), to_plan_expression(typed));
            match (reads(typed, RESULT), reads(typed, EXCEPTION)) {
                (true, true) => return Err(ValueError::TwoEnds(typed.clone())),
                (true, false) => code.at_exits.push_str(&format!(
                    "v.exits().before(|p| {TRACE_EVENT}({label}, {value}));\n"
                )),
                (false, true) => {
                    let value = match typed.trim() {
                        EXCEPTION => format!("class_of({value})"),
                        _ => value,
                    };
                    code.at_exits.push_str(&format!(
                        "v.after(|p| if p[\"{EXCEPTION}\"] != () {{ {TRACE_EVENT}({label}, {value}); }});\n"
                    ));
                }
                (false, false) => code
                    .at_entries
                    .push_str(&format!("v.before(|p| {TRACE_EVENT}({label}, {value}));\n")),
            }
        }
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_protocol::PlanSource;

    fn code_of(expressions: &[&str]) -> Result<ValueCode, ValueError> {
        let expressions: Vec<String> = expressions.iter().map(ToString::to_string).collect();
        ValueCode::new(&expressions)
    }

    #[test]
    fn values_are_read_at_the_entry_or_at_the_end() {
        let code = code_of(&[
            "order.id",
            "n > 3 && done",
            "result.total",
            "exception",
            "exception.detailMessage",
        ])
        .unwrap();
        assert!(
            code.at_entries
                .contains("trace_event(\"order.id\", p[\"order\"][\"id\"])"),
            "{code:?}"
        );
        assert!(
            code.at_exits.contains(
                "v.exits().before(|p| trace_event(\"result.total\", p[\"result\"][\"total\"]))"
            ),
            "{code:?}"
        );
        assert!(
            code.at_exits.contains("class_of(p[\"exception\"])"),
            "{code:?}"
        );
        let plan = PlanSource {
            name: "trace".into(),
            source: format!(
                "let v = methods(\"a.B::m(..)\");\n{}{}",
                code.at_exits, code.at_entries
            ),
            settings: Default::default(),
            modules: Default::default(),
        };
        crate::plans::check_plan(&plan).unwrap();
    }

    #[test]
    fn a_value_without_a_moment_is_refused() {
        assert_eq!(code_of(&["elapsed"]), Err(ValueError::Duration));
        let both = "result == 3 || exception";
        assert_eq!(code_of(&[both]), Err(ValueError::TwoEnds(both.into())));
    }
}
