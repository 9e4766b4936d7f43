//! TLS for clients on other machines. At each end a thread encrypts and decrypts between the
//! network and a socket pair:
//!
//! ```text
//!   client ◀─ socket pair ─▶ thread ◀═ TLS over TCP ═▶ thread ◀─ socket pair ─▶ relay ◀─▶ agent
//! ```
//!
//! The rest of the client sees a plain stream. The agent in the JVM has no TLS code: the server is
//! `veneer relay`, a separate process, which connects to the agent's socket.
//!
//! There is no certificate authority. The client knows the certificate of the relay and accepts no
//! other one (certificate pinning).

use std::fmt;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, Connection, DigitallySignedStruct, ServerConfig,
    ServerConnection, SignatureScheme,
};
use thiserror::Error;

use crate::error_text;

/// The timeout of each read and write during the TLS handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
/// The number of decrypted bytes in the buffer from which on no more data is read from the network.
/// The limit bounds the memory if the local reader is slow.
const MAX_BUFFERED_BYTES: usize = 64 << 10;

/// Why there is no TLS session. The text is the problem, `; ` and the remedy.
#[derive(Debug, Error)]
#[error("{}", error_text(self.problem(), self.remedy()))]
pub enum TlsError {
    /// The file is missing, or does not contain the expected PEM item.
    File {
        /// The path of the file.
        path: PathBuf,
        /// The expected item: `certificate` or `private key`.
        what: &'static str,
        /// The error of the file system or of the PEM parser.
        reason: String,
    },
    /// The TLS library rejected the configuration, for instance because certificate and key are not
    /// a pair.
    Setup(#[from] rustls::Error),
    /// The handshake failed.
    Session(#[source] io::Error),
    /// A system call failed.
    Io(#[source] io::Error),
}

impl TlsError {
    /// The problem, without the remedy.
    pub fn problem(&self) -> String {
        match self {
            TlsError::File { path, what, reason } => {
                format!("{} holds no {what}: {reason}", path.display())
            }
            TlsError::Setup(error) => format!("TLS cannot be set up: {error}"),
            TlsError::Session(error) => format!("no TLS session: {error}"),
            TlsError::Io(error) => format!("TLS cannot be set up: {error}"),
        }
    }

    /// An action of the user that solves the problem, if one is known.
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            TlsError::File { .. } => Some(
                "make both with `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 365 -subj /CN=veneer -keyout key.pem -out cert.pem`",
            ),
            TlsError::Setup(_) => Some("certificate and key must be a pair"),
            TlsError::Session(_) => Some(
                "both ends must have been given the same certificate, and the other one must be `veneer relay`",
            ),
            TlsError::Io(_) => None,
        }
    }
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

/// The certificate and private key with which `veneer relay` identifies itself.
#[derive(Debug, Clone)]
pub struct TlsIdentity(Arc<ServerConfig>);

impl TlsIdentity {
    /// Reads a certificate and its private key, both as PEM.
    ///
    /// # Errors
    /// A file does not contain the expected item, or certificate and key are not a pair.
    pub fn read(certificate_file: &Path, key_file: &Path) -> Result<TlsIdentity, TlsError> {
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
        Ok(TlsIdentity(Arc::new(config)))
    }

    /// Performs the TLS handshake with a client, and returns the decrypted connection.
    ///
    /// # Errors
    /// The handshake fails or times out.
    pub fn accept(&self, stream: TcpStream) -> Result<UnixStream, TlsError> {
        let connection = ServerConnection::new(self.0.clone())?;
        start_session(connection.into(), stream)
    }
}

/// Performs the TLS handshake with a server that must present this certificate (PEM), and returns
/// the decrypted connection.
///
/// # Errors
/// The file contains no certificate, the server presents another certificate, or the handshake
/// fails or times out.
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
    // The server name is irrelevant, because `Pinned` compares the certificate itself.
    let name = ServerName::try_from("veneer").map_err(|e| TlsError::Io(io::Error::other(e)))?;
    let connection = ClientConnection::new(Arc::new(config), name)?;
    start_session(connection.into(), stream)
}

/// Accepts one certificate and no other.
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

    // The TLS library verifies the handshake signature as usual, which proves that the server has
    // the private key of the certificate.
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

/// Performs the handshake, and starts the thread between the network and the returned stream.
fn start_session(mut tls: Connection, mut tcp: TcpStream) -> Result<UnixStream, TlsError> {
    tcp.set_read_timeout(Some(HANDSHAKE_TIMEOUT))
        .map_err(TlsError::Io)?;
    tcp.set_write_timeout(Some(HANDSHAKE_TIMEOUT))
        .map_err(TlsError::Io)?;
    while tls.is_handshaking() {
        tls.complete_io(&mut tcp).map_err(TlsError::Session)?;
    }
    let (ours, theirs) = UnixStream::pair().map_err(TlsError::Io)?;
    tcp.set_nonblocking(true).map_err(TlsError::Io)?;
    ours.set_nonblocking(true).map_err(TlsError::Io)?;
    let run = move || {
        let mut pump = TlsPump {
            tls,
            tcp,
            local: ours,
            undelivered: Vec::new(),
            network_closed: false,
            local_closed: false,
        };
        // Errors need no report: each end notices that its stream is closed.
        let _ = pump.run();
        let _ = pump.tls.write_tls(&mut pump.tcp);
    };
    let thread = thread::Builder::new().name("tls".into()).spawn(run);
    thread.map_err(TlsError::Io)?;
    Ok(theirs)
}

/// The data of the thread between the network and the local stream.
struct TlsPump {
    tls: Connection,
    tcp: TcpStream,
    local: UnixStream,
    /// Decrypted bytes that the local stream has not yet accepted.
    undelivered: Vec<u8>,
    /// Whether the network end has closed its sending side.
    network_closed: bool,
    /// Whether the local end has closed its sending side.
    local_closed: bool,
}

/// The events after which a read does not wait: data, or the end of the connection.
const READABLE: PollFlags = PollFlags::IN.union(PollFlags::HUP).union(PollFlags::ERR);

impl TlsPump {
    /// Copies data in both directions until one end has closed and all its data is delivered.
    fn run(&mut self) -> io::Result<()> {
        self.decrypt()?;
        loop {
            if self.network_closed && self.undelivered.is_empty() {
                return Ok(());
            }
            if self.local_closed && !self.tls.wants_write() {
                return Ok(());
            }
            let (network, local) = self.wait()?;
            if network.contains(PollFlags::OUT) {
                non_blocking(self.tls.write_tls(&mut self.tcp))?;
            }
            if network.intersects(READABLE) {
                self.receive()?;
            }
            if local.contains(PollFlags::OUT) {
                let taken = non_blocking(self.local.write(&self.undelivered))?.unwrap_or(0);
                self.undelivered.drain(..taken);
            }
            if local.intersects(READABLE) {
                self.send()?;
            }
        }
    }

    /// Waits until a stream is ready. Returns the ready events of the network stream and of the
    /// local stream.
    fn wait(&self) -> io::Result<(PollFlags, PollFlags)> {
        let (mut network, mut local) = (PollFlags::empty(), PollFlags::empty());
        if self.tls.wants_write() {
            network |= PollFlags::OUT;
        } else if !self.local_closed {
            // Local data is read only when all earlier data has been sent, so that the TLS buffer
            // stays small if the network is slow.
            local |= PollFlags::IN;
        }
        if !self.network_closed && self.undelivered.len() < MAX_BUFFERED_BYTES {
            network |= PollFlags::IN;
        }
        if !self.undelivered.is_empty() {
            local |= PollFlags::OUT;
        }
        let mut both = [
            PollFd::new(&self.tcp, network),
            PollFd::new(&self.local, local),
        ];
        match poll(&mut both, None) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok((PollFlags::empty(), PollFlags::empty())),
            Err(error) => return Err(error.into()),
        }
        Ok((both[0].revents(), both[1].revents()))
    }

    /// Reads from the network and decrypts.
    fn receive(&mut self) -> io::Result<()> {
        match non_blocking(self.tls.read_tls(&mut self.tcp))? {
            Some(0) => self.network_closed = true,
            None => return Ok(()),
            Some(_) => {}
        }
        self.tls.process_new_packets().map_err(io::Error::other)?;
        self.decrypt()
    }

    /// Moves all decrypted bytes from the TLS library to the buffer for the local stream.
    fn decrypt(&mut self) -> io::Result<()> {
        let mut buffer = [0; 4096];
        loop {
            match non_blocking(self.tls.reader().read(&mut buffer))? {
                None => return Ok(()),
                Some(0) => {
                    self.network_closed = true;
                    return Ok(());
                }
                Some(n) => self.undelivered.extend_from_slice(&buffer[..n]),
            }
        }
    }

    /// Reads from the local stream and encrypts.
    fn send(&mut self) -> io::Result<()> {
        let mut buffer = [0; 16 << 10];
        match non_blocking(self.local.read(&mut buffer))? {
            None => {}
            Some(0) => {
                self.local_closed = true;
                self.tls.send_close_notify();
            }
            Some(n) => self.tls.writer().write_all(&buffer[..n])?,
        }
        Ok(())
    }
}

/// Converts the result of a non-blocking operation: `None` if the operation would block, 0 if the
/// other end has closed the connection without a TLS close message.
fn non_blocking(result: io::Result<usize>) -> io::Result<Option<usize>> {
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
        // The other end has closed the connection without `close_notify`.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(Some(0)),
        Err(error) => Err(error),
    }
}
