//! `veneer attach`: the agent into running JVMs, and plans into the agent.

use std::io::{self, Write};
use std::time::Duration;

use anyhow::Result;
use veneer_client::{Client, ControlError, Loading, Target, load};
use veneer_protocol::{PlanSource, Reply, Request, Status};

use crate::cli::{AttachArguments, settings};
use crate::exec::PROGRAM_FAILED;
use crate::output::complain;
use crate::{plans, status, which};

/// Attaches to each and gives the exit code: the worst of all.
pub fn run(arguments: AttachArguments) -> Result<u8> {
    let settings = settings(&arguments.settings);
    let plans = arguments
        .plans
        .iter()
        .map(|path| plans::read(path, &settings));
    let plans = plans.collect::<Result<Vec<PlanSource>, _>>()?;
    let which = &arguments.which;
    let pids = which::pids(&which.pids, which.matching.as_deref())?;
    let how = Loading {
        check: arguments.check,
        timeout: Duration::from_secs(arguments.timeout),
    };
    let mut stdout = io::stdout().lock();
    let mut all: Vec<Status> = Vec::new();
    let mut code = 0;
    for pid in &pids {
        match one(*pid, &how, &plans) {
            Ok((status, came, good)) => {
                if !good {
                    code = code.max(PROGRAM_FAILED);
                }
                if !arguments.json {
                    writeln!(stdout, "{}", told(*pid, &status, came))?;
                }
                all.push(status);
            }
            // The others are attached to all the same.
            Err(error) if pids.len() > 1 => {
                complain(&crate::output::describe(&error));
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

/// The status of a JVM after all plans, whether the agent came in just now, and whether all plans went well.
fn one(pid: u32, how: &Loading, plans: &[PlanSource]) -> Result<(Status, bool, bool)> {
    let target = Target::inspect(pid)?;
    let (mut client, came) = match Client::connect(&target)? {
        Some(client) => (client, false),
        None => (load(&target, how)?, true),
    };
    let mut good = true;
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
                Reply::Print(text) => complain(&text),
                Reply::Done { .. } => break,
                Reply::Failed { message } => {
                    complain(&message);
                    good = false;
                    break;
                }
                _ => return Err(ControlError::Unexpected(pid).into()),
            }
        }
    }
    Ok((client.status()?, came, good))
}

fn told(pid: u32, agent: &Status, came: bool) -> String {
    let how = match came {
        true => "came in".to_owned(),
        false => format!("has been in for {}", status::since(agent.millis)),
    };
    format!(
        "process {pid} (JDK {}): Veneer {} {how}; attached: {}",
        agent.vm_version,
        agent.version,
        status::attached(agent)
    )
}
