//! The method that is looked into: its flow graph, how often blocks and edges were passed, and the selected block.

use std::collections::BTreeMap;

use super::figures::{Block, Graph, Row};
use super::layout::{Layout, Line};
use super::methods::rate;
use super::place::Place;

/// How often something was passed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Passes {
    /// So far.
    pub hits: u64,
    /// A second, since the look before.
    pub rate: f64,
    /// So far, shown or not.
    live: u64,
}

/// See the module documentation.
#[derive(Debug, Clone)]
pub struct Inside {
    /// Which of the connections brings its figures.
    pub number: u64,
    /// The method as a whole.
    pub place: Place,
    /// Its graph, once it is known.
    graph: Graph,
    layout: Layout,
    blocks: BTreeMap<u32, Passes>,
    edges: BTreeMap<(u32, u32), Passes>,
    /// The selected block, as an index.
    cursor: usize,
    /// The last look that was shown, in seconds since the agent began.
    at: Option<f64>,
}

impl Inside {
    /// Of this method, of which nothing is known yet.
    pub fn new(number: u64, place: Place) -> Inside {
        Inside {
            number,
            place,
            graph: Graph::default(),
            layout: Layout::default(),
            blocks: BTreeMap::new(),
            edges: BTreeMap::new(),
            cursor: 0,
            at: None,
        }
    }

    /// Its graph. Where several loaders have a class of this name, the first one counts.
    pub fn set_graph(&mut self, graph: Graph) {
        if self.graph.blocks.is_empty() {
            self.layout = Layout::of(&graph);
            self.graph = graph;
        }
    }

    /// A look: what has changed. It is not shown yet where `show` does not say so.
    pub fn look(&mut self, at: f64, blocks: &[Row], edges: &[Row], show: bool) {
        let blocks = blocks.iter().filter_map(|r| Some((r.fragment?, r.hits)));
        count(&mut self.blocks, blocks);
        let edges = edges
            .iter()
            .filter_map(|r| Some(((r.fragment?, r.to?), r.hits)));
        count(&mut self.edges, edges);
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

    /// Passes of all blocks so far, shown or not.
    pub fn live(&self) -> u64 {
        self.blocks.values().map(|passes| passes.live).sum()
    }

    /// Whether its graph is known.
    pub fn is_known(&self) -> bool {
        !self.graph.blocks.is_empty()
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// How it is drawn.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// How often a block was passed; none where that is not known.
    pub fn passes(&self, block: u32) -> Option<Passes> {
        self.blocks.get(&block).copied()
    }

    /// The same of an edge.
    pub fn passes_of_edge(&self, from: u32, to: u32) -> Option<Passes> {
        self.edges.get(&(from, to)).copied()
    }

    /// The passes of all edges that leave a block.
    pub fn leaving(&self, from: u32) -> u64 {
        let edges = self.edges.range((from, 0)..=(from, u32::MAX));
        edges.map(|(_, passes)| passes.hits).sum()
    }

    /// The most that any block was passed.
    pub fn most(&self) -> u64 {
        self.blocks.values().map(|p| p.hits).max().unwrap_or(0)
    }

    /// The selected block.
    pub fn selected(&self) -> Option<&Block> {
        self.graph.blocks.get(self.cursor)
    }

    /// Where instruments for the selected block stand.
    pub fn selected_place(&self) -> Option<Place> {
        let block = self.selected()?;
        Some(Place {
            fragment: Some(block.number),
            ..self.place.clone()
        })
    }

    /// The selected block's line of the drawing.
    pub fn cursor_line(&self) -> usize {
        let lines = self.layout.lines.iter();
        lines
            .map(|line| line.what)
            .position(|what| what == Line::Block(self.cursor))
            .unwrap_or(0)
    }

    /// Selects the block so many further down.
    pub fn move_by(&mut self, blocks: isize) {
        let last = self.graph.blocks.len().saturating_sub(1);
        self.cursor = self.cursor.saturating_add_signed(blocks).min(last);
    }

    /// Selects the hottest block.
    pub fn move_to_hottest(&mut self) {
        let most = self.most();
        let hottest = |block: &Block| self.passes(block.number).is_some_and(|p| p.hits == most);
        if let Some(index) = self.graph.blocks.iter().position(hottest) {
            self.cursor = index;
        }
    }
}

/// Takes in what has changed. (Classes of one name may bring several rows for one point.)
fn count<K: Ord>(known: &mut BTreeMap<K, Passes>, rows: impl Iterator<Item = (K, u64)>) {
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

    fn row(fragment: u32, to: Option<u32>, hits: u64) -> Row {
        Row {
            fragment: Some(fragment),
            to,
            hits,
            ..Row::default()
        }
    }

    #[test]
    fn counts_are_told_by_block_and_edge() {
        let mut inside = Inside::new(
            1,
            Place {
                class: "a.B".into(),
                method: "m(I)V".into(),
                fragment: None,
            },
        );
        assert!(!inside.is_known() && inside.selected().is_none());
        inside.set_graph(graph());
        inside.look(1.0, &[row(0, None, 1), row(1, None, 11)], &[], true);
        let blocks = [row(1, None, 31), row(2, None, 30)];
        let edges = [row(1, Some(2), 30), row(1, Some(3), 1)];
        inside.look(2.0, &blocks, &edges, false);
        assert_eq!(inside.passes(1).map(|p| p.hits), Some(11));
        inside.look(3.0, &[], &[], true);
        let passes = inside.passes(1).unwrap();
        assert_eq!((passes.hits, passes.rate), (31, 10.0));
        assert_eq!(inside.live(), 62);
        assert_eq!((inside.leaving(1), inside.most()), (31, 31));
        assert_eq!(inside.passes(3), None);
        assert_eq!(inside.passes_of_edge(1, 3).map(|p| p.hits), Some(1));
        inside.move_to_hottest();
        assert_eq!(inside.selected_place().unwrap().fragment, Some(1));
        inside.move_by(9);
        assert_eq!(inside.selected().unwrap().number, 3);
        inside.move_by(-9);
        assert_eq!(inside.selected().unwrap().number, 0);
    }
}
