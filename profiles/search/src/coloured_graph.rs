//! The coloured call graph of a search (Fig. 3 of Brear et al., 2003) as data, for programs that draw
//! it: schema 1.
//!
//! ```json
//! {"schema":1,"seconds":4.2,"threshold":0.05,
//!  "nodes":[{"id":"m7","class":"shop.Desk","method":"serve","file":"Desk.java","line":null,
//!    "state":"holds","share":0.62,"low":0.55,"high":0.68},…],
//!  "links":[{"from":0,"to":1,"kind":"call","samples":120},{"from":1,"to":2,"kind":"loop","samples":0}]}
//! ```
//!
//! The ends of a link are positions in `nodes`. A node with a `line` is a loop of its method.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::hypothesis::Hypothesis;
use crate::picture::NodeState;
use crate::place::{MethodId, Place};
use crate::search::Search;

/// The version of the schema.
const SCHEMA: u32 = 1;

/// The call graph of the methods and loops that a search has examined.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColouredGraph {
    /// The version of the schema.
    pub schema: u32,
    /// The length of the search until now, in seconds.
    pub seconds: f64,
    /// The share above which a place is a bottleneck, as a fraction.
    pub threshold: f64,
    /// Methods, each followed by its loops.
    pub nodes: Vec<GraphNode>,
    /// Calls between methods, and from methods to their loops.
    pub links: Vec<GraphLink>,
}

/// A method, or a loop of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GraphNode {
    /// The name of the node, equal in all graphs of one search: that of the node in DOT.
    pub id: String,
    /// The class in Java form; empty if the method was never declared.
    pub class: String,
    /// The name of the method, or its number if it was never declared.
    pub method: String,
    /// The source file of the method, or its class.
    pub file: String,
    /// The first line of the loop; `None` for a method.
    pub line: Option<u32>,
    /// The decision about the node.
    pub state: NodeDecision,
    /// The mean share, as a fraction of the active time.
    pub share: f64,
    /// The lower bound of the share.
    pub low: f64,
    /// The upper bound of the share.
    pub high: f64,
}

/// The decision of a search about a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeDecision {
    /// The share exceeds the threshold.
    Holds,
    /// The share is below the threshold.
    RuledOut,
    /// The search has not decided.
    Undecided,
}

/// A link between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GraphLink {
    /// The position of the caller, or of the method that contains the loop.
    pub from: usize,
    /// The position of the callee, or of the loop.
    pub to: usize,
    /// The relation of the two nodes.
    pub kind: LinkKind,
    /// The number of stack samples that saw the call; 0 for a loop.
    pub samples: u64,
}

/// The relation of two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkKind {
    /// The first node calls the second one.
    Call,
    /// The second node is a loop of the first one.
    Loop,
}

impl Search {
    /// Returns the call graph of the examined methods and loops. It may be called at any time.
    pub fn coloured_graph(&self) -> ColouredGraph {
        let examined = self.candidates.iter().filter(|c| c.hypothesis.is_node());
        let methods: BTreeSet<MethodId> = examined.map(|c| c.hypothesis.place.method()).collect();
        let mut nodes = Vec::new();
        let mut links = Vec::new();
        let mut positions = BTreeMap::new();
        for method in &methods {
            let position = nodes.len();
            positions.insert(*method, position);
            nodes.push(self.graph_node(Place::Method(*method)));
            for place in self.examined_loops(*method) {
                links.push(GraphLink {
                    from: position,
                    to: nodes.len(),
                    kind: LinkKind::Loop,
                    samples: 0,
                });
                nodes.push(self.graph_node(place));
            }
        }
        for (caller, from) in &positions {
            let callees = self.graph.callees(*caller);
            links.extend(callees.filter_map(|(callee, samples)| {
                Some(GraphLink {
                    from: *from,
                    to: *positions.get(&callee)?,
                    kind: LinkKind::Call,
                    samples,
                })
            }));
        }
        ColouredGraph {
            schema: SCHEMA,
            seconds: self.seconds,
            threshold: self.settings.threshold,
            nodes,
            links,
        }
    }

    fn graph_node(&self, place: Place) -> GraphNode {
        let method = place.method();
        let name = self.methods.get(&method).cloned().unwrap_or_default();
        let candidate = self.index.get(&Hypothesis::time(place));
        let figures = candidate.map(|i| self.candidates[*i].figures());
        let (share, low, high) = figures.map_or((0.0, 0.0, 1.0), |(share, (low, high))| {
            (share.low, low, high)
        });
        GraphNode {
            id: node_id(place),
            method: match name.method.is_empty() {
                true => method.to_string(),
                false => name.method,
            },
            class: name.class,
            file: self.file(method),
            line: place.line(),
            state: match self.node_state(place) {
                Some(NodeState::Holds(_)) => NodeDecision::Holds,
                Some(NodeState::RuledOut(_)) => NodeDecision::RuledOut,
                Some(NodeState::Open) | None => NodeDecision::Undecided,
            },
            share,
            low,
            high,
        }
    }
}

/// Returns the name of a node: `m7` for a method, `m7l41` for the loop at line 41 of it.
pub(crate) fn node_id(place: Place) -> String {
    let method = place.method().0;
    match place.line() {
        None => format!("m{method}"),
        Some(line) => format!("m{method}l{line}"),
    }
}
