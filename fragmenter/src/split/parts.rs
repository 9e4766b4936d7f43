//! The parts of a split method.

use crate::flowgraph::FragmentId;

/// The part of each node of an edited graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The number of the part, by node. Numbers begin at 0, in the order of the first nodes.
    pub(super) of_node: Vec<u16>,
    pub(super) count: u16,
}

impl Parts {
    /// The number of the part of a node.
    pub fn part(&self, node: FragmentId) -> u16 {
        self.of_node.get(node.index()).copied().unwrap_or(0)
    }

    /// The number of parts.
    pub fn count(&self) -> u16 {
        self.count
    }
}
