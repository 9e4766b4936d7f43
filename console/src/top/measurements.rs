//! The data that plans of this command print, one JSON object a line, and the measurements of their
//! instruments.
//!
//! ```text
//!   {"attached":{"methods":42,"points":42}}      once, when the counters are attached
//!   {"ids":{"i1":"calls"}}                       once: the instruments to subscribe to, with their roles
//!   {"graph":{…}}                                the flow graph of the open method
//!   {"watch":[{"values":[…],…}]}                 repeatedly: the values that a watch has recorded
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use veneer_protocol::{Measurement, PointRow};

use crate::flow_counts::Graph;

/// A line that a plan printed.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TopPlanLine {
    /// The counters of the methods are attached.
    Attached(AttachCounts),
    /// The instruments, by id, and what each counts.
    Ids(BTreeMap<String, InstrumentRole>),
    /// The flow graph of a method. If several classes have this name, there is one line for each.
    Graph(Graph),
    /// The latest recorded values, in the order in which they were recorded.
    Watch(Vec<RecordedValues>),
}

/// The purpose of an instrument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InstrumentRole {
    Calls,
    /// Passes of blocks.
    Blocks,
    /// Passes of edges.
    Edges,
    /// The passes or intervals of an instrument that a key attached.
    Probe,
}

/// The measurements that have changed since the previous sample.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MeasurementSample {
    /// Seconds since the agent began.
    pub at: f64,
    /// The changed points, each with the role of its instrument.
    pub rows: Vec<(InstrumentRole, MeasuredPoint)>,
}

impl MeasurementSample {
    /// Returns the rows of all instruments with this role.
    pub fn rows_of(&self, role: InstrumentRole) -> Vec<MeasuredPoint> {
        let mine = self.rows.iter().filter(|(of, _)| *of == role);
        mine.map(|(_, row)| row.clone()).collect()
    }
}

/// The number of methods and points that the counters are attached to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct AttachCounts {
    pub methods: u64,
    pub points: u64,
}

/// Measurements at one point. A counter sets `hits`; a timer sets `count`, `total_ns`, `min_ns` and
/// `max_ns`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MeasuredPoint {
    /// In Java form, with dots.
    pub class: String,
    /// Name and descriptor.
    pub method: String,
    /// The number of the fragment, or `None` for the method as a whole.
    pub fragment: Option<u32>,
    /// For an edge: the number of the target block.
    pub to: Option<u32>,
    /// The source line.
    pub line: Option<u32>,
    /// Number of passes.
    pub hits: u64,
    /// Number of finished intervals.
    pub count: u64,
    /// The sum of the intervals.
    pub total_ns: u64,
    pub min_ns: u64,
    pub max_ns: u64,
}

impl From<PointRow> for MeasuredPoint {
    fn from(point: PointRow) -> MeasuredPoint {
        let row = MeasuredPoint {
            class: point.class,
            method: point.method,
            fragment: point.fragment.map(|f| f.0),
            to: point.to.map(|f| f.0),
            line: point.line.map(u32::from),
            ..MeasuredPoint::default()
        };
        match point.data {
            Measurement::Count { hits } => MeasuredPoint { hits, ..row },
            Measurement::Time {
                count,
                total_ns,
                min_ns,
                max_ns,
            } => MeasuredPoint {
                count,
                total_ns,
                min_ns,
                max_ns,
                ..row
            },
            Measurement::Log { events, .. } => MeasuredPoint {
                hits: events,
                ..row
            },
        }
    }
}

/// Values that a watch recorded at one pass of a point.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct RecordedValues {
    /// In the order of the expressions of the watch.
    pub values: Vec<Value>,
    /// Nanoseconds since the agent began.
    #[serde(default)]
    pub time_ns: u64,
    /// The id of the Java thread.
    #[serde(default)]
    pub thread_id: u64,
    /// Number of values that were recorded before.
    #[serde(default)]
    pub number: u64,
}

/// Parses a line that a plan printed. Returns `None` for any other text, such as a warning.
pub fn parse_line(line: &str) -> Option<TopPlanLine> {
    serde_json::from_str(line).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_becomes_a_row() {
        let text = r#"{"class":"a.B","method":"m()V","line":12,"hits":7}"#;
        let row = MeasuredPoint {
            class: "a.B".into(),
            method: "m()V".into(),
            line: Some(12),
            hits: 7,
            ..MeasuredPoint::default()
        };
        assert_eq!(
            MeasuredPoint::from(serde_json::from_str::<PointRow>(text).unwrap()),
            row
        );
    }

    #[test]
    fn lines_of_plans_are_parsed_and_others_ignored() {
        let ids = BTreeMap::from([("i1".to_owned(), InstrumentRole::Calls)]);
        assert_eq!(
            parse_line(r#"{"ids":{"i1":"calls"}}"#),
            Some(TopPlanLine::Ids(ids))
        );
        let line =
            r#"{"watch":[{"values":[1,"x",null],"time_ns":3,"thread_id":1,"number":0,"count":1}]}"#;
        assert!(matches!(parse_line(line), Some(TopPlanLine::Watch(values)) if values.len() == 1));
        assert_eq!(parse_line("top:1:1: warning: a.B matches nothing"), None);
    }
}
