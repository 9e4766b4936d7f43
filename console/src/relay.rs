//! `veneer relay`: lets programs on other machines control a JVM on this machine, over TLS and with
//! a token.
//!
//! ```text
//!   veneer exec --connect HOST:PORT --cert … ══ TLS ══▶ relay: token? ──▶ the agent's socket
//! ```
//!
//! The relay is not part of the JVM. For the agent, the relay is a client of its own user. The
//! relay opens one connection to the agent for each client.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use subtle::ConstantTimeEq;
use veneer_client::connection::target_socket_path;
use veneer_client::tls::TlsIdentity;
use veneer_client::{Target, connect, token};
use veneer_protocol::{Reply, write_message};

use crate::cli::RelayArguments;
use crate::output::print_error;

/// Maximum number of connected clients. Further connections are closed.
const MAX_CLIENTS: usize = 16;
/// How long the relay waits for a client's token.
const TOKEN_TIMEOUT: Duration = Duration::from_secs(3);
/// Delay before a client with a wrong token is rejected. The delay slows down guessing.
const REJECTION_DELAY: Duration = Duration::from_millis(500);
/// Maximum length in bytes of the line that is read as a token.
const MAX_TOKEN_LINE_BYTES: u64 = 256;

struct Relay {
    pid: u32,
    identity: TlsIdentity,
    token: String,
    clients: AtomicUsize,
}

/// Relays until the command is interrupted or the JVM ends.
pub fn run(arguments: RelayArguments) -> Result<u8> {
    let identity = TlsIdentity::read(&arguments.cert, &arguments.key)?;
    let path = token::create_token_file(&arguments.token_file)?;
    let token = token::read_token_file(&path)?;
    // Loads the agent if necessary, so that clients find it.
    drop(connect(arguments.pid)?);
    let listener = TcpListener::bind(arguments.listen).with_context(|| {
        format!(
            "{} cannot be listened at; choose another address",
            arguments.listen
        )
    })?;
    let mut stdout = io::stdout().lock();
    writeln!(
        stdout,
        "process {} can be controlled at {}, with the token in {} and the certificate {}",
        arguments.pid,
        listener.local_addr()?,
        path.display(),
        arguments.cert.display()
    )?;
    stdout.flush()?;
    let relay = Arc::new(Relay {
        pid: arguments.pid,
        identity,
        token,
        clients: AtomicUsize::new(0),
    });
    let watched = Target::inspect(arguments.pid)?;
    thread::Builder::new()
        .name("accept".into())
        .spawn(move || {
            for stream in listener.incoming().filter_map(Result::ok) {
                let relay = relay.clone();
                // If no thread can be started, the connection is closed.
                let _ = thread::Builder::new()
                    .name("client".into())
                    .spawn(move || relay.serve(stream));
            }
        })?;
    while watched.is_alive() {
        thread::sleep(Duration::from_millis(200));
    }
    writeln!(stdout, "process {} has ended", arguments.pid)?;
    Ok(0)
}

impl Relay {
    fn serve(&self, stream: TcpStream) {
        let from = stream.peer_addr().map_or_else(
            |_| "an unknown client".into(),
            |address| address.to_string(),
        );
        if self.clients.fetch_add(1, Ordering::Relaxed) < MAX_CLIENTS
            && let Err(error) = self.relay(stream)
        {
            print_error(&format!("{from}: {error}"));
        }
        self.clients.fetch_sub(1, Ordering::Relaxed);
    }

    fn relay(&self, stream: TcpStream) -> Result<()> {
        let mut plain = self.identity.accept(stream)?;
        plain.set_read_timeout(Some(TOKEN_TIMEOUT))?;
        let mut reader = BufReader::new(plain.try_clone()?);
        let mut line = Vec::new();
        // A token that is not received in time is treated as a wrong token.
        let _ = reader
            .by_ref()
            .take(MAX_TOKEN_LINE_BYTES)
            .read_until(b'\n', &mut line);
        if !bool::from(self.token.as_bytes().ct_eq(line.trim_ascii())) {
            thread::sleep(REJECTION_DELAY);
            let message = "turned away: the token is wrong or missing".to_owned();
            let _ = write_message(&mut plain, &Reply::Failed { message });
            anyhow::bail!("the token is wrong or missing");
        }
        plain.set_read_timeout(None)?;
        let target = Target::inspect(self.pid)?;
        let agent = UnixStream::connect(target_socket_path(&target)).with_context(|| {
            format!(
                "the agent in process {} does not answer; `veneer attach {}` loads it",
                self.pid, self.pid
            )
        })?;
        let (mut from_agent, mut to_client) = (agent.try_clone()?, plain.try_clone()?);
        let back = thread::Builder::new()
            .name("replies".into())
            .spawn(move || {
                let _ = io::copy(&mut from_agent, &mut to_client);
                let _ = to_client.shutdown(Shutdown::Both);
            })?;
        let mut to_agent = &agent;
        let _ = io::copy(&mut reader, &mut to_agent);
        // The agent detaches what this client attached when its connection closes.
        let _ = agent.shutdown(Shutdown::Both);
        let _ = back.join();
        Ok(())
    }
}
