//! `veneer list`: the points of methods, and the variables that code can read at each.
//!
//! ```text
//!   PID  ─▶ the agent's graphs of what is armed there ─┐
//!                                                      ├─▶ Graph ─▶ table, or JSON a line each
//!   PATH ─▶ graphs of the class files ─────────────────┘
//! ```
//!
//! Both ways give the same for the same class.

mod files;
mod running;

use std::io::{self, Write};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::cli::{ListArguments, Listed};
use crate::output::Style;
use crate::table;

/// A method as the agent tells it. The order of names is that of its JSON.
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
    of: String,
}

/// Shows the points of what the pattern selects, and gives the exit code.
///
/// # Errors
/// Where the JVM cannot be reached, the path cannot be read, or nothing there is selected.
pub fn run(arguments: ListArguments) -> Result<u8> {
    let mut list = List {
        out: io::BufWriter::new(io::stdout().lock()),
        json: arguments.json,
        shown: 0,
    };
    let code = match arguments.of {
        Listed::Process(pid) => running::run(&mut list, pid, &arguments.pattern)?,
        Listed::Files(path) => files::run(&mut list, &path, &arguments.pattern)?,
    };
    list.out.flush()?;
    Ok(code)
}

/// Standard output in the form that was asked for.
struct List<W> {
    out: W,
    json: bool,
    shown: usize,
}

impl<W: Write> List<W> {
    /// Shows one more.
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
            .map(|v| format!("{} {}", v.of, v.name))
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
