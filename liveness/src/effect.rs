//! What a node does to the variables, and how control leaves it.
//!
//! These two are all that the analyses know of the code behind a graph.

use crate::set::{self, Set};

/// What one node does to the variables.
///
/// The caller may fill the sets itself, or replay the node's instructions in order through [`read`](Self::read),
/// [`write`](Self::write) and [`may_write`](Self::may_write).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// Read before any write in the node (upward exposed).
    pub uses: Set,
    /// Written on every way through the node.
    pub defs: Set,
    /// Written anywhere in the node; a superset of `defs`.
    pub writes: Set,
}

impl Effect {
    /// No effect, with room for the variables `0..width`.
    pub fn new(width: usize) -> Self {
        Effect {
            uses: set::empty(width),
            defs: set::empty(width),
            writes: set::empty(width),
        }
    }

    /// Next, the node reads `variable`: a use, unless the node has already written it on every way to here.
    pub fn read(&mut self, variable: usize) {
        if !set::contains(&self.defs, variable) {
            set::insert(&mut self.uses, variable);
        }
    }

    /// Next, the node writes `variable` for certain.
    pub fn write(&mut self, variable: usize) {
        set::insert(&mut self.defs, variable);
        set::insert(&mut self.writes, variable);
    }

    /// Next, the node writes `variable` on some ways only: what it held before may still be seen after.
    pub fn may_write(&mut self, variable: usize) {
        set::insert(&mut self.writes, variable);
    }

    /// The same effect over exactly `0..width`, with `defs` made part of `writes`.
    pub(crate) fn fitted(&self, width: usize) -> Self {
        let defs = set::fit(&self.defs, width);
        let mut writes = set::fit(&self.writes, width);
        writes |= &defs;
        Effect {
            uses: set::fit(&self.uses, width),
            defs,
            writes,
        }
    }
}

/// One effect for each of `nodes` nodes, fitted to `width`; a missing one is empty.
pub(crate) fn fit_all(effect: &[Effect], nodes: usize, width: usize) -> Vec<Effect> {
    let mut fitted: Vec<Effect> = effect.iter().take(nodes).map(|e| e.fitted(width)).collect();
    fitted.resize_with(nodes, || Effect::new(width));
    fitted
}

/// How control leaves a node along an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flow {
    /// From the end of the source node: all that it does is done.
    Normal,
    /// From any point inside the source node, so none of its writes may be assumed done and each of them may be.
    /// Only the first `locals` variables survive; an operand stack does not.
    Exceptional,
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitvec::prelude::*;

    #[test]
    fn only_reads_before_a_certain_write_are_uses() {
        let mut effect = Effect::new(3);
        effect.write(0);
        effect.read(0);
        effect.may_write(1);
        effect.read(1);
        effect.read(2);
        effect.write(2);
        assert_eq!(effect.uses, bits![0, 1, 1]);
        assert_eq!(effect.defs, bits![1, 0, 1]);
        assert_eq!(effect.writes, bits![1, 1, 1]);
    }

    #[test]
    fn effects_are_cut_and_padded_to_the_problem() {
        let mut effect = Effect::default();
        effect.read(5);
        effect.defs = bitvec![usize, Lsb0; 1];
        let all = fit_all(&[effect], 2, 3);
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].uses, bits![0, 0, 0], "variable 5 is past the width");
        assert_eq!(all[0].writes, bits![1, 0, 0], "a def is a write");
        assert_eq!(all[1], Effect::new(3));
    }
}
