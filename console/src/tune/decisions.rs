//! The decisions of `veneer tune`: JSON (schema 1), a text, and a plan that repeats them.

use std::io::{self, Write};

use serde::Serialize;
use veneer_client::plan_text::literal;
use veneer_experiments::{Decision, Verdict};

use super::candidates::Candidate;
use crate::output::Style;

/// The decisions of one run of the command.
#[derive(Debug, Serialize)]
pub struct TuningReport {
    pub schema: u32,
    pub decisions: Vec<TuningDecision>,
}

impl Default for TuningReport {
    fn default() -> TuningReport {
        TuningReport {
            schema: 1,
            decisions: Vec::new(),
        }
    }
}

/// The decision about one method.
#[derive(Debug, Serialize)]
pub struct TuningDecision {
    /// The pattern that selects the method.
    pub method: String,
    pub transformation: &'static str,
    pub arguments: Arguments,
    /// Calls of the goal per second, without the transformation.
    pub before: Option<f64>,
    /// Calls of the goal per second, with it.
    pub after: Option<f64>,
    /// The ratio of both.
    pub gain: Option<f64>,
    /// The confidence interval of the gain.
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub kept: bool,
    pub reason: String,
    /// The id of the edit that stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    #[serde(skip)]
    hash: String,
}

/// The arguments of a transformation.
#[derive(Debug, Serialize)]
pub struct Arguments {
    /// The size of the method in bytes.
    pub size: u64,
    /// The method whose calls are the progress.
    pub goal: Option<String>,
}

impl TuningDecision {
    /// A method about which nothing is decided yet.
    pub fn untried(candidate: &Candidate) -> TuningDecision {
        TuningDecision {
            method: candidate.pattern.clone(),
            transformation: "huge",
            arguments: Arguments {
                size: candidate.size,
                goal: None,
            },
            before: None,
            after: None,
            gain: None,
            low: None,
            high: None,
            kept: false,
            reason: "not tried".into(),
            patch: None,
            hash: candidate.hash.clone(),
        }
    }

    /// Takes the result of the experiment.
    pub fn decide(&mut self, found: &Decision) {
        let known = |end: f64| (end > 0.0 && end < f64::MAX).then_some(end);
        (self.before, self.after) = (known(found.before), known(found.after));
        self.gain = self.before.and(known(found.gain));
        (self.low, self.high) = (known(found.low), known(found.high));
        self.kept = found.is_kept();
        self.reason = match found.verdict {
            Verdict::Faster => format!("faster in {} blocks of windows", found.blocks),
            Verdict::Slower => format!("slower in {} blocks of windows", found.blocks),
            Verdict::NoDifference => {
                format!(
                    "no difference is proven in {} blocks of windows",
                    found.blocks
                )
            }
            Verdict::NoProgress => {
                "the block that was passed most often is not passed any more".into()
            }
        };
    }

    fn outcome(&self) -> &'static str {
        match self.kept {
            true => "kept",
            false => "not kept",
        }
    }
}

impl TuningReport {
    /// Writes the decisions for people.
    pub fn write(&self, style: Style, out: &mut impl Write) -> io::Result<()> {
        for one in &self.decisions {
            writeln!(out, "{}", style.bold(&one.method))?;
            writeln!(
                out,
                "  {} bytes: {} ({})",
                one.arguments.size,
                one.outcome(),
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
    pub fn plan(&self) -> String {
        let mut text = String::from(
            "// Written by `veneer tune --save`. Counts the blocks of each method for two seconds, then splits it.\n",
        );
        for one in self.decisions.iter().filter(|one| one.kept) {
            text += &format!(
                "{{\n    let m = methods({pattern});\n    let counts = m.blocks().before(counter());\n    let state = #{{ tick: () }};\n    state.tick = every(2.0, || {{\n        if counts.hits() == 0 {{ return; }}\n        m.expect({hash}).optimise(\"huge\", #{{ counts: counts }});\n        counts.detach();\n        state.tick.cancel();\n    }});\n}}\n",
                pattern = literal(&one.method),
                hash = literal(&one.hash),
            );
        }
        text
    }
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

    fn candidate() -> Candidate {
        Candidate {
            pattern: "a.B::m(I)I".into(),
            size: 9_000,
            hash: "5be2f2a1c09d7e43".into(),
        }
    }

    fn kept() -> TuningReport {
        let mut one = TuningDecision::untried(&candidate());
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
            schema: 1,
            decisions: vec![one],
        }
    }

    #[test]
    fn the_text_has_the_rates_the_gain_and_the_way_back() {
        let style = Style {
            colour: false,
            width: None,
        };
        let mut out = Vec::new();
        kept().write(style, &mut out).expect("written");
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
        let text = kept().plan();
        assert!(
            text.contains("methods(\"a.B::m(I)I\")")
                && text.contains("expect(\"5be2f2a1c09d7e43\")"),
            "{text}"
        );
        let mut report = kept();
        report.decisions[0].kept = false;
        assert!(!report.plan().contains("methods("));
    }
}
