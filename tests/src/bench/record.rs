//! What a part of the benchmarks found: its figures with every value, its goals, and the text and tables made from them.

use serde::{Deserialize, Serialize};

use super::{OPTIONS, Scope, TrustError};
use crate::figures::machine::Machine;
use crate::figures::statistics::{Spread, median};
use crate::process::Process;
use crate::trust::Part;

/// A figure: the median of some values, with all of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Figure {
    /// `ratio of processor time`, `attach`.
    pub what: String,
    /// The program; may be empty.
    pub workload: String,
    /// `armed`, `JaCoCo`.
    pub mode: String,
    /// `×`, `ns`, `ms`, `bytes`.
    pub unit: String,
    /// Every value, in the order of the groups.
    pub values: Vec<f64>,
    /// Median, least and greatest.
    pub spread: Spread,
}

impl Figure {
    /// `None` of no values.
    pub fn of(
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
            spread: Spread::of(&values)?,
            values,
        })
    }
}

/// A goal and how it came out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Goal {
    /// What it is about.
    pub what: String,
    /// The goal in words: `≤ 1.01`.
    pub goal: String,
    /// What was measured.
    pub figure: String,
    /// Whether it was met.
    pub met: bool,
}

impl Goal {
    /// A goal that a figure be at most so much, in a unit. It is judged as it is printed: two digits.
    pub fn at_most(what: &str, most: f64, unit: &str, figure: f64) -> Self {
        let shown = |value: f64| format!("{value:.2} {unit}").trim_end().to_string();
        Self {
            what: what.to_string(),
            goal: format!("≤ {}", shown(most)),
            figure: shown(figure),
            met: figure < most + 0.005,
        }
    }

    /// A goal that something be so everywhere; `against` says where it is not.
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

/// A part with its figures, as it is kept in `docs/benchmarks/`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Heading, text, tables and failures.
    pub part: Part,
    /// What the JDK calls itself.
    pub jdk: String,
    /// Processor, kernel, date.
    pub machine: String,
    /// Options of every JVM.
    pub options: Vec<String>,
    /// The version that was measured.
    pub veneer: String,
    /// Goals and how they came out.
    pub goals: Vec<Goal>,
    /// Figures with all their values.
    pub figures: Vec<Figure>,
}

impl Record {
    /// An empty one for the first JDK of a scope, with what it is made on.
    pub fn new(name: &str, title: &str, scope: &Scope) -> Result<Self, TrustError> {
        let jdk = scope
            .jdks
            .first()
            .ok_or_else(|| TrustError::Other("no JDK".into()))?;
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

    /// Keeps a figure; gives its median.
    pub fn figure(
        &mut self,
        what: &str,
        workload: &str,
        mode: &str,
        unit: &str,
        values: &[f64],
    ) -> Option<f64> {
        let figure = Figure::of(what, workload, mode, unit, values.to_vec())?;
        let middle = figure.spread.median;
        self.figures.push(figure);
        Some(middle)
    }
}

/// `1.02 (0.99–1.05)`, or what to show where there is none.
pub fn shown(values: &[f64], digits: usize) -> String {
    match Spread::of(values) {
        Some(s) => format!(
            "{:.digits$} ({:.digits$}–{:.digits$})",
            s.median, s.min, s.max
        ),
        None => "–".to_string(),
    }
}

/// The geometric mean; `None` of no values.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    median(values)?;
    Some((values.iter().map(|v| v.ln()).sum::<f64>() / values.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_as_the_goal_meets_it() {
        assert!(Goal::at_most("armed", 1.01, "", 1.014).met);
        assert!(!Goal::at_most("armed", 1.01, "", 1.016).met);
        assert_eq!(Goal::at_most("timer", 30.0, "ns", 28.5).figure, "28.50 ns");
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
