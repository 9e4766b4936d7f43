//! `veneer list`: lists the points of methods, and the variables that code can read at each point.
//!
//! ```text
//!   PID  ─▶ the agent's graphs of the armed methods ─┐
//!                                                    ├─▶ Graph ─▶ a table, or a JSON object a line
//!   PATH ─▶ graphs of the class files ───────────────┘
//! ```
//!
//! For the same class, both sources yield the same graphs.

mod files;
mod running;

use std::io::{self, Write};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::cli::{ListArguments, ListSource};
use crate::output::Style;
use crate::table;

/// The control-flow graph of a method, as the agent sends it. The fields have the order of the
/// agent's JSON.
#[derive(Debug, Deserialize, Serialize)]
struct Graph {
    blocks: Vec<Block>,
    class: String,
    edges: Vec<(u32, u32)>,
    fragments: u32,
    method: String,
    pattern: String,
}

#[derive(Debug, Deserialize, Serialize)]
struct Block {
    depth: u32,
    header: bool,
    instructions: Vec<String>,
    line: Option<u16>,
    number: u32,
    reachable: bool,
    size: usize,
    variables: Vec<Variable>,
}

#[derive(Debug, Deserialize, Serialize)]
struct Variable {
    name: String,
    #[serde(rename = "type")]
    type_name: String,
}

/// Lists the points of the methods that match the pattern, and returns the exit code.
///
/// # Errors Fails if the JVM cannot be reached, if the path cannot be read, or if no method
/// matches.
pub fn run(arguments: ListArguments) -> Result<u8> {
    let mut list = List {
        out: io::BufWriter::new(io::stdout().lock()),
        json: arguments.json,
        shown: 0,
    };
    let code = match arguments.source {
        ListSource::Process(pid) => running::run(&mut list, pid, &arguments.pattern)?,
        ListSource::Files(path) => files::run(&mut list, &path, &arguments.pattern)?,
    };
    list.out.flush()?;
    Ok(code)
}

/// Writes graphs to standard output, as tables or as JSON.
struct List<W> {
    out: W,
    json: bool,
    shown: usize,
}

impl<W: Write> List<W> {
    /// Writes one more graph.
    fn show(&mut self, graph: &Graph) -> Result<()> {
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
            format!("block:{}", block.number),
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
