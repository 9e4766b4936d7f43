//! `veneer exec`: runs a Rhai program in the agent of a running JVM. The agent is loaded first if
//! the JVM has none.

use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use veneer_client::{Client, ControlError, LoadOptions, Target, load, token};
use veneer_protocol::{PlanSource, Reply, Request};

use crate::cli::{ExecArguments, settings};
use crate::output::print_error;
use crate::{modules, plans};

/// Exit code if the Rhai program failed.
pub const EXIT_PROGRAM_FAILED: u8 = 1;

/// Runs the program and returns the exit code.
pub fn run(arguments: ExecArguments) -> Result<u8> {
    // The process id is checked before the program is read from standard input. Otherwise the user
    // would type a program and then learn that the process id is wrong.
    let target = arguments.pid.map(Target::inspect).transpose()?;
    let PlanSource {
        name,
        source,
        settings,
        modules,
    } = program(&arguments)?;
    let mut client = match (&target, arguments.connect, &arguments.token_file) {
        (Some(target), ..) => match Client::connect(target)? {
            Some(client) => client,
            None => load(
                target,
                &LoadOptions {
                    check: arguments.check,
                    ..LoadOptions::default()
                },
            )?,
        },
        (None, Some(address), Some(file)) => Client::connect_to(
            address,
            &token::read_token_file(file)?,
            arguments.cert.as_deref(),
        )?,
        (None, ..) => bail!("name a process id, or --connect and --token-file"),
    };
    let hold = arguments.hold.map(|seconds| seconds * 1000);
    client.send(&Request::Exec {
        name,
        source,
        settings,
        modules,
        hold,
    })?;
    if let Some(lease) = hold {
        client.keep_renewing(Duration::from_millis(lease / 4))?;
    }
    let mut held = false;
    let mut stdout = io::stdout().lock();
    loop {
        let reply = match client.receive() {
            // The JVM has ended while its program was held.
            Err(ControlError::Closed(_)) if held => return Ok(0),
            reply => reply?,
        };
        if arguments.json {
            writeln!(stdout, "{}", serde_json::to_string(&reply)?)?;
        }
        match reply {
            Reply::Print(text) => {
                if !arguments.json {
                    writeln!(stdout, "{text}")?;
                }
            }
            Reply::Done { value } => {
                if !arguments.json && !value.is_empty() {
                    writeln!(stdout, "{value}")?;
                }
                stdout.flush()?;
                if hold.is_none() {
                    return Ok(0);
                }
                held = true;
            }
            Reply::Failed { message } => {
                stdout.flush()?;
                print_error(&message);
                return Ok(EXIT_PROGRAM_FAILED);
            }
            _ => return Err(ControlError::Unexpected(client.pid()).into()),
        }
        stdout.flush()?;
    }
}

fn program(arguments: &ExecArguments) -> Result<PlanSource> {
    let settings = settings(&arguments.settings);
    if let Some(code) = &arguments.code {
        return Ok(PlanSource {
            name: "-e".into(),
            modules: modules::read(Path::new(""), "-e", code)?,
            source: code.clone(),
            settings,
        });
    }
    match &arguments.file {
        Some(path) if path.as_os_str() != "-" => Ok(plans::read(path, &settings)?),
        _ => {
            let mut source = String::new();
            io::stdin()
                .read_to_string(&mut source)
                .context("the program on standard input is no UTF-8 text")?;
            Ok(PlanSource {
                name: "-".into(),
                modules: modules::read(Path::new(""), "-", &source)?,
                source,
                settings,
            })
        }
    }
}
