//! `veneer attach`: loads the agent into running JVMs, and runs plans in it.

use std::io::{self, Write};
use std::time::Duration;

use anyhow::Result;
use veneer_client::{Client, ControlError, LoadOptions, Target, load};
use veneer_protocol::{PlanSource, Reply, Request, Status};

use crate::cli::{AttachArguments, settings};
use crate::exec::EXIT_PROGRAM_FAILED;
use crate::output::print_error;
use crate::{plans, status, targets};

/// Attaches to each JVM and returns the worst exit code of all.
pub fn run(arguments: AttachArguments) -> Result<u8> {
    let settings = settings(&arguments.settings);
    let plans = arguments
        .plans
        .iter()
        .map(|path| plans::read(path, &settings));
    let plans = plans.collect::<Result<Vec<PlanSource>, _>>()?;
    let targets = &arguments.targets;
    let pids = targets::pids(&targets.pids, targets.matching.as_deref())?;
    let how = LoadOptions {
        check: arguments.check,
        timeout: Duration::from_secs(arguments.timeout),
    };
    let mut stdout = io::stdout().lock();
    let mut all: Vec<Status> = Vec::new();
    let mut code = 0;
    for pid in &pids {
        match attach_to(*pid, &how, &plans) {
            Ok((status, loaded, succeeded)) => {
                if !succeeded {
                    code = code.max(EXIT_PROGRAM_FAILED);
                }
                if !arguments.json {
                    writeln!(stdout, "{}", status_line(*pid, &status, loaded))?;
                }
                all.push(status);
            }
            // An error in one JVM does not prevent attaching to the others.
            Err(error) if pids.len() > 1 => {
                print_error(&crate::output::describe(&error));
                code = 2;
            }
            Err(error) => return Err(error),
        }
    }
    if arguments.json {
        serde_json::to_writer_pretty(&mut stdout, &all).map_err(io::Error::from)?;
        writeln!(stdout)?;
    }
    Ok(code)
}

/// Attaches to one JVM. Returns its status after all plans, whether the agent was loaded by this
/// call, and whether all plans succeeded.
fn attach_to(pid: u32, how: &LoadOptions, plans: &[PlanSource]) -> Result<(Status, bool, bool)> {
    let target = Target::inspect(pid)?;
    let (mut client, loaded) = match Client::connect(&target)? {
        Some(client) => (client, false),
        None => (load(&target, how)?, true),
    };
    let mut succeeded = true;
    for plan in plans {
        client.send(&Request::Exec {
            name: plan.name.clone(),
            source: plan.source.clone(),
            settings: plan.settings.clone(),
            modules: plan.modules.clone(),
            hold: None,
        })?;
        loop {
            match client.receive()? {
                Reply::Print(text) => print_error(&text),
                Reply::Done { .. } => break,
                Reply::Failed { message } => {
                    print_error(&message);
                    succeeded = false;
                    break;
                }
                _ => return Err(ControlError::Unexpected(pid).into()),
            }
        }
    }
    Ok((client.status()?, loaded, succeeded))
}

fn status_line(pid: u32, agent: &Status, loaded: bool) -> String {
    let how = match loaded {
        true => "came in".to_owned(),
        false => format!(
            "has been in for {}",
            status::format_age(agent.stay_millis())
        ),
    };
    format!(
        "process {pid} (JDK {}): Veneer {} {how}; attached: {}",
        agent.vm_version,
        agent.version,
        status::format_attachments(agent)
    )
}
