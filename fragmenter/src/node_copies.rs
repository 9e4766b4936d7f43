//! Copies of nodes of an edited graph.
//!
//! A copy executes the code of its origin, on the same values, and has its own edges. They lead to nodes with
//! the same origins as the edges that were copied. So each path through copies is a path of the graph before,
//! and the following holds for every copy:
//!
//! - the live values and their types are those of the origin;
//! - the exception handlers are those of the origin, which are not copied;
//! - the advice and the capture points of the origin act at the copy too, on the same counters;
//! - a cycle that passes copies is a cycle of the graph before, so it passes a capture point if the origin does.
//!
//! An activation that leaves at a copy and enters again continues at the origin. That changes nothing but time.

use crate::edit_conditions::{before_super, refuse_handler};
use crate::flowgraph::FragmentId;
use crate::method::Method;
use crate::patched_node::PatchedNode;
use crate::refusal::Refusal;
use crate::types::Type;
use veneer_liveness::{BitSet, LoopForest};

/// The nodes of a graph, to which copies are added. The numbers of copies are above those of all fragments.
pub(crate) struct NodeCopies<'g, 'm, 'f> {
    pub method: &'m Method<'f>,
    pub nodes: &'g mut Vec<PatchedNode>,
    /// Live-in variables of each node.
    pub live_in: &'g mut Vec<BitSet>,
    /// The node at which new activations begin.
    pub entry: &'g mut FragmentId,
    /// Loops of the graph before any copy.
    pub loops: &'g LoopForest,
}

impl NodeCopies<'_, '_, '_> {
    /// The fragment in whose place a node is.
    pub fn origin(&self, node: FragmentId) -> FragmentId {
        self.nodes.get(node.index()).map_or(node, |n| n.origin)
    }

    /// Whether a node is the copy of another one.
    pub fn is_copy(&self, node: FragmentId) -> bool {
        node.index() >= self.method.flow.len()
    }

    /// Adds a copy of a node. Its edges lead where those of the node lead.
    ///
    /// # Errors
    /// The node is an exception handler, or has code from before `super(…)`.
    pub fn add(&mut self, node: FragmentId) -> Result<FragmentId, Refusal> {
        let PatchedNode { origin, code, .. } = self.nodes[node.index()];
        refuse_handler(self.method, origin)?;
        for fragment in [origin, code] {
            if before_super(self.method, fragment, |f| f.instructions.start + 1) {
                return Err(Refusal::BeforeSuper);
            }
        }
        let copy = FragmentId(self.nodes.len() as u32);
        self.nodes.push(self.nodes[node.index()].clone());
        self.live_in.push(self.live_in[node.index()].clone());
        Ok(copy)
    }

    /// Leads the edges from one node to another one to `target` instead.
    pub fn lead(&mut self, from: FragmentId, to: FragmentId, target: FragmentId) {
        let edges = self.nodes[from.index()].out.iter_mut();
        edges.filter(|o| o.1 == to).for_each(|o| o.1 = target);
    }

    /// Checks that no object without a finished constructor comes out of a copy. Its type names the `new`
    /// instruction that made it, which is another one in each copy.
    ///
    /// # Errors
    /// [`Refusal::UninitializedObject`].
    pub fn refuse_open_objects(&self) -> Result<(), Refusal> {
        let copies = self.nodes.iter().skip(self.method.flow.len());
        let ranges: Vec<_> = copies
            .filter_map(|copy| self.method.flow.get(copy.code))
            .map(|f| u32::from(f.start)..f.end)
            .collect();
        let is_open = |t: &Type| match t {
            Type::Uninitialized(pc) => ranges.iter().any(|r| r.contains(&u32::from(*pc))),
            _ => false,
        };
        let mut states = self.method.states.iter();
        match states.any(|s| s.locals.iter().chain(&s.stack).any(is_open)) {
            true => Err(Refusal::UninitializedObject),
            false => Ok(()),
        }
    }
}
