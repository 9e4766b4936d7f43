//! The parts of a report (`veneer run --report`) that the tests read.

use std::path::Path;

use serde::Deserialize;

/// Why a report could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    #[error("report {0}: {1}")]
    Missing(String, std::io::Error),
    #[error("report {0}: {1}")]
    Malformed(String, serde_json::Error),
}

#[derive(Clone, Debug, Deserialize)]
pub struct Report {
    /// The version of the format, always 1.
    pub schema: u32,
    /// The instruments that a plan attached.
    pub instruments: Vec<Instrument>,
    /// The classes and methods that were not changed, with the reason for each.
    #[serde(default)]
    pub refusals: Vec<Refusal>,
}

/// An instrument with its measurements.
#[derive(Clone, Debug, Deserialize)]
pub struct Instrument {
    /// The id: `i7`, or the number alone.
    pub id: serde_json::Value,
    /// For example `counter`, `timer` or `log`.
    pub kind: String,
    pub points: Vec<Point>,
}

/// A join point of an instrument.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Point {
    /// The class name in its Java form (with dots).
    pub class: String,
    /// The method name with its descriptor.
    pub method: String,
    /// The number of the fragment in bytecode order. `None` for a whole method.
    #[serde(default)]
    pub fragment: Option<u32>,
    /// For an edge, the number of the target fragment.
    #[serde(default)]
    pub to: Option<u32>,
    /// The effect of a single instruction.
    #[serde(default)]
    pub what: Option<String>,
    /// The source line of the first instruction.
    #[serde(default)]
    pub line: Option<u32>,
    /// Number of times that a counter was hit.
    #[serde(default)]
    pub hits: u64,
    /// Number of measurements of a timer.
    #[serde(default)]
    pub count: u64,
    /// Sum of all measurements in nanoseconds.
    #[serde(default)]
    pub total_ns: u64,
    /// Shortest measurement in nanoseconds.
    #[serde(default)]
    pub min_ns: u64,
    /// Longest measurement in nanoseconds.
    #[serde(default)]
    pub max_ns: u64,
    /// Number of events that a log reported.
    #[serde(default)]
    pub events: u64,
}

/// A class or method that Veneer refused to change.
#[derive(Clone, Debug, Deserialize)]
pub struct Refusal {
    /// The class name in its Java form (with dots).
    pub class: String,
    /// The method name with its descriptor. Empty if the whole class was refused.
    #[serde(default)]
    pub method: String,
    /// The code of the reason.
    pub reason: String,
    /// Details of the reason.
    #[serde(default)]
    pub detail: String,
}

impl Report {
    /// Reads a report. The instruments are in the order in which they were attached.
    pub fn read(path: &Path) -> Result<Self, ReportError> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|cause| ReportError::Missing(name.clone(), cause))?;
        Self::parse(&text).map_err(|cause| ReportError::Malformed(name, cause))
    }

    /// Parses the text of a report. The instruments are in the order in which they were attached.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let mut report: Self = serde_json::from_str(text)?;
        report.instruments.sort_by_key(Instrument::number);
        Ok(report)
    }

    /// Sum of the hits of all counters.
    pub fn hits(&self) -> u64 {
        self.points("counter").map(|point| point.hits).sum()
    }

    pub fn points<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Point> {
        let of_kind = self.instruments.iter().filter(move |one| one.kind == kind);
        of_kind.flat_map(|one| one.points.iter())
    }
}

impl Instrument {
    /// The number in the id. An id without a number is sorted last.
    pub fn number(&self) -> u64 {
        match &self.id {
            serde_json::Value::Number(number) => number.as_u64().unwrap_or(u64::MAX),
            serde_json::Value::String(text) => text
                .trim_start_matches(|c: char| !c.is_ascii_digit())
                .parse()
                .unwrap_or(u64::MAX),
            _ => u64::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_instruments_by_number() -> Result<(), serde_json::Error> {
        let text = r#"{"schema":1,"instruments":[
            {"id":"i10","kind":"timer","plan":"p","points":[]},
            {"id":"i9","kind":"counter","plan":"p","points":[
                {"class":"A","method":"m()V","fragment":0,"line":3,"hits":7}]}],
            "refusals":[{"class":"B","method":"","reason":"Damaged"}],"totals":{}}"#;
        let report = Report::parse(text)?;
        assert_eq!(
            report
                .instruments
                .iter()
                .map(Instrument::number)
                .collect::<Vec<_>>(),
            [9, 10]
        );
        assert_eq!((report.hits(), report.refusals.len()), (7, 1));
        Ok(())
    }
}
