//! The users of this process and of the processes that connect to it, as the kernel knows them.

use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;

/// Returns the effective user id of this process.
pub fn effective_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Returns the process id and the user id of the process that made the connection
/// (`SO_PEERCRED`). The kernel recorded them when the connection was made. The process id is 0 if
/// the process belongs to another process namespace.
pub fn peer_credentials(stream: &UnixStream) -> Option<libc::ucred> {
    // `rustix` cannot represent the process id 0.
    let mut peer = libc::ucred {
        pid: 0,
        uid: 0,
        gid: 0,
    };
    let mut length = std::mem::size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the descriptor is open because `stream` is borrowed. `peer` and `length` are live
    // local variables, and `length` holds the size of `peer`, so the kernel writes inside of it.
    let result = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut length,
        )
    };
    (result == 0).then_some(peer)
}

/// Returns whether the process at the other end belongs to this process's user or to root.
pub fn is_own_user(stream: &UnixStream) -> bool {
    peer_credentials(stream).is_some_and(|peer| peer.uid == effective_user() || peer.uid == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_reports_this_process_for_a_connection_to_itself() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let peer = peer_credentials(&ours).unwrap();
        assert_eq!(peer.uid, effective_user());
        assert_eq!(peer.pid, std::process::id() as i32);
        assert!(is_own_user(&ours));
    }
}
