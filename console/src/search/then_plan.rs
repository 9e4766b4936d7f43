//! `veneer search --then`: a plan that runs after the search, with its findings in the variable `findings`.
//!
//! ```text
//!   let findings = [#{"class": "shop.Desk", "line": 41, …}]; the plan's own text
//! ```
//!
//! The agent makes no analysis, so a plan cannot search. This command searches, and gives the result to the
//! plan. The variable stands in the plan's first line, so that messages name the plan's own lines.

use serde_json::{Value, json};
use veneer_client::plan_text::literal;
use veneer_protocol::PlanSource;
use veneer_search::Search;
use veneer_search::outcome::{Axis, Finding, Step};

use super::finding_pattern::pattern_of;

/// Gives a plan the specific findings of a search, the largest first.
pub fn with_findings(mut plan: PlanSource, search: &Search) -> PlanSource {
    let outcome = search.outcome();
    let specific = outcome.findings.iter().filter(|finding| finding.specific);
    let findings: Vec<Value> = specific.map(described).collect();
    let findings = rhai_literal(&findings.into());
    plan.source = format!("let findings = {findings}; {}", plan.source);
    plan
}

/// A finding as a plan sees it. Names and lines that are not known are null.
fn described(finding: &Finding) -> Value {
    let steps = || finding.path.iter().rev();
    let step = |kind: &str| {
        let mut places = steps().filter(|step| step.axis == Axis::Where);
        places.find(|step| step.kind == kind)
    };
    let name = |kind: &str| step(kind).map(|step| step.name.clone());
    let line = step("block").and_then(|step: &Step| step.line);
    let threads = finding.threads.iter().map(|threads| threads.name.clone());
    json!({
        "pattern": pattern_of(finding),
        "class": name("class"),
        "method": name("method"),
        "line": line,
        "why": finding.why,
        "locality": finding.locality,
        "share": finding.share,
        "low": finding.low,
        "high": finding.high,
        "threads": threads.collect::<Vec<String>>(),
    })
}

/// A value as a Rhai expression: `null` is `()`, and an object is a map.
fn rhai_literal(value: &Value) -> String {
    let list = |parts: Vec<String>| parts.join(", ");
    match value {
        Value::Null => "()".into(),
        Value::String(text) => literal(text),
        Value::Array(values) => format!("[{}]", list(values.iter().map(rhai_literal).collect())),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| {
                format!("{}: {}", literal(name), rhai_literal(value))
            };
            format!("#{{{}}}", list(members.iter().map(member).collect()))
        }
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_search::cause::Cause;
    use veneer_search::outcome::{Threads, Window};
    use veneer_search::place::MethodId;

    fn step(kind: &str, name: &str, line: Option<u32>) -> Step {
        Step {
            axis: Axis::Where,
            kind: kind.into(),
            name: name.into(),
            line,
        }
    }

    #[test]
    fn a_plan_sees_place_cause_and_share() {
        let threads = Threads {
            name: "http-*".into(),
            share: 1.0,
        };
        let finding = Finding {
            path: vec![
                step("class", "shop.Desk", None),
                step("method", "audit", None),
                step("block", "Desk.java:41", Some(41)),
            ],
            why: Cause::Monitor,
            share: 0.62,
            low: 0.5,
            high: 0.75,
            specific: true,
            threads: vec![threads],
            window: Window { from: 0.0, to: 4.0 },
            found: 1.0,
            locality: Vec::new(),
            evidence: Vec::new(),
            method: MethodId(3),
        };
        let seen = described(&finding);
        assert_eq!(
            rhai_literal(&json!([seen])),
            r#"[#{"class": "shop.Desk", "high": 0.75, "line": 41, "locality": [], "low": 0.5, "method": "audit", "pattern": "shop.Desk::audit(..)", "share": 0.62, "threads": ["http-*"], "why": "monitor"}]"#
        );
    }

    #[test]
    fn texts_cannot_leave_their_literals_and_null_is_a_unit() {
        let value = json!({"a": "x\"); exit(\"", "b": [null, true, 1]});
        assert_eq!(
            rhai_literal(&value),
            r#"#{"a": "x\"); exit(\"", "b": [(), true, 1]}"#
        );
    }
}
