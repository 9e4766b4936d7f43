//! `veneer exec`: a Rhai program for the agent of a running JVM, and the agent itself where it is not there yet.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use veneer_protocol::{AgentConfig, PlanSource, Reply, Request, data_directory, socket_directory};

use crate::cli::{ExecArguments, settings};
use crate::control::{Client, ControlError};
use crate::output::complain;
use crate::target::Target;
use crate::{agent, attach, plans, token};

/// How long a freshly loaded agent may take to open its control socket.
const START: Duration = Duration::from_secs(5);
/// The Rhai program failed.
pub const PROGRAM_FAILED: u8 = 1;

/// Runs the program and gives the exit code.
pub fn run(arguments: ExecArguments) -> Result<u8> {
    // Before the program is read: whoever types it should not learn afterwards that the PID was wrong.
    let target = arguments.pid.map(Target::inspect).transpose()?;
    let PlanSource {
        name,
        source,
        settings,
    } = program(&arguments)?;
    let mut client = match (&target, arguments.connect, &arguments.token_file) {
        (Some(target), ..) => match Client::connect(target)? {
            Some(client) => client,
            None => load(target, arguments.check)?,
        },
        (None, Some(address), Some(file)) => Client::connect_to(address, &token::read(file)?)?,
        (None, ..) => bail!("name a process id, or --connect and --token-file"),
    };
    let hold = arguments.hold.map(|seconds| seconds * 1000);
    client.send(&Request::Exec {
        name,
        source,
        settings,
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
                complain(&message);
                return Ok(PROGRAM_FAILED);
            }
            _ => return Err(ControlError::Unexpected(client.pid()).into()),
        }
        stdout.flush()?;
    }
}

/// A connection to the agent in a JVM, which is loaded where it is not there yet.
pub fn client(pid: u32) -> Result<Client> {
    let target = Target::inspect(pid)?;
    match Client::connect(&target)? {
        Some(client) => Ok(client),
        None => load(&target, false),
    }
}

fn program(arguments: &ExecArguments) -> Result<PlanSource> {
    let settings = settings(&arguments.settings);
    if let Some(code) = &arguments.code {
        return Ok(PlanSource {
            name: "-e".into(),
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
                source,
                settings,
            })
        }
    }
}

/// Loads the agent and waits for its control socket.
fn load(target: &Target, check: bool) -> Result<Client> {
    let library = agent::find()?;
    if !target.reach(&library).exists() {
        bail!(
            "the JVM {} has its own file system (a container) without {}; copy the library to the same place there",
            target.pid,
            library.display()
        );
    }
    let directory = socket_directory(target.uid);
    let data = data_directory(target.uid, target.own_pid);
    let config = data.join("agent.json");
    let config_of = AgentConfig {
        check,
        ..AgentConfig::new(&data)
    };
    let text = config_of.to_json()?;
    target
        .as_its_user(|| {
            make_private(&target.reach(&directory), true)?;
            let data = target.reach(&data);
            match fs::remove_dir_all(&data) {
                // Of an earlier process with the same id.
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            make_private(&data, false)?;
            let mut file = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(target.reach(&config))?;
            file.write_all(text.as_bytes())
        })
        .with_context(|| {
            format!(
                "{} cannot be set up; make room in /tmp",
                directory.display()
            )
        })?;

    if let Err(error) = attach::load_agent(target, &library, &config) {
        // Nobody will use it. If that fails too, the first error is still the one to tell.
        let _ = target.as_its_user(|| fs::remove_dir_all(target.reach(&data)));
        return Err(error.into());
    }

    let deadline = Instant::now() + START;
    loop {
        if let Some(client) = Client::connect(target)? {
            return Ok(client);
        }
        if Instant::now() > deadline {
            bail!(
                "the agent was loaded into {} but did not open its control socket within {} s; its standard error may say why",
                target.pid,
                START.as_secs()
            );
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Makes a directory with mode 0700; one that is there may stay if allowed (its owner and mode are
/// checked when the client connects).
fn make_private(path: &Path, may_exist: bool) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if may_exist && error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        result => result,
    }
}
