//! `veneer exec`: runs a Rhai program in the agent of a running JVM. The agent is loaded first if
//! the JVM has none.

use std::io::{self, Read, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use veneer_client::{Client, ControlError, LoadOptions, RequestSender, Target, load, token};
use veneer_protocol::{PlanSource, Reply, Request};

use crate::cli::{ExecArguments, settings};
use crate::interruption::Interruption;
use crate::output::{print_error, print_note};
use crate::remote::LEASE_MILLIS;
use crate::{dry_run, modules, plans};

/// Exit code if the Rhai program failed.
pub const EXIT_PROGRAM_FAILED: u8 = 1;
/// The lease of a program that `--for` holds, in seconds: that of every other command.
const DEFAULT_LEASE_SECONDS: u64 = LEASE_MILLIS / 1000;
/// The time between two checks for Ctrl-C and for the end of `--for`.
const END_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Runs the program and returns the exit code.
pub fn run(arguments: ExecArguments) -> Result<u8> {
    // The process id is checked before the program is read from standard input. Otherwise the user
    // would type a program and then learn that the process id is wrong.
    let target = arguments.pid.map(Target::inspect).transpose()?;
    let plan = program(&arguments)?;
    if arguments.dry_run {
        let is_correct = dry_run::run(target.as_ref(), &plan, arguments.json)?;
        return Ok(if is_correct { 0 } else { EXIT_PROGRAM_FAILED });
    }
    let client = match (&target, arguments.connect, &arguments.token_file) {
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
    let is_held = arguments.seconds.is_some() || arguments.hold.is_some();
    let hold = is_held.then(|| Hold {
        lease_seconds: arguments.hold.unwrap_or(DEFAULT_LEASE_SECONDS),
        seconds: arguments.seconds,
    });
    execute(client, plan, hold.as_ref(), arguments.json)
}

/// How long a program is held.
struct Hold {
    /// The program ends if this command is silent for so long.
    lease_seconds: u64,
    /// The program ends after this time. `None` if it runs until Ctrl-C.
    seconds: Option<f64>,
}

/// Runs a plan for some seconds, prints its lines, and takes back everything that it has attached. Returns
/// the exit code.
///
/// # Errors
/// The agent cannot be reached.
pub fn run_for(pid: u32, plan: PlanSource, seconds: f64) -> Result<u8> {
    let hold = Hold {
        lease_seconds: DEFAULT_LEASE_SECONDS,
        seconds: Some(seconds),
    };
    execute(veneer_client::connect(pid)?, plan, Some(&hold), false)
}

/// Runs a plan in the agent at the other end of a connection, and returns the exit code.
fn execute(mut client: Client, plan: PlanSource, hold: Option<&Hold>, json: bool) -> Result<u8> {
    let PlanSource {
        name,
        source,
        settings,
        modules,
    } = plan;
    let lease = hold.map(|hold| hold.lease_seconds * 1000);
    let hint = (lease.is_none() && prints_at_exit(&source)).then(|| end_hint(&name));
    client.send(&Request::Exec {
        name,
        source,
        settings,
        modules,
        hold: lease,
    })?;
    if let (Some(hold), Some(lease)) = (hold, lease) {
        client.keep_renewing(Duration::from_millis(lease / 4))?;
        end_later(client.sender(), hold.seconds)?;
    }
    let (mut held, mut is_silent) = (false, true);
    let mut stdout = io::stdout().lock();
    loop {
        let reply = match client.receive() {
            // The JVM has ended while its program was held.
            Err(ControlError::Closed(_)) if held => return Ok(0),
            reply => reply?,
        };
        if json {
            writeln!(stdout, "{}", serde_json::to_string(&reply)?)?;
        }
        match reply {
            Reply::Print(text) => {
                is_silent = false;
                if !json {
                    writeln!(stdout, "{text}")?;
                }
            }
            Reply::Done { value } => {
                if !json && !value.is_empty() {
                    writeln!(stdout, "{value}")?;
                }
                stdout.flush()?;
                if let Some(hint) = hint.as_ref().filter(|_| is_silent && value.is_empty()) {
                    print_note(hint);
                }
                // The second reply answers `end`.
                if hold.is_none() || held {
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

/// Returns whether a program prints something when it ends.
fn prints_at_exit(source: &str) -> bool {
    let mut code = source
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    code.any(|code| code.contains("at_exit("))
}

/// The hint for a program that has printed nothing, and prints at its end.
fn end_hint(name: &str) -> String {
    format!(
        "{name} stays attached, and prints when the JVM ends; with --for 10 it prints after 10 \
         seconds and is detached, with --hold at Ctrl-C"
    )
}

/// Ends the held program after this many seconds and at Ctrl-C, so that its callbacks of `at_exit`
/// print. A second Ctrl-C ends this command at once.
fn end_later(requests: RequestSender, seconds: Option<f64>) -> Result<()> {
    let interruption = Interruption::catch()?;
    let end = seconds.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds));
    let wait = move || {
        while !interruption.is_requested() && end.is_none_or(|end| Instant::now() < end) {
            thread::sleep(END_POLL_INTERVAL);
        }
        // If the connection is closed, the main thread sees the end of the JVM.
        let _ = requests.send(&Request::End {});
    };
    thread::Builder::new().name("end".into()).spawn(wait)?;
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_prints_at_the_end() {
        assert!(prints_at_exit("let a = 1;\n  at_exit(|| print(a));"));
        assert!(!prints_at_exit(
            "// at_exit(|| print(a));\nlet a = 1; // at_exit("
        ));
    }
}
