//! The control-flow graph of one method. Its nodes are *fragments*: basic blocks, which the policy
//! may cut further at calls.
//!
//! ```text
//!     f0 ──fall──▶ f1 ──branch──▶ f3        a fragment is a basic block, cut once more at the
//!                  │ ▲             ┊        calls that a policy names
//!                  ▼ └──branch── f2┊        ┄┄ handler: from any instruction of the source
//!                                  ▼
//! ```
//!
//! A fragment starts at each of these instructions:
//!
//! - the first instruction of the method;
//! - a branch target;
//! - the instruction after a branch, and after one that ends the flow (a return, `athrow`, `goto`
//!   or a switch);
//! - the first instruction of an exception handler;
//! - an instruction at which the policy cuts.
//!
//! Fragments are numbered in pc order. The number is also the node's index in the petgraph graph.

use crate::bytecode::opcode::*;
use crate::bytecode::{Instruction, Label};
use crate::classfile::ExceptionRange;
use petgraph::graph::{DiGraph, NodeIndex};
use std::fmt;

pub use veneer_names::FragmentId;

/// The conversion of fragment numbers to nodes of the flow graph.
pub trait FragmentNode {
    /// The node of the flow graph.
    fn node(self) -> NodeIndex;
}

impl FragmentNode for FragmentId {
    fn node(self) -> NodeIndex {
        NodeIndex::new(self.index())
    }
}

/// A single-entry straight-line piece of a method.
#[derive(Clone, Debug, PartialEq)]
pub struct Fragment {
    /// The number of the fragment.
    pub id: FragmentId,
    /// pc of the first instruction.
    pub start: u16,
    /// pc directly after the last instruction.
    pub end: u32,
    /// The instructions, as a range of indices into
    /// [`Method::instructions`](crate::method::Method::instructions).
    pub instructions: std::ops::Range<usize>,
}

/// The reason why control passes along an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EdgeKind {
    /// Control falls through to the next instruction.
    Fall,
    /// A taken branch or a `goto`.
    Branch,
    /// A case of a switch, with its key.
    Case(i32),
    /// The default case of a switch.
    Default,
    /// An exception in the source fragment, caught by this entry of the exception table.
    Handler(u16),
}

impl fmt::Display for EdgeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EdgeKind::Fall => f.write_str("fall"),
            EdgeKind::Branch => f.write_str("branch"),
            EdgeKind::Case(k) => write!(f, "case {k}"),
            EdgeKind::Default => f.write_str("default"),
            EdgeKind::Handler(_) => f.write_str("handler"),
        }
    }
}

/// The graph, with lookups by pc and by number.
#[derive(Clone, Debug)]
pub struct FlowGraph {
    /// Fragments and edges. The node index is the fragment number.
    pub graph: DiGraph<Fragment, EdgeKind>,
}

impl FlowGraph {
    /// Splits a decoded method into fragments. `cut` returns true for the index of an instruction
    /// at which the policy starts a fragment.
    pub fn build(
        instructions: &[(u16, Instruction)],
        exceptions: &[ExceptionRange],
        code_len: u32,
        cut: &dyn Fn(usize) -> bool,
    ) -> FlowGraph {
        let mut leaders = bitvec::bitvec![0; code_len as usize + 1];
        leaders.set(0, true);
        for e in exceptions {
            leaders.set((e.handler as usize).min(code_len as usize), true);
        }
        for (i, (pc, instruction)) in instructions.iter().enumerate() {
            for t in instruction.targets() {
                leaders.set(t.0 as usize, true);
            }
            let op = instruction.op();
            if (ends_flow(op) || matches!(instruction, Instruction::Branch { .. }))
                && let Some((next, _)) = instructions.get(i + 1)
            {
                leaders.set(*next as usize, true);
            }
            if cut(i) {
                leaders.set(*pc as usize, true);
            }
        }
        let mut graph = DiGraph::new();
        let mut begin = 0;
        for i in 1..=instructions.len() {
            let end = instructions.get(i).map_or(code_len, |(pc, _)| *pc as u32);
            if i == instructions.len() || leaders[end as usize] {
                let id = FragmentId(graph.node_count() as u32);
                graph.add_node(Fragment {
                    id,
                    start: instructions[begin].0,
                    end,
                    instructions: begin..i,
                });
                begin = i;
            }
        }
        let mut this = FlowGraph { graph };
        this.connect(instructions, exceptions);
        this
    }

    fn connect(&mut self, instructions: &[(u16, Instruction)], exceptions: &[ExceptionRange]) {
        for node in self.graph.node_indices() {
            let fragment = &self.graph[node];
            let (start, end) = (fragment.start as u32, fragment.end);
            let Some((_, last)) = instructions.get(fragment.instructions.end - 1) else {
                continue;
            };
            let mut edges: Vec<(Label, EdgeKind)> = match last {
                Instruction::Branch { target, .. } => vec![(*target, EdgeKind::Branch)],
                Instruction::TableSwitch {
                    default,
                    low,
                    targets,
                } => {
                    let cases = targets
                        .iter()
                        .enumerate()
                        .map(|(i, t)| (*t, EdgeKind::Case(low.wrapping_add(i as i32))));
                    cases.chain([(*default, EdgeKind::Default)]).collect()
                }
                Instruction::LookupSwitch { default, pairs } => pairs
                    .iter()
                    .map(|(k, t)| (*t, EdgeKind::Case(*k)))
                    .chain([(*default, EdgeKind::Default)])
                    .collect(),
                _ => Vec::new(),
            };
            if !ends_flow(last.op()) {
                edges.insert(0, (Label(end), EdgeKind::Fall));
            }
            for (i, e) in exceptions.iter().enumerate() {
                if (e.start as u32) < end && (e.end as u32) > start {
                    edges.push((Label::pc(e.handler), EdgeKind::Handler(i as u16)));
                }
            }
            for (to, kind) in edges {
                if let Some(to) = self.fragment_starting_at(to) {
                    self.graph.add_edge(node, to.node(), kind);
                }
            }
        }
    }

    /// The fragment that starts at a label, if any.
    pub fn fragment_starting_at(&self, label: Label) -> Option<FragmentId> {
        let fragments = self.graph.raw_nodes();
        fragments
            .binary_search_by_key(&label.0, |n| n.weight.start as u32)
            .ok()
            .map(|i| FragmentId(i as u32))
    }

    /// The fragment that contains a pc.
    pub fn fragment_containing(&self, pc: u16) -> FragmentId {
        let fragments = self.graph.raw_nodes();
        FragmentId(
            fragments
                .partition_point(|n| n.weight.start <= pc)
                .saturating_sub(1) as u32,
        )
    }

    /// Number of fragments.
    pub fn len(&self) -> usize {
        self.graph.node_count()
    }

    /// Whether the graph has no fragments.
    pub fn is_empty(&self) -> bool {
        self.graph.node_count() == 0
    }

    /// Returns a fragment; `None` for a number that the graph does not have.
    pub fn get(&self, id: FragmentId) -> Option<&Fragment> {
        self.graph.node_weight(id.node())
    }

    /// All fragments in pc order.
    pub fn fragments(&self) -> impl Iterator<Item = &Fragment> {
        self.graph.node_weights()
    }

    /// All pairs of fragments between which control passes without an exception, sorted and without
    /// duplicates.
    pub fn edges(&self) -> Vec<(FragmentId, FragmentId)> {
        let mut pairs: Vec<_> = self
            .graph
            .raw_edges()
            .iter()
            .filter(|e| !matches!(e.weight, EdgeKind::Handler(_)))
            .map(|e| {
                (
                    FragmentId(e.source().index() as u32),
                    FragmentId(e.target().index() as u32),
                )
            })
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// The normal successors of a fragment without duplicates, in code order with the fall-through
    /// first.
    pub fn successors(&self, id: FragmentId) -> Vec<FragmentId> {
        let mut out: Vec<FragmentId> = Vec::new();
        let mut edges: Vec<_> = self.graph.edges(id.node()).collect();
        edges.sort_by_key(|e| petgraph::visit::EdgeRef::id(e).index());
        for e in edges {
            let to = FragmentId(petgraph::visit::EdgeRef::target(&e).index() as u32);
            if !matches!(e.weight(), EdgeKind::Handler(_)) && !out.contains(&to) {
                out.push(to);
            }
        }
        out
    }

    /// The exception handlers that protect an instruction of a fragment. A handler may be named
    /// several times.
    pub fn handlers(&self, id: FragmentId) -> Vec<FragmentId> {
        let edges = self.graph.edges(id.node());
        let handlers = edges.filter(|e| matches!(e.weight(), EdgeKind::Handler(_)));
        handlers
            .map(|e| FragmentId(petgraph::visit::EdgeRef::target(&e).index() as u32))
            .collect()
    }
}
