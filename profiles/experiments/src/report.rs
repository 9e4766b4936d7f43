//! The decisions of `veneer tune` as data: JSON, schema 1. It needs no JVM.

use serde::{Deserialize, Serialize};

use crate::decision::{Decision, Verdict};

/// The schema that this version writes, and the newest that it reads.
pub const SCHEMA: u32 = 1;

/// The decisions of one run of `veneer tune`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TuningReport {
    /// The version of the format.
    pub schema: u32,
    /// One decision for each method, in the order of the experiments.
    pub decisions: Vec<TuningDecision>,
    /// A plan that repeats what is kept at the next start of the program. `None` if nothing is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
}

impl Default for TuningReport {
    fn default() -> TuningReport {
        TuningReport {
            schema: SCHEMA,
            decisions: Vec::new(),
            plan: None,
        }
    }
}

/// The decision about one method. Rates and gains that are not known are `None`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TuningDecision {
    /// The pattern that selects the method.
    pub method: String,
    /// The name of the transformation, as in plans: `huge` or `devirtualise`.
    pub transformation: String,
    /// The arguments of the transformation and of its experiment.
    pub arguments: TuningArguments,
    /// Calls of the goal per second, without the transformation.
    pub before: Option<f64>,
    /// Calls of the goal per second, with it.
    pub after: Option<f64>,
    /// The ratio of both.
    pub gain: Option<f64>,
    /// The lower end of the confidence interval of the gain.
    pub low: Option<f64>,
    /// The upper end of the interval.
    pub high: Option<f64>,
    /// Whether the transformation stays.
    pub kept: bool,
    /// The reason of the decision, in words.
    pub reason: String,
    /// The id of the edit that stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// The hash of the method's code, which guards a saved plan. Empty in reports of older versions.
    #[serde(default)]
    pub hash: String,
    /// The windows of the experiment, in their order. Empty in reports of older versions.
    #[serde(default)]
    pub windows: Vec<TuningWindow>,
}

/// The arguments of a transformation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TuningArguments {
    /// The size of the method in bytes.
    pub size: u64,
    /// The method whose calls are the progress.
    pub goal: Option<String>,
    /// The calls that `devirtualise` tests, by a pattern of the called method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<String>,
    /// The classes for which it tests them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub receivers: Vec<String>,
    /// The number of the parameter that `specialise` makes a constant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameter: Option<u16>,
    /// The value that the parameter then has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<i32>,
}

/// A window of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TuningWindow {
    /// Whether the method ran with the transformation.
    pub transformed: bool,
    /// The length of the window.
    pub seconds: f64,
    /// The number of calls of the goal.
    pub progress: f64,
}

impl TuningDecision {
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
                "the method whose calls are the progress is not called any more".into()
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_of_an_older_version_is_read() {
        let text = r#"{"schema":1,"decisions":[{"method":"a.B::m(int)","transformation":"huge",
            "arguments":{"size":9000,"goal":null},"before":null,"after":null,"gain":null,"low":null,
            "high":null,"kept":false,"reason":"not tried"}]}"#;
        let read: TuningReport = serde_json::from_str(text).expect("a report");
        assert_eq!(read.decisions[0].method, "a.B::m(int)");
        assert!(read.decisions[0].windows.is_empty());
        let written = serde_json::to_string(&read).expect("JSON");
        let again: TuningReport = serde_json::from_str(&written).expect("a report");
        assert_eq!(again, read);
    }
}
