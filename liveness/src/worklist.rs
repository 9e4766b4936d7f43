//! The worklist that the solvers share.
//!
//! It holds each node at most once and always hands out the one that stands first in the given order. On a graph without
//! cycles every node is then handed out once; on a reducible one, inner loops settle before what follows them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use petgraph::graph::NodeIndex;

use crate::order;
use crate::set::{self, Set};

pub(crate) struct Worklist {
    order: Vec<NodeIndex>,
    /// By node index: where the node stands in `order`.
    positions: Vec<usize>,
    /// By position: whether the node waits.
    waiting: Set,
    /// The positions that wait, least first.
    heap: BinaryHeap<Reverse<usize>>,
}

impl Worklist {
    /// All of `order`, which holds every node of the graph once.
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

    /// `node` is to be looked at (again).
    pub fn push(&mut self, node: NodeIndex) {
        let position = self.positions[node.index()];
        if !self.waiting.replace(position, true) {
            self.heap.push(Reverse(position));
        }
    }

    /// The waiting node that stands first.
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
    fn hands_out_in_order_and_each_node_once() {
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
