//! `veneer mcp`: answers questions of an assistant. The server is in `veneer-gateway`.

use std::env;

use anyhow::{Context, Result};
use veneer_gateway::mcp::{Options, serve};

use crate::cli::McpArguments;

/// Serves the client on standard input and output. Returns the exit code.
pub fn run(arguments: &McpArguments) -> Result<u8> {
    let veneer = env::current_exe().context("the path of this command is not known")?;
    serve(Options {
        veneer,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        allow_edits: arguments.allow_edits,
    })?;
    Ok(0)
}
