//! Bringing the agent into a JVM that runs without it, and waiting until it can be talked to.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use thiserror::Error;
use veneer_protocol::{AgentConfig, data_directory, socket_directory};

use crate::agent::{self, AgentError};
use crate::attach::{self, AttachError};
use crate::connection::{Client, ControlError};
use crate::target::{Target, TargetError};

/// How long a freshly loaded agent may take to open its control socket.
const START: Duration = Duration::from_secs(5);

/// Why there is no agent to talk to.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The process itself.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The library is missing on our side.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// The JVM did not take it.
    #[error(transparent)]
    Attach(#[from] AttachError),
    /// The agent cannot be talked to.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// The JVM sees another file system, without the library.
    #[error("the JVM {pid} has its own file system (a container) without {library}; copy the library to the same place there", library = .library.display())]
    Elsewhere {
        /// The JVM.
        pid: u32,
        /// Where it looks.
        library: PathBuf,
    },
    /// The agent's files cannot be made.
    #[error("{directory} cannot be set up: {source}; make room in /tmp", directory = .directory.display())]
    Place {
        /// Where.
        directory: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The configuration cannot be put into JSON.
    #[error("the agent's configuration cannot be written: {0}")]
    Config(io::Error),
    /// It was loaded and is not heard of.
    #[error(
        "the agent was loaded into {pid} but did not open its control socket within {seconds} s; its standard error may say why"
    )]
    Silent {
        /// The JVM.
        pid: u32,
        /// How long we waited.
        seconds: u64,
    },
}

/// How an agent is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loading {
    /// It proves of all emitted code that it does what the original does.
    pub check: bool,
    /// How long the JVM may take.
    pub timeout: Duration,
}

impl Default for Loading {
    /// Without proofs; two minutes.
    fn default() -> Self {
        Loading {
            check: false,
            timeout: Duration::from_secs(120),
        }
    }
}

/// A connection to the agent in a JVM, which is loaded where it is not there yet.
///
/// # Errors
/// Every way in which that can fail, each with its remedy.
pub fn connect(pid: u32) -> Result<Client, LoadError> {
    let target = Target::inspect(pid)?;
    match Client::connect(&target)? {
        Some(client) => Ok(client),
        None => load(&target, &Loading::default()),
    }
}

/// Loads the agent and waits for its control socket.
///
/// # Errors
/// As for [`connect`].
pub fn load(target: &Target, how: &Loading) -> Result<Client, LoadError> {
    let library = agent::find_for(target)?;
    if !target.reach(&library).exists() {
        return Err(LoadError::Elsewhere {
            pid: target.pid,
            library,
        });
    }
    let directory = socket_directory(target.uid);
    let place = |source| LoadError::Place {
        directory: directory.clone(),
        source,
    };
    // Two at once would take each other's files away. Whoever comes second finds the agent there.
    let turn = target.as_its_user(|| {
        make_private(&target.reach(&directory), true)?;
        File::open(target.reach(&directory))
    });
    let _turn = wait_for(turn.map_err(place)?, how.timeout).map_err(place)?;
    if let Some(client) = Client::connect(target)? {
        return Ok(client);
    }
    // What cannot be removed stays, as it has so far.
    let _ = target.as_its_user(|| sweep(&target.reach(&directory)));
    let data = data_directory(target.uid, target.own_pid);
    let config = data.join("agent.json");
    let config_of = AgentConfig {
        check: how.check,
        ..AgentConfig::new(&data)
    };
    let text = config_of
        .to_json()
        .map_err(|e| LoadError::Config(e.into()))?;
    target
        .as_its_user(|| {
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
        .map_err(place)?;

    if let Err(error) = attach::load_agent(target, &library, &config, how.timeout) {
        // A JVM that is late reads it still. Else nobody will; if that fails too, the first error is the one to tell.
        if !matches!(error, AttachError::Late { .. }) {
            let _ = target.as_its_user(|| fs::remove_dir_all(target.reach(&data)));
        }
        return Err(error.into());
    }

    let deadline = Instant::now() + START;
    loop {
        if let Some(client) = Client::connect(target)? {
            return Ok(client);
        }
        target.still_there()?;
        if Instant::now() > deadline {
            return Err(LoadError::Silent {
                pid: target.pid,
                seconds: START.as_secs(),
            });
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Locks the directory of a user's sockets, for as long as the file is open: its JVMs are attached to one after the other.
fn wait_for(directory: File, timeout: Duration) -> io::Result<File> {
    let deadline = Instant::now() + timeout;
    loop {
        match directory.try_lock() {
            Ok(()) => return Ok(directory),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                thread::sleep(Duration::from_millis(10));
            }
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::other("another program attaches there just now"));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Removes sockets that JVMs have left which were killed: nobody has that id, and nobody listens. (Where there are several process namespaces, only
/// the latter says something.)
fn sweep(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let Some(pid) = stem.and_then(|stem| stem.parse::<u32>().ok()) else {
            continue;
        };
        let is_socket = path.extension().is_some_and(|e| e == "sock");
        if !is_socket || Path::new(&format!("/proc/{pid}")).exists() {
            continue;
        }
        let refused = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
        if UnixStream::connect(&path).is_err_and(refused) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// Makes a directory with mode 0700; one that is there may stay if allowed (its owner and mode are
/// checked when the client connects).
fn make_private(path: &Path, may_exist: bool) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if may_exist && error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        result => result,
    }
}
