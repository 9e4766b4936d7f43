//! `veneer list`: the points of methods in a running JVM, and the variables that code can read at each.

use std::io::{self, Write};

use anyhow::{Context, Result};
use serde::Deserialize;
use veneer_protocol::{Reply, Request};

use crate::ask::literal;
use crate::cli::ListArguments;
use crate::output::{Style, complain};
use crate::{exec, table};
use veneer_client::ControlError;

/// A method as the agent tells it.
#[derive(Debug, Deserialize)]
struct Graph {
    class: String,
    method: String,
    blocks: Vec<Block>,
}

#[derive(Debug, Deserialize)]
struct Block {
    number: u32,
    line: Option<u32>,
    instructions: Vec<String>,
    depth: u32,
    header: bool,
    reachable: bool,
    variables: Vec<Variable>,
}

#[derive(Debug, Deserialize)]
struct Variable {
    name: String,
    #[serde(rename = "type")]
    of: String,
}

/// Shows the points of what the pattern selects.
pub fn run(arguments: ListArguments) -> Result<u8> {
    let mut client = veneer_client::connect(arguments.pid)?;
    let pattern = literal(&arguments.pattern);
    // A pattern that nothing attaches to arms nothing by itself: a counter comes and goes.
    let source = format!(
        "let m = methods({pattern}); m.entry().before(counter()).detach(); for g in m.graphs() {{ print(g.to_json()); }}"
    );
    client.send(&Request::Exec {
        name: "list".into(),
        source,
        settings: Default::default(),
        modules: Default::default(),
        hold: None,
    })?;
    let mut stdout = io::stdout().lock();
    let mut found = 0;
    loop {
        match client.receive()? {
            Reply::Print(text) if !text.starts_with('{') => complain(&text),
            Reply::Print(text) => {
                found += 1;
                if arguments.json {
                    writeln!(stdout, "{text}")?;
                    continue;
                }
                let graph: Graph =
                    serde_json::from_str(&text).context("the agent's answer is of another form")?;
                if found > 1 {
                    writeln!(stdout)?;
                }
                show(&mut stdout, &graph)?;
            }
            Reply::Done { .. } => {
                stdout.flush()?;
                return Ok(0);
            }
            Reply::Failed { message } => {
                complain(&message);
                return Ok(exec::PROGRAM_FAILED);
            }
            _ => return Err(ControlError::Unexpected(client.pid()).into()),
        }
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
