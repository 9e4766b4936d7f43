//! The record of a part of the benchmarks: its figures with every value, its goals, and the text
//! and tables made from them.

use serde::{Deserialize, Serialize};

use super::jvm_options::OPTIONS;
use crate::bench::statistics::{Spread, median};
use crate::machine::Machine;
use crate::process::Process;
use crate::trust::part::Part;
use crate::trust::part::{Scope, TrustError};

/// A figure: the median of some values, with all of these values.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Figure {
    /// The measured quantity, for example `ratio of processor time` or `attach`.
    pub what: String,
    /// The program. May be empty.
    pub workload: String,
    /// For example `armed` or `JaCoCo`.
    pub mode: String,
    /// `×`, `ns`, `ms` or `bytes`.
    pub unit: String,
    /// Every value, in the order of the groups.
    pub values: Vec<f64>,
    pub spread: Spread,
}

impl Figure {
    /// Returns `None` if there are no values.
    pub fn new(
        what: &str,
        workload: &str,
        mode: &str,
        unit: &str,
        values: Vec<f64>,
    ) -> Option<Self> {
        Some(Self {
            what: what.to_string(),
            workload: workload.to_string(),
            mode: mode.to_string(),
            unit: unit.to_string(),
            spread: Spread::from_values(&values)?,
            values,
        })
    }
}

/// A goal and its result.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Goal {
    /// The subject of the goal.
    pub what: String,
    /// The condition in words, for example `≤ 1.01`.
    pub goal: String,
    /// The measured value in words.
    pub figure: String,
    pub met: bool,
}

impl Goal {
    /// A goal that `figure` is at most `most`. Both are compared with the printed precision of two
    /// digits.
    pub fn at_most(what: &str, most: f64, unit: &str, figure: f64) -> Self {
        let shown = |value: f64| format!("{} {unit}", number(value)).trim_end().to_string();
        Self {
            what: what.to_string(),
            goal: format!("≤ {}", shown(most)),
            figure: shown(figure),
            met: figure < most + 0.005,
        }
    }

    /// A goal that `figure` is in a range. All three are compared with the printed precision of two digits.
    pub fn between(what: &str, least: f64, most: f64, figure: f64) -> Self {
        Self {
            what: what.to_string(),
            goal: format!("{least:.2} to {most:.2}"),
            figure: format!("{figure:.2}"),
            met: least - 0.005 <= figure && figure < most + 0.005,
        }
    }

    /// A goal that a condition is true everywhere. `against` lists the cases in which it is false.
    pub fn everywhere(what: &str, goal: &str, against: &[String]) -> Self {
        Self {
            what: what.to_string(),
            goal: goal.to_string(),
            figure: match against {
                [] => "so everywhere".to_string(),
                some => format!("not so: {}", some.join("; ")),
            },
            met: against.is_empty(),
        }
    }
}

/// A number with two digits behind the point; from 1,000 on a whole number with separators.
fn number(value: f64) -> String {
    if value.abs() < 1000.0 {
        return format!("{value:.2}");
    }
    let digits = format!("{:.0}", value.abs());
    let mut text = String::from(if value < 0.0 { "-" } else { "" });
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A part with its figures, as saved in `docs/benchmarks/`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Heading, text, tables and failures.
    pub part: Part,
    /// The name that the JDK prints for itself.
    pub jdk: String,
    /// Processor, kernel and date.
    pub machine: String,
    /// Options of every JVM.
    pub options: Vec<String>,
    /// The version of Veneer.
    pub veneer: String,
    pub goals: Vec<Goal>,
    pub figures: Vec<Figure>,
}

impl Record {
    /// Creates an empty record for the first JDK of a scope, with the description of the machine.
    pub fn new(name: &str, title: &str, scope: &Scope) -> Result<Self, TrustError> {
        let jdk = scope.jdks.first().ok_or(TrustError::NoJdk)?;
        let java = Process::new(jdk.tool("java")).arg("-version");
        let said = java.run()?.succeeded("java -version")?.err;
        let m = Machine::here()?;
        Ok(Self {
            part: Part::new(name, title),
            jdk: format!("JDK {}", said.split('"').nth(1).unwrap_or("unknown")),
            machine: format!(
                "{}, {} processors, {}, {}; load averages {}",
                m.cpu, m.cores, m.kernel, m.date, m.load
            ),
            options: OPTIONS.iter().map(ToString::to_string).collect(),
            veneer: m.veneer,
            goals: Vec::new(),
            figures: Vec::new(),
        })
    }

    /// Adds a figure, and returns its median.
    pub fn figure(
        &mut self,
        what: &str,
        workload: &str,
        mode: &str,
        unit: &str,
        values: &[f64],
    ) -> Option<f64> {
        let figure = Figure::new(what, workload, mode, unit, values.to_vec())?;
        let middle = figure.spread.median;
        self.figures.push(figure);
        Some(middle)
    }
}

/// Formats median and range, for example `1.02 (0.99–1.05)`. Returns `–` if there are no values.
pub fn shown(values: &[f64], digits: usize) -> String {
    match Spread::from_values(values) {
        Some(s) => format!(
            "{:.digits$} ({:.digits$}–{:.digits$})",
            s.median, s.min, s.max
        ),
        None => "–".to_string(),
    }
}

/// Returns the geometric mean, or `None` if there are no values.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    median(values)?;
    Some((values.iter().map(|v| v.ln()).sum::<f64>() / values.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_printed_equal_to_the_goal_meets_it() {
        assert!(Goal::at_most("armed", 1.01, "", 1.014).met);
        assert!(!Goal::at_most("armed", 1.01, "", 1.016).met);
        assert!(Goal::between("cost", 0.5, 1.1, 1.104).met);
        assert!(!Goal::between("cost", 0.5, 1.1, 0.49).met);
        assert_eq!(Goal::at_most("timer", 30.0, "ns", 28.5).figure, "28.50 ns");
        let memory = Goal::at_most("memory", 3072.0, "bytes", 11_323.8);
        assert_eq!(
            (&*memory.goal, &*memory.figure),
            ("≤ 3,072 bytes", "11,324 bytes")
        );
    }

    #[test]
    fn means_of_ratios_are_geometric() {
        let mean = geometric_mean(&[0.5, 2.0]);
        assert!(mean.is_some_and(|m| (m - 1.0).abs() < 1e-12), "{mean:?}");
        assert_eq!(geometric_mean(&[]), None);
    }

    #[test]
    fn spreads_are_shown_with_their_ends() {
        assert_eq!(shown(&[2.0, 1.0, 4.0], 1), "2.0 (1.0–4.0)");
        assert_eq!(shown(&[], 1), "–");
    }
}
