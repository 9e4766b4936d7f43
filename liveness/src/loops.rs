//! Natural loops and how they nest.
//!
//! An edge is *retreating* if its target does not follow its source in reverse postorder. Every
//! cycle contains a retreating edge.
//!
//! * A retreating edge whose target dominates its source is a *back edge*. Its target is a loop
//!   *header*: control enters the loop only there.
//! * The *body* of a loop is the header and all nodes from which a path to a back edge exists that
//!   does not contain the header.
//! * Back edges to the same header belong to one loop.
//! * Two loops are either disjoint or one contains the other.
//!
//! ```text
//!     n0 → n1 → n2 → n3 → n4        loop0  header n1   body n1 n2 n3   depth 1
//!          ▲    ▲ └┘    │           loop1  header n2   body n2         depth 2, parent loop0
//!          │    (n2→n2) │
//!          └────────────┘ (n3→n1)
//! ```
//!
//! If the target of a retreating edge does not dominate its source, the edge closes an
//! *irreducible* cycle: a cycle with several entries, which is no natural loop.
//! [`LoopForest::irreducible`] lists these edges. The headers and the targets of these edges
//! together cut every reachable cycle.
//!
//! The depth-first search decides which edges of an irreducible cycle are retreating. This module
//! uses the search of [`reverse_postorder`](crate::reverse_postorder).
//!
//! Unreachable nodes are in no loop, because they have no dominators.
//!
//! **Termination.** One backward walk, which visits a node at most once, finds each body. One pass
//! over the bodies finds each node's position in the forest.
//!
//! **Reference.** Aho, Lam, Sethi, Ullman, *Compilers*, 2nd edition, sections 9.6.3 to 9.6.6.

use std::fmt;

use petgraph::Direction;
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef;

use crate::dominators::Dominators;
use crate::order;
use crate::set::{self, BitSet};

/// The id of a loop of a [`LoopForest`], shown as `loop0`, `loop1`, …. An outer loop has a smaller
/// id than the loops that it contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LoopId(pub u32);

impl LoopId {
    /// The index of this loop in [`LoopForest::loops`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for LoopId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "loop{}", self.0)
    }
}

/// A natural loop: the nodes from which its header can be reached again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The only node by which control enters the loop. The header dominates the body.
    pub header: NodeIndex,
    /// The edges from the body to the header, normal and exceptional ones. There is at least one.
    pub back_edges: Vec<EdgeIndex>,
    /// The nodes of the loop, by index, including the header and the nodes of inner loops.
    pub body: BitSet,
    /// The smallest other loop that contains this one.
    pub parent: Option<LoopId>,
    /// The number of loops that contain this one, itself included: 1 for an outermost loop.
    pub depth: u32,
}

/// All natural loops of a graph, and the edges that close irreducible cycles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopForest {
    /// By [`LoopId::index`], in reverse postorder of the headers.
    pub loops: Vec<Loop>,
    /// The retreating edges whose target does not dominate their source.
    pub irreducible: Vec<EdgeIndex>,
    /// By node index: the smallest loop that contains the node.
    innermost: Vec<Option<LoopId>>,
}

impl LoopForest {
    /// Returns the loop with this id, or `None` if this forest has no such loop.
    pub fn get(&self, id: LoopId) -> Option<&Loop> {
        self.loops.get(id.index())
    }

    /// Returns the smallest loop that contains `node`.
    pub fn innermost(&self, node: NodeIndex) -> Option<LoopId> {
        self.innermost.get(node.index()).copied().flatten()
    }

    /// Returns all loops that contain `node`, outermost first.
    pub fn enclosing_loops(&self, node: NodeIndex) -> Vec<LoopId> {
        let up = |id: &LoopId| self.get(*id).and_then(|found| found.parent);
        let mut nest: Vec<_> = std::iter::successors(self.innermost(node), up).collect();
        nest.reverse();
        nest
    }

    /// Returns the headers of all loops, in reverse postorder.
    pub fn headers(&self) -> impl Iterator<Item = NodeIndex> + '_ {
        self.loops.iter().map(|found| found.header)
    }
}

/// Finds the natural loops of `graph`, if control enters the graph at `entry`.
pub fn loops<N, E>(graph: &DiGraph<N, E>, entry: NodeIndex) -> LoopForest {
    let dominators = Dominators::new(graph, entry);
    let search = order::depth_first_search(graph, entry);
    let positions = search.positions();

    let mut loops: Vec<Loop> = Vec::new();
    let mut irreducible = Vec::new();
    let mut innermost: Vec<Option<LoopId>> = vec![None; graph.node_count()];
    for &header in &search.order[..search.reachable] {
        let mut back_edges = Vec::new();
        for edge in graph.edges_directed(header, Direction::Incoming) {
            let source = edge.source();
            if !dominators.is_reachable(source)
                || positions[source.index()] < positions[header.index()]
            {
                continue;
            }
            if dominators.dominates(header, source) {
                back_edges.push(edge.id());
            } else {
                irreducible.push(edge.id());
            }
        }
        if back_edges.is_empty() {
            continue;
        }
        back_edges.sort();
        let body = body(graph, &dominators, header, &back_edges);
        // Headers of outer loops precede those of inner loops in reverse postorder, so all loops
        // around this one are known. The innermost loop found so far that contains the header is
        // the parent.
        let parent = innermost[header.index()];
        let depth = 1 + parent.map_or(0, |id| loops[id.index()].depth);
        let id = LoopId(loops.len() as u32);
        for node in body.iter_ones() {
            innermost[node] = Some(id);
        }
        loops.push(Loop {
            header,
            back_edges,
            body,
            parent,
            depth,
        });
    }
    irreducible.sort();
    LoopForest {
        loops,
        irreducible,
        innermost,
    }
}

/// Returns `header` and all reachable nodes from which a path to a back edge exists that does not
/// contain `header`.
fn body<N, E>(
    graph: &DiGraph<N, E>,
    dominators: &Dominators,
    header: NodeIndex,
    back_edges: &[EdgeIndex],
) -> BitSet {
    let mut body = set::empty(graph.node_count());
    body.set(header.index(), true);
    let mut stack: Vec<NodeIndex> = back_edges
        .iter()
        .filter_map(|&edge| graph.edge_endpoints(edge))
        .map(|(source, _)| source)
        .collect();
    while let Some(node) = stack.pop() {
        if body[node.index()] || !dominators.is_reachable(node) {
            continue;
        }
        body.set(node.index(), true);
        stack.extend(graph.neighbors_directed(node, Direction::Incoming));
    }
    body
}
