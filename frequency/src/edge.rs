//! Edges between nodes and the outside, as counters are placed on them.

use std::fmt;

/// A node by its number, or what is around the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Node {
    /// Callers, other versions, handlers that are entered by exceptions.
    Outside,
    /// A node of the graph.
    At(u32),
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Node::Outside => f.write_str("outside"),
            Node::At(n) => write!(f, "{n}"),
        }
    }
}

/// A way from one node to another. Two nodes may have several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Where it starts.
    pub from: Node,
    /// Where it leads.
    pub to: Node,
    /// How often it is expected to be passed, in any unit.
    pub weight: u64,
    /// It has a counter in any case.
    pub always: bool,
}

impl Edge {
    /// An edge that gets a counter where one is needed.
    pub fn new(from: Node, to: Node, weight: u64) -> Edge {
        Edge {
            from,
            to,
            weight,
            always: false,
        }
    }

    /// An edge that always has a counter.
    pub fn counted(from: Node, to: Node) -> Edge {
        Edge {
            from,
            to,
            weight: 0,
            always: true,
        }
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arrow = if self.always { "-●>" } else { "->" };
        write!(f, "{} {arrow} {}", self.from, self.to)
    }
}
