//! The body of a part of a split method ([`crate::split`]): which nodes and capture points it has, and how
//! control leaves it for another part.

use super::{BodyEmitter, ExitStub};
use crate::bytecode::Label;
use crate::flowgraph::{FragmentId, FragmentNode};
use crate::points::{Point, PointKind};
use crate::refusal::Refusal;
use petgraph::graph::DiGraph;

impl BodyEmitter<'_, '_> {
    /// Whether a node is in the part of the body. A body that is no part has all nodes.
    pub fn has(&self, node: FragmentId) -> bool {
        let parts = self.patched.parts.as_ref();
        let of_node = parts.map(|parts| parts.part(self.patched.origin(node)));
        self.part.is_none_or(|part| of_node == Some(part))
    }

    /// Whether the body is a part of a split method.
    pub fn is_part(&self) -> bool {
        self.part.is_some()
    }

    /// The capture points at which activations enter the body.
    pub fn own_points(&self) -> Vec<usize> {
        let points = 1..self.points.len();
        let place = |p: &Point| self.patched.point_place(p);
        points
            .filter(|n| self.has(place(&self.points[*n])))
            .collect()
    }

    /// The label at which control continues at a node: the node itself, or, if the node is in
    /// another part, code that leaves for it.
    pub fn continue_at(&mut self, node: FragmentId) -> Result<Label, Refusal> {
        if self.has(node) {
            return Ok(self.nodes[node.index()]);
        }
        if let Some(label) = self.moves.get(&node) {
            return Ok(*label);
        }
        let origin = self.patched.origin(node);
        let is = |p: &Point| p.kind == PointKind::Fragment && p.fragment == origin;
        let point = self.points.iter().position(is).ok_or_else(|| {
            Refusal::Internal(format!(
                "{node} is in another part and has no capture point"
            ))
        })?;
        let label = self.a.fresh();
        self.exit_stubs.push(ExitStub {
            point,
            label,
            guard: None,
        });
        self.moves.insert(node, label);
        Ok(label)
    }

    /// Finds the cycles within a part: its strongly connected components.
    pub(super) fn cycles_of_part(&self) -> Vec<usize> {
        if !self.is_part() {
            return Vec::new();
        }
        let mut graph: DiGraph<(), ()> = DiGraph::new();
        for _ in &self.patched.nodes {
            graph.add_node(());
        }
        for (from, node) in self.patched.nodes.iter().enumerate() {
            let from = FragmentId(from as u32);
            let targets = node.out.iter().map(|out| out.1);
            let targets = targets.chain(self.handler_fragments(node.code));
            for to in targets.filter(|to| self.has(from) && self.has(*to)) {
                graph.add_edge(from.node(), to.node(), ());
            }
        }
        let mut cycles = vec![0; self.patched.nodes.len()];
        for (number, component) in petgraph::algo::tarjan_scc(&graph).iter().enumerate() {
            for node in component {
                cycles[node.index()] = number;
            }
        }
        cycles
    }

    /// Whether a loop with this header is a loop of the body for a node in it. In a part, the way back to
    /// the header may lead through other parts.
    pub fn has_loop(&self, header: FragmentId, node: FragmentId) -> bool {
        !self.is_part() || self.cycles[header.index()] == self.cycles[node.index()]
    }
}
