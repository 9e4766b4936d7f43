//! Live variables: a variable is live at a point if the rest of the run may still read its value.
//!
//! **Lattice.** For each node a set of variables, ordered by inclusion. Bottom is the empty set.
//! Join is union, because a variable is live if *some* path from here reads it before writing it.
//! The solution is the least fixed point.
//!
//! **Transfer**, backward, for a node `n`:
//!
//! ```text
//!     live_out(n) = ⋃ live_in(s)                 over the normal successors s of n
//!     live_in(n)  = uses(n)
//!                 ∪ (live_out(n) \ defs(n))
//!                 ∪ ⋃ (live_in(h) ∩ locals)      over the exceptional successors h of n
//! ```
//!
//! The last line is the rule of exceptional edges. Control may leave along them before the first
//! instruction of `n`. A variable that a handler needs is therefore live at the entry of `n`, even
//! if `n` writes the variable: the rule does not subtract `defs(n)`. The JVM drops the operand
//! stack when it enters a handler, so only local variables are propagated backward.
//!
//! **Termination.** The transfer is monotone (union, and difference with a constant), the sets only
//! grow, and each set has at most `width` members. The solver adds a node to the worklist only when
//! the `live_in` of a successor has grown. That happens at most `width` times for each node, so the
//! solver processes at most `width · edges + nodes` nodes.
//!
//! **Reference.** Aho, Lam, Sethi, Ullman, *Compilers*, 2nd edition, section 9.2.5.

use petgraph::Direction;
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef;

use crate::effect::{self, EdgeTransfer, UseDef};
use crate::order::reverse_postorder;
use crate::set::{self, BitSet};
use crate::worklist::Worklist;

/// The live variables around each node, by [`NodeIndex::index`]. Every set has the length `width`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Liveness {
    /// Variables that are live before the node.
    pub live_in: Vec<BitSet>,
    /// Variables that are live after the node when control leaves it *normally*. A variable that
    /// only a handler of the node needs is in `live_in` but not in `live_out`.
    pub live_out: Vec<BitSet>,
}

/// Solves live variables for `graph`.
///
/// The variables are `0..width`; those below `locals` survive an exceptional edge. `effect` is
/// indexed by [`NodeIndex::index`]. The solver calls `flow` for an edge each time it processes the
/// edge's source node.
pub fn liveness<N, E>(
    graph: &DiGraph<N, E>,
    width: usize,
    locals: usize,
    effect: &[UseDef],
    flow: impl Fn(EdgeIndex) -> EdgeTransfer,
) -> Liveness {
    let nodes = graph.node_count();
    let effect = effect::resize_all(effect, nodes, width);
    let mut live_in = vec![set::empty(width); nodes];
    let mut live_out = vec![set::empty(width); nodes];

    // The result does not depend on the order. Node 0 is the usual entry, so this order converges
    // fast.
    let mut order = reverse_postorder(graph, NodeIndex::new(0));
    order.reverse();
    let mut work = Worklist::new(order);
    while let Some(node) = work.pop() {
        let n = node.index();
        let mut thrown = set::empty(width);
        for edge in graph.edges(node) {
            let needed = &live_in[edge.target().index()];
            match flow(edge.id()) {
                EdgeTransfer::Normal => live_out[n] |= needed,
                EdgeTransfer::Exceptional => thrown |= needed,
            }
        }
        set::remove_from(&mut thrown, locals);

        let mut before = live_out[n].clone();
        before &= !effect[n].defs.clone();
        before |= &effect[n].uses;
        before |= &thrown;
        if before != live_in[n] {
            live_in[n] = before;
            for before in graph.neighbors_directed(node, Direction::Incoming) {
                work.push(before);
            }
        }
    }
    Liveness { live_in, live_out }
}
