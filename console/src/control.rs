//! The client's side of the control socket of an agent in a running JVM.

use std::fs;
use std::io::{self, BufReader};
use std::mem::{MaybeUninit, size_of};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;
use veneer_protocol::{
    PROTOCOL, Reply, Request, WireError, read_message, socket_directory, socket_path, write_message,
};

use crate::target::Target;

/// How long the agent may take to say hello.
const HELLO: Duration = Duration::from_secs(5);

/// A connection on which the agent has said hello.
#[derive(Debug)]
pub struct Client {
    pid: u32,
    reader: BufReader<UnixStream>,
}

/// Why the agent cannot be talked to.
#[derive(Debug, Error)]
pub enum ControlError {
    /// Somebody else could have put a socket there.
    #[error(
        "{0} is not a private directory of the JVM's user; remove it and restart the application"
    )]
    Unsafe(PathBuf),
    /// The socket cannot be connected to.
    #[error("the agent's socket {path} cannot be opened: {source}; try again, or restart the application", path = .path.display())]
    Connect {
        /// The socket.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another version.
    #[error(
        "the agent in process {pid} speaks version {theirs} of the protocol (Veneer {version}), this command version {PROTOCOL}; use the command of that version"
    )]
    Version {
        /// The JVM.
        pid: u32,
        /// Its protocol.
        theirs: u32,
        /// Its release.
        version: String,
    },
    /// It answered something else than was asked.
    #[error(
        "the agent in process {0} gave an unexpected answer; agent and `veneer` command must be of one version"
    )]
    Unexpected(u32),
    /// It closed the connection.
    #[error("process {0} ended, or closed the connection, before the answer was complete")]
    Closed(u32),
    /// The stream failed.
    #[error("process {pid}: {source}")]
    Wire {
        /// The JVM.
        pid: u32,
        /// What happened.
        source: WireError,
    },
}

impl Client {
    /// Connects to the agent in this JVM; `None` where there is none.
    pub fn connect(target: &Target) -> Result<Option<Client>, ControlError> {
        let directory = target.reach(&socket_directory(target.uid));
        let path = target.reach(&socket_path(target.uid, target.own_pid));
        if !is_private(&directory, target.uid)? {
            return Ok(None);
        }
        let stream = match UnixStream::connect(&path) {
            Ok(stream) => stream,
            // Refused: left behind by a process that is no more.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
                ) =>
            {
                return Ok(None);
            }
            Err(source) => return Err(ControlError::Connect { path, source }),
        };
        let connect = |source| ControlError::Connect {
            path: path.clone(),
            source,
        };
        // The kernel remembers who called `listen`. 0: a process outside our namespace.
        let peer = peer_pid(&stream).map_err(connect)?;
        if peer != 0 && peer != target.pid {
            return Ok(None);
        }
        stream.set_read_timeout(Some(HELLO)).map_err(connect)?;
        let mut client = Client {
            pid: target.pid,
            reader: BufReader::new(stream),
        };
        client.send(&Request::Hello {})?;
        match client.receive()? {
            Reply::Hello { protocol, .. } if protocol == PROTOCOL => {}
            Reply::Hello {
                protocol, version, ..
            } => {
                return Err(ControlError::Version {
                    pid: target.pid,
                    theirs: protocol,
                    version,
                });
            }
            _ => return Err(ControlError::Unexpected(target.pid)),
        }
        client
            .reader
            .get_ref()
            .set_read_timeout(None)
            .map_err(connect)?;
        Ok(Some(client))
    }

    /// Sends a request.
    pub fn send(&mut self, request: &Request) -> Result<(), ControlError> {
        write_message(self.reader.get_mut(), request).map_err(|source| self.wire(source))
    }

    /// Waits for the next reply.
    pub fn receive(&mut self) -> Result<Reply, ControlError> {
        match read_message(&mut self.reader) {
            Ok(Some(reply)) => Ok(reply),
            Ok(None) | Err(WireError::Truncated { .. }) => Err(ControlError::Closed(self.pid)),
            Err(WireError::Io(error)) if error.kind() == io::ErrorKind::ConnectionReset => {
                Err(ControlError::Closed(self.pid))
            }
            Err(source) => Err(self.wire(source)),
        }
    }

    fn wire(&self, source: WireError) -> ControlError {
        ControlError::Wire {
            pid: self.pid,
            source,
        }
    }
}

/// Is the directory there, and nobody else's business? False where it is not there.
fn is_private(directory: &Path, uid: u32) -> Result<bool, ControlError> {
    let Ok(meta) = fs::symlink_metadata(directory) else {
        return Ok(false);
    };
    if !meta.is_dir() || meta.uid() != uid || meta.mode() & 0o077 != 0 {
        return Err(ControlError::Unsafe(directory.to_owned()));
    }
    Ok(true)
}

fn peer_pid(stream: &UnixStream) -> io::Result<u32> {
    let mut peer = MaybeUninit::<libc::ucred>::zeroed();
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: `peer` and `length` are valid for writes of the sizes given; `ucred` is plain data.
    unsafe {
        let result = libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            peer.as_mut_ptr().cast(),
            &mut length,
        );
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(peer.assume_init().pid as u32)
    }
}
