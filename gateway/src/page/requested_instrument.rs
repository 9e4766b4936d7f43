//! Instruments and edits that the page asks for, and the plans that attach them.
//!
//! The page names a kind, a method and a point. The server writes the plan, so a request without
//! [`RequestedInstrument::changes_the_program`] can only measure. The page shows the plan, and its
//! user can copy it.

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use veneer_client::plan_text::literal;

use super::api_error::ApiError;

/// The number of values that a watch keeps.
const WATCHED_VALUES: u32 = 50;
/// The most values that a thread records in a second.
const VALUES_PER_SECOND: u32 = 20;
/// The interval, in seconds, in which the agent prints the values of tables.
const TABLE_INTERVAL: f64 = 0.25;
/// The most bytes of a plan of the user.
const MAX_PLAN_BYTES: usize = 256 << 10;
/// The most variables of a watch.
const MAX_VARIABLES: usize = 8;

/// The kind of instrument or edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum InstrumentKind {
    /// The flow graph of a method, with counters on its blocks and edges.
    Graph,
    /// A counter at a point.
    Counter,
    /// A timer of a method, a block or an edge.
    Timer,
    /// The values of variables at a point.
    Watch,
    /// The distribution of one variable at a point.
    Histogram,
    /// An edit: a block is skipped.
    Skip,
    /// An edit: an edge leads to another block.
    Redirect,
    /// A plan that the user wrote.
    Plan,
}

/// The wish of the page.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RequestedInstrument {
    pub kind: InstrumentKind,
    /// The pattern of the method.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub pattern: String,
    /// The number of the block; without block and edge, the point is the whole method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u32>,
    /// The numbers of the blocks at the two ends of the edge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edge: Option<(u32, u32)>,
    /// For a redirection: the block to which the edge leads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<u32>,
    /// The names of the variables that are read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<String>,
    /// The text of a plan of the user.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
}

impl RequestedInstrument {
    /// Whether the request can change what the program does.
    pub fn changes_the_program(&self) -> bool {
        matches!(
            self.kind,
            InstrumentKind::Skip | InstrumentKind::Redirect | InstrumentKind::Plan
        )
    }

    /// The plan that attaches the instrument. It prints JSON objects: `ids` and `graph` once, `watch`
    /// and `histogram` repeatedly.
    ///
    /// # Errors
    /// The request lacks a part that its kind needs, or a part is too large.
    pub fn plan(&self) -> Result<String, ApiError> {
        if self.pattern.is_empty() && self.kind != InstrumentKind::Plan {
            return Err(ApiError::bad_request("the request names no method"));
        }
        let methods = format!("methods({})", literal(&self.pattern));
        let points = match (self.block, self.edge) {
            (Some(block), _) => format!("{methods}.block({block})"),
            (None, Some((from, to))) => format!("{methods}.edge({from}, {to})"),
            (None, None) => methods.clone(),
        };
        let ids = "let ids = #{}; ids[h.id()] = \"probe\"; print(#{ids: ids}.to_json());\n";
        Ok(match self.kind {
            InstrumentKind::Graph => graph_plan(&self.pattern),
            InstrumentKind::Counter => {
                format!("let h = {points}.before(counter().each());\n{ids}")
            }
            InstrumentKind::Timer => format!("let h = {points}.around(timer());\n{ids}"),
            InstrumentKind::Watch => {
                let values = self.values(MAX_VARIABLES, "describe")?;
                format!(
                    "let seen = last({WATCHED_VALUES});\n\
                     let h = {points}.before(|p| if per_second({VALUES_PER_SECOND}) {{ seen.put({values}) }});\n\
                     every({TABLE_INTERVAL:?}, || print(#{{watch: seen.rows()}}.to_json()));\n{ids}"
                )
            }
            InstrumentKind::Histogram => {
                let value = self.values(1, "")?;
                format!(
                    "let seen = histogram();\n\
                     let h = {points}.before(|p| seen.add({value}));\n\
                     every({TABLE_INTERVAL:?}, || print(#{{histogram: seen.rows()}}.to_json()));\n{ids}"
                )
            }
            InstrumentKind::Plan => match self.source.len() {
                0 => return Err(missing("a plan")),
                n if n > MAX_PLAN_BYTES => return Err(missing("a shorter plan")),
                _ => self.source.clone(),
            },
            InstrumentKind::Skip => {
                let block = self.block.ok_or_else(|| missing("a block"))?;
                format!("let h = {methods}.skip({block});\n{ids}")
            }
            InstrumentKind::Redirect => {
                let (from, to) = self.edge.ok_or_else(|| missing("an edge"))?;
                let target = self.target.ok_or_else(|| missing("a target"))?;
                format!("let h = {methods}.redirect({from}, {to}, {target});\n{ids}")
            }
        })
    }

    /// The arguments of a table: the variables as code of a plan, each as the argument of a function if
    /// one is named.
    fn values(&self, most: usize, function: &str) -> Result<String, ApiError> {
        if self.variables.is_empty() || self.variables.len() > most {
            return Err(missing(&format!("1 to {most} variables")));
        }
        let mut text = String::new();
        for (n, name) in self.variables.iter().enumerate() {
            let separator = if n == 0 { "" } else { ", " };
            let value = match name.as_str() {
                "this" => "p.self".to_owned(),
                name => format!("p[{}]", literal(name)),
            };
            // Writing to a string cannot fail.
            let _ = match function {
                "" => write!(text, "{separator}{value}"),
                function => write!(text, "{separator}{function}({value})"),
            };
        }
        Ok(text)
    }
}

/// The plan that attaches counters to the blocks and edges of methods, and prints their flow graphs. A graph
/// is printed in parts, because a plan may hold no text of more than a megabyte. The graphs follow the first
/// counter, because the agent arms methods when something is attached to them.
fn graph_plan(pattern: &str) -> String {
    format!(
        "let m = methods({});\n\
         let ids = #{{}}; ids[m.blocks().before(counter()).id()] = \"blocks\";\n\
         let graphs = m.graphs();\n\
         if !graphs.filter(|g| !g.edges.is_empty()).is_empty() {{ ids[m.edges().before(counter()).id()] = \"edges\"; }}\n\
         for g in graphs {{\n    \
             let blocks = g.blocks; let edges = g.edges;\n    \
             g.blocks = []; g.edges = [];\n    \
             print(#{{graph: g}}.to_json());\n    \
             for n in range(0, blocks.len(), 500) {{ print(#{{blocks: blocks.extract(n, 500)}}.to_json()); }}\n    \
             for n in range(0, edges.len(), 5000) {{ print(#{{edges: edges.extract(n, 5000)}}.to_json()); }}\n\
         }}\n\
         print(#{{ids: ids}}.to_json());\n",
        literal(pattern)
    )
}

fn missing(what: &str) -> ApiError {
    ApiError::bad_request(format!("the request needs {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn plan(request: serde_json::Value) -> Result<String, ApiError> {
        serde_json::from_value::<RequestedInstrument>(request)
            .unwrap()
            .plan()
    }

    #[test]
    fn each_point_has_its_words_in_the_plan() {
        for (request, expected) in [
            (
                json!({"kind": "counter", "pattern": "a.B::m(int)"}),
                "methods(\"a.B::m(int)\").before(counter().each())",
            ),
            (
                json!({"kind": "counter", "pattern": "a.B::m(int)", "edge": [3, 4]}),
                "methods(\"a.B::m(int)\").edge(3, 4).before(counter().each())",
            ),
            (
                json!({"kind": "timer", "pattern": "a.B::m(int)", "block": 7}),
                "methods(\"a.B::m(int)\").block(7).around(timer())",
            ),
            (
                json!({"kind": "watch", "pattern": "a.B::m(int)", "block": 7, "variables": ["this", "n"]}),
                ".block(7).before(|p| if per_second(20) { seen.put(describe(p.self), describe(p[\"n\"])) })",
            ),
            (
                json!({"kind": "histogram", "pattern": "a.B::m(int)", "variables": ["n"]}),
                ".before(|p| seen.add(p[\"n\"]))",
            ),
            (
                json!({"kind": "skip", "pattern": "a.B::m(int)", "block": 2}),
                "methods(\"a.B::m(int)\").skip(2)",
            ),
            (
                json!({"kind": "redirect", "pattern": "a.B::m(int)", "edge": [1, 2], "target": 3}),
                "methods(\"a.B::m(int)\").redirect(1, 2, 3)",
            ),
        ] {
            let text = plan(request).unwrap();
            assert!(text.contains(expected), "{text}");
        }
    }

    #[test]
    fn a_request_that_lacks_a_part_is_refused() {
        for request in [
            json!({"kind": "counter"}),
            json!({"kind": "watch", "pattern": "a.B::m(..)"}),
            json!({"kind": "histogram", "pattern": "a.B::m(..)", "variables": ["a", "b"]}),
            json!({"kind": "skip", "pattern": "a.B::m(..)"}),
            json!({"kind": "redirect", "pattern": "a.B::m(..)", "edge": [1, 2]}),
            json!({"kind": "plan"}),
        ] {
            assert_eq!(
                plan(request.clone()).unwrap_err().code,
                "bad-request",
                "{request}"
            );
        }
        let unknown = json!({"kind": "counter", "pattern": "a.B", "if": "exit()"});
        assert!(serde_json::from_value::<RequestedInstrument>(unknown).is_err());
    }

    #[test]
    fn no_name_leaves_its_literal() {
        let text = plan(json!({
            "kind": "watch", "pattern": "\"); exit(\"", "variables": ["\"]); exit(p[\""]
        }));
        let text = text.unwrap();
        assert!(text.contains(r#"methods("\"); exit(\"")"#), "{text}");
        assert!(text.contains(r#"p["\"]); exit(p[\""]"#), "{text}");
    }

    #[test]
    fn measuring_changes_nothing() {
        for (kind, changes) in [
            ("graph", false),
            ("counter", false),
            ("timer", false),
            ("watch", false),
            ("histogram", false),
            ("skip", true),
            ("redirect", true),
            ("plan", true),
        ] {
            let request = json!({"kind": kind, "pattern": "a.B"});
            let request: RequestedInstrument = serde_json::from_value(request).unwrap();
            assert_eq!(request.changes_the_program(), changes, "{kind}");
        }
    }
}
