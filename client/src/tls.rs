//! TLS for control from other machines: each end has a thread that stands between the network and a plain stream.
//!
//! ```text
//!   client ◀─ socket pair ─▶ thread ◀═══ TLS over TCP ═══▶ thread ◀─ socket pair ─▶ relay ◀─▶ the agent's own socket
//! ```
//!
//! So nobody else has to know of it, and the agent in the JVM does not: the end at the JVM is `veneer relay`, a process of its own.
//! There are no authorities: the client is given the certificate that the other end must show, and takes no other one.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, Connection, DigitallySignedStruct, ServerConfig,
    ServerConnection, SignatureScheme,
};
use thiserror::Error;

/// How long the other end may take to agree on a session.
const HANDSHAKE: Duration = Duration::from_secs(5);
/// Bytes that are read at once, and that may wait for a reader.
const ROOM: usize = 64 << 10;

/// Why there is no TLS.
#[derive(Debug, Error)]
pub enum TlsError {
    /// A file is missing or holds something else.
    #[error("{path} holds no {what}: {reason}; make both with `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 365 -subj /CN=veneer -keyout key.pem -out cert.pem`", path = .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What should be in it.
        what: &'static str,
        /// What was found.
        reason: String,
    },
    /// Certificate and key are no pair, for instance.
    #[error("TLS cannot be set up: {0}; certificate and key must be a pair")]
    Setup(#[from] rustls::Error),
    /// The other end does not agree.
    #[error(
        "no TLS session: {0}; both ends must have been given the same certificate, and the other one must be `veneer relay`"
    )]
    Session(#[source] io::Error),
    /// The system.
    #[error("TLS cannot be set up: {0}")]
    Io(#[source] io::Error),
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn certificate(path: &Path) -> Result<CertificateDer<'static>, TlsError> {
    CertificateDer::from_pem_file(path).map_err(|error| TlsError::File {
        path: path.to_owned(),
        what: "certificate",
        reason: error.to_string(),
    })
}

/// What `veneer relay` shows of itself.
#[derive(Debug, Clone)]
pub struct Identity(Arc<ServerConfig>);

impl Identity {
    /// From a certificate and its key, both as PEM.
    ///
    /// # Errors
    /// Where one of the files is something else, or they are no pair.
    pub fn read(certificate_file: &Path, key_file: &Path) -> Result<Identity, TlsError> {
        let chain = vec![certificate(certificate_file)?];
        let key = PrivateKeyDer::from_pem_file(key_file).map_err(|error| TlsError::File {
            path: key_file.to_owned(),
            what: "private key",
            reason: error.to_string(),
        })?;
        let config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        Ok(Identity(Arc::new(config)))
    }

    /// Agrees with a client on a session, and gives what it says as a plain stream.
    ///
    /// # Errors
    /// Where they do not agree in time.
    pub fn accept(&self, stream: TcpStream) -> Result<UnixStream, TlsError> {
        let connection = ServerConnection::new(self.0.clone())?;
        begin(connection.into(), stream)
    }
}

/// Agrees with the other end on a session, which must show this certificate (PEM), and gives what it says as a plain stream.
///
/// # Errors
/// Where it shows another one, or they do not agree in time.
pub fn connect(stream: TcpStream, certificate_file: &Path) -> Result<UnixStream, TlsError> {
    let pinned = Pinned {
        certificate: certificate(certificate_file)?,
        provider: provider(),
    };
    let config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(pinned))
        .with_no_client_auth();
    // Names say nothing here; the certificate itself is compared.
    let name = ServerName::try_from("veneer").map_err(|e| TlsError::Io(io::Error::other(e)))?;
    let connection = ClientConnection::new(Arc::new(config), name)?;
    begin(connection.into(), stream)
}

/// Takes one certificate and no other.
struct Pinned {
    certificate: CertificateDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl fmt::Debug for Pinned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pinned")
    }
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match *end_entity == self.certificate {
            true => Ok(ServerCertVerified::assertion()),
            false => Err(rustls::Error::General(
                "it shows another certificate".into(),
            )),
        }
    }

    // That the other end has the key to it is proved as always.
    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

/// The handshake, and then a thread between the two streams.
fn begin(mut tls: Connection, mut tcp: TcpStream) -> Result<UnixStream, TlsError> {
    tcp.set_read_timeout(Some(HANDSHAKE))
        .map_err(TlsError::Io)?;
    tcp.set_write_timeout(Some(HANDSHAKE))
        .map_err(TlsError::Io)?;
    while tls.is_handshaking() {
        tls.complete_io(&mut tcp).map_err(TlsError::Session)?;
    }
    let (ours, theirs) = UnixStream::pair().map_err(TlsError::Io)?;
    tcp.set_nonblocking(true).map_err(TlsError::Io)?;
    ours.set_nonblocking(true).map_err(TlsError::Io)?;
    let run = move || {
        let mut between = Between {
            tls,
            tcp,
            plain: ours,
            waiting: Vec::new(),
            heard_all: false,
            said_all: false,
        };
        // Either end sees the connection close.
        let _ = between.run();
        let _ = between.tls.write_tls(&mut between.tcp);
    };
    let thread = thread::Builder::new().name("tls".into()).spawn(run);
    thread.map_err(TlsError::Io)?;
    Ok(theirs)
}

struct Between {
    tls: Connection,
    tcp: TcpStream,
    plain: UnixStream,
    /// What has come and was not taken yet.
    waiting: Vec<u8>,
    /// The other end sends no more.
    heard_all: bool,
    /// Our end sends no more.
    said_all: bool,
}

impl Between {
    fn run(&mut self) -> io::Result<()> {
        self.plaintext()?;
        loop {
            if self.heard_all && self.waiting.is_empty() {
                return Ok(());
            }
            if self.said_all && !self.tls.wants_write() {
                return Ok(());
            }
            let (network, own) = self.wait()?;
            if network & libc::POLLOUT != 0 {
                quiet(self.tls.write_tls(&mut self.tcp))?;
            }
            if network & (libc::POLLIN | libc::POLLHUP | libc::POLLERR) != 0 {
                self.hear()?;
            }
            if own & libc::POLLOUT != 0 {
                let taken = quiet(self.plain.write(&self.waiting))?.unwrap_or(0);
                self.waiting.drain(..taken);
            }
            if own & (libc::POLLIN | libc::POLLHUP | libc::POLLERR) != 0 {
                self.say()?;
            }
        }
    }

    /// Waits until something can be done; what can, for the network and for our end.
    fn wait(&self) -> io::Result<(i16, i16)> {
        let (mut network, mut own) = (0, 0);
        if self.tls.wants_write() {
            network |= libc::POLLOUT;
        } else if !self.said_all {
            // What our end says goes out before more of it is taken.
            own |= libc::POLLIN;
        }
        if !self.heard_all && self.waiting.len() < ROOM {
            network |= libc::POLLIN;
        }
        if !self.waiting.is_empty() {
            own |= libc::POLLOUT;
        }
        let poll = |fd, events| libc::pollfd {
            fd,
            events,
            revents: 0,
        };
        let mut both = [
            poll(self.tcp.as_raw_fd(), network),
            poll(self.plain.as_raw_fd(), own),
        ];
        // SAFETY: two open files, and an array of two.
        let result = unsafe { libc::poll(both.as_mut_ptr(), 2, -1) };
        if result < 0 {
            let error = io::Error::last_os_error();
            return match error.kind() {
                io::ErrorKind::Interrupted => Ok((0, 0)),
                _ => Err(error),
            };
        }
        Ok((both[0].revents, both[1].revents))
    }

    fn hear(&mut self) -> io::Result<()> {
        match quiet(self.tls.read_tls(&mut self.tcp))? {
            Some(0) => self.heard_all = true,
            None => return Ok(()),
            Some(_) => {}
        }
        self.tls.process_new_packets().map_err(io::Error::other)?;
        self.plaintext()
    }

    fn plaintext(&mut self) -> io::Result<()> {
        let mut buffer = [0; 4096];
        loop {
            match quiet(self.tls.reader().read(&mut buffer))? {
                None => return Ok(()),
                Some(0) => {
                    self.heard_all = true;
                    return Ok(());
                }
                Some(n) => self.waiting.extend_from_slice(&buffer[..n]),
            }
        }
    }

    fn say(&mut self) -> io::Result<()> {
        let mut buffer = [0; 16 << 10];
        match quiet(self.plain.read(&mut buffer))? {
            None => {}
            Some(0) => {
                self.said_all = true;
                self.tls.send_close_notify();
            }
            Some(n) => self.tls.writer().write_all(&buffer[..n])?,
        }
        Ok(())
    }
}

/// `None` where it would have to wait.
fn quiet(result: io::Result<usize>) -> io::Result<Option<usize>> {
    match result {
        Ok(n) => Ok(Some(n)),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
            ) =>
        {
            Ok(None)
        }
        // The other end went without a word.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(Some(0)),
        Err(error) => Err(error),
    }
}
