//! Natural loops and how they nest.
//!
//! An edge is *retreating* when its target does not come after its source in reverse postorder; every cycle has one.
//! A retreating edge whose target dominates its source is a *back edge*, and its target is a loop *header*: the one way
//! into the loop. The loop's *body* is the header and all that reaches a back edge without going through the header. Back
//! edges to the same header belong to one loop. Two loops are either apart or one lies in the other.
//!
//! ```text
//!     n0 → n1 → n2 → n3 → n4        loop0  header n1   body n1 n2 n3   depth 1
//!          ▲    ▲ └┘    │           loop1  header n2   body n2         depth 2, parent loop0
//!          │    (n2→n2) │
//!          └────────────┘ (n3→n1)
//! ```
//!
//! A retreating edge whose target does not dominate its source closes a cycle with several ways in (an *irreducible*
//! one), which is no loop of the forest. [`LoopForest::irreducible`] lists these edges, so the headers together with the
//! targets of these edges cut every cycle that can be reached. Which edges of an irreducible cycle are
//! retreating depends on the depth-first search; it is that of [`reverse_postorder`](crate::reverse_postorder).
//!
//! Unreachable nodes are in no loop: nothing dominates them.
//!
//! **Termination.** Each body is found by one backward walk that visits a node at most once, and each node's place in
//! the forest by one pass over the bodies.
//!
//! **Reference.** Aho, Lam, Sethi, Ullman, *Compilers*, 2nd edition, sections 9.6.3 to 9.6.6.

use std::fmt;

use petgraph::Direction;
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef;

use crate::dominators::Dominators;
use crate::order;
use crate::set::{self, Set};

/// A loop of a [`LoopForest`]: `loop0`, `loop1`, … Outer loops come before the loops in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LoopId(pub u32);

impl LoopId {
    /// The place of this loop in [`LoopForest::loops`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for LoopId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "loop{}", self.0)
    }
}

/// A natural loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The one node by which control enters the loop. It dominates the body.
    pub header: NodeIndex,
    /// The edges from the body to the header, of any flow; at least one.
    pub back_edges: Vec<EdgeIndex>,
    /// The nodes of the loop, by index, inner loops and the header included.
    pub body: Set,
    /// The smallest other loop that contains this one.
    pub parent: Option<LoopId>,
    /// How many loops contain this one, itself included: 1 for an outermost loop.
    pub depth: u32,
}

/// The loops of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopForest {
    /// By [`LoopId::index`], in reverse postorder of the headers.
    pub loops: Vec<Loop>,
    /// The retreating edges whose target does not dominate their source.
    pub irreducible: Vec<EdgeIndex>,
    /// By node index.
    innermost: Vec<Option<LoopId>>,
}

impl LoopForest {
    /// The loop with this id, if it is of this forest.
    pub fn get(&self, id: LoopId) -> Option<&Loop> {
        self.loops.get(id.index())
    }

    /// The smallest loop that contains `node`.
    pub fn innermost(&self, node: NodeIndex) -> Option<LoopId> {
        self.innermost.get(node.index()).copied().flatten()
    }

    /// All loops that contain `node`, outermost first.
    pub fn nest(&self, node: NodeIndex) -> Vec<LoopId> {
        let up = |id: &LoopId| self.get(*id).and_then(|found| found.parent);
        let mut nest: Vec<_> = std::iter::successors(self.innermost(node), up).collect();
        nest.reverse();
        nest
    }

    /// The headers of all loops, in reverse postorder.
    pub fn headers(&self) -> impl Iterator<Item = NodeIndex> + '_ {
        self.loops.iter().map(|found| found.header)
    }
}

/// Finds the natural loops of `graph`, as entered at `entry`.
pub fn loops<N, E>(graph: &DiGraph<N, E>, entry: NodeIndex) -> LoopForest {
    let dominators = Dominators::new(graph, entry);
    let search = order::search(graph, entry);
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
        // Headers of outer loops come earlier in reverse postorder, so all loops around this one are known, and what
        // is innermost around its header so far is the parent.
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

/// `header` and all reachable nodes that reach a back edge without going through it.
fn body<N, E>(
    graph: &DiGraph<N, E>,
    dominators: &Dominators,
    header: NodeIndex,
    back_edges: &[EdgeIndex],
) -> Set {
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
