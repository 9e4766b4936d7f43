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

use std::path::PathBuf;

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
    fn the_longest_path_fits_a_socket_address() {
        let path = socket_path(u32::MAX, u32::MAX);
        // 108 bytes in `sockaddr_un`; another process's root comes before it when seen from outside a container.
        assert!("/proc/4294967295/root".len() + path.as_os_str().len() < 108);
    }
}
