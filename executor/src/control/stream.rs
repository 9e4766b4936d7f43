//! A connection to a client, through a Unix socket or through TCP.

use super::credentials::peer_credentials;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// One handle of a connection.
pub enum Stream {
    /// A process of this machine; the kernel knows its user.
    Unix(UnixStream),
    /// A process that must show the token.
    Tcp(TcpStream),
}

/// Evaluates the same expression for either kind of connection.
macro_rules! with_stream {
    ($self:expr, $stream:ident => $expression:expr) => {
        match $self {
            Stream::Unix($stream) => $expression,
            Stream::Tcp($stream) => $expression,
        }
    };
}

impl Stream {
    /// Describes the process at the other end for the user, for instance `uid 1000 pid 4711`.
    pub fn peer(&self) -> String {
        match self {
            Stream::Unix(stream) => match peer_credentials(stream) {
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

    /// Returns another handle of the same connection.
    pub fn try_clone(&self) -> io::Result<Stream> {
        Ok(match self {
            Stream::Unix(stream) => Stream::Unix(stream.try_clone()?),
            Stream::Tcp(stream) => Stream::Tcp(stream.try_clone()?),
        })
    }

    /// Ends the connection for all its handles. Threads that read or write wake.
    pub fn shutdown(&self) {
        // An error says that the connection has ended already.
        let _ = with_stream!(self, stream => stream.shutdown(Shutdown::Both));
    }

    /// Sets the longest time that a read waits; `None` means forever.
    pub fn set_read_timeout(&self, time: Option<Duration>) -> io::Result<()> {
        with_stream!(self, stream => stream.set_read_timeout(time))
    }

    /// Sets the longest time that a write waits; `None` means forever.
    pub fn set_write_timeout(&self, time: Option<Duration>) -> io::Result<()> {
        with_stream!(self, stream => stream.set_write_timeout(time))
    }

    /// Returns whether the other end has closed the connection. A client of a Unix socket may
    /// close its sending side alone and still read; a TCP client may not, because TCP cannot tell
    /// that case from a closed connection.
    pub fn is_closed_by_peer(&self) -> bool {
        let half_closed = match self {
            Stream::Unix(_) => PollFlags::empty(),
            Stream::Tcp(_) => PollFlags::RDHUP,
        };
        let mut polled = [with_stream!(self, stream => PollFd::new(stream, half_closed))];
        // The timeout 0 makes the call return at once.
        let ready = poll(&mut polled, Some(&Timespec::default())).is_ok_and(|ready| ready > 0);
        let [polled] = polled;
        let closed = PollFlags::HUP | PollFlags::ERR | half_closed;
        ready && polled.revents().intersects(closed)
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        with_stream!(self, stream => stream.read(buffer))
    }
}

impl Write for Stream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        with_stream!(self, stream => stream.write(buffer))
    }

    fn flush(&mut self) -> io::Result<()> {
        with_stream!(self, stream => stream.flush())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_half_closed_unix_connection_is_open_but_a_half_closed_tcp_connection_is_not() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let unix = Stream::Unix(ours);
        theirs.shutdown(Shutdown::Write).unwrap();
        assert!(!unix.is_closed_by_peer());
        drop(theirs);
        assert!(unix.is_closed_by_peer());

        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let theirs = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let tcp = Stream::Tcp(listener.accept().unwrap().0);
        assert!(!tcp.is_closed_by_peer());
        theirs.shutdown(Shutdown::Write).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        assert!(tcp.is_closed_by_peer());
    }

    #[test]
    fn shutdown_of_one_handle_wakes_a_reader_of_another() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let stream = Stream::Unix(ours);
        let mut reading = stream.try_clone().unwrap();
        let thread = std::thread::spawn(move || reading.read(&mut [0]).unwrap());
        std::thread::sleep(Duration::from_millis(20));
        stream.shutdown();
        assert_eq!(thread.join().unwrap(), 0);
    }

    #[test]
    fn a_unix_peer_is_described_by_its_user_and_process() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let description = Stream::Unix(ours).peer();
        assert!(description.starts_with("uid "), "{description}");
        let pid = format!(" pid {}", std::process::id());
        assert!(description.ends_with(&pid), "{description}");
    }
}
