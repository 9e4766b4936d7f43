//! The instructions whose executions are counted with the fragments of a method.
//!
//! An exception can leave a fragment in its middle. So a fragment is passed at least as often as each
//! of its instructions, but not equally often. For counting, a fragment is therefore divided into
//! *nodes*: a node begins at a counted instruction if an instruction since the beginning of the node
//! before it may throw.
//!
//! ```text
//!   fragment f2:   aload; iconst; invokevirtual a │ new B; dup; invokespecial B.<init> │ invokestatic c
//!   nodes:         f2 ───────────────────────────── step 0 ──────────────────────────── step 1 ────────
//! ```
//!
//! Here `new B`, `B.<init>` and `c` are counted too. `new B` begins a node, because `a` may throw. So does
//! `B.<init>`, because `new B` may throw.

use crate::bytecode::opcode::may_throw;
use crate::flowgraph::FragmentId;
use crate::method::Method;

/// A counted instruction that begins a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The fragment that contains the instruction.
    pub fragment: FragmentId,
    /// The pc of the instruction.
    pub pc: u16,
    /// The number of the node. Nodes with numbers below the number of fragments begin with a fragment.
    pub node: u32,
}

/// The nodes of a method that begin inside a fragment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CountedSteps(Vec<Step>);

impl CountedSteps {
    /// Divides the fragments of a method for these counted instructions. `instructions` has indices
    /// into [`Method::instructions`], in any order. `first` is the index of the instruction with which
    /// activations of versions begin: instructions of its fragment before it are in no version.
    pub fn divide(method: &Method, instructions: &[usize], first: usize) -> CountedSteps {
        let mut steps = Vec::new();
        let mut counted = vec![false; method.instructions.len()];
        for index in instructions {
            if let Some(one) = counted.get_mut(*index) {
                *one = true;
            }
        }
        for fragment in method.flow.fragments() {
            let is_partial = fragment.instructions.contains(&first);
            let from = match is_partial {
                true => first,
                false => fragment.instructions.start,
            };
            let mut may_have_thrown = false;
            let range = from..fragment.instructions.end;
            let instructions = method.instructions[range.clone()].iter();
            for ((pc, instruction), is_counted) in instructions.zip(&counted[range]) {
                if *is_counted && std::mem::take(&mut may_have_thrown) {
                    steps.push(Step {
                        fragment: fragment.id,
                        pc: *pc,
                        node: (method.flow.len() + steps.len()) as u32,
                    });
                }
                may_have_thrown |= may_throw(instruction.op());
            }
        }
        CountedSteps(steps)
    }

    /// The steps in the order of their pcs.
    pub fn iter(&self) -> impl Iterator<Item = &Step> {
        self.0.iter()
    }

    /// The number of nodes that begin inside a fragment.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether each fragment is one node.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The node of an activation that is in a fragment and has reached the instruction at `pc`.
    pub fn node_at(&self, fragment: FragmentId, pc: u16) -> u32 {
        let place = (fragment, pc);
        let after = self.0.partition_point(|s| (s.fragment, s.pc) <= place);
        let last = after.checked_sub(1).and_then(|last| self.0.get(last));
        last.filter(|step| step.fragment == fragment)
            .map_or(fragment.0, |step| step.node)
    }

    /// The node at the end of a fragment.
    pub fn last_node(&self, fragment: FragmentId) -> u32 {
        self.node_at(fragment, u16::MAX)
    }

    /// Whether a node begins inside a fragment at the instruction at `pc`.
    pub fn begins_at(&self, pc: u16) -> bool {
        self.0.binary_search_by_key(&pc, |step| step.pc).is_ok()
    }

    /// The nodes of a fragment, in their order.
    pub fn nodes(&self, fragment: FragmentId) -> impl Iterator<Item = u32> {
        let inside = self.0.iter().filter(move |step| step.fragment == fragment);
        std::iter::once(fragment.0).chain(inside.map(|step| step.node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_activation_is_in_the_last_node_that_it_has_reached() {
        let step = |fragment, pc, node| Step {
            fragment: FragmentId(fragment),
            pc,
            node,
        };
        let steps = CountedSteps(vec![step(1, 10, 4), step(1, 14, 5), step(3, 30, 6)]);
        let node_at = |fragment, pc| steps.node_at(FragmentId(fragment), pc);
        assert_eq!([node_at(1, 9), node_at(1, 10), node_at(1, 13)], [1, 4, 4]);
        assert_eq!([node_at(1, 14), node_at(2, 20), node_at(3, 31)], [5, 2, 6]);
        assert_eq!((node_at(0, 0), node_at(3, 29)), (0, 3));
        let last = [0, 1, 2, 3].map(|fragment| steps.last_node(FragmentId(fragment)));
        assert_eq!(last, [0, 5, 2, 6]);
        let nodes = |fragment| steps.nodes(FragmentId(fragment)).collect::<Vec<_>>();
        assert_eq!((nodes(1), nodes(2)), (vec![1, 4, 5], vec![2]));
        assert!(steps.begins_at(14) && !steps.begins_at(15));
    }
}
