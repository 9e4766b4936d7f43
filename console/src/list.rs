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
mod graph;
mod output;
mod running;

use std::io::{self, Write};

use anyhow::Result;

use crate::cli::{ListArguments, ListSource};
use output::List;

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
