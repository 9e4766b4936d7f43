//! The client's side of the control socket (or port) of an agent in a running JVM.

use std::fs;
use std::io::{self, BufReader, Read, Write};
use std::mem::{MaybeUninit, size_of};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use thiserror::Error;
use veneer_protocol::{
    Analysis, Detached, PROTOCOL, Reply, Request, Status, Which, WireError, read_message,
    socket_directory, socket_path, write_message,
};

use crate::target::Target;
use crate::tls::{self, TlsError};

/// How long the agent may take to say hello.
const HELLO: Duration = Duration::from_secs(5);

/// How long it may take to answer a question about what it has at hand.
const ANSWER: Duration = Duration::from_secs(10);
/// How long it may take to take things off; it says itself when that takes longer.
const TAKING: Duration = Duration::from_secs(150);

/// A connection on which the agent has said hello.
#[derive(Debug)]
pub struct Client {
    pid: u32,
    reader: BufReader<Stream>,
    /// Requests are sent whole, also by the thread that renews.
    sending: Arc<Mutex<Stream>>,
}

/// Ends a connection; see [`Client::closer`].
#[derive(Debug)]
pub struct Closer {
    stream: Stream,
}

impl Closer {
    /// Ends it; the agent takes off what it held. Twice is no error.
    pub fn close(&self) {
        // It may have ended by itself.
        let _ = match &self.stream {
            Stream::Unix(stream) => stream.shutdown(Shutdown::Both),
            Stream::Tcp(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

/// Sends over the connection of a [`Client`] that another thread reads from.
#[derive(Clone, Debug)]
pub struct Sender {
    pid: u32,
    sending: Arc<Mutex<Stream>>,
}

impl Sender {
    /// Sends a request; whoever holds the [`Client`] receives the reply.
    pub fn send(&self, request: &Request) -> Result<(), ControlError> {
        let mut stream = self.sending.lock().unwrap_or_else(PoisonError::into_inner);
        write_message(&mut *stream, request).map_err(|source| ControlError::Wire {
            pid: self.pid,
            source,
        })
    }
}

/// By socket or by port.
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
    /// The port cannot be connected to.
    #[error(
        "nothing answers at {address}: {source}; check the address that the JVM told, and that it runs"
    )]
    Port {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// A token must not go over a network as it is.
    #[error(
        "{0} is another machine, and without --cert everybody between could read along; use `veneer relay` there and --cert here, or forward a port (ssh -L)"
    )]
    Plain(SocketAddr),
    /// TLS.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// Turned away.
    #[error("the agent says: {0}")]
    TurnedAway(String),
    /// The agent did not do what was asked.
    #[error("the agent says: {0}")]
    Refused(String),
    /// It does not answer.
    #[error(
        "the agent in process {pid} has not answered for {seconds} s; the JVM may be overloaded or stopped: try again"
    )]
    Silent {
        /// The JVM.
        pid: u32,
        /// How long we waited.
        seconds: u64,
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
        let path = socket_of(target);
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
        Client::greet(target.pid, Stream::Unix(stream), connect).map(Some)
    }

    /// Connects to the agent that listens at this address, and shows the token. With a certificate: to a relay, over TLS, which must
    /// show that certificate.
    ///
    /// # Errors
    /// Where nobody answers there, another one does, or the token is not the right one. Without a certificate no other machine is
    /// talked to.
    pub fn connect_to(
        address: SocketAddr,
        token: &str,
        certificate: Option<&Path>,
    ) -> Result<Client, ControlError> {
        if certificate.is_none() && !address.ip().is_loopback() {
            return Err(ControlError::Plain(address));
        }
        let port = |source| ControlError::Port { address, source };
        let stream = TcpStream::connect_timeout(&address, HELLO).map_err(port)?;
        let mut stream = match certificate {
            Some(certificate) => Stream::Unix(tls::connect(stream, certificate)?),
            None => Stream::Tcp(stream),
        };
        stream
            .write_all(format!("{token}\n").as_bytes())
            .map_err(port)?;
        Client::greet(0, stream, port)
    }

    /// Asks who is there.
    fn greet(
        pid: u32,
        stream: Stream,
        failed: impl Fn(io::Error) -> ControlError,
    ) -> Result<Client, ControlError> {
        stream.set_read_timeout(Some(HELLO)).map_err(&failed)?;
        let sending = Arc::new(Mutex::new(stream.try_clone().map_err(&failed)?));
        let mut client = Client {
            pid,
            reader: BufReader::new(stream),
            sending,
        };
        // What was said before the connection was closed tells more than that it was.
        let asked = client.send(&Request::Hello {});
        match client.receive() {
            Ok(Reply::Hello { protocol, pid, .. }) if protocol == PROTOCOL => {
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
            Ok(Reply::Failed { message }) => return Err(ControlError::TurnedAway(message)),
            Ok(_) => return Err(ControlError::Unexpected(pid)),
            Err(error) => return Err(asked.err().unwrap_or(error)),
        }
        let stream = client.reader.get_ref();
        stream.set_read_timeout(None).map_err(&failed)?;
        Ok(client)
    }

    /// The JVM's process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// From now on says again and again that we are still here.
    pub fn keep_renewing(&self, period: Duration) -> Result<(), ControlError> {
        let (pid, sending) = (self.pid, self.sending.clone());
        let renew = move || {
            let mut good = true;
            while good {
                thread::sleep(period);
                let mut stream = sending.lock().unwrap_or_else(PoisonError::into_inner);
                good = write_message(&mut *stream, &Request::Renew {}).is_ok();
            }
        };
        let started = thread::Builder::new().name("renew".into()).spawn(renew);
        started.map(|_| ()).map_err(|source| ControlError::Wire {
            pid,
            source: WireError::Io(source),
        })
    }

    /// A way to end this connection from another thread: whoever waits in [`Client::receive`] gets [`ControlError::Closed`].
    ///
    /// # Errors
    /// The system has no file left for it.
    pub fn closer(&self) -> Result<Closer, ControlError> {
        let stream = self.sending.lock().unwrap_or_else(PoisonError::into_inner);
        match stream.try_clone() {
            Ok(stream) => Ok(Closer { stream }),
            Err(source) => Err(self.wire(WireError::Io(source))),
        }
    }

    /// Sends a request.
    pub fn send(&mut self, request: &Request) -> Result<(), ControlError> {
        self.sender().send(request)
    }

    /// A way to send while another thread waits for replies.
    pub fn sender(&self) -> Sender {
        Sender {
            pid: self.pid,
            sending: self.sending.clone(),
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

    /// Sends a question and waits for what `take` makes an answer of. Prints and updates that come in between are passed over.
    fn ask<T>(
        &mut self,
        request: &Request,
        patience: Duration,
        take: impl Fn(Reply) -> Option<T>,
    ) -> Result<T, ControlError> {
        self.send(request)?;
        self.wait_at_most(Some(patience))?;
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
                        seconds: patience.as_secs(),
                    });
                }
                Err(error) => break Err(error),
            }
        };
        self.wait_at_most(None)?;
        answer
    }

    fn wait_at_most(&self, patience: Option<Duration>) -> Result<(), ControlError> {
        let set = self.reader.get_ref().set_read_timeout(patience);
        set.map_err(|error| self.wire(WireError::Io(error)))
    }

    /// What is attached, by whom, since when.
    ///
    /// # Errors
    /// Where the connection does not carry the answer.
    pub fn status(&mut self) -> Result<Status, ControlError> {
        self.ask(&Request::Status {}, ANSWER, |reply| match reply {
            Reply::Status(status) => Some(*status),
            _ => None,
        })
    }

    /// Takes off what is named.
    ///
    /// # Errors
    /// Where the connection does not carry the answer, or the agent is busy for too long.
    pub fn detach(&mut self, which: Which) -> Result<Detached, ControlError> {
        self.ask(&Request::Detach(which), TAKING, |reply| match reply {
            Reply::Detached(detached) => Some(*detached),
            _ => None,
        })
    }

    /// What the analyser of a component says. What it prints goes where its plan prints.
    ///
    /// # Errors
    /// There is no such component, its analyser fails, or the connection does not carry the answer.
    pub fn analyse(&mut self, component: &str) -> Result<Analysis, ControlError> {
        let component = component.to_owned();
        self.ask(
            &Request::Analyse { component },
            TAKING,
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

/// Where the socket of the agent in this JVM lies, as it is reached from here.
pub fn socket_of(target: &Target) -> PathBuf {
    target.reach(&socket_path(target.uid, target.own_pid))
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
