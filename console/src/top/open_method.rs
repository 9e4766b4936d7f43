//! The method whose fragments are shown: its flow graph, the passes of its blocks and edges, and
//! the selected block.

use std::collections::BTreeMap;

use super::layout::{GraphLayout, LineContent};
use super::location::MethodLocation;
use super::measurements::MeasuredPoint;
use super::methods::rate;
use crate::flow_counts::{Block, Graph};

/// The passes of a block or an edge.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PassCount {
    /// Number of passes at the last sample that was shown.
    pub hits: u64,
    /// Passes per second, calculated from the last two samples that were shown.
    pub rate: f64,
    /// Number of passes at the last sample, shown or not.
    live: u64,
}

/// The method whose fragments are shown.
#[derive(Debug, Clone)]
pub struct OpenMethod {
    /// The number of the connection that sends the measurements.
    pub number: u64,
    /// The location of the whole method.
    pub location: MethodLocation,
    /// Empty until the agent has sent the graph.
    graph: Graph,
    layout: GraphLayout,
    blocks: BTreeMap<u32, PassCount>,
    edges: BTreeMap<(u32, u32), PassCount>,
    /// The selected block, as an index in `graph.blocks`.
    cursor: usize,
    /// Time of the last sample that was shown, in seconds since the agent began.
    at: Option<f64>,
}

impl OpenMethod {
    /// Creates a view of a method whose graph is not known yet.
    pub fn new(number: u64, location: MethodLocation) -> OpenMethod {
        OpenMethod {
            number,
            location,
            graph: Graph::default(),
            layout: GraphLayout::default(),
            blocks: BTreeMap::new(),
            edges: BTreeMap::new(),
            cursor: 0,
            at: None,
        }
    }

    /// Sets the graph. If several classes have this name, the first graph is kept.
    pub fn set_graph(&mut self, graph: Graph) {
        if self.graph.blocks.is_empty() {
            self.layout = GraphLayout::new(&graph);
            self.graph = graph;
        }
    }

    /// Adds a sample: the blocks and edges that have changed. If `show` is false, the sample is
    /// stored, but not shown yet.
    pub fn add_sample(
        &mut self,
        at: f64,
        blocks: &[MeasuredPoint],
        edges: &[MeasuredPoint],
        show: bool,
    ) {
        let blocks = blocks.iter().filter_map(|r| Some((r.fragment?, r.hits)));
        store_hits(&mut self.blocks, blocks);
        let edges = edges
            .iter()
            .filter_map(|r| Some(((r.fragment?, r.to?), r.hits)));
        store_hits(&mut self.edges, edges);
        if show {
            let seconds = self.at.map_or(0.0, |before| at - before);
            let all = self.blocks.values_mut().chain(self.edges.values_mut());
            for passes in all {
                passes.rate = rate(passes.hits, passes.live, seconds);
                passes.hits = passes.live;
            }
            self.at = Some(at);
        }
    }

    /// Number of passes of all blocks at the last sample, shown or not.
    pub fn live(&self) -> u64 {
        self.blocks.values().map(|passes| passes.live).sum()
    }

    /// Whether the agent has sent the graph.
    pub fn is_known(&self) -> bool {
        !self.graph.blocks.is_empty()
    }

    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    pub fn layout(&self) -> &GraphLayout {
        &self.layout
    }

    /// Returns the passes of a block, or `None` if it was not measured yet.
    pub fn passes(&self, block: u32) -> Option<PassCount> {
        self.blocks.get(&block).copied()
    }

    /// Returns the passes of an edge, or `None` if it was not measured yet.
    pub fn passes_of_edge(&self, from: u32, to: u32) -> Option<PassCount> {
        self.edges.get(&(from, to)).copied()
    }

    /// The sum of the passes of all edges that leave a block.
    pub fn hits_leaving(&self, from: u32) -> u64 {
        let edges = self.edges.range((from, 0)..=(from, u32::MAX));
        edges.map(|(_, passes)| passes.hits).sum()
    }

    /// The largest number of passes of any block.
    pub fn max_hits(&self) -> u64 {
        self.blocks.values().map(|p| p.hits).max().unwrap_or(0)
    }

    pub fn selected(&self) -> Option<&Block> {
        self.graph.blocks.get(self.cursor)
    }

    /// The location that instruments for the selected block are attached to.
    pub fn selected_location(&self) -> Option<MethodLocation> {
        let block = self.selected()?;
        Some(MethodLocation {
            fragment: Some(block.number),
            ..self.location.clone()
        })
    }

    /// The line of the drawing that contains the selected block.
    pub fn cursor_line(&self) -> usize {
        let lines = self.layout.lines.iter();
        lines
            .map(|line| line.what)
            .position(|what| what == LineContent::Block(self.cursor))
            .unwrap_or(0)
    }

    /// Moves the selection down by `blocks`, or up if negative, at most to the first or last block.
    pub fn move_by(&mut self, blocks: isize) {
        let last = self.graph.blocks.len().saturating_sub(1);
        self.cursor = self.cursor.saturating_add_signed(blocks).min(last);
    }

    /// Selects the block with the most passes.
    pub fn move_to_hottest(&mut self) {
        let most = self.max_hits();
        let hottest = |block: &Block| self.passes(block.number).is_some_and(|p| p.hits == most);
        if let Some(index) = self.graph.blocks.iter().position(hottest) {
            self.cursor = index;
        }
    }
}

/// Stores the new counts. Rows with the same key are added, because several classes may have the
/// same name.
fn store_hits<K: Ord>(known: &mut BTreeMap<K, PassCount>, rows: impl Iterator<Item = (K, u64)>) {
    let mut sums: BTreeMap<K, u64> = BTreeMap::new();
    for (key, hits) in rows {
        let sum = sums.entry(key).or_default();
        *sum = sum.saturating_add(hits);
    }
    for (key, hits) in sums {
        known.entry(key).or_default().live = hits;
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// f0 → f1 (loop) → f2 → f1, f1 → f3.
    pub fn graph() -> Graph {
        let block = |number: u32| Block {
            number,
            line: Some(10 + number),
            instructions: vec!["iload".into(), "ifle".into()],
            depth: u32::from(number == 1 || number == 2),
            header: number == 1,
            reachable: true,
            variables: vec![],
        };
        Graph {
            class: "a.B".into(),
            method: "m(I)V".into(),
            blocks: (0..4).map(block).collect(),
            edges: vec![(0, 1), (1, 2), (1, 3), (2, 1)],
        }
    }

    fn row(fragment: u32, to: Option<u32>, hits: u64) -> MeasuredPoint {
        MeasuredPoint {
            fragment: Some(fragment),
            to,
            hits,
            ..MeasuredPoint::default()
        }
    }

    #[test]
    fn passes_are_counted_by_block_and_edge() {
        let mut inside = OpenMethod::new(
            1,
            MethodLocation {
                class: "a.B".into(),
                method: "m(I)V".into(),
                fragment: None,
            },
        );
        assert!(!inside.is_known() && inside.selected().is_none());
        inside.set_graph(graph());
        inside.add_sample(1.0, &[row(0, None, 1), row(1, None, 11)], &[], true);
        let blocks = [row(1, None, 31), row(2, None, 30)];
        let edges = [row(1, Some(2), 30), row(1, Some(3), 1)];
        inside.add_sample(2.0, &blocks, &edges, false);
        assert_eq!(inside.passes(1).map(|p| p.hits), Some(11));
        inside.add_sample(3.0, &[], &[], true);
        let passes = inside.passes(1).unwrap();
        assert_eq!((passes.hits, passes.rate), (31, 10.0));
        assert_eq!(inside.live(), 62);
        assert_eq!((inside.hits_leaving(1), inside.max_hits()), (31, 31));
        assert_eq!(inside.passes(3), None);
        assert_eq!(inside.passes_of_edge(1, 3).map(|p| p.hits), Some(1));
        inside.move_to_hottest();
        assert_eq!(inside.selected_location().unwrap().fragment, Some(1));
        inside.move_by(9);
        assert_eq!(inside.selected().unwrap().number, 3);
        inside.move_by(-9);
        assert_eq!(inside.selected().unwrap().number, 0);
    }
}
