//! What plans of this command tell, one JSON object in each line that they print, and what comes of their instruments' figures.
//!
//! ```text
//!   {"attached":{"methods":42,"points":42}}      once, when the counters stand
//!   {"ids":{"i1":"calls"}}                       once: instruments whose figures are wanted, and what they count
//!   {"graph":{…}}                                of the method that is looked into
//!   {"watch":[{"values":[…],…}]}                 again and again: what a watch has seen
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use veneer_protocol::{Point, Readings};

/// One line.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Told {
    /// The counters of the methods stand.
    Attached(Attached),
    /// Instruments, and what each counts.
    Ids(BTreeMap<String, Role>),
    /// The flow graph of a method; once for each class of that name.
    Graph(Graph),
    /// Values that were seen: the newest, the oldest of them first.
    Watch(Vec<Seen>),
}

/// What an instrument counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Calls of methods.
    Calls,
    /// Passes of blocks.
    Blocks,
    /// Passes of edges.
    Edges,
    /// Whatever a key attached.
    Probe,
}

/// Figures that have changed since the look before.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Look {
    /// Seconds since the agent began.
    pub at: f64,
    /// What they are figures of.
    pub rows: Vec<(Role, Row)>,
}

impl Look {
    /// The rows of one kind.
    pub fn of(&self, role: Role) -> Vec<Row> {
        let mine = self.rows.iter().filter(|(of, _)| *of == role);
        mine.map(|(_, row)| row.clone()).collect()
    }
}

/// What the counters stand on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct Attached {
    /// Methods with an instrument.
    pub methods: u64,
    /// Points with one.
    pub points: u64,
}

/// Figures at one point. A counter has `hits`, a timer the four others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// With dots.
    pub class: String,
    /// Name and descriptor.
    pub method: String,
    /// The fragment's number.
    pub fragment: Option<u32>,
    /// Of an edge: where it leads.
    pub to: Option<u32>,
    /// The source line.
    pub line: Option<u32>,
    /// Passes.
    pub hits: u64,
    /// Finished intervals.
    pub count: u64,
    /// Their sum, in nanoseconds.
    pub total_ns: u64,
    /// The shortest.
    pub min_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

impl From<Point> for Row {
    fn from(point: Point) -> Row {
        let row = Row {
            class: point.class,
            method: point.method,
            fragment: point.fragment,
            to: point.to,
            line: point.line.map(u32::from),
            ..Row::default()
        };
        match point.readings {
            Readings::Count { hits } => Row { hits, ..row },
            Readings::Time {
                count,
                total_ns,
                min_ns,
                max_ns,
            } => Row {
                count,
                total_ns,
                min_ns,
                max_ns,
                ..row
            },
            Readings::Log { events, .. } => Row {
                hits: events,
                ..row
            },
        }
    }
}

/// Values at one pass of a point.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct Seen {
    /// In the order in which they were asked for.
    pub values: Vec<Value>,
    /// Nanoseconds since the agent began.
    #[serde(default)]
    pub time_ns: u64,
    /// The Java thread.
    #[serde(default)]
    pub thread_id: u64,
    /// How many came before.
    #[serde(default)]
    pub number: u64,
}

/// The flow graph of a method.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Graph {
    /// With dots.
    pub class: String,
    /// Name and descriptor.
    pub method: String,
    /// By their numbers.
    pub blocks: Vec<Block>,
    /// Pairs of numbers; those to exception handlers are not among them.
    pub edges: Vec<(u32, u32)>,
}

/// A basic block.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Block {
    /// Its number.
    pub number: u32,
    /// Where it begins in the source.
    pub line: Option<u32>,
    /// Mnemonics.
    pub instructions: Vec<String>,
    /// Loops around it.
    pub depth: u32,
    /// A loop begins there.
    pub header: bool,
    /// Instruments can stand there.
    pub reachable: bool,
    /// What is live at its beginning.
    pub variables: Vec<Variable>,
}

/// A live variable.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct Variable {
    /// As in the source, `this`, or `local3`.
    pub name: String,
    /// As in Java.
    #[serde(rename = "type")]
    pub of: String,
}

/// Reads a line; none where it is something else, a warning say.
pub fn read(line: &str) -> Option<Told> {
    serde_json::from_str(line).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_a_row() {
        let text = r#"{"class":"a.B","method":"m()V","line":12,"hits":7}"#;
        let row = Row {
            class: "a.B".into(),
            method: "m()V".into(),
            line: Some(12),
            hits: 7,
            ..Row::default()
        };
        assert_eq!(Row::from(serde_json::from_str::<Point>(text).unwrap()), row);
    }

    #[test]
    fn lines_of_plans_are_read_and_others_left() {
        let ids = BTreeMap::from([("i1".to_owned(), Role::Calls)]);
        assert_eq!(read(r#"{"ids":{"i1":"calls"}}"#), Some(Told::Ids(ids)));
        let line =
            r#"{"watch":[{"values":[1,"x",null],"time_ns":3,"thread_id":1,"number":0,"count":1}]}"#;
        assert!(matches!(read(line), Some(Told::Watch(values)) if values.len() == 1));
        assert_eq!(read("top:1:1: warning: a.B matches nothing"), None);
    }
}
