//! Lists the points of the methods that are armed in a running JVM.

use std::io::Write;

use anyhow::{Context, Result};
use veneer_client::ControlError;
use veneer_protocol::{Reply, Request};

use super::graph::Graph;
use super::output::List;
use crate::exec;
use crate::output::print_error;
use veneer_client::plan_text::literal;

pub(super) fn run(list: &mut List<impl Write>, pid: u32, pattern: &str) -> Result<u8> {
    let mut client = veneer_client::connect(pid)?;
    let pattern = literal(pattern);
    // The agent arms methods only when something is attached to them. So the plan attaches a
    // counter and detaches it at once.
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
    loop {
        match client.receive()? {
            Reply::Print(text) if !text.starts_with('{') => print_error(&text),
            Reply::Print(text) => {
                let graph: Graph =
                    serde_json::from_str(&text).context("the agent's answer is of another form")?;
                list.show(&graph)?;
            }
            Reply::Done { .. } => return Ok(0),
            Reply::Failed { message } => {
                print_error(&message);
                return Ok(exec::EXIT_PROGRAM_FAILED);
            }
            _ => return Err(ControlError::Unexpected(client.pid()).into()),
        }
    }
}
