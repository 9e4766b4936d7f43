//! The places where clients connect: a Unix socket, and a TCP port if the user asked for one.
//!
//! The socket is in a directory that only the JVM's user can enter. The port is bound to a
//! loopback address, so only processes of this machine reach it; they must show a token
//! (`token.rs`). The threads that start and unload the agent open and close the endpoint.

use super::credentials::effective_user;
use super::stream::Stream;
use rustix::net::{Shutdown, shutdown};
use std::fs::{DirBuilder, OpenOptions, Permissions};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use veneer_protocol::{AddressError, loopback_address, socket_directory, socket_path};

/// The reason why the socket or the port could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    #[error("{path}: {source}", path = .path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{path} is not a directory; remove it", path = .0.display())]
    NotADirectory(PathBuf),
    #[error("{path} belongs to user {owner}; have it removed", path = .path.display())]
    OtherOwner { path: PathBuf, owner: u32 },
    #[error(
        "{path} can be entered by others (mode {mode:o}); remove it, it is made anew",
        path = .path.display()
    )]
    NotPrivate { path: PathBuf, mode: u32 },
    #[error(transparent)]
    Address(#[from] AddressError),
    #[error("{address}: {source}")]
    Bind {
        address: SocketAddr,
        source: io::Error,
    },
    #[error(transparent)]
    BoundAddress(io::Error),
}

/// Returns the path of this process's socket.
pub fn path() -> PathBuf {
    socket_path(effective_user(), std::process::id())
}

/// Creates the directory of the socket, or checks that an existing one belongs to this user and
/// that no other user can enter it. The check is necessary because any user can create the
/// directory in `/tmp` beforehand, also as a link to another directory.
fn ensure_private_directory(directory: &Path) -> Result<(), EndpointError> {
    let failed = |source: io::Error| EndpointError::File {
        path: directory.into(),
        source,
    };
    match DirBuilder::new().mode(0o700).create(directory) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(failed(e)),
        _ => {}
    }
    // The checks read the opened directory, not the path: links are not followed, and no process
    // can put another file at the path between the checks.
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW)
        .open(directory)
        .map_err(|_| EndpointError::NotADirectory(directory.into()))?;
    let metadata = opened.metadata().map_err(failed)?;
    if metadata.uid() != effective_user() {
        return Err(EndpointError::OtherOwner {
            path: directory.into(),
            owner: metadata.uid(),
        });
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(EndpointError::NotPrivate {
            path: directory.into(),
            mode: metadata.mode() & 0o777,
        });
    }
    Ok(())
}

/// Opens the socket of this process in the user's socket directory.
pub fn open_socket() -> Result<UnixListener, EndpointError> {
    ensure_private_directory(&socket_directory(effective_user()))?;
    bind_socket(&path())
}

/// Binds a socket that only this user can connect to.
fn bind_socket(path: &Path) -> Result<UnixListener, EndpointError> {
    let failed = |source: io::Error| EndpointError::File {
        path: path.into(),
        source,
    };
    // An earlier process with the same id may have left its socket behind.
    let _ = std::fs::remove_file(path);
    let listener = UnixListener::bind(path).map_err(failed)?;
    std::fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(failed)?;
    Ok(listener)
}

/// Opens a TCP port at a loopback address. Returns the listener and the bound address; the kernel
/// chooses the port if `address` has port 0.
pub fn open_port(address: &str) -> Result<(TcpListener, SocketAddr), EndpointError> {
    let address = loopback_address(address)?;
    let listener =
        TcpListener::bind(address).map_err(|source| EndpointError::Bind { address, source })?;
    let bound = listener.local_addr().map_err(EndpointError::BoundAddress)?;
    Ok((listener, bound))
}

/// A source of connections.
pub enum Listener {
    Unix(UnixListener),
    Tcp(TcpListener),
}

impl Listener {
    /// Waits for the next connection.
    pub fn accept(&self) -> io::Result<Stream> {
        Ok(match self {
            Listener::Unix(listener) => Stream::Unix(listener.accept()?.0),
            Listener::Tcp(listener) => Stream::Tcp(listener.accept()?.0),
        })
    }

    /// Accepts no more connections. A thread that waits in [`Listener::accept`] wakes with an
    /// error.
    pub fn close(&self) {
        // An error says that the socket was closed already.
        let _ = match self {
            Listener::Unix(listener) => shutdown(listener, Shutdown::Both),
            Listener::Tcp(listener) => shutdown(listener, Shutdown::Both),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn a_missing_directory_is_created_for_this_user_alone() {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("veneer");
        ensure_private_directory(&directory).unwrap();
        assert_eq!(mode(&directory), 0o700);
        // An existing directory is accepted if its mode is still private.
        ensure_private_directory(&directory).unwrap();
    }

    #[test]
    fn a_directory_that_others_can_enter_is_refused() {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("veneer");
        std::fs::create_dir(&directory).unwrap();
        std::fs::set_permissions(&directory, Permissions::from_mode(0o710)).unwrap();
        let error = ensure_private_directory(&directory).unwrap_err();
        assert!(matches!(
            error,
            EndpointError::NotPrivate { mode: 0o710, .. }
        ));
        assert!(error.to_string().contains("(mode 710); remove it"));
    }

    #[test]
    fn a_file_or_a_link_instead_of_the_directory_is_refused() {
        let parent = tempfile::tempdir().unwrap();
        let file = parent.path().join("file");
        std::fs::write(&file, "").unwrap();
        let link = parent.path().join("link");
        std::os::unix::fs::symlink(parent.path(), &link).unwrap();
        for path in [file, link] {
            let error = ensure_private_directory(&path).unwrap_err();
            assert!(matches!(error, EndpointError::NotADirectory(_)), "{error}");
        }
    }

    #[test]
    fn a_socket_of_an_earlier_process_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("1.sock");
        drop(bind_socket(&path).unwrap());
        assert!(UnixStream::connect(&path).is_err());
        let listener = bind_socket(&path).unwrap();
        assert!(UnixStream::connect(&path).is_ok());
        assert_eq!(mode(&path), 0o600);
        drop(listener);
    }

    #[test]
    fn the_port_is_opened_at_loopback_addresses_only() {
        let (_listener, bound) = open_port("127.0.0.1:0").unwrap();
        assert!(bound.ip().is_loopback() && bound.port() != 0);
        for (text, is_address) in [("0.0.0.0:0", true), ("192.0.2.1:9", true), ("9", false)] {
            match open_port(text).unwrap_err() {
                EndpointError::Address(AddressError::NotLoopback(_)) => assert!(is_address),
                EndpointError::Address(AddressError::NoAddress(_)) => assert!(!is_address),
                other => panic!("{text}: {other}"),
            }
        }
        let taken = open_port(&bound.to_string()).unwrap_err();
        assert!(matches!(taken, EndpointError::Bind { address, .. } if address == bound));
    }

    #[test]
    fn closing_wakes_the_accepting_thread() {
        let directory = tempfile::tempdir().unwrap();
        let socket = bind_socket(&directory.path().join("1.sock")).unwrap();
        let listener = Arc::new(Listener::Unix(socket));
        let accepting = listener.clone();
        let thread = std::thread::spawn(move || accepting.accept().is_err());
        std::thread::sleep(std::time::Duration::from_millis(20));
        listener.close();
        assert!(thread.join().unwrap());
    }
}
