//! Where clients come in: a Unix socket in a directory that only the JVM's user can enter, and a TCP port of this machine where
//! one was asked for.

use super::stream::{Stream, credentials};
use std::fs::{DirBuilder, OpenOptions, Permissions};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use veneer_protocol::{loopback_address, socket_directory, socket_path};

fn user() -> u32 {
    // Safety: a plain system call.
    unsafe { libc::geteuid() }
}

/// Where this process's socket lies.
pub fn path() -> PathBuf {
    socket_path(user(), std::process::id())
}

/// Makes the directory, or makes sure that one that is there is this user's alone. In `/tmp` anybody may have made it before,
/// also as a link to somewhere else.
fn private_directory(directory: &Path) -> Result<(), String> {
    let failed = |e: io::Error| format!("{}: {e}", directory.display());
    match DirBuilder::new().mode(0o700).create(directory) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(failed(e)),
        _ => {}
    }
    // What is opened is what is looked at: no link is followed, and nobody can put something else there in between.
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW)
        .open(directory)
        .map_err(|_| format!("{} is not a directory; remove it", directory.display()))?;
    let meta = opened.metadata().map_err(failed)?;
    if meta.uid() != user() {
        return Err(format!(
            "{} belongs to user {}; have it removed",
            directory.display(),
            meta.uid()
        ));
    }
    if meta.mode() & 0o077 != 0 {
        return Err(format!(
            "{} can be entered by others (mode {:o}); remove it, it is made anew",
            directory.display(),
            meta.mode() & 0o777
        ));
    }
    Ok(())
}

/// Opens the socket.
pub fn open_socket() -> Result<UnixListener, String> {
    private_directory(&socket_directory(user()))?;
    let path = path();
    let failed = |e: io::Error| format!("{}: {e}", path.display());
    // Left behind by an earlier process with the same id.
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path).map_err(failed)?;
    std::fs::set_permissions(&path, Permissions::from_mode(0o600)).map_err(failed)?;
    Ok(listener)
}

/// Opens the port, on this machine's own address only.
pub fn open_port(address: &str) -> Result<(TcpListener, SocketAddr), String> {
    let address = loopback_address(address).map_err(|e| e.to_string())?;
    let listener = TcpListener::bind(address).map_err(|e| format!("{address}: {e}"))?;
    let bound = listener.local_addr().map_err(|e| e.to_string())?;
    Ok((listener, bound))
}

/// Whether a client belongs to this user, or to root, by what the kernel says of it.
pub fn is_own(stream: &UnixStream) -> bool {
    credentials(stream).is_some_and(|peer| peer.uid == user() || peer.uid == 0)
}

/// A source of connections.
pub enum Listener {
    /// The socket.
    Unix(UnixListener),
    /// The port.
    Tcp(TcpListener),
}

impl Listener {
    /// Waits for the next one.
    pub fn accept(&self) -> io::Result<Stream> {
        Ok(match self {
            Listener::Unix(listener) => Stream::Unix(listener.accept()?.0),
            Listener::Tcp(listener) => Stream::Tcp(listener.accept()?.0),
        })
    }

    /// Takes no more connections; who waits for one wakes.
    pub fn close(&self) {
        let fd = match self {
            Listener::Unix(listener) => listener.as_raw_fd(),
            Listener::Tcp(listener) => listener.as_raw_fd(),
        };
        // Safety: a plain system call on an open file.
        unsafe { libc::shutdown(fd, libc::SHUT_RDWR) };
    }
}
