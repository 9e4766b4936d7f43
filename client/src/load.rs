//! Loads the agent into a running JVM and connects to the agent.

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
use crate::attach::{self, JvmAttachError};
use crate::connection::{Client, ControlError};
use crate::error_text;
use crate::loaded_library::{self, LibraryChoice};
use crate::target::{Target, TargetError};

/// The longest wait for the control socket of an agent that has just been loaded.
const SOCKET_TIMEOUT: Duration = Duration::from_secs(5);
/// The interval between two attempts to lock the directory or to connect to the agent.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Why the agent could not be loaded or reached. The text is the problem, `; ` and the remedy.
#[derive(Debug, Error)]
#[error("{}", error_text(self.problem(), self.remedy()))]
pub enum LoadError {
    /// The process is not a JVM to which this user can attach.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The agent library was not found.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// The JVM did not load the agent.
    #[error(transparent)]
    Attach(#[from] JvmAttachError),
    /// The client cannot communicate with the agent.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// The JVM has its own file system, which does not contain the library.
    Elsewhere {
        /// The process of the JVM.
        pid: u32,
        /// The path of the library in the JVM's file system.
        library: PathBuf,
    },
    /// The JVM has loaded another build of the agent before.
    OtherBuild {
        /// The process of the JVM.
        pid: u32,
        /// The path from which the JVM loaded the other build.
        library: PathBuf,
    },
    /// The files for the agent cannot be created.
    Place {
        /// The directory of the files.
        directory: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// The configuration cannot be converted to JSON.
    Config(io::Error),
    /// The JVM loaded the agent, but the agent opened no control socket.
    Silent {
        /// The process of the JVM.
        pid: u32,
        /// The length of the wait in seconds.
        seconds: u64,
    },
}

impl LoadError {
    /// The problem, without the remedy.
    pub fn problem(&self) -> String {
        match self {
            LoadError::Target(error) => error.problem(),
            LoadError::Agent(error) => error.problem(),
            LoadError::Attach(error) => error.problem(),
            LoadError::Control(error) => error.problem(),
            LoadError::Elsewhere { pid, library } => format!(
                "the JVM {pid} has its own file system (a container) without {}",
                library.display()
            ),
            LoadError::OtherBuild { pid, library } => format!(
                "another build of the agent was loaded into {pid} before ({}), and its classes stay until the JVM ends",
                library.display()
            ),
            LoadError::Place { directory, source } => {
                format!("{} cannot be set up: {source}", directory.display())
            }
            LoadError::Config(source) => {
                format!("the agent's configuration cannot be written: {source}")
            }
            LoadError::Silent { pid, seconds } => format!(
                "the agent was loaded into {pid} but did not open its control socket within {seconds} s"
            ),
        }
    }

    /// An action of the user that solves or explains the problem, if one is known.
    pub fn remedy(&self) -> Option<String> {
        match self {
            LoadError::Target(error) => Some(error.remedy()),
            LoadError::Agent(error) => Some(error.remedy().to_string()),
            LoadError::Attach(error) => error.remedy(),
            LoadError::Control(error) => error.remedy().map(str::to_string),
            LoadError::Elsewhere { .. } => {
                Some("copy the library to the same place there".to_string())
            }
            LoadError::OtherBuild { .. } => {
                Some("use the command of that build, or start the JVM again".to_string())
            }
            LoadError::Place { .. } => Some("make room in /tmp".to_string()),
            LoadError::Config(_) => None,
            LoadError::Silent { .. } => Some("its standard error may say why".to_string()),
        }
    }
}

/// Options for loading an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadOptions {
    /// Whether the agent proves that all emitted code is equivalent to the original code.
    pub check: bool,
    /// The longest wait for the JVM to load the agent.
    pub timeout: Duration,
}

impl Default for LoadOptions {
    /// No proofs, and a timeout of two minutes.
    fn default() -> Self {
        LoadOptions {
            check: false,
            timeout: Duration::from_secs(120),
        }
    }
}

/// Connects to the agent in a JVM. Loads the agent first if the JVM has none.
///
/// # Errors
/// The process is not a suitable JVM, loading fails, or the agent does not answer. The text of each
/// error contains a remedy, if one is known.
pub fn connect(pid: u32) -> Result<Client, LoadError> {
    let target = Target::inspect(pid)?;
    match Client::connect(&target)? {
        Some(client) => Ok(client),
        None => load(&target, &LoadOptions::default()),
    }
}

/// Loads the agent into a JVM and connects to its control socket. If another process loads the
/// agent at the same time, this function waits and connects to that agent.
///
/// # Errors
/// See [`connect`].
pub fn load(target: &Target, how: &LoadOptions) -> Result<Client, LoadError> {
    let library = agent::find_for(target)?;
    if !target.path_from_here(&library).exists() {
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
    // Two processes that load the agent at the same time would delete each other's files. A lock
    // serialises them, so the second process finds the agent of the first one below.
    let opened = target.run_as_target_user(|| {
        create_private(&target.path_from_here(&directory), true)?;
        File::open(target.path_from_here(&directory))
    });
    let _lock = lock(opened.map_err(place)?, how.timeout).map_err(place)?;
    if let Some(client) = Client::connect(target)? {
        return Ok(client);
    }
    let library = match loaded_library::choose(target, library) {
        LibraryChoice::Load(library) => library,
        LibraryChoice::OtherBuild(library) => {
            return Err(LoadError::OtherBuild {
                pid: target.pid,
                library,
            });
        }
    };
    // Stale sockets that cannot be removed do no harm.
    let _ = target.run_as_target_user(|| remove_stale_sockets(&target.path_from_here(&directory)));
    let data = data_directory(target.uid, target.own_pid);
    let config_path = data.join("agent.json");
    let config = AgentConfig {
        check: how.check,
        ..AgentConfig::new(&data)
    };
    let text = config.to_json().map_err(|e| LoadError::Config(e.into()))?;
    target
        .run_as_target_user(|| {
            let data = target.path_from_here(&data);
            match fs::remove_dir_all(&data) {
                // An earlier process with the same id has left the directory behind.
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            create_private(&data, false)?;
            let mut file = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(target.path_from_here(&config_path))?;
            file.write_all(text.as_bytes())
        })
        .map_err(place)?;

    if let Err(error) = attach::load_agent(target, &library, &config_path, how.timeout) {
        // After `Late`, the JVM may still load the agent, which then reads the configuration.
        // After other errors the directory is useless. If removing it fails, the first error is
        // still the more important one.
        if !matches!(error, JvmAttachError::Late { .. }) {
            let _ = target.run_as_target_user(|| fs::remove_dir_all(target.path_from_here(&data)));
        }
        return Err(error.into());
    }

    let deadline = Instant::now() + SOCKET_TIMEOUT;
    loop {
        if let Some(client) = Client::connect(target)? {
            return Ok(client);
        }
        target.check_alive()?;
        if Instant::now() > deadline {
            return Err(LoadError::Silent {
                pid: target.pid,
                seconds: SOCKET_TIMEOUT.as_secs(),
            });
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// Locks the directory of a user's sockets until the returned file is closed. While one process
/// holds the lock, no other process attaches to the user's JVMs.
fn lock(directory: File, timeout: Duration) -> io::Result<File> {
    let deadline = Instant::now() + timeout;
    loop {
        match directory.try_lock() {
            Ok(()) => return Ok(directory),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                thread::sleep(POLL_INTERVAL);
            }
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::other("another program attaches there just now"));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Removes the sockets of killed JVMs.
///
/// A socket is stale if no process has the id in its name and if connecting to the socket is
/// refused. The second condition is necessary because the id may belong to another process
/// namespace.
fn remove_stale_sockets(directory: &Path) -> io::Result<()> {
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

/// Creates a directory with mode 0700. If `may_exist`, an existing directory is no error;
/// [`Client::connect`] checks its owner and mode later.
fn create_private(path: &Path, may_exist: bool) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if may_exist && error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_an_error_is_the_problem_and_the_remedy() {
        let elsewhere = LoadError::Elsewhere {
            pid: 7,
            library: "/lib/agent.so".into(),
        };
        let text = "the JVM 7 has its own file system (a container) without /lib/agent.so; copy the library to the same place there";
        assert_eq!(elsewhere.to_string(), text);
        let remedy = elsewhere.remedy().expect("a remedy");
        assert_eq!(format!("{}; {remedy}", elsewhere.problem()), text);
        let config = LoadError::Config(io::Error::other("no JSON"));
        assert_eq!(config.remedy(), None);
        assert_eq!(config.to_string(), config.problem());
    }

    #[test]
    fn the_error_of_an_earlier_step_keeps_its_problem_and_its_remedy() {
        let stopped = || JvmAttachError::Stopped(7);
        let error = LoadError::Attach(stopped());
        assert_eq!(error.to_string(), stopped().to_string());
        assert_eq!(error.problem(), stopped().problem());
        assert_eq!(error.remedy(), stopped().remedy());
    }
}
