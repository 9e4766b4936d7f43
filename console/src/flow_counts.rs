//! Counters on the blocks and edges of methods in a running JVM, for `veneer top` and `veneer
//! fragments --counts`: the plan that attaches them, and the flow graph that the plan prints.
//!
//! ```text
//!   {"graph":{…}}                              once for each method
//!   {"ids":{"i1":"blocks","i2":"edges"}}       once: the counters
//! ```

use serde::{Deserialize, Serialize};

use crate::ask::literal;

/// The plan that prints the flow graphs of methods, attaches counters to their blocks and edges, and
/// prints the ids of the counters.
pub fn block_counter_plan(pattern: &str) -> String {
    let pattern = literal(pattern);
    format!(
        "let m = methods({pattern});\n\
         let graphs = m.graphs();\n\
         for g in graphs {{ print(#{{graph: g}}.to_json()); }}\n\
         let ids = #{{}}; ids[m.blocks().before(counter()).id()] = \"blocks\";\n\
         if !graphs.filter(|g| !g.edges.is_empty()).is_empty() {{ ids[m.edges().before(counter()).id()] = \"edges\"; }}\n\
         print(#{{ids: ids}}.to_json());\n"
    )
}

/// The control-flow graph of a method.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Graph {
    /// In Java form, with dots.
    pub class: String,
    /// Name and descriptor.
    pub method: String,
    /// In ascending order of their numbers.
    pub blocks: Vec<Block>,
    /// Pairs of block numbers. Edges to exception handlers are not included.
    pub edges: Vec<(u32, u32)>,
}

/// A basic block.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Block {
    pub number: u32,
    /// The source line of its first instruction.
    pub line: Option<u32>,
    /// The mnemonics of its instructions.
    pub instructions: Vec<String>,
    /// Number of loops that contain the block.
    pub depth: u32,
    /// Whether the block is a loop header.
    pub header: bool,
    /// Whether instruments can be attached to the block.
    pub reachable: bool,
    /// The variables that are live at the beginning of the block.
    pub variables: Vec<Variable>,
}

/// A live variable.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct Variable {
    /// The name in the source, `this`, or `local3`.
    pub name: String,
    /// The type in Java syntax.
    #[serde(rename = "type")]
    pub type_name: String,
}
