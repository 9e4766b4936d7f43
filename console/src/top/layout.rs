//! The flow graph as lines of text: blocks in the order of the bytecode, the edges of each below it, and to their left a gutter in
//! which edges that do not lead to the next block are drawn, as disassemblers do.
//!
//! ```text
//!        f0              Blocks(0)
//!          ↓ f1          Edge(0, 1)     to the next block: no line in the gutter
//!   ╭──▶ f1  loop        a line for each target: sources and the target itself are ticks on it
//!   │      ↓ f2
//!   │╭──   → f3          forwards
//!   ││   f2
//!   ╰┼──   ↺ f1          back to the loop's header
//!    ╰─▶ f3
//! ```
//!
//! All edges to one target share a line. Lines that would meet stand side by side; where there is no room for one more, the edge is
//! told by its text alone.

use std::collections::{BTreeMap, HashMap};

use super::figures::Graph;

/// Lines side by side at most.
const LANES: usize = 7;

/// What a line of the drawing shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    /// The block with this index.
    Block(usize),
    /// An edge between blocks with these numbers.
    Edge {
        /// From here.
        from: u32,
        /// To there.
        to: u32,
        /// Where it leads in the drawing.
        way: Way,
    },
    /// A block that is left by no edge: by a return, or an exception.
    Exit,
}

/// Where an edge leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// To the next block.
    Next,
    /// Further down.
    Forward,
    /// Up, to the header of a loop around it.
    Back,
    /// Up, otherwise.
    Up,
}

impl Way {
    /// An arrow for it.
    pub fn arrow(self) -> char {
        match self {
            Way::Next => '↓',
            Way::Forward => '→',
            Way::Back => '↺',
            Way::Up => '↑',
        }
    }
}

/// A line of the drawing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawn {
    /// What is drawn to the left; all of one width.
    pub gutter: String,
    /// What stands there.
    pub what: Line,
}

/// See the module documentation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layout {
    /// From top to bottom.
    pub lines: Vec<Drawn>,
    /// Characters of each gutter.
    pub width: usize,
}

/// The vertical line that leads to a target.
#[derive(Debug, Clone)]
struct Trunk {
    /// Line of the target.
    target: usize,
    /// Lines of the edges that lead there.
    sources: Vec<usize>,
    top: usize,
    bottom: usize,
    lane: usize,
}

impl Layout {
    /// The drawing of a graph.
    pub fn of(graph: &Graph) -> Layout {
        let lines = lines(graph);
        let trunks = trunks(graph, &lines);
        let lanes = trunks.iter().map(|t| t.lane + 1).max().unwrap_or(0);
        // The lanes, then `─▶`.
        let width = if lanes == 0 { 0 } else { lanes + 2 };
        let drawn = lines.iter().enumerate().map(|(row, what)| Drawn {
            gutter: gutter(row, lanes, width, &trunks),
            what: *what,
        });
        Layout {
            lines: drawn.collect(),
            width,
        }
    }
}

fn lines(graph: &Graph) -> Vec<Line> {
    let mut leaving: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for &(from, to) in &graph.edges {
        let to_all = leaving.entry(from).or_default();
        if !to_all.contains(&to) {
            to_all.push(to);
        }
    }
    let place: HashMap<u32, usize> = (0..)
        .zip(&graph.blocks)
        .map(|(i, b)| (b.number, i))
        .collect();
    let mut lines = Vec::new();
    for (index, block) in graph.blocks.iter().enumerate() {
        lines.push(Line::Block(index));
        let Some(targets) = leaving.get(&block.number) else {
            lines.push(Line::Exit);
            continue;
        };
        for &to in targets {
            let at = place.get(&to).copied();
            let is_header = at
                .and_then(|at| graph.blocks.get(at))
                .is_some_and(|b| b.header);
            let way = match at {
                Some(at) if at == index + 1 => Way::Next,
                Some(at) if at > index => Way::Forward,
                Some(_) if is_header => Way::Back,
                _ => Way::Up,
            };
            lines.push(Line::Edge {
                from: block.number,
                to,
                way,
            });
        }
    }
    lines
}

fn trunks(graph: &Graph, lines: &[Line]) -> Vec<Trunk> {
    let mut rows: HashMap<u32, usize> = HashMap::new();
    for (row, line) in lines.iter().enumerate() {
        if let Line::Block(index) = line
            && let Some(block) = graph.blocks.get(*index)
        {
            rows.insert(block.number, row);
        }
    }
    let mut trunks: BTreeMap<usize, Trunk> = BTreeMap::new();
    for (row, line) in lines.iter().enumerate() {
        let Line::Edge { to, way, .. } = line else {
            continue;
        };
        let Some(&target) = rows.get(to).filter(|_| *way != Way::Next) else {
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
    // Short ones go to the right, next to the text.
    let mut trunks: Vec<Trunk> = trunks.into_values().collect();
    trunks.sort_by_key(|t| (t.bottom - t.top, t.top));
    let mut placed: Vec<Trunk> = Vec::new();
    for mut trunk in trunks {
        let free = |lane: &usize| {
            let meets = |other: &Trunk| trunk.top <= other.bottom && other.top <= trunk.bottom;
            !placed.iter().any(|t| t.lane == *lane && meets(t))
        };
        if let Some(lane) = (0..LANES).find(free) {
            trunk.lane = lane;
            placed.push(trunk);
        }
    }
    placed
}

/// The part of the drawing to the left of one line. Lane 0 is the one next to the text.
fn gutter(row: usize, lanes: usize, width: usize, trunks: &[Trunk]) -> String {
    let mut cells = vec![' '; width];
    let column = |trunk: &Trunk| lanes - 1 - trunk.lane;
    for trunk in trunks.iter().filter(|t| t.top <= row && row <= t.bottom) {
        if let Some(cell) = cells.get_mut(column(trunk)) {
            *cell = '│';
        }
    }
    // At most one trunk has a tick here: a line is one block, or one edge.
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
    use crate::top::figures::Block;

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
        let line = |line: &Drawn| {
            let text = match line.what {
                Line::Block(index) => format!("f{index}"),
                Line::Edge { to, way, .. } => format!("  {} f{to}", way.arrow()),
                Line::Exit => "  end".to_owned(),
            };
            format!("{}{text}\n", line.gutter)
        };
        Layout::of(graph).lines.iter().map(line).collect()
    }

    #[test]
    fn a_loop_has_its_way_back() {
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
    fn what_finds_no_lane_is_told_by_its_text() {
        let n = 2 * LANES as u32;
        let edges: Vec<(u32, u32)> = (0..n).map(|f| (f, 2 * n - f)).collect();
        let graph = graph(2 * n + 1, &[], &edges);
        let layout = Layout::of(&graph);
        assert_eq!(layout.width, LANES + 2);
        let all = layout.lines.iter();
        assert!(
            all.clone()
                .all(|l| l.gutter.chars().count() == layout.width)
        );
        let forward = all.filter(|l| {
            matches!(
                l.what,
                Line::Edge {
                    way: Way::Forward,
                    ..
                }
            )
        });
        assert_eq!(forward.count(), n as usize);
    }

    #[test]
    fn any_graph_has_all_its_edges_and_gutters_of_one_width() {
        let mut state = 1u64;
        let mut below = |n: u32| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            ((state >> 33) % u64::from(n)) as u32
        };
        for _ in 0..500 {
            let blocks = 1 + below(30);
            let mut edges: Vec<(u32, u32)> = (0..below(60))
                // Some lead to blocks that are not there.
                .map(|_| (below(blocks), below(blocks + 1)))
                .collect();
            edges.sort_unstable();
            edges.dedup();
            let headers: Vec<u32> = (0..below(5)).map(|_| below(blocks)).collect();
            let layout = Layout::of(&graph(blocks, &headers, &edges));
            let widths = layout.lines.iter().map(|l| l.gutter.chars().count());
            assert!(widths.clone().all(|width| width == layout.width));
            let drawn = layout.lines.iter().filter_map(|l| match l.what {
                Line::Edge { from, to, .. } => Some((from, to)),
                _ => None,
            });
            assert_eq!(drawn.collect::<Vec<_>>(), edges);
            // Each line that leads to a block ends there once.
            let mut arrows = layout.lines.iter().filter(|l| l.gutter.ends_with('▶'));
            assert!(arrows.all(|l| matches!(l.what, Line::Block(_))));
        }
    }
}
