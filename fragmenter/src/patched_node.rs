//! The nodes of an edited flow graph ([`crate::patch`]).

use crate::flowgraph::FragmentId;
use std::ops::Range;

/// A node of the edited graph.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchedNode {
    /// The fragment in whose place the node is. A copy is in the place of the fragment that was copied
    /// ([`crate::duplication`]).
    pub origin: FragmentId,
    /// The fragment whose instructions are executed at this node.
    pub code: FragmentId,
    /// For each normal successor of `code` in the original graph: the pair of this successor and
    /// the node that control reaches instead.
    pub out: Vec<(FragmentId, FragmentId)>,
    /// The instructions of the condition that the node tests, with their branch, if the node only chooses between
    /// the copies of a loop ([`crate::unswitching`]). If the branch is taken, control continues at the first node of
    /// `out`, otherwise at the second one. Such a node executes nothing else.
    pub choice: Option<Range<usize>>,
}
