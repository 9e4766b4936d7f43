//! Draws a flow graph as lines of text, as disassemblers do. Blocks are listed in the order of the
//! bytecode, each followed by its outgoing edges. Edges that do not lead to the next block are
//! drawn as lines in a gutter on the left.
//!
//! ```text
//!        f0              Block(0)
//!          ↓ f1          Edge 0 → 1     to the next block: no line in the gutter
//!   ╭──▶ f1  loop        a line for each target; its sources and the target are ticks on it
//!   │      ↓ f2
//!   │╭──   → f3          forward edge
//!   ││   f2
//!   ╰┼──   ↺ f1          back edge to the loop header
//!    ╰─▶ f3
//! ```
//!
//! All edges to one target share a vertical line. Lines that would overlap are placed in different
//! lanes. If no lane is free, the edge is not drawn, and only its text shows the target.

use std::collections::{BTreeMap, HashMap};

use crate::flow_counts::Graph;

/// Maximum number of vertical lines side by side.
const MAX_LANES: usize = 7;

/// The content of a line of the drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineContent {
    /// The block with this index in `graph.blocks`.
    Block(usize),
    /// An edge between two blocks.
    Edge {
        /// The number of the source block.
        from: u32,
        /// The number of the target block.
        to: u32,
        /// The direction of the edge in the drawing.
        direction: Direction,
    },
    /// The exit of a block without outgoing edges: a return or an exception.
    Exit,
}

/// The direction of an edge in the drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To the next block.
    Next,
    /// Down, further than the next block.
    Forward,
    /// Up, to a loop header (back edge).
    Back,
    /// Up, to another block.
    Up,
}

impl Direction {
    pub fn arrow(self) -> char {
        match self {
            Direction::Next => '↓',
            Direction::Forward => '→',
            Direction::Back => '↺',
            Direction::Up => '↑',
        }
    }
}

/// A line of the drawing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawnLine {
    /// The characters to the left of the text. All gutters of a drawing have the same width.
    pub gutter: String,
    pub what: LineContent,
}

/// The drawing of a flow graph.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GraphLayout {
    /// From top to bottom.
    pub lines: Vec<DrawnLine>,
    /// Number of characters of each gutter.
    pub width: usize,
}

/// A vertical line in the gutter, which leads to one target.
#[derive(Debug, Clone)]
struct Trunk {
    /// The row of the target block.
    target: usize,
    /// The rows of the edges that lead to the target.
    sources: Vec<usize>,
    top: usize,
    bottom: usize,
    lane: usize,
}

impl GraphLayout {
    /// Draws a graph.
    pub fn new(graph: &Graph) -> GraphLayout {
        let lines = lines(graph);
        let trunks = trunks(graph, &lines);
        let lanes = trunks.iter().map(|t| t.lane + 1).max().unwrap_or(0);
        // The lanes, followed by `─▶`.
        let width = if lanes == 0 { 0 } else { lanes + 2 };
        let drawn = lines.iter().enumerate().map(|(row, what)| DrawnLine {
            gutter: gutter(row, lanes, width, &trunks),
            what: *what,
        });
        GraphLayout {
            lines: drawn.collect(),
            width,
        }
    }
}

fn lines(graph: &Graph) -> Vec<LineContent> {
    let mut leaving: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for &(from, to) in &graph.edges {
        let to_all = leaving.entry(from).or_default();
        if !to_all.contains(&to) {
            to_all.push(to);
        }
    }
    let index_of: HashMap<u32, usize> = (0..)
        .zip(&graph.blocks)
        .map(|(i, b)| (b.number, i))
        .collect();
    let mut lines = Vec::new();
    for (index, block) in graph.blocks.iter().enumerate() {
        lines.push(LineContent::Block(index));
        let Some(targets) = leaving.get(&block.number) else {
            lines.push(LineContent::Exit);
            continue;
        };
        for &to in targets {
            let at = index_of.get(&to).copied();
            let is_header = at
                .and_then(|at| graph.blocks.get(at))
                .is_some_and(|b| b.header);
            let direction = match at {
                Some(at) if at == index + 1 => Direction::Next,
                Some(at) if at > index => Direction::Forward,
                Some(_) if is_header => Direction::Back,
                _ => Direction::Up,
            };
            lines.push(LineContent::Edge {
                from: block.number,
                to,
                direction,
            });
        }
    }
    lines
}

fn trunks(graph: &Graph, lines: &[LineContent]) -> Vec<Trunk> {
    let mut rows: HashMap<u32, usize> = HashMap::new();
    for (row, line) in lines.iter().enumerate() {
        if let LineContent::Block(index) = line
            && let Some(block) = graph.blocks.get(*index)
        {
            rows.insert(block.number, row);
        }
    }
    let mut trunks: BTreeMap<usize, Trunk> = BTreeMap::new();
    for (row, line) in lines.iter().enumerate() {
        let LineContent::Edge { to, direction, .. } = line else {
            continue;
        };
        let Some(&target) = rows.get(to).filter(|_| *direction != Direction::Next) else {
            continue;
        };
        let trunk = trunks.entry(target).or_insert(Trunk {
            target,
            sources: Vec::new(),
            top: target,
            bottom: target,
            lane: 0,
        });
        trunk.sources.push(row);
        trunk.top = trunk.top.min(row);
        trunk.bottom = trunk.bottom.max(row);
    }
    // Short lines are assigned first, so that they are on the right, next to the text.
    let mut trunks: Vec<Trunk> = trunks.into_values().collect();
    trunks.sort_by_key(|t| (t.bottom - t.top, t.top));
    let mut placed: Vec<Trunk> = Vec::new();
    for mut trunk in trunks {
        let free = |lane: &usize| {
            let meets = |other: &Trunk| trunk.top <= other.bottom && other.top <= trunk.bottom;
            !placed.iter().any(|t| t.lane == *lane && meets(t))
        };
        if let Some(lane) = (0..MAX_LANES).find(free) {
            trunk.lane = lane;
            placed.push(trunk);
        }
    }
    placed
}

/// Draws the gutter of one row. Lane 0 is the lane next to the text.
fn gutter(row: usize, lanes: usize, width: usize, trunks: &[Trunk]) -> String {
    let mut cells = vec![' '; width];
    let column = |trunk: &Trunk| lanes - 1 - trunk.lane;
    for trunk in trunks.iter().filter(|t| t.top <= row && row <= t.bottom) {
        if let Some(cell) = cells.get_mut(column(trunk)) {
            *cell = '│';
        }
    }
    // At most one trunk has a tick in this row, because a row is either one block or one edge.
    let tick = trunks
        .iter()
        .find(|t| t.target == row || t.sources.contains(&row));
    if let Some(trunk) = tick {
        let from = column(trunk);
        for (index, cell) in cells.iter_mut().enumerate().skip(from + 1) {
            *cell = match *cell {
                '│' => '┼',
                _ if index + 1 == width && trunk.target == row => '▶',
                _ => '─',
            };
        }
        if let Some(cell) = cells.get_mut(from) {
            *cell = match row {
                _ if row == trunk.top => '╭',
                _ if row == trunk.bottom => '╰',
                _ => '├',
            };
        }
    }
    cells.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow_counts::Block;

    fn graph(blocks: u32, headers: &[u32], edges: &[(u32, u32)]) -> Graph {
        let block = |number| Block {
            number,
            header: headers.contains(&number),
            ..Block::default()
        };
        Graph {
            blocks: (0..blocks).map(block).collect(),
            edges: edges.to_vec(),
            ..Graph::default()
        }
    }

    fn drawn(graph: &Graph) -> String {
        let line = |line: &DrawnLine| {
            let text = match line.what {
                LineContent::Block(index) => format!("f{index}"),
                LineContent::Edge { to, direction, .. } => format!("  {} f{to}", direction.arrow()),
                LineContent::Exit => "  end".to_owned(),
            };
            format!("{}{text}\n", line.gutter)
        };
        GraphLayout::new(graph).lines.iter().map(line).collect()
    }

    #[test]
    fn a_loop_has_a_back_edge() {
        let graph = graph(4, &[1], &[(0, 1), (1, 2), (1, 3), (2, 1)]);
        let text = "    f0
      ↓ f1
╭──▶f1
│     ↓ f2
│╭──  → f3
││  f2
╰┼──  ↺ f1
 ╰─▶f3
      end
";
        assert_eq!(drawn(&graph), text);
    }

    #[test]
    fn edges_to_one_target_share_a_line() {
        let graph = graph(4, &[], &[(0, 1), (0, 3), (1, 2), (1, 3), (2, 3)]);
        let text = "   f0
     ↓ f1
╭──  → f3
│  f1
│    ↓ f2
├──  → f3
│  f2
│    ↓ f3
╰─▶f3
     end
";
        assert_eq!(drawn(&graph), text);
    }

    #[test]
    fn without_jumps_there_is_no_gutter() {
        assert_eq!(drawn(&graph(2, &[], &[(0, 1)])), "f0\n  ↓ f1\nf1\n  end\n");
        assert_eq!(drawn(&graph(0, &[], &[])), "");
        assert_eq!(drawn(&graph(1, &[0], &[(0, 0)])).lines().count(), 2);
    }

    #[test]
    fn an_edge_without_a_lane_has_its_text_only() {
        let n = 2 * MAX_LANES as u32;
        let edges: Vec<(u32, u32)> = (0..n).map(|f| (f, 2 * n - f)).collect();
        let graph = graph(2 * n + 1, &[], &edges);
        let layout = GraphLayout::new(&graph);
        assert_eq!(layout.width, MAX_LANES + 2);
        let all = layout.lines.iter();
        assert!(
            all.clone()
                .all(|l| l.gutter.chars().count() == layout.width)
        );
        let forward = all.filter(|l| {
            matches!(
                l.what,
                LineContent::Edge {
                    direction: Direction::Forward,
                    ..
                }
            )
        });
        assert_eq!(forward.count(), n as usize);
    }

    #[test]
    fn any_graph_has_all_its_edges_and_gutters_of_one_width() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut below = |n: u32| random.u32(..n);
        for _ in 0..500 {
            let blocks = 1 + below(30);
            let mut edges: Vec<(u32, u32)> = (0..below(60))
                // Some edges lead to blocks that do not exist.
                .map(|_| (below(blocks), below(blocks + 1)))
                .collect();
            edges.sort_unstable();
            edges.dedup();
            let headers: Vec<u32> = (0..below(5)).map(|_| below(blocks)).collect();
            let layout = GraphLayout::new(&graph(blocks, &headers, &edges));
            let widths = layout.lines.iter().map(|l| l.gutter.chars().count());
            assert!(widths.clone().all(|width| width == layout.width));
            let drawn = layout.lines.iter().filter_map(|l| match l.what {
                LineContent::Edge { from, to, .. } => Some((from, to)),
                _ => None,
            });
            assert_eq!(drawn.collect::<Vec<_>>(), edges);
            // An arrow in the gutter always points to a block.
            let mut arrows = layout.lines.iter().filter(|l| l.gutter.ends_with('▶'));
            assert!(arrows.all(|l| matches!(l.what, LineContent::Block(_))));
        }
    }
}
