//! Writes graphs as tables or as JSON.

use std::io::Write;

use anyhow::Result;

use super::graph::{Block, Graph};
use crate::output::Style;
use crate::table;

/// Writes graphs to standard output, as tables or as JSON.
pub(super) struct List<W> {
    pub(super) out: W,
    pub(super) json: bool,
    pub(super) shown: usize,
}

impl<W: Write> List<W> {
    /// Writes one more graph.
    pub(super) fn show(&mut self, graph: &Graph) -> Result<()> {
        self.shown += 1;
        if self.json {
            writeln!(self.out, "{}", serde_json::to_string(graph)?)?;
            return Ok(());
        }
        if self.shown > 1 {
            writeln!(self.out)?;
        }
        show(&mut self.out, graph)
    }
}

fn show(to: &mut impl Write, graph: &Graph) -> Result<()> {
    let style = Style::of_stdout();
    writeln!(
        to,
        "{}",
        style.bold(&format!("{}::{}", graph.class, graph.method))
    )?;
    let row = |block: &Block| {
        let variables: Vec<String> = block
            .variables
            .iter()
            .map(|v| format!("{} {}", v.type_name, v.name))
            .collect();
        let what = match (block.reachable, block.header, block.depth) {
            (false, ..) => "out of reach".to_string(),
            (_, true, depth) => format!("loop, depth {depth}"),
            (_, _, 0) => String::new(),
            (.., depth) => format!("depth {depth}"),
        };
        [
            format!("f{}", block.number),
            block
                .line
                .map_or(String::new(), |line| format!("line:{line}")),
            block.instructions.len().to_string(),
            what,
            variables.join(", "),
        ]
    };
    let rows: Vec<[String; 5]> = graph.blocks.iter().map(row).collect();
    let titles = ["point", "", "size", "", "variables"];
    table::write(to, titles, &rows, style)?;
    Ok(())
}
