//! The stacks of a profile, for formats that consist of stacks.

use std::collections::HashMap;

use crate::context::{ContextCost, Parent, ThreadId};
use crate::method::MethodId;
use crate::selection::Selection;

/// A node of the tree of stacks. A stack is the path from a node to its root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackNode {
    /// The position of the caller in the list. It is smaller than that of this node.
    pub parent: Option<usize>,
    /// The innermost method of the stack.
    pub method: MethodId,
    /// The line in the caller at which the call is, if it is known.
    pub call_line: Option<u16>,
    /// The thread of a root.
    pub thread: Option<ThreadId>,
    /// The costs of the activations with this stack.
    pub cost: ContextCost,
}

/// The stacks of the selected contexts. If the profile has no contexts, each edge and each residue
/// is a stack, and only the calls are known.
pub fn stacks(selection: &Selection) -> Vec<StackNode> {
    match selection.profile.contexts().is_empty() {
        true => of_edges(selection),
        false => of_contexts(selection),
    }
}

fn of_contexts(selection: &Selection) -> Vec<StackNode> {
    let profile = selection.profile;
    let mut lines: HashMap<(MethodId, u16), u16> = HashMap::new();
    for edge in profile.edges() {
        if let (Some(bci), Some(line)) = (edge.site.bci, edge.site.line) {
            lines.insert((edge.caller, bci), line);
        }
    }
    let mut positions: HashMap<Parent, usize> = HashMap::new();
    let mut nodes = Vec::with_capacity(selection.contexts().len());
    for (selected, context) in selection.context_nodes() {
        let (parent, thread) = match selected.parent {
            Parent::Root(thread) => (None, thread),
            parent => (positions.get(&parent).copied(), None),
        };
        let call_line = match selected.parent {
            Parent::Context(caller) => {
                let caller = profile.contexts()[caller.index()].method;
                let site = context.bci.map(|bci| (caller, bci));
                site.and_then(|site| lines.get(&site)).copied()
            }
            Parent::Root(_) => None,
        };
        positions.insert(Parent::Context(selected.id), nodes.len());
        nodes.push(StackNode {
            parent,
            method: context.method,
            call_line,
            thread,
            cost: context.cost,
        });
    }
    nodes
}

fn of_edges(selection: &Selection) -> Vec<StackNode> {
    let profile = selection.profile;
    let incoming = profile.incoming();
    let mut nodes = Vec::new();
    let mut roots: HashMap<MethodId, usize> = HashMap::new();
    for id in selection.methods() {
        let residue = profile.residue(id, incoming[id.index()]);
        roots.insert(id, nodes.len());
        nodes.push(StackNode {
            parent: None,
            method: id,
            call_line: None,
            thread: None,
            cost: calls(u64::try_from(residue).unwrap_or(0)),
        });
    }
    for edge in selection.edges() {
        nodes.push(StackNode {
            parent: roots.get(&edge.caller).copied(),
            method: edge.callee,
            call_line: edge.site.line,
            thread: None,
            cost: calls(edge.count),
        });
    }
    nodes
}

fn calls(calls: u64) -> ContextCost {
    ContextCost {
        calls,
        ..ContextCost::default()
    }
}
