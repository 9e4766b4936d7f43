//! Live variables: which variables the rest of the run may still read.
//!
//! **Lattice.** For each node a set of variables, ordered by inclusion; bottom is the empty set and join is union (a
//! variable is live when *some* way on reads it). The solution is the least fixed point.
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
//! The last line is the rule of exceptional edges. Control may leave along them before the first instruction of `n`,
//! so what a handler needs is needed at the entry of `n`, whatever `n` writes: `defs` is not taken away. The operand
//! stack is dropped on the way, so only local variables are carried back.
//!
//! **Termination.** The transfer is monotone (union, and difference with a constant), the sets only grow, and each
//! has at most `width` members. A node is put on the worklist only when the `live_in` of a successor has grown, which
//! happens at most `width` times for each node, so at most `width · edges + nodes` nodes are ever taken off.
//!
//! **Reference.** Aho, Lam, Sethi, Ullman, *Compilers*, 2nd edition, section 9.2.5.

use petgraph::Direction;
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef;

use crate::effect::{self, Effect, Flow};
use crate::order::reverse_postorder;
use crate::set::{self, Set};
use crate::worklist::Worklist;

/// The live variables around each node, by [`NodeIndex::index`]. Every set has the length `width`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Liveness {
    /// Live before the node.
    pub live_in: Vec<Set>,
    /// Live after the node where control leaves it *normally*. What the handlers of a node need is not in its
    /// `live_out`, unless a normal way on needs it too, but is in its `live_in`.
    pub live_out: Vec<Set>,
}

/// Solves live variables for `graph`.
///
/// The variables are `0..width`; those below `locals` survive an exceptional edge. `effect` is indexed by
/// [`NodeIndex::index`]. A `flow` is asked for each edge as often as the solver meets it.
pub fn liveness<N, E>(
    graph: &DiGraph<N, E>,
    width: usize,
    locals: usize,
    effect: &[Effect],
    flow: impl Fn(EdgeIndex) -> Flow,
) -> Liveness {
    let nodes = graph.node_count();
    let effect = effect::fit_all(effect, nodes, width);
    let mut live_in = vec![set::empty(width); nodes];
    let mut live_out = vec![set::empty(width); nodes];

    // The result does not depend on the order; that node 0 is the entry is only the likely case.
    let mut order = reverse_postorder(graph, NodeIndex::new(0));
    order.reverse();
    let mut work = Worklist::new(order);
    while let Some(node) = work.pop() {
        let n = node.index();
        let mut thrown = set::empty(width);
        for edge in graph.edges(node) {
            let needed = &live_in[edge.target().index()];
            match flow(edge.id()) {
                Flow::Normal => live_out[n] |= needed,
                Flow::Exceptional => thrown |= needed,
            }
        }
        set::keep_below(&mut thrown, locals);

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
