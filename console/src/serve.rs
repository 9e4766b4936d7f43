//! `veneer serve`: shows running JVMs in the browser. The server is in `veneer-gateway`.

use std::env;
use std::io::{self, Write};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use veneer_gateway::page::{Options, PlanFunction, serve};
use veneer_scripts::{callables, help};

use crate::cli::ServeArguments;
use crate::output::{print_error, print_note};

/// Serves the page until Ctrl-C. Returns the exit code.
pub fn run(arguments: &ServeArguments) -> Result<u8> {
    let veneer = env::current_exe().context("the path of this command is not known")?;
    let options = Options {
        veneer,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        port: arguments.port,
        pids: arguments.pids.clone(),
        allow_edits: arguments.allow_edits,
        data: arguments.data.clone(),
        traces: arguments.trace.clone(),
        sources: arguments.source.clone(),
        plan_functions: plan_functions(),
    };
    serve(options, |address| {
        let mut out = io::stdout().lock();
        // A reader that closed the pipe does not end the server.
        let _ = writeln!(out, "{address}").and_then(|()| out.flush());
        print_note(&"Open this address in a browser of this machine. Ctrl-C ends the server.");
        if arguments.open {
            open(address);
        }
    })?;
    Ok(0)
}

/// The functions of the reference of plans.
fn plan_functions() -> Vec<PlanFunction> {
    let all = callables().into_iter();
    all.map(|callable| PlanFunction {
        name: callable.name.to_owned(),
        of_something: callable.of_something,
        help: help(callable.name).unwrap_or_default(),
    })
    .collect()
}

/// Opens the address in the user's browser.
fn open(address: &str) {
    let started = Command::new("xdg-open")
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Err(error) = started {
        print_error(&format!(
            "the browser cannot be opened: {error}; open the address yourself"
        ));
    }
}
