//! An estimate of the code that is emitted for a part, in bytes: the part's own code, code that restores
//! the values of each capture point, and code for each edge to another part. The code that each part has
//! once is not included. The numbers of bytes are averages of a method with a switch of 240 cases.

use super::edges::WeightedEdge;
use crate::points::Point;

/// The code of a capture point without values: its check, and its cases in the switches over points.
const POINT_BYTES: usize = 30;
/// The code that restores a value of a capture point. Several points often share it.
const VALUE_BYTES: usize = 5;
/// The code of an edge to another part: the number of the point, and a branch.
const EDGE_BYTES: usize = 7;
/// One byte for each of this many bytes of own code: locals of versions have larger numbers.
const BYTES_PER_LONGER_OPERAND: usize = 8;

/// The facts about each node from which the size of a part is estimated.
pub(super) struct EmittedSize {
    /// The code of a capture point at the node.
    point_bytes: Vec<usize>,
    /// Whether the armed method has a capture point at the node.
    is_armed: Vec<bool>,
    /// The nodes to which control moves from the node.
    targets: Vec<Vec<usize>>,
    /// The nodes from which control moves to the node.
    sources: Vec<Vec<usize>>,
}

impl EmittedSize {
    /// `points` has the capture point that each node would have.
    pub fn new(armed: &[Point], points: &[Option<Point>], edges: &[WeightedEdge]) -> EmittedSize {
        let count = points.len();
        let mut size = EmittedSize {
            point_bytes: points
                .iter()
                .map(|point| {
                    let values = point.as_ref().map_or(0, |p| p.locals.len() + p.stack.len());
                    POINT_BYTES + VALUE_BYTES * values
                })
                .collect(),
            is_armed: vec![false; count],
            targets: vec![Vec::new(); count],
            sources: vec![Vec::new(); count],
        };
        for point in armed {
            if let Some(is_armed) = size.is_armed.get_mut(point.fragment.index()) {
                *is_armed = true;
            }
        }
        for edge in edges {
            size.targets[edge.from].push(edge.to);
            size.sources[edge.to].push(edge.from);
        }
        size
    }

    /// The code of a part with these nodes and with `own` bytes of the method's code. `is_inside` tells
    /// whether a node is one of them.
    pub fn estimate<'n>(
        &self,
        own: usize,
        nodes: impl Iterator<Item = &'n usize>,
        is_inside: impl Fn(usize) -> bool,
    ) -> usize {
        let mut bytes = own + own / BYTES_PER_LONGER_OPERAND;
        for node in nodes {
            let leaving = self.targets[*node].iter().filter(|to| !is_inside(**to));
            bytes += EDGE_BYTES * leaving.count();
            if self.is_armed[*node] || self.sources[*node].iter().any(|from| !is_inside(*from)) {
                bytes += self.point_bytes[*node];
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl EmittedSize {
        /// For nodes without edges and without capture points.
        pub fn without_edges(count: usize) -> EmittedSize {
            EmittedSize::new(&[], &vec![None; count], &[])
        }
    }

    fn edge(from: usize, to: usize) -> WeightedEdge {
        WeightedEdge {
            from,
            to,
            weight: 1,
        }
    }

    #[test]
    fn an_edge_costs_code_only_between_parts() {
        let size = EmittedSize::new(&[], &[None, None, None], &[edge(0, 1), edge(1, 2)]);
        assert_eq!(size.estimate(80, [0, 1, 2].iter(), |_| true), 90);
        // 0 ─▶ 1 leaves the part, and 1 ─▶ 2 enters it.
        let is_inside = |node| node != 1;
        let expected = 90 + EDGE_BYTES + POINT_BYTES;
        assert_eq!(size.estimate(80, [0, 2].iter(), is_inside), expected);
    }
}
