//! A connection, by a Unix socket or by TCP.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// See the module documentation.
pub enum Stream {
    /// A process of the same user.
    Unix(UnixStream),
    /// Somebody who has shown the token.
    Tcp(TcpStream),
}

/// Does the same with either.
macro_rules! with {
    ($self:expr, $stream:ident => $what:expr) => {
        match $self {
            Stream::Unix($stream) => $what,
            Stream::Tcp($stream) => $what,
        }
    };
}

impl Stream {
    /// Who is at the other end, in words.
    pub fn peer(&self) -> String {
        match self {
            Stream::Unix(stream) => match credentials(stream) {
                Some(peer) if peer.pid > 0 => format!("uid {} pid {}", peer.uid, peer.pid),
                Some(peer) => format!("uid {}", peer.uid),
                None => "unknown".into(),
            },
            Stream::Tcp(stream) => match stream.peer_addr() {
                Ok(address) => format!("tcp {address}"),
                Err(_) => "tcp".into(),
            },
        }
    }

    /// Another handle on the same connection.
    pub fn try_clone(&self) -> io::Result<Stream> {
        Ok(match self {
            Stream::Unix(stream) => Stream::Unix(stream.try_clone()?),
            Stream::Tcp(stream) => Stream::Tcp(stream.try_clone()?),
        })
    }

    /// Ends it, for all handles; who waits for it wakes.
    pub fn shutdown(&self) {
        // It may have ended by itself.
        let _ = with!(self, stream => stream.shutdown(Shutdown::Both));
    }

    /// How long a read waits.
    pub fn set_read_timeout(&self, time: Option<Duration>) -> io::Result<()> {
        with!(self, stream => stream.set_read_timeout(time))
    }

    /// How long a write waits for room.
    pub fn set_write_timeout(&self, time: Option<Duration>) -> io::Result<()> {
        with!(self, stream => stream.set_write_timeout(time))
    }

    fn fd(&self) -> RawFd {
        with!(self, stream => stream.as_raw_fd())
    }

    /// Whether nobody is at the other end any more. (A client of a Unix socket may have closed its sending side only.)
    pub fn is_deserted(&self) -> bool {
        let halves = match self {
            Stream::Unix(_) => 0,
            Stream::Tcp(_) => libc::POLLRDHUP,
        };
        let mut poll = libc::pollfd {
            fd: self.fd(),
            events: halves,
            revents: 0,
        };
        // Safety: a plain system call on one open file.
        let ready = unsafe { libc::poll(&mut poll, 1, 0) };
        ready > 0 && poll.revents & (libc::POLLHUP | libc::POLLERR | halves) != 0
    }
}

/// What the kernel says of the process at the other end.
pub fn credentials(stream: &UnixStream) -> Option<libc::ucred> {
    // Safety: plain data that may be zero.
    let mut peer: libc::ucred = unsafe { std::mem::zeroed() };
    let mut length = std::mem::size_of::<libc::ucred>() as libc::socklen_t;
    // Safety: both pointers are valid for the sizes given.
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

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        with!(self, stream => stream.read(buffer))
    }
}

impl Write for Stream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        with!(self, stream => stream.write(buffer))
    }

    fn flush(&mut self) -> io::Result<()> {
        with!(self, stream => stream.flush())
    }
}
