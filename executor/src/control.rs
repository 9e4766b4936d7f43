//! The control endpoint: it accepts connections and starts a thread for each client.
//!
//! ```text
//!   endpoint ─▶ token (TCP only) ─▶ clients ─▶ session ─▶ jobs of the plan thread
//!                                                 ├─ outbox ◀───┘
//!                                                 └─ update thread ◀── subscription
//! ```
//!
//! The threads of the endpoint are not attached to the JVM and call no Java code.
//!
//! **Invariant:** every served client belongs to this JVM's user or to root. The kernel
//! (`SO_PEERCRED`) proves this for the Unix socket, and the token for the TCP port. **Invariant:**
//! no message names a file. A client sends programs as text, and programs cannot open files.
//! **Invariant:** the memory that a client occupies is bounded: the number of clients, the length
//! of a request, and the length of the printed text that waits to be read.

pub mod clients;
mod credentials;
mod endpoint;
mod point_deltas;
mod reply_writer;
mod session;
mod stream;
mod subscription;
mod threads;
mod token;
mod update_thread;

pub use endpoint::path;

use crate::agent::Agent;
use clients::{CLIENTS, UNAUTHENTICATED_CLIENTS};
use credentials::is_own_user;
use endpoint::{EndpointError, Listener};
use parking_lot::{Mutex, MutexGuard};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use stream::Stream;
use threads::spawn;
use token::{ServerToken, ServerTokenError};
use veneer_protocol::{Reply, write_message};

/// The longest time to write the reason of a rejection.
const REJECTION_TIMEOUT: Duration = Duration::from_millis(100);
/// The pause after a failure to accept a connection, for instance because the process has no file
/// descriptor left. The pause keeps the agent from competing with the application for them.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);

/// The reason why the socket or the port is not open.
#[derive(Debug, thiserror::Error)]
enum ControlError {
    #[error("it needs a token file")]
    NoTokenFile,
    #[error(transparent)]
    Token(#[from] ServerTokenError),
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    #[error(transparent)]
    Thread(#[from] io::Error),
}

/// The open listeners.
static LISTENERS: Mutex<Vec<Arc<Listener>>> = Mutex::new(Vec::new());

fn listeners() -> MutexGuard<'static, Vec<Arc<Listener>>> {
    LISTENERS.lock()
}

/// Closes the listeners and removes the socket. Connected clients stay connected until
/// [`clients::shutdown_all`].
pub fn close() {
    listeners().drain(..).for_each(|listener| listener.close());
    let _ = std::fs::remove_file(path());
}

/// Opens the socket, and the TCP port if the user asked for one, and starts to accept
/// connections. A failure is reported as a problem, because the agent works without the endpoint.
pub fn serve(agent: &'static Agent) {
    if let Err(e) = serve_socket(agent) {
        agent.report_problem(
            "",
            &format!("no control socket, so `veneer exec` will not reach this JVM: {e}"),
        );
    }
    if let Some(address) = &agent.config.listen {
        match serve_port(agent, address) {
            Ok(bound) => eprintln!("veneer: control on {bound}, with the token"),
            Err(e) => agent.report_problem("", &format!("no control port: {e}")),
        }
    }
}

fn serve_socket(agent: &'static Agent) -> Result<(), ControlError> {
    let socket = endpoint::open_socket()?;
    start_accepting(agent, Listener::Unix(socket), None)
}

/// Returns the bound address.
fn serve_port(agent: &'static Agent, address: &str) -> Result<SocketAddr, ControlError> {
    let file = agent.config.token_file.as_deref();
    let token = ServerToken::read(file.ok_or(ControlError::NoTokenFile)?)?;
    let (listener, bound) = endpoint::open_port(address)?;
    start_accepting(agent, Listener::Tcp(listener), Some(token))?;
    Ok(bound)
}

/// Starts the thread that accepts connections. Clients must show the token if there is one.
fn start_accepting(
    agent: &'static Agent,
    listener: Listener,
    token: Option<ServerToken>,
) -> Result<(), ControlError> {
    // The token is leaked because client threads, which are never joined, refer to it.
    let token: Option<&'static ServerToken> = token.map(|token| &*Box::leak(Box::new(token)));
    let listener = Arc::new(listener);
    listeners().push(listener.clone());
    let accept = move || {
        loop {
            match listener.accept() {
                Ok(stream) => handle_connection(agent, stream, token),
                Err(_) if agent.left.load(Ordering::SeqCst) => return,
                Err(_) => std::thread::sleep(ACCEPT_RETRY_DELAY),
            }
        }
    };
    Ok(spawn("veneer-control", accept)?)
}

/// Writes the reason of a rejection and closes the connection.
fn reject(mut stream: Stream, reason: &str) {
    let _ = stream.set_write_timeout(Some(REJECTION_TIMEOUT));
    let message = reason.into();
    let _ = write_message(&mut stream, &Reply::Failed { message });
    stream.shutdown();
}

/// Admits a connection and starts the client's thread. A TCP client is admitted to
/// [`UNAUTHENTICATED_CLIENTS`] first, and to [`CLIENTS`] after it has shown the token.
///
/// The accepting thread admits connections in the order of their arrival, so that a connection
/// never takes the place of one that arrived later.
fn handle_connection(agent: &'static Agent, stream: Stream, token: Option<&'static ServerToken>) {
    if let Stream::Unix(unix) = &stream
        && !is_own_user(unix)
    {
        return reject(stream, "turned away: this JVM belongs to another user");
    }
    let unauthenticated = match token {
        None => None,
        Some(token) => match UNAUTHENTICATED_CLIENTS.admit(&stream) {
            Some(permit) => Some((token, permit)),
            None => return stream.shutdown(),
        },
    };
    let permit = match unauthenticated {
        None => CLIENTS.admit(&stream),
        Some(_) => None,
    };
    // If no thread can be started, the connection closes without a message.
    let _ = spawn("veneer-client", move || {
        let mut stream = stream;
        let permit = match unauthenticated {
            None => permit,
            Some((token, _)) if !token.authenticate(&mut stream) => return,
            Some((_, unauthenticated)) => {
                drop(unauthenticated);
                CLIENTS.admit(&stream)
            }
        };
        match permit {
            Some(permit) => session::serve(agent, stream, &permit),
            None => reject(stream, "too many clients are being served; try again later"),
        }
    });
}
