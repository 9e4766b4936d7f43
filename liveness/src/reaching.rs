//! Reaching definitions: which writes may have produced the value that a variable holds here.
//!
//! A definition stands for all writes of one variable in one node, or for the value that a variable has when control
//! first arrives at the entry. Definitions are numbered variable by variable, so that the definitions of one
//! variable, and those of all local variables, are ranges:
//!
//! ```text
//!     number      0          1      2      3        4
//!     definition  a@entry    a@n1   a@n4   b@n1     s@n2
//!                 └──── of(a) ─────────┘
//!                 └──────── local variables ────┘   └ stack
//! ```
//!
//! **Lattice.** For each node a set of definitions, ordered by inclusion; bottom is the empty set and join is union. The
//! solution is the least fixed point.
//!
//! **Transfer**, forward, for a node `n`, where `gen(n)` are the definitions of `writes(n)` in `n`, and `kill(n)` all
//! definitions, anywhere, of the variables in `defs(n)`:
//!
//! ```text
//!     reach_in(n)  = ⋃ reach_out(p)                            over the normal predecessors p of n
//!                  ∪ ⋃ ((reach_in(p) ∪ gen(p)) ∩ locals)       over the exceptional predecessors p of n
//!                  ∪ { the entry's definitions }               where n is the entry
//!     reach_out(n) = (reach_in(n) \ kill(n)) ∪ gen(n)
//! ```
//!
//! The second line is the rule of exceptional edges: control may leave before or after any write in `p`, so nothing is
//! killed and everything may have been written; the operand stack is dropped.
//!
//! **Termination.** The transfer is monotone (union, and difference with a constant), the sets only grow, and they are
//! subsets of the finite set of definitions. A node is put on the worklist only when what leaves a predecessor has
//! grown.
//!
//! **Reference.** Aho, Lam, Sethi, Ullman, *Compilers*, 2nd edition, section 9.2.4.

use std::ops::Range;

use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef;

use crate::effect::{self, Effect, Flow};
use crate::order::reverse_postorder;
use crate::set::{self, Set};
use crate::worklist::Worklist;

/// All writes of `variable` in `node`, or its value at the entry ([`Reaching::is_initial`]; `node` is then the entry).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Definition {
    /// Where the variable is written.
    pub node: NodeIndex,
    /// Which variable.
    pub variable: usize,
}

/// The definitions, and which of them reach each node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reaching {
    /// All definitions, ordered by variable; for one variable its value at the entry comes first, then by node.
    pub definitions: Vec<Definition>,
    /// By [`NodeIndex::index`]: which of `definitions` reach the beginning of the node.
    pub reach_in: Vec<Set>,
    /// By [`NodeIndex::index`]: which of `definitions` reach the end of the node. Along an exceptional edge all of
    /// `reach_in` arrives too.
    pub reach_out: Vec<Set>,
    /// Which of `definitions` are values at the entry.
    initial: Set,
    /// By variable, and one more: where its definitions begin.
    starts: Vec<usize>,
}

impl Reaching {
    /// The numbers of the definitions of `variable`; empty for a variable that does not exist.
    pub fn of(&self, variable: usize) -> Range<usize> {
        let start = |v: usize| self.starts.get(v).copied();
        match (start(variable), start(variable.saturating_add(1))) {
            (Some(from), Some(to)) => from..to,
            _ => 0..0,
        }
    }

    /// Whether this definition is the value of its variable at the entry, rather than a write in the entry node.
    pub fn is_initial(&self, definition: usize) -> bool {
        set::contains(&self.initial, definition)
    }

    /// The definitions of `variable` that reach the beginning of `node`.
    pub fn reaching(&self, node: NodeIndex, variable: usize) -> impl Iterator<Item = usize> + '_ {
        let reach = self.reach_in.get(node.index());
        self.of(variable)
            .filter(move |&d| reach.is_some_and(|reach| set::contains(reach, d)))
    }
}

/// Solves reaching definitions for `graph`.
///
/// The variables are `0..width`; those below `locals` survive an exceptional edge. `effect` is indexed by
/// [`NodeIndex::index`]. `entry_defined` are the variables that have a value when control arrives at `entry` from
/// outside (the arguments of a method).
pub fn reaching<N, E>(
    graph: &DiGraph<N, E>,
    entry: NodeIndex,
    width: usize,
    locals: usize,
    effect: &[Effect],
    flow: impl Fn(EdgeIndex) -> Flow,
    entry_defined: &Set,
) -> Reaching {
    let nodes = graph.node_count();
    let effect = effect::fit_all(effect, nodes, width);
    let Numbering {
        definitions,
        starts,
        initial,
    } = number(entry, nodes, width, &effect, entry_defined);
    let count = definitions.len();
    let local_definitions = starts.get(locals).copied().unwrap_or(count);

    let mut generated = vec![set::empty(count); nodes];
    for (number, definition) in definitions.iter().enumerate() {
        if !initial[number] {
            generated[definition.node.index()].set(number, true);
        }
    }
    let mut reach_in = vec![set::empty(count); nodes];
    let mut reach_out = vec![set::empty(count); nodes];
    if let Some(reach) = reach_in.get_mut(entry.index()) {
        *reach |= &initial;
    }

    let mut work = Worklist::new(reverse_postorder(graph, entry));
    while let Some(node) = work.pop() {
        let n = node.index();
        let mut thrown = reach_in[n].clone();
        thrown |= &generated[n];
        set::keep_below(&mut thrown, local_definitions);

        let mut after = reach_in[n].clone();
        for variable in effect[n].defs.iter_ones() {
            after[starts[variable]..starts[variable + 1]].fill(false);
        }
        after |= &generated[n];
        reach_out[n] = after;

        for edge in graph.edges(node) {
            let leaving = match flow(edge.id()) {
                Flow::Normal => &reach_out[n],
                Flow::Exceptional => &thrown,
            };
            let arriving = &mut reach_in[edge.target().index()];
            let known = arriving.count_ones();
            *arriving |= leaving;
            if arriving.count_ones() != known {
                work.push(edge.target());
            }
        }
    }
    Reaching {
        definitions,
        reach_in,
        reach_out,
        initial,
        starts,
    }
}

/// The definitions with their numbers; the fields are those of [`Reaching`].
struct Numbering {
    definitions: Vec<Definition>,
    starts: Vec<usize>,
    initial: Set,
}

fn number(
    entry: NodeIndex,
    nodes: usize,
    width: usize,
    effect: &[Effect],
    entry_defined: &Set,
) -> Numbering {
    let mut writers = vec![Vec::new(); width];
    for (n, effect) in effect.iter().enumerate() {
        for variable in effect.writes.iter_ones() {
            writers[variable].push(NodeIndex::new(n));
        }
    }
    let mut definitions = Vec::new();
    let mut starts = Vec::with_capacity(width + 1);
    let mut initial = Set::new();
    for (variable, writers) in writers.into_iter().enumerate() {
        starts.push(definitions.len());
        if entry.index() < nodes && set::contains(entry_defined, variable) {
            initial.resize(definitions.len(), false);
            initial.push(true);
            definitions.push(Definition {
                node: entry,
                variable,
            });
        }
        definitions.extend(
            writers
                .into_iter()
                .map(|node| Definition { node, variable }),
        );
    }
    starts.push(definitions.len());
    initial.resize(definitions.len(), false);
    Numbering {
        definitions,
        starts,
        initial,
    }
}
