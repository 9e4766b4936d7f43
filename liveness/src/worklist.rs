//! A priority worklist for the iterative solver.
//!
//! The worklist holds each node at most once and always returns the waiting node that is first in a
//! given order. On an acyclic graph every node is therefore returned once. On a reducible graph, an
//! inner loop reaches its fixed point before the solver continues with the nodes after the loop.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use petgraph::graph::NodeIndex;

use crate::order;
use crate::set::{self, BitSet};

pub(crate) struct Worklist {
    order: Vec<NodeIndex>,
    /// By node index: the position of the node in `order`.
    positions: Vec<usize>,
    /// By position: whether the node is in the worklist.
    waiting: BitSet,
    /// The positions of the waiting nodes, smallest first.
    heap: BinaryHeap<Reverse<usize>>,
}

impl Worklist {
    /// Creates a worklist that contains all nodes of `order`. `order` must hold every node of the
    /// graph exactly once.
    pub fn new(order: Vec<NodeIndex>) -> Self {
        let positions = order::positions(&order);
        let mut waiting = set::empty(order.len());
        waiting.fill(true);
        let heap = (0..order.len()).map(Reverse).collect();
        Worklist {
            order,
            positions,
            waiting,
            heap,
        }
    }

    /// Adds `node`, unless the worklist already contains it.
    pub fn push(&mut self, node: NodeIndex) {
        let position = self.positions[node.index()];
        if !self.waiting.replace(position, true) {
            self.heap.push(Reverse(position));
        }
    }

    /// Removes and returns the waiting node that is first in the order.
    pub fn pop(&mut self) -> Option<NodeIndex> {
        let Reverse(position) = self.heap.pop()?;
        self.waiting.set(position, false);
        Some(self.order[position])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_returned_in_order_and_once() {
        let node = NodeIndex::new;
        let mut list = Worklist::new(vec![node(2), node(0), node(1)]);
        assert_eq!(list.pop(), Some(node(2)));
        list.push(node(2));
        list.push(node(2));
        list.push(node(1));
        let rest: Vec<_> = std::iter::from_fn(|| list.pop()).collect();
        assert_eq!(rest, [node(2), node(0), node(1)]);
    }
}
