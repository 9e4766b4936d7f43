//! The control-flow graph of a method, as `veneer list` shows it.

use serde::{Deserialize, Serialize};

/// The control-flow graph of a method, as the agent sends it. The fields have the order of the
/// agent's JSON.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Graph {
    pub(super) blocks: Vec<Block>,
    pub(super) class: String,
    pub(super) edges: Vec<(u32, u32)>,
    pub(super) fragments: u32,
    /// The hash of the code.
    #[serde(default)]
    pub(super) hash: String,
    pub(super) method: String,
    pub(super) pattern: String,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Block {
    pub(super) depth: u32,
    pub(super) header: bool,
    pub(super) instructions: Vec<String>,
    pub(super) line: Option<u16>,
    pub(super) number: u32,
    pub(super) reachable: bool,
    pub(super) size: usize,
    pub(super) variables: Vec<Variable>,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Variable {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) type_name: String,
}
