//! Sets of nodes that are merged step by step, with their sizes.

use super::emitted_size::EmittedSize;
use super::parts::Parts;
use std::collections::BTreeMap;

pub(super) struct Groups {
    /// The first node of each node's group: the group's root.
    root: Vec<usize>,
    /// The bytes of the method's own code, by root.
    bytes: Vec<usize>,
    /// The nodes, by root.
    nodes: Vec<Vec<usize>>,
    size: EmittedSize,
    /// The most bytes of a part's own code.
    budget: usize,
}

impl Groups {
    pub fn new(bytes: Vec<usize>, size: EmittedSize, budget: usize) -> Groups {
        Groups {
            root: (0..bytes.len()).collect(),
            nodes: (0..bytes.len()).map(|node| vec![node]).collect(),
            bytes,
            size,
            budget,
        }
    }

    /// The most bytes of the emitted code of a part, as estimated. With a budget of 5,000 bytes, a part
    /// then has room for instruments below HotSpot's limit of 8,000.
    fn emitted_budget(&self) -> usize {
        self.budget + self.budget / 4
    }

    pub fn merge(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root[a], self.root[b]);
        if a != b {
            // The smaller number stays the root, so that parts are numbered by their first nodes.
            let (root, other) = (a.min(b), a.max(b));
            self.bytes[root] += self.bytes[other];
            let nodes = std::mem::take(&mut self.nodes[other]);
            for node in &nodes {
                self.root[*node] = root;
            }
            self.nodes[root].extend(nodes);
        }
    }

    /// Whether the groups of two nodes fit into one part.
    pub fn fit_together(&self, a: usize, b: usize) -> bool {
        let (a, b) = (self.root[a], self.root[b]);
        let own = self.bytes[a] + self.bytes[b];
        if a == b || own > self.budget {
            return a == b;
        }
        let nodes = self.nodes[a].iter().chain(&self.nodes[b]);
        let is_inside = |node| [a, b].contains(&self.root[node]);
        self.size.estimate(own, nodes, is_inside) <= self.emitted_budget()
    }

    /// The first node of a group that exceeds the budget, and the group's size in bytes.
    pub fn first_too_large(&self) -> Option<(usize, usize)> {
        let is_root = |node: &usize| self.root[*node] == *node;
        (0..self.root.len())
            .filter(is_root)
            .map(|node| (node, self.bytes[node]))
            .find(|(_, bytes)| *bytes > self.budget)
    }

    /// Packs the groups into parts: each goes to the first part in which it has room.
    pub fn pack(self, reachable: &[bool]) -> Parts {
        // The bytes of each part's own code, and of its emitted code.
        let mut sizes: Vec<(usize, usize)> = Vec::new();
        let mut part_of_root: BTreeMap<usize, u16> = BTreeMap::new();
        let mut of_node = Vec::with_capacity(self.root.len());
        for node in 0..self.root.len() {
            if !reachable.get(node).is_some_and(|reached| *reached) {
                of_node.push(0);
                continue;
            }
            let root = self.root[node];
            let part = *part_of_root.entry(root).or_insert_with(|| {
                let own = self.bytes[root];
                let nodes = self.nodes[root].iter();
                let emitted = self
                    .size
                    .estimate(own, nodes, |node| self.root[node] == root);
                let fits = |size: &(usize, usize)| {
                    size.0 + own <= self.budget && size.1 + emitted <= self.emitted_budget()
                };
                let part = sizes.iter().position(fits).unwrap_or(sizes.len());
                match sizes.get_mut(part) {
                    Some(size) => *size = (size.0 + own, size.1 + emitted),
                    None => sizes.push((own, emitted)),
                }
                part as u16
            });
            of_node.push(part);
        }
        Parts {
            of_node,
            count: sizes.len() as u16,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(bytes: &[usize], merged: &[(usize, usize)], budget: usize) -> Groups {
        let size = EmittedSize::without_edges(bytes.len());
        let mut groups = Groups::new(bytes.to_vec(), size, budget);
        for (a, b) in merged {
            groups.merge(*a, *b);
        }
        groups
    }

    fn parts(bytes: &[usize], merged: &[(usize, usize)], budget: usize) -> Parts {
        groups(bytes, merged, budget).pack(&vec![true; bytes.len()])
    }

    #[test]
    fn groups_go_to_the_first_part_with_room() {
        let parts = parts(&[30, 50, 60, 10], &[], 100);
        assert_eq!(parts.of_node, [0, 0, 1, 0]);
        assert_eq!(parts.count(), 2);
    }

    #[test]
    fn merged_nodes_share_a_part() {
        let parts = parts(&[30, 50, 60, 10], &[(0, 2)], 100);
        assert_eq!(parts.of_node, [0, 1, 0, 0]);
    }

    #[test]
    fn a_merged_group_has_the_size_of_its_nodes() {
        let groups = groups(&[30, 50, 60], &[(1, 2)], 110);
        assert!(groups.fit_together(1, 2), "they are together");
        assert!(!groups.fit_together(0, 2), "140 bytes");
        assert_eq!(groups.first_too_large(), None);
        let groups = self::groups(&[30, 50, 60], &[(1, 2)], 100);
        assert_eq!(groups.first_too_large(), Some((1, 110)));
    }

    #[test]
    fn nodes_without_activations_need_no_room() {
        let groups = groups(&[90, 0, 90], &[], 100);
        let parts = groups.pack(&[true, false, true]);
        assert_eq!(parts.of_node, [0, 0, 1]);
    }
}
