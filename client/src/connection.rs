//! Client side of the control socket or control port of an agent in a running JVM.

use parking_lot::Mutex;
use std::fs;
use std::io::{self, BufReader, Read, Write};
use std::mem::{MaybeUninit, size_of};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use thiserror::Error;
use veneer_protocol::{
    Analysis, DetachReport, DetachTarget, PROTOCOL_VERSION, Reply, Report, Request, Status,
    WireError, read_message, socket_directory, socket_path, write_message,
};

use crate::error_text;
use crate::target::Target;
use crate::tls::{self, TlsError};

/// The longest wait for a TCP connection and for the agent's reply to `hello`.
const HELLO_TIMEOUT: Duration = Duration::from_secs(5);

/// The longest wait for the reply to a request that the agent answers from stored data.
const QUERY_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest wait for the reply to `detach`, `analyse` or `report`. The agent itself reports an error
/// before this time has passed.
const DETACH_TIMEOUT: Duration = Duration::from_secs(150);

/// A connection on which the agent has answered `hello`.
#[derive(Debug)]
pub struct Client {
    pid: u32,
    reader: BufReader<Stream>,
    /// The lock is held for a whole request, because the renewing thread and [`RequestSender`]s
    /// write to the same stream.
    writer: Arc<Mutex<Stream>>,
}

/// Closes a connection from another thread; see [`Client::closer`].
#[derive(Debug)]
pub struct ConnectionCloser {
    stream: Stream,
}

impl ConnectionCloser {
    /// Closes the connection. The agent then detaches the attachments that this connection held.
    /// Closing a closed connection has no effect.
    pub fn close(&self) {
        // `shutdown` fails if the agent has already closed the connection.
        let _ = match &self.stream {
            Stream::Unix(stream) => stream.shutdown(Shutdown::Both),
            Stream::Tcp(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

/// Sends requests over the connection of a [`Client`] while another thread receives the replies.
#[derive(Clone, Debug)]
pub struct RequestSender {
    pid: u32,
    writer: Arc<Mutex<Stream>>,
}

impl RequestSender {
    /// Sends a request. The owner of the [`Client`] receives the reply.
    pub fn send(&self, request: &Request) -> Result<(), ControlError> {
        let mut stream = self.writer.lock();
        write_message(&mut *stream, request).map_err(|source| ControlError::Wire {
            pid: self.pid,
            source,
        })
    }
}

/// A connection by Unix socket or by TCP.
#[derive(Debug)]
enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Stream {
    fn try_clone(&self) -> io::Result<Stream> {
        Ok(match self {
            Stream::Unix(stream) => Stream::Unix(stream.try_clone()?),
            Stream::Tcp(stream) => Stream::Tcp(stream.try_clone()?),
        })
    }

    fn set_read_timeout(&self, time: Option<Duration>) -> io::Result<()> {
        match self {
            Stream::Unix(stream) => stream.set_read_timeout(time),
            Stream::Tcp(stream) => stream.set_read_timeout(time),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.read(buffer),
            Stream::Tcp(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.write(buffer),
            Stream::Tcp(stream) => stream.write(buffer),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Why the client cannot communicate with the agent. The text is the problem, `; ` and the remedy.
#[derive(Debug, Error)]
#[error("{}", error_text(self.problem(), self.remedy()))]
pub enum ControlError {
    /// The directory of the sockets belongs to another user or has a mode other than 0700, so
    /// another user could have placed a socket in it.
    Unsafe(PathBuf),
    /// Connecting to the Unix socket failed.
    Connect {
        /// The path of the socket.
        path: PathBuf,
        /// The error of the connection attempt.
        source: io::Error,
    },
    /// Connecting to the TCP port failed.
    Port {
        /// The address that was tried.
        address: SocketAddr,
        /// The error of the connection attempt.
        source: io::Error,
    },
    /// The address is not a loopback address and there is no certificate. The client refuses to
    /// send the token unencrypted over a network.
    Plain(SocketAddr),
    /// The encrypted connection cannot be made.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The agent refused the connection with this message, for instance because of a wrong token.
    Rejected(String),
    /// The agent could not execute the request; the message of its reply `failed`.
    Refused(String),
    /// The agent did not answer within the timeout.
    Silent {
        /// The process of the agent.
        pid: u32,
        /// The length of the wait in seconds.
        seconds: u64,
    },
    /// The agent has another version of the protocol.
    Version {
        /// The process of the agent.
        pid: u32,
        /// The agent's version of the protocol.
        theirs: u32,
        /// The agent's version of Veneer.
        version: String,
    },
    /// The agent sent a reply that does not belong to the request.
    Unexpected(u32),
    /// The agent closed the connection, or its JVM ended.
    Closed(u32),
    /// Reading or writing a message failed.
    Wire {
        /// The process of the agent.
        pid: u32,
        /// The error of reading or writing.
        source: WireError,
    },
}

impl ControlError {
    /// Whether the JVM has closed the connection: the JVM has ended, or its agent has left.
    pub fn is_closed(&self) -> bool {
        match self {
            ControlError::Closed(_) => true,
            ControlError::Wire {
                source: WireError::Io(error),
                ..
            } => matches!(
                error.kind(),
                io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset
            ),
            _ => false,
        }
    }

    /// The problem, without the remedy.
    pub fn problem(&self) -> String {
        match self {
            ControlError::Unsafe(path) => {
                format!(
                    "{} is not a private directory of the JVM's user",
                    path.display()
                )
            }
            ControlError::Connect { path, source } => {
                format!(
                    "the agent's socket {} cannot be opened: {source}",
                    path.display()
                )
            }
            ControlError::Port { address, source } => {
                format!("nothing answers at {address}: {source}")
            }
            ControlError::Plain(address) => format!(
                "{address} is another machine, and without --cert everybody between could read along"
            ),
            ControlError::Tls(error) => error.problem(),
            ControlError::Rejected(message) | ControlError::Refused(message) => {
                format!("the agent says: {message}")
            }
            ControlError::Silent { pid, seconds } => {
                format!("the agent in process {pid} has not answered for {seconds} s")
            }
            ControlError::Version {
                pid,
                theirs,
                version,
            } => format!(
                "the agent in process {pid} speaks version {theirs} of the protocol (Veneer {version}), this command version {PROTOCOL_VERSION}"
            ),
            ControlError::Unexpected(pid) => {
                format!("the agent in process {pid} gave an unexpected answer")
            }
            ControlError::Closed(pid) => format!(
                "process {pid} ended, or closed the connection, before the answer was complete"
            ),
            ControlError::Wire { pid, source } => format!("process {pid}: {}", source.problem()),
        }
    }

    /// An action of the user that solves the problem, if one is known.
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            ControlError::Unsafe(_) => Some("remove it and restart the application"),
            ControlError::Connect { .. } => Some("try again, or restart the application"),
            ControlError::Port { .. } => {
                Some("check the address that the JVM told, and that it runs")
            }
            ControlError::Plain(_) => {
                Some("use `veneer relay` there and --cert here, or forward a port (ssh -L)")
            }
            ControlError::Tls(error) => error.remedy(),
            ControlError::Silent { .. } => Some("the JVM may be overloaded or stopped: try again"),
            ControlError::Version { .. } => Some("use the command of that version"),
            ControlError::Unexpected(_) => {
                Some("agent and `veneer` command must be of one version")
            }
            ControlError::Wire { source, .. } => source.remedy(),
            ControlError::Rejected(_) | ControlError::Refused(_) | ControlError::Closed(_) => None,
        }
    }
}

impl Client {
    /// Connects to the agent in this JVM over its Unix socket. Returns `None` if the JVM has no
    /// agent.
    ///
    /// # Errors
    /// The directory of the socket is not private, the socket cannot be opened, or the agent does
    /// not answer `hello` with this version of the protocol.
    pub fn connect(target: &Target) -> Result<Option<Client>, ControlError> {
        let directory = target.path_from_here(&socket_directory(target.uid));
        let path = target_socket_path(target);
        if !is_private(&directory, target.uid)? {
            return Ok(None);
        }
        let stream = match UnixStream::connect(&path) {
            Ok(stream) => stream,
            // `ConnectionRefused`: a process that has ended left the socket behind.
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
        // `SO_PEERCRED` is the process that called `listen`. The id is 0 if that process is
        // outside our process namespace.
        let peer = peer_pid(&stream).map_err(connect)?;
        if peer != 0 && peer != target.pid {
            return Ok(None);
        }
        Client::handshake(target.pid, Stream::Unix(stream), connect).map(Some)
    }

    /// Connects to the agent that listens at this address, and sends the token. With a certificate,
    /// connects over TLS to a `veneer relay`, which must present exactly that certificate.
    ///
    /// # Errors
    /// No agent answers at the address, the relay presents another certificate, or the token is
    /// wrong. Without a certificate, addresses of other machines fail with
    /// [`ControlError::Plain`].
    pub fn connect_to(
        address: SocketAddr,
        token: &str,
        certificate: Option<&Path>,
    ) -> Result<Client, ControlError> {
        if certificate.is_none() && !address.ip().is_loopback() {
            return Err(ControlError::Plain(address));
        }
        let port = |source| ControlError::Port { address, source };
        let stream = TcpStream::connect_timeout(&address, HELLO_TIMEOUT).map_err(port)?;
        let mut stream = match certificate {
            Some(certificate) => Stream::Unix(tls::connect(stream, certificate)?),
            None => Stream::Tcp(stream),
        };
        stream
            .write_all(format!("{token}\n").as_bytes())
            .map_err(port)?;
        Client::handshake(0, stream, port)
    }

    /// Exchanges `hello` and checks the version of the protocol. `pid` is 0 if the caller does not
    /// know the JVM's process id.
    fn handshake(
        pid: u32,
        stream: Stream,
        failed: impl Fn(io::Error) -> ControlError,
    ) -> Result<Client, ControlError> {
        stream
            .set_read_timeout(Some(HELLO_TIMEOUT))
            .map_err(&failed)?;
        let writer = Arc::new(Mutex::new(stream.try_clone().map_err(&failed)?));
        let mut client = Client {
            pid,
            reader: BufReader::new(stream),
            writer,
        };
        // If writer fails, a reply that the agent sent before it closed the connection explains
        // more than the failed write.
        let asked = client.send(&Request::Hello {});
        match client.receive() {
            Ok(Reply::Hello { protocol, pid, .. }) if protocol == PROTOCOL_VERSION => {
                if client.pid == 0 {
                    client.pid = pid;
                }
            }
            Ok(Reply::Hello {
                protocol, version, ..
            }) => {
                return Err(ControlError::Version {
                    pid,
                    theirs: protocol,
                    version,
                });
            }
            Ok(Reply::Failed { message }) => return Err(ControlError::Rejected(message)),
            Ok(_) => return Err(ControlError::Unexpected(pid)),
            Err(error) => return Err(asked.err().unwrap_or(error)),
        }
        let stream = client.reader.get_ref();
        stream.set_read_timeout(None).map_err(&failed)?;
        Ok(client)
    }

    /// The JVM's process id: from this namespace for a Unix socket, from the JVM's own namespace
    /// for a TCP connection.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Starts a thread that sends `renew` every `period`, so that the agent keeps the attachments
    /// that this connection holds. The thread ends when the connection does, and does not keep it open.
    pub fn keep_renewing(&self, period: Duration) -> Result<(), ControlError> {
        let (pid, writer) = (self.pid, Arc::downgrade(&self.writer));
        let renew = move || {
            let mut good = true;
            while good {
                thread::sleep(period);
                let Some(writer) = writer.upgrade() else {
                    return;
                };
                let mut stream = writer.lock();
                good = write_message(&mut *stream, &Request::Renew {}).is_ok();
            }
        };
        let started = thread::Builder::new().name("renew".into()).spawn(renew);
        started.map(|_| ()).map_err(|source| ControlError::Wire {
            pid,
            source: WireError::Io(source),
        })
    }

    /// A handle that closes this connection from another thread. A thread that waits in
    /// [`Client::receive`] then gets [`ControlError::Closed`].
    ///
    /// # Errors
    /// The process has no free file descriptor.
    pub fn closer(&self) -> Result<ConnectionCloser, ControlError> {
        let stream = self.writer.lock();
        match stream.try_clone() {
            Ok(stream) => Ok(ConnectionCloser { stream }),
            Err(source) => Err(self.wire(WireError::Io(source))),
        }
    }

    /// Sends a request. Waits for no reply.
    pub fn send(&mut self, request: &Request) -> Result<(), ControlError> {
        self.sender().send(request)
    }

    /// A handle that sends requests while another thread waits for replies.
    pub fn sender(&self) -> RequestSender {
        RequestSender {
            pid: self.pid,
            writer: self.writer.clone(),
        }
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

    /// Sends a request and waits for its reply. Skips prints and updates that arrive before the
    /// reply. `take` converts the reply; if `take` returns `None`, the reply has the wrong kind.
    fn ask<T>(
        &mut self,
        request: &Request,
        timeout: Duration,
        take: impl Fn(Reply) -> Option<T>,
    ) -> Result<T, ControlError> {
        self.send(request)?;
        self.set_timeout(Some(timeout))?;
        let answer = loop {
            match self.receive() {
                Ok(Reply::Print(_) | Reply::Update(_)) => {}
                Ok(Reply::Failed { message }) => break Err(ControlError::Refused(message)),
                Ok(reply) => break take(reply).ok_or(ControlError::Unexpected(self.pid)),
                Err(ControlError::Wire {
                    source: WireError::Io(error),
                    ..
                }) if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                ) =>
                {
                    break Err(ControlError::Silent {
                        pid: self.pid,
                        seconds: timeout.as_secs(),
                    });
                }
                Err(error) => break Err(error),
            }
        };
        self.set_timeout(None)?;
        answer
    }

    fn set_timeout(&self, timeout: Option<Duration>) -> Result<(), ControlError> {
        let set = self.reader.get_ref().set_read_timeout(timeout);
        set.map_err(|error| self.wire(WireError::Io(error)))
    }

    /// Runs a program in the agent under this name, and returns the lines that it printed. `hold` is the
    /// lease of what it attaches, in milliseconds.
    ///
    /// # Errors
    /// The program failed ([`ControlError::Refused`]), or the connection did.
    pub fn execute(
        &mut self,
        name: &str,
        source: String,
        hold: Option<u64>,
    ) -> Result<Vec<String>, ControlError> {
        self.send(&Request::Exec {
            name: name.into(),
            source,
            settings: Default::default(),
            modules: Default::default(),
            hold,
        })?;
        let mut lines = Vec::new();
        loop {
            match self.receive()? {
                Reply::Print(line) => lines.push(line),
                Reply::Done { .. } => return Ok(lines),
                Reply::Failed { message } => return Err(ControlError::Refused(message)),
                _ => return Err(ControlError::Unexpected(self.pid())),
            }
        }
    }

    /// Asks for all attachments with their owners and ages.
    ///
    /// # Errors
    /// The connection fails, or the agent does not answer within 10 seconds.
    pub fn status(&mut self) -> Result<Status, ControlError> {
        self.ask(&Request::Status {}, QUERY_TIMEOUT, |reply| match reply {
            Reply::Status(status) => Some(*status),
            _ => None,
        })
    }

    /// Asks for the report with the current counts.
    ///
    /// # Errors
    /// The connection fails, the report exceeds the size of a message, or the agent does not answer
    /// within 150 seconds.
    pub fn report(&mut self) -> Result<Report, ControlError> {
        self.ask(&Request::Report {}, DETACH_TIMEOUT, |reply| match reply {
            Reply::Report(report) => Some(*report),
            _ => None,
        })
    }

    /// Detaches the named instruments, patches or components.
    ///
    /// # Errors
    /// The connection fails, or the agent does not answer within 150 seconds.
    pub fn detach(&mut self, which: DetachTarget) -> Result<DetachReport, ControlError> {
        self.ask(
            &Request::Detach(which),
            DETACH_TIMEOUT,
            |reply| match reply {
                Reply::Detached(detached) => Some(*detached),
                _ => None,
            },
        )
    }

    /// Runs the analyser of a component and returns its result. The analyser prints to the output
    /// of its plan.
    ///
    /// # Errors
    /// There is no such component, its analyser fails, or the connection fails.
    pub fn analyse(&mut self, component: &str) -> Result<Analysis, ControlError> {
        let component = component.to_owned();
        self.ask(
            &Request::Analyse { component },
            DETACH_TIMEOUT,
            |reply| match reply {
                Reply::Analysis(analysis) => Some(*analysis),
                _ => None,
            },
        )
    }

    fn wire(&self, source: WireError) -> ControlError {
        ControlError::Wire {
            pid: self.pid,
            source,
        }
    }
}

/// The path of the control socket of the agent in this JVM, as seen by this process.
pub fn target_socket_path(target: &Target) -> PathBuf {
    target.path_from_here(&socket_path(target.uid, target.own_pid))
}

/// Whether the directory exists. Fails if it exists but is not a directory of `uid` with mode 0700.
fn is_private(directory: &Path, uid: u32) -> Result<bool, ControlError> {
    let Ok(meta) = fs::symlink_metadata(directory) else {
        return Ok(false);
    };
    if !meta.is_dir() || meta.uid() != uid || meta.mode() & 0o077 != 0 {
        return Err(ControlError::Unsafe(directory.to_owned()));
    }
    Ok(true)
}

/// The process at the other end of the socket, in our process namespace.
fn peer_pid(stream: &UnixStream) -> io::Result<u32> {
    // `rustix` cannot represent the process id 0, which the kernel reports for a process of another
    // process namespace.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error;

    #[test]
    fn an_error_is_its_problem_and_its_remedy() {
        let refused = || io::Error::from(io::ErrorKind::ConnectionRefused);
        for (error, remedy, text) in [
            (
                ControlError::Unsafe("/tmp/veneer-7".into()),
                Some("remove it and restart the application"),
                "/tmp/veneer-7 is not a private directory of the JVM's user; remove it and restart the application",
            ),
            (
                ControlError::Connect {
                    path: "/tmp/s".into(),
                    source: refused(),
                },
                Some("try again, or restart the application"),
                "the agent's socket /tmp/s cannot be opened: connection refused; try again, or restart the application",
            ),
            (
                ControlError::Port {
                    address: ([127, 0, 0, 1], 9).into(),
                    source: refused(),
                },
                Some("check the address that the JVM told, and that it runs"),
                "nothing answers at 127.0.0.1:9: connection refused; check the address that the JVM told, and that it runs",
            ),
            (
                ControlError::Refused("no; not now".into()),
                None,
                "the agent says: no; not now",
            ),
            (
                ControlError::Silent { pid: 7, seconds: 5 },
                Some("the JVM may be overloaded or stopped: try again"),
                "the agent in process 7 has not answered for 5 s; the JVM may be overloaded or stopped: try again",
            ),
            (
                ControlError::Closed(7),
                None,
                "process 7 ended, or closed the connection, before the answer was complete",
            ),
            (
                ControlError::Wire {
                    pid: 7,
                    source: WireError::TooLong { limit: 9 },
                },
                Some("send less at once"),
                "process 7: a message is larger than the limit of 9 bytes; send less at once",
            ),
            (
                ControlError::Tls(TlsError::Session(refused())),
                Some(
                    "both ends must have been given the same certificate, and the other one must be `veneer relay`",
                ),
                "no TLS session: connection refused; both ends must have been given the same certificate, and the other one must be `veneer relay`",
            ),
        ] {
            assert_eq!(error.to_string(), text);
            assert_eq!(error.remedy(), remedy);
            assert_eq!(text, error_text(error.problem(), remedy));
        }
    }

    #[test]
    fn a_tls_error_is_transparent() {
        let inner = TlsError::Session(io::Error::other("inner"));
        let error = ControlError::Tls(inner);
        assert_eq!(error.source().unwrap().to_string(), "inner");
    }
}
