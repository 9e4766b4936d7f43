//! The flow graph of a method as the plan `veneer_client::plan_text::block_counter_plan` prints it, for
//! `veneer top` and `veneer fragments --counts`.

use serde::{Deserialize, Serialize};

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
