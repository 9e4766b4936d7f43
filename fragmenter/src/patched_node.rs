//! The nodes of an edited flow graph ([`crate::patch`]).

use crate::flowgraph::FragmentId;

/// A node of the edited graph.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchedNode {
    /// The fragment whose instructions are executed at this node.
    pub code: FragmentId,
    /// For each normal successor of `code` in the original graph: the pair of this successor and
    /// the node that control reaches instead.
    pub out: Vec<(FragmentId, FragmentId)>,
}
