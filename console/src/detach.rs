//! `veneer detach`: instruments and edits off, or everything and the agent too.

use std::io::{self, Write};

use anyhow::{Result, bail};
use serde::Serialize;
use veneer_client::{Client, Target};
use veneer_protocol::{Detached, Which};

use crate::cli::DetachArguments;
use crate::output::{complain, describe};
use crate::which;

/// Something that was asked for was not there, or is left.
const NOT_ALL: u8 = 1;

#[derive(Serialize)]
struct Row {
    pid: u32,
    #[serde(flatten)]
    detached: Detached,
}

/// Takes off what is named and gives the exit code.
pub fn run(arguments: DetachArguments) -> Result<u8> {
    let (pids, names) = split(&arguments.words)?;
    let wanted = wanted(&arguments, names)?;
    let pids = which::pids(&pids, arguments.matching.as_deref())?;
    if pids.is_empty() {
        bail!("name a process id; `veneer ps` shows the JVMs that run");
    }
    let mut stdout = io::stdout().lock();
    let mut rows = Vec::new();
    let mut code = 0;
    for pid in &pids {
        match one(*pid, &wanted) {
            Ok(detached) => {
                if !detached.unknown.is_empty() || !detached.left.is_empty() {
                    code = code.max(NOT_ALL);
                }
                if !arguments.json {
                    tell(&mut stdout, *pid, &wanted, &detached)?;
                }
                rows.push(Row {
                    pid: *pid,
                    detached,
                });
            }
            Err(error) if pids.len() > 1 => {
                complain(&describe(&error));
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

/// Numbers are process ids, the rest is what to take off.
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

fn wanted(arguments: &DetachArguments, names: Vec<String>) -> Result<Which> {
    if !arguments.components.is_empty() {
        if arguments.unload || arguments.all || !names.is_empty() {
            bail!(
                "--component takes components off; leave --all, --unload and names of parts away"
            );
        }
        return Ok(Which::Components(arguments.components.clone()));
    }
    match (arguments.unload, arguments.all, names.is_empty()) {
        (true, ..) => Ok(Which::Unload),
        (_, true, true) => Ok(Which::All),
        (_, false, false) => Ok(Which::These(names)),
        (_, true, false) => bail!("--all takes everything off; leave the names away"),
        (_, false, true) => {
            bail!(
                "say what to take off: names that `veneer patches PID` shows (i7, p7, l3), --component NAME, --all, or --unload"
            )
        }
    }
}

fn one(pid: u32, wanted: &Which) -> Result<Detached> {
    let target = Target::inspect(pid)?;
    match Client::connect(&target)? {
        Some(mut client) => Ok(client.detach(wanted.clone())?),
        // What is asked for is so already.
        None if *wanted == Which::Unload => Ok(Detached::default()),
        None => bail!("there is no agent in process {pid}, so nothing is attached"),
    }
}

fn tell(to: &mut impl Write, pid: u32, wanted: &Which, detached: &Detached) -> io::Result<()> {
    let taken = match detached.taken.as_slice() {
        [] => "nothing was attached".to_owned(),
        names => format!("taken off: {}", names.join(" ")),
    };
    writeln!(to, "process {pid}: {taken}")?;
    if !detached.unknown.is_empty() {
        let names = match wanted {
            Which::Components(_) => format!("component `{}`", detached.unknown.join("`, `")),
            _ => detached.unknown.join(" "),
        };
        complain(&format!(
            "process {pid} has no {names}; `veneer patches {pid}` shows what is attached"
        ));
    }
    if *wanted != Which::Unload {
        return Ok(());
    }
    writeln!(
        to,
        "process {pid}: {} classes have their own code again, {} are left armed; the agent is gone",
        detached.classes_restored,
        detached.left.len()
    )?;
    for left in &detached.left {
        complain(&format!(
            "{} is still armed: {}; it runs as before, and nothing is attached to it",
            left.class, left.reason
        ));
    }
    if detached.running > 0 {
        writeln!(
            to,
            "process {pid}: {} activations go on in versions without instruments until they return",
            detached.running
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_processes_and_the_rest_is_what_to_take_off() {
        let words = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        let (pids, names) = split(&words("4711 i7 4712 l3")).unwrap();
        assert_eq!(pids, [4711, 4712]);
        assert_eq!(names, ["i7", "l3"]);
        for bad in ["x7", "i", "7i", ""] {
            assert!(split(&words(bad)).is_err(), "{bad}");
        }
    }
}
