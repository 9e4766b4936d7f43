//! The decisions of `veneer tune` for people, and a plan that repeats them.

use std::io::{self, Write};

use veneer_client::plan_text::literal;
use veneer_experiments::{TuningArguments, TuningDecision, TuningReport};

use super::candidates::{Candidate, Transformation, devirtualise_call, specialise_call};
use crate::output::Style;

/// A method about which nothing is decided yet.
pub fn untried(candidate: &Candidate) -> TuningDecision {
    TuningDecision {
        method: candidate.pattern.clone(),
        transformation: candidate.transformation.name().into(),
        arguments: arguments(candidate),
        before: None,
        after: None,
        gain: None,
        low: None,
        high: None,
        kept: false,
        reason: "not tried".into(),
        patch: None,
        hash: candidate.hash.clone(),
        windows: Vec::new(),
    }
}

/// How often a saved plan tries a transformation, every two seconds.
const TRIES: u32 = 30;

fn arguments(candidate: &Candidate) -> TuningArguments {
    let mut arguments = TuningArguments {
        size: candidate.size,
        goal: None,
        calls: None,
        receivers: Vec::new(),
        parameter: None,
        value: None,
    };
    match &candidate.transformation {
        Transformation::Huge => {}
        Transformation::Devirtualise { calls, receivers } => {
            arguments.calls = Some(calls.clone());
            arguments.receivers = receivers.clone();
        }
        Transformation::Specialise { parameter, value } => {
            arguments.parameter = Some(*parameter);
            arguments.value = Some(*value);
        }
    }
    arguments
}

fn outcome(decision: &TuningDecision) -> &'static str {
    match decision.kept {
        true => "kept",
        false => "not kept",
    }
}

/// Writes the decisions for people.
pub fn write(report: &TuningReport, style: Style, out: &mut impl Write) -> io::Result<()> {
    for one in &report.decisions {
        writeln!(out, "{}", style.bold(&one.method))?;
        if let Some(calls) = &one.arguments.calls {
            let receivers = one.arguments.receivers.join(", ");
            writeln!(out, "  tests of the calls {calls} for {receivers}")?;
        }
        if let (Some(parameter), Some(value)) = (one.arguments.parameter, one.arguments.value) {
            writeln!(out, "  parameter {parameter} as the constant {value}")?;
        }
        writeln!(
            out,
            "  {} bytes: {} ({})",
            one.arguments.size,
            outcome(one),
            one.reason
        )?;
        if let (Some(before), Some(after), Some(gain)) = (one.before, one.after, one.gain) {
            writeln!(
                out,
                "  calls of {} per second: {} before, {} after: {gain:.2} times as many{}",
                one.arguments.goal.as_deref().unwrap_or("-"),
                rate(before),
                rate(after),
                interval(one.low, one.high)
            )?;
        }
        if let Some(patch) = &one.patch {
            writeln!(out, "  to take it back: veneer detach PID {patch}")?;
        }
    }
    Ok(())
}

/// A plan that makes the same transformations at the next start, if the methods have the same code.
pub fn plan(report: &TuningReport) -> String {
    let mut text = String::from(
        "// Written by `veneer tune --save`. Each method changes when it runs and its classes are loaded.\n",
    );
    for one in report.decisions.iter().filter(|one| one.kept) {
        if let Some(calls) = &one.arguments.calls {
            let transformation = devirtualise_call(calls, &one.arguments.receivers);
            text += &repeated_plan(one, &transformation);
            continue;
        }
        if let (Some(parameter), Some(value)) = (one.arguments.parameter, one.arguments.value) {
            text += &repeated_plan(one, &specialise_call(parameter, value));
            continue;
        }
        text += &format!(
            "{{\n    let m = methods({pattern});\n    let counts = m.blocks().before(counter());\n    let state = #{{ tick: () }};\n    state.tick = every(2.0, || {{\n        if counts.hits() == 0 {{ return; }}\n        m.expect({hash}).optimise(\"huge\", #{{ counts: counts }});\n        counts.detach();\n        state.tick.cancel();\n    }});\n}}\n",
            pattern = literal(&one.method),
            hash = literal(&one.hash),
        );
    }
    text
}

/// The part of a plan that calls `optimise`. The classes may be loaded late, so it tries for a minute.
fn repeated_plan(one: &TuningDecision, transformation: &str) -> String {
    format!(
        "{{\n    let m = methods({pattern});\n    let state = #{{ left: {TRIES}, tick: () }};\n    state.tick = every(2.0, || {{\n        state.left -= 1;\n        if state.left <= 0 {{ state.tick.cancel(); }}\n        try {{\n            m.expect({hash}).{transformation};\n            state.tick.cancel();\n        }} catch (error) {{ if state.left <= 0 {{ print(`${{error}}`); }} }}\n    }});\n}}\n",
        pattern = literal(&one.method),
        hash = literal(&one.hash),
    )
}

/// A rate with a unit of a thousand.
fn rate(per_second: f64) -> String {
    let units = [(1e9, " billion"), (1e6, " million"), (1e3, " thousand")];
    match units.iter().find(|(size, _)| per_second >= *size) {
        Some((size, name)) => format!("{:.1}{name}", per_second / size),
        None => format!("{per_second:.0}"),
    }
}

fn interval(low: Option<f64>, high: Option<f64>) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!(" ({low:.2} to {high:.2})"),
        (Some(low), None) => format!(" ({low:.2} at least)"),
        (None, Some(high)) => format!(" ({high:.2} at most)"),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_experiments::{Decision, SCHEMA, Verdict};

    fn candidate() -> Candidate {
        Candidate {
            pattern: "a.B::m(I)I".into(),
            size: 9_000,
            hash: "5be2f2a1c09d7e43".into(),
            transformation: Transformation::Huge,
        }
    }

    fn kept() -> TuningReport {
        let mut one = untried(&candidate());
        one.arguments.goal = Some("a.C::next(..)".into());
        one.decide(&Decision {
            verdict: Verdict::Faster,
            before: 2e6,
            after: 1e7,
            gain: 5.0,
            low: 4.0,
            high: f64::MAX,
            blocks: 8,
        });
        one.patch = Some("p3".into());
        TuningReport {
            schema: SCHEMA,
            decisions: vec![one],
            plan: None,
        }
    }

    #[test]
    fn the_text_has_the_rates_the_gain_and_the_way_back() {
        let style = Style {
            colour: false,
            width: None,
        };
        let mut out = Vec::new();
        write(&kept(), style, &mut out).expect("written");
        let text = String::from_utf8(out).expect("text");
        assert_eq!(
            text,
            "a.B::m(I)I\n  9000 bytes: kept (faster in 8 blocks of windows)\n  calls of a.C::next(..) per second: \
             2.0 million before, 10.0 million after: 5.00 times as many (4.00 at least)\n  to take it back: veneer detach PID p3\n"
        );
    }

    #[test]
    fn json_has_the_members_of_schema_1() {
        let json = serde_json::to_value(kept()).expect("JSON");
        let one = &json["decisions"][0];
        for member in [
            "method",
            "transformation",
            "arguments",
            "before",
            "after",
            "gain",
            "low",
            "high",
            "kept",
            "reason",
            "hash",
            "windows",
        ] {
            assert!(one.get(member).is_some(), "{member}: {json}");
        }
        assert_eq!(
            (&json["schema"], &one["high"]),
            (&1.into(), &serde_json::Value::Null)
        );
    }

    #[test]
    fn a_saved_plan_has_what_is_kept_and_its_hash() {
        let text = plan(&kept());
        assert!(
            text.contains("methods(\"a.B::m(I)I\")")
                && text.contains("expect(\"5be2f2a1c09d7e43\")"),
            "{text}"
        );
        let mut report = kept();
        report.decisions[0].kept = false;
        assert!(!plan(&report).contains("methods("));
    }

    #[test]
    fn constants_are_shown_and_saved_with_their_values() {
        let mut report = kept();
        let mut one = candidate();
        one.transformation = Transformation::Specialise {
            parameter: 1,
            value: -8,
        };
        report.decisions[0].transformation = one.transformation.name().into();
        report.decisions[0].arguments = arguments(&one);
        let wanted = "optimise(\"specialise\", #{ parameter: 1, value: -8 })";
        assert!(plan(&report).contains(wanted), "{}", plan(&report));
        assert!(one.keep_program("").contains(wanted));
        let json = serde_json::to_value(&report).expect("JSON");
        let arguments = &json["decisions"][0]["arguments"];
        assert_eq!(
            (&arguments["parameter"], &arguments["value"]),
            (&1.into(), &(-8).into())
        );
        assert!(arguments.get("calls").is_none());
        let style = Style {
            colour: false,
            width: None,
        };
        let mut out = Vec::new();
        write(&report, style, &mut out).expect("written");
        let text = String::from_utf8(out).expect("text");
        assert!(text.contains("parameter 1 as the constant -8"), "{text}");
    }

    #[test]
    fn tests_of_calls_are_shown_and_saved_with_their_receivers() {
        let mut report = kept();
        let mut one = candidate();
        one.transformation = Transformation::Devirtualise {
            calls: "a.S::area(..)".into(),
            receivers: vec!["a.S$C".into(), "a.D".into()],
        };
        report.decisions[0].transformation = one.transformation.name().into();
        report.decisions[0].arguments = arguments(&one);
        let wanted = "optimise(\"devirtualise\", #{ calls: \"a.S::area(..)\", receivers: [\"a.S$C\", \"a.D\"] })";
        assert!(plan(&report).contains(wanted), "{}", plan(&report));
        assert!(one.keep_program("").contains(wanted));
        let json = serde_json::to_value(&report).expect("JSON");
        assert_eq!(json["decisions"][0]["arguments"]["receivers"][1], "a.D");
        let style = Style {
            colour: false,
            width: None,
        };
        let mut out = Vec::new();
        write(&report, style, &mut out).expect("written");
        let text = String::from_utf8(out).expect("text");
        let line = "tests of the calls a.S::area(..) for a.S$C, a.D";
        assert!(text.contains(line), "{text}");
    }
}
