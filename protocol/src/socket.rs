//! Where the agent's control endpoint lies in the file system.
//!
//! ```text
//! /tmp/veneer-<uid>/            mode 0700, owned by the user whose JVMs are in it
//!     <pid>.sock                the control socket of one JVM (its own view of its process id)
//!     <pid>.data/               its data files, where it was loaded into a running JVM
//! ```
//!
//! The place is fixed rather than taken from `TMPDIR`: HotSpot does the same for its attach socket,
//! since the two processes need not have the same environment.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use thiserror::Error;

/// Digits of a token: 256 bits in hexadecimal form.
pub const TOKEN_LENGTH: usize = 64;

/// An address that control is not offered at.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AddressError {
    /// Not an address with a port.
    #[error("`{0}` is no address: write 127.0.0.1:PORT (port 0: any that is free)")]
    NoAddress(String),
    /// Others could reach it.
    #[error(
        "{0} is not an address of this machine alone: write 127.0.0.1:PORT, and forward the port (ssh -L) where control must come from elsewhere"
    )]
    NotLoopback(SocketAddr),
}

/// Reads `127.0.0.1:PORT`, `[::1]:PORT` or `localhost:PORT`, with or without `tcp://`. Names are not looked up: what
/// `localhost` means is not left to a file.
pub fn loopback_address(text: &str) -> Result<SocketAddr, AddressError> {
    let plain = text.strip_prefix("tcp://").unwrap_or(text);
    let address = match plain.strip_prefix("localhost:") {
        Some(port) => port
            .parse()
            .ok()
            .map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)),
        None => plain.parse().ok(),
    };
    match address {
        Some(address) if address.ip().is_loopback() => Ok(address),
        Some(address) => Err(AddressError::NotLoopback(address)),
        None => Err(AddressError::NoAddress(text.to_owned())),
    }
}

/// The directory with the sockets of the user's JVMs.
pub fn socket_directory(uid: u32) -> PathBuf {
    PathBuf::from(format!("/tmp/veneer-{uid}"))
}

/// The control socket of one JVM.
pub fn socket_path(uid: u32, pid: u32) -> PathBuf {
    socket_directory(uid).join(format!("{pid}.sock"))
}

/// The data directory of a JVM into which the agent was loaded while it ran.
pub fn data_directory(uid: u32, pid: u32) -> PathBuf {
    socket_directory(uid).join(format!("{pid}.data"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_this_machine_are_taken() {
        for good in ["127.0.0.1:0", "tcp://127.0.0.1:9", "[::1]:9", "localhost:9"] {
            assert!(loopback_address(good).is_ok(), "{good}");
        }
        for bad in [
            "0.0.0.0:9",
            "192.168.1.1:9",
            "[::]:9",
            "[::ffff:127.0.0.1]:9",
        ] {
            let error = loopback_address(bad).unwrap_err();
            assert!(matches!(error, AddressError::NotLoopback(_)), "{bad}");
        }
        for no in [
            "",
            "9",
            "localhost",
            "localhost.evil.org:9",
            "127.0.0.1",
            "127.0.0.1:65536",
        ] {
            let error = loopback_address(no).unwrap_err();
            assert!(matches!(error, AddressError::NoAddress(_)), "{no}");
        }
    }

    #[test]
    fn the_longest_path_fits_a_socket_address() {
        let path = socket_path(u32::MAX, u32::MAX);
        // 108 bytes in `sockaddr_un`; another process's root comes before it when seen from outside a container.
        assert!("/proc/4294967295/root".len() + path.as_os_str().len() < 108);
    }
}
