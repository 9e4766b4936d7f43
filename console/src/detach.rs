//! `veneer detach`: detaches instruments and edits, and unloads the agent if requested.

use std::io::{self, Write};

use anyhow::{Result, bail};
use serde::Serialize;
use veneer_client::{Client, Target};
use veneer_protocol::{DetachReport, DetachTarget};

use crate::cli::DetachArguments;
use crate::output::{describe, print_error};
use crate::quantity::{quantity, verb};
use crate::targets;

/// Exit code if something named does not exist, or if a class is still armed.
const EXIT_INCOMPLETE: u8 = 1;

#[derive(Serialize)]
struct Row {
    pid: u32,
    #[serde(flatten)]
    detached: DetachReport,
}

/// Detaches what is named and returns the exit code.
pub fn run(arguments: DetachArguments) -> Result<u8> {
    let (pids, names) = split(&arguments.words)?;
    let request = request(&arguments, names)?;
    let pids = targets::pids(&pids, arguments.matching.as_deref())?;
    if pids.is_empty() {
        bail!("name a process id; `veneer ps` shows the JVMs that run");
    }
    let mut stdout = io::stdout().lock();
    let mut rows = Vec::new();
    let mut code = 0;
    for pid in &pids {
        match detach_from(*pid, &request) {
            Ok(detached) => {
                if !detached.unknown.is_empty() || !detached.left.is_empty() {
                    code = code.max(EXIT_INCOMPLETE);
                }
                if !arguments.json {
                    write_result(&mut stdout, *pid, &request, &detached)?;
                }
                rows.push(Row {
                    pid: *pid,
                    detached,
                });
            }
            Err(error) if pids.len() > 1 => {
                print_error(&describe(&error));
                code = 2;
            }
            Err(error) => return Err(error),
        }
    }
    if arguments.json {
        serde_json::to_writer_pretty(&mut stdout, &rows).map_err(io::Error::from)?;
        writeln!(stdout)?;
    }
    Ok(code)
}

/// Separates the process ids, which are numbers, from the ids of what to detach.
fn split(words: &[String]) -> Result<(Vec<u32>, Vec<String>)> {
    let (mut pids, mut names) = (Vec::new(), Vec::new());
    for word in words {
        let mut letters = word.chars();
        let kind = letters.next();
        if let Ok(pid) = word.parse() {
            pids.push(pid);
        } else if matches!(kind, Some('i' | 'p' | 'l')) && letters.as_str().parse::<u64>().is_ok() {
            names.push(word.clone());
        } else {
            bail!(
                "`{word}` is neither a process id nor something that is attached: write i7, p7, or l3; `veneer patches PID` shows them"
            );
        }
    }
    Ok((pids, names))
}

fn request(arguments: &DetachArguments, names: Vec<String>) -> Result<DetachTarget> {
    if !arguments.components.is_empty() {
        if arguments.unload || arguments.all || !names.is_empty() {
            bail!("--component detaches components; remove --all, --unload and the ids");
        }
        return Ok(DetachTarget::Components(arguments.components.clone()));
    }
    match (arguments.unload, arguments.all, names.is_empty()) {
        (true, ..) => Ok(DetachTarget::Unload),
        (_, true, true) => Ok(DetachTarget::All),
        (_, false, false) => Ok(DetachTarget::Ids(names)),
        (_, true, false) => bail!("--all detaches everything; remove the ids"),
        (_, false, true) => {
            bail!(
                "say what to take off: names that `veneer patches PID` shows (i7, p7, l3), --component NAME, --all, or --unload"
            )
        }
    }
}

fn detach_from(pid: u32, request: &DetachTarget) -> Result<DetachReport> {
    let target = Target::inspect(pid)?;
    match Client::connect(&target)? {
        Some(mut client) => Ok(client.detach(request.clone())?),
        // Without an agent, there is nothing to unload.
        None if *request == DetachTarget::Unload => Ok(DetachReport::default()),
        None => bail!("there is no agent in process {pid}, so nothing is attached"),
    }
}

fn write_result(
    to: &mut impl Write,
    pid: u32,
    request: &DetachTarget,
    detached: &DetachReport,
) -> io::Result<()> {
    let taken = match detached.taken.as_slice() {
        [] => "nothing was attached".to_owned(),
        names => format!("taken off: {}", names.join(" ")),
    };
    writeln!(to, "process {pid}: {taken}")?;
    if !detached.unknown.is_empty() {
        let names = match request {
            DetachTarget::Components(_) => format!("component `{}`", detached.unknown.join("`, `")),
            _ => detached.unknown.join(" "),
        };
        print_error(&format!(
            "process {pid} has no {names}; `veneer patches {pid}` shows what is attached"
        ));
    }
    if *request != DetachTarget::Unload {
        return Ok(());
    }
    let restored = detached.classes_restored;
    let left = detached.left.len() as u64;
    writeln!(
        to,
        "process {pid}: {} {} again, {left} {} left armed; the agent is gone",
        quantity(restored, "class"),
        verb(restored, "has its own code", "have their own code"),
        verb(left, "is", "are"),
    )?;
    for left in &detached.left {
        print_error(&format!(
            "{} is still armed: {}; it runs as before, and nothing is attached to it",
            left.class, left.reason
        ));
    }
    let running = detached.running;
    if running > 0 {
        writeln!(
            to,
            "process {pid}: {} {} on in versions without instruments until {}",
            quantity(running, "activation"),
            verb(running, "goes", "go"),
            verb(running, "it returns", "they return")
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_process_ids_and_the_rest_are_ids_to_detach() {
        let words = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        let (pids, names) = split(&words("4711 i7 4712 l3")).unwrap();
        assert_eq!(pids, [4711, 4712]);
        assert_eq!(names, ["i7", "l3"]);
        for bad in ["x7", "i", "7i", ""] {
            assert!(split(&words(bad)).is_err(), "{bad}");
        }
    }
}
