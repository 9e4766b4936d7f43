//! The report that `veneer run --report` writes, as far as the tests look at it.

use std::path::Path;

use serde::Deserialize;

/// Why a report could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The file is not there or not readable.
    #[error("report {0}: {1}")]
    Missing(String, std::io::Error),
    /// It is not a report.
    #[error("report {0}: {1}")]
    Malformed(String, serde_json::Error),
}

/// A whole report.
#[derive(Clone, Debug, Deserialize)]
pub struct Report {
    /// The version of the format; 1.
    pub schema: u32,
    /// One entry per instrument that a plan attached.
    pub instruments: Vec<Instrument>,
    /// What was left as it was, and why.
    #[serde(default)]
    pub refusals: Vec<Refusal>,
}

/// An instrument with what it measured.
#[derive(Clone, Debug, Deserialize)]
pub struct Instrument {
    /// `i7`, or the number alone.
    pub id: serde_json::Value,
    /// `counter`, `timer`, `log`.
    pub kind: String,
    /// Where it stands.
    pub points: Vec<Point>,
}

/// A place where an instrument stands.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Point {
    /// The class, dotted.
    pub class: String,
    /// The method with its descriptor.
    pub method: String,
    /// The number of the fragment in order of bytecode; none for a whole method.
    #[serde(default)]
    pub fragment: Option<u32>,
    /// For an edge, the number of the fragment that it leads to.
    #[serde(default)]
    pub to: Option<u32>,
    /// The source line of its first instruction.
    #[serde(default)]
    pub line: Option<u32>,
    /// How often a counter fired.
    #[serde(default)]
    pub hits: u64,
    /// How often a timer measured.
    #[serde(default)]
    pub count: u64,
    /// Nanoseconds, all measures together.
    #[serde(default)]
    pub total_ns: u64,
    /// Nanoseconds, the shortest.
    #[serde(default)]
    pub min_ns: u64,
    /// Nanoseconds, the longest.
    #[serde(default)]
    pub max_ns: u64,
    /// Events of a log that came out.
    #[serde(default)]
    pub events: u64,
}

/// What was refused.
#[derive(Clone, Debug, Deserialize)]
pub struct Refusal {
    /// The class, dotted.
    pub class: String,
    /// The method with its descriptor, empty for the whole class.
    #[serde(default)]
    pub method: String,
    /// The name of the reason.
    pub reason: String,
    /// What exactly.
    #[serde(default)]
    pub detail: String,
}

impl Report {
    /// Reads a report; instruments come in the order in which they were attached.
    pub fn read(path: &Path) -> Result<Self, ReportError> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|cause| ReportError::Missing(name.clone(), cause))?;
        Self::parse(&text).map_err(|cause| ReportError::Malformed(name, cause))
    }

    /// Parses the text of a report.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let mut report: Self = serde_json::from_str(text)?;
        report.instruments.sort_by_key(Instrument::number);
        Ok(report)
    }

    /// All hits of all counters.
    pub fn hits(&self) -> u64 {
        self.points("counter").map(|point| point.hits).sum()
    }

    /// The points of all instruments of a kind.
    pub fn points<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Point> {
        let of_kind = self.instruments.iter().filter(move |one| one.kind == kind);
        of_kind.flat_map(|one| one.points.iter())
    }
}

impl Instrument {
    /// The number in the id.
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
