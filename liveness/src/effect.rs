//! The reads and writes of a node, and the two kinds of edges.
//!
//! A [`UseDef`] per node and an [`EdgeTransfer`] per edge are the only facts that the analyses have
//! about the code behind a graph.

use crate::set::{self, BitSet};

/// The variables that one node reads and writes.
///
/// The caller may fill the sets itself, or may replay the node's instructions in order through
/// [`read`](Self::read) and [`write`](Self::write).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UseDef {
    /// Variables that the node reads before any write of its own (upward-exposed uses).
    pub uses: BitSet,
    /// Variables that every path through the node writes.
    pub defs: BitSet,
    /// Variables that any instruction of the node writes; a superset of `defs`.
    pub writes: BitSet,
}

impl UseDef {
    /// Returns an empty effect, with room for the variables `0..width`.
    pub fn new(width: usize) -> Self {
        UseDef {
            uses: set::empty(width),
            defs: set::empty(width),
            writes: set::empty(width),
        }
    }

    /// Records that the node's next instruction reads `variable`. The read is a use unless `defs`
    /// already contains `variable`.
    pub fn read(&mut self, variable: usize) {
        if !set::contains(&self.defs, variable) {
            set::insert(&mut self.uses, variable);
        }
    }

    /// Records that the node's next instruction writes `variable` on every path.
    pub fn write(&mut self, variable: usize) {
        set::insert(&mut self.defs, variable);
        set::insert(&mut self.writes, variable);
    }

    /// Returns this effect with sets of exactly `width` bits, and with `defs` added to `writes`.
    pub(crate) fn resized(&self, width: usize) -> Self {
        let defs = set::resized(&self.defs, width);
        let mut writes = set::resized(&self.writes, width);
        writes |= &defs;
        UseDef {
            uses: set::resized(&self.uses, width),
            defs,
            writes,
        }
    }
}

/// Returns one effect for each of `nodes` nodes, each fitted to `width`. A missing effect is empty.
pub(crate) fn resize_all(effect: &[UseDef], nodes: usize, width: usize) -> Vec<UseDef> {
    let mut fitted: Vec<UseDef> = effect
        .iter()
        .take(nodes)
        .map(|e| e.resized(width))
        .collect();
    fitted.resize_with(nodes, || UseDef::new(width));
    fitted
}

/// The point of the source node at which control leaves along an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EdgeTransfer {
    /// Control leaves from the end of the source node, after all its instructions.
    Normal,
    /// Control leaves from any point inside the source node. Each write of the node may or may not
    /// have happened. Only the first `locals` variables survive, because the JVM drops the operand
    /// stack when an exception is thrown.
    Exceptional,
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitvec::prelude::*;

    #[test]
    fn only_reads_before_a_certain_write_are_uses() {
        let mut effect = UseDef::new(3);
        effect.write(0);
        effect.read(0);
        effect.read(1);
        effect.read(2);
        effect.write(2);
        assert_eq!(effect.uses, bits![0, 1, 1]);
        assert_eq!(effect.defs, bits![1, 0, 1]);
        assert_eq!(effect.writes, bits![1, 0, 1]);
    }

    #[test]
    fn effects_are_cut_and_padded_to_the_problem() {
        let mut effect = UseDef::default();
        effect.read(5);
        effect.defs = bitvec![usize, Lsb0; 1];
        let all = resize_all(&[effect], 2, 3);
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].uses, bits![0, 0, 0], "variable 5 is past the width");
        assert_eq!(all[0].writes, bits![1, 0, 0], "a def is a write");
        assert_eq!(all[1], UseDef::new(3));
    }
}
