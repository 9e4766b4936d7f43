//! Paths and addresses of the agent's control endpoint.
//!
//! ```text
//! /tmp/veneer-<uid>/            mode 0700, owned by the user whose JVMs are in it
//!     <pid>.sock                control socket of one JVM (pid in the JVM's own namespace)
//!     <pid>.data/               data directory, if the agent was loaded into a running JVM
//! ```
//!
//! The directory is fixed and does not depend on `TMPDIR`, because the JVM and the command may have
//! different environments. HotSpot uses a fixed path for its attach socket for the same reason.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use thiserror::Error;

/// Length of a token in hexadecimal digits: 256 bits.
pub const TOKEN_CHARS: usize = 64;

/// Why an address cannot be the address of the control port.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AddressError {
    /// The text is not an address with a port.
    #[error("`{0}` is no address: write 127.0.0.1:PORT (port 0: any that is free)")]
    NoAddress(String),
    /// Other machines could reach the address.
    #[error(
        "{0} is not an address of this machine alone: write 127.0.0.1:PORT, and forward the port (ssh -L) where control must come from elsewhere"
    )]
    NotLoopback(SocketAddr),
}

/// Parses `127.0.0.1:PORT`, `[::1]:PORT` or `localhost:PORT`, with or without `tcp://`.
///
/// `localhost` always means 127.0.0.1. The function resolves no names, so that `/etc/hosts` cannot
/// map `localhost` to an address that other machines reach.
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

/// The directory that contains the control sockets of a user's JVMs.
pub fn socket_directory(uid: u32) -> PathBuf {
    PathBuf::from(format!("/tmp/veneer-{uid}"))
}

/// The path of the control socket of one JVM.
pub fn socket_path(uid: u32, pid: u32) -> PathBuf {
    socket_directory(uid).join(format!("{pid}.sock"))
}

/// The data directory of a JVM into which the agent was loaded while the JVM was running.
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
        // `sockaddr_un` holds 108 bytes. A client outside the JVM's container prefixes the path
        // with `/proc/<pid>/root`.
        assert!("/proc/4294967295/root".len() + path.as_os_str().len() < 108);
    }
}
