//! What plans of this command tell: one JSON object in each line that they print.
//!
//! ```text
//!   {"attached":{"methods":42,"points":42}}                       once, when the counters stand
//!   {"calls":{"at":1.0,"rows":[{"class":…,"method":…,"hits":7}]}}  at each look
//!   {"graph":{…}}  {"inside":{"at":…,"blocks":[…],"edges":[…]}}    of the method that is looked into
//!   {"probe":{"at":…,"rows":[…]}}  {"watch":{"at":…,"hits":…,"values":[…]}}
//! ```

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One line.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Told {
    /// The counters of the methods stand.
    Attached(Attached),
    /// How often methods were called.
    Calls {
        /// Seconds since the plan began.
        at: f64,
        /// A row for each method.
        rows: Vec<Row>,
    },
    /// The flow graph of the method that is looked into; once for each class of that name.
    Graph(Graph),
    /// How often its blocks and edges were passed.
    Inside {
        /// Seconds since the plan began.
        at: f64,
        /// With `fragment`.
        blocks: Vec<Row>,
        /// With `fragment` and `to`.
        edges: Vec<Row>,
    },
    /// Figures of one counter or timer.
    Probe {
        /// Seconds since the plan began.
        at: f64,
        /// One for each class of that name.
        rows: Vec<Row>,
    },
    /// Values that were seen.
    Watch {
        /// Seconds since the plan began.
        at: f64,
        /// How often the code was reached.
        hits: u64,
        /// The newest values, the oldest first.
        values: Vec<Seen>,
    },
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
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
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
    fn lines_of_plans_are_read_and_others_left() {
        let line = r#"{"calls":{"at":1.5,"rows":[{"class":"a.B","fragment":null,"hits":7,"line":12,"method":"m()V","to":null,"what":null}]}}"#;
        let row = Row {
            class: "a.B".into(),
            method: "m()V".into(),
            line: Some(12),
            hits: 7,
            ..Row::default()
        };
        let rows = vec![row];
        assert_eq!(read(line), Some(Told::Calls { at: 1.5, rows }));
        let line = r#"{"watch":{"at":1,"hits":2,"values":[{"values":[1,"x",null],"time_ns":3,"thread_id":1,"number":0,"count":1}]}}"#;
        assert!(matches!(read(line), Some(Told::Watch { values, .. }) if values.len() == 1));
        assert_eq!(read("top:1:1: warning: a.B matches nothing"), None);
    }
}
