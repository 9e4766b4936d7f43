//! The control endpoint: clients ask and are answered, a thread each. These threads know no Java.
//!
//! ```text
//!   endpoint ─▶ token (TCP) ─▶ clients ─▶ session ─▶ plan thread
//!                                            ├─ outbox ◀───┘
//!                                            └─ updates ◀── feed
//! ```
//!
//! **Invariant:** nobody is served whom the kernel (SO_PEERCRED) or the token has not shown to be this JVM's user, or root.
//! **Invariant:** no message names a file: what a client sends is a program, and programs open none. **Invariant:** what a client
//! can make the agent keep is bounded: clients, bytes of a request, bytes that wait to be read.

pub mod clients;
mod endpoint;
mod line;
pub mod outbox;
mod session;
mod stream;
mod subscription;
mod threads;
mod token;
mod updates;

pub use endpoint::path;

use crate::agent::Agent;
use clients::{CLIENTS, STRANGERS};
use endpoint::Listener;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use stream::Stream;
use threads::spawn;
use token::Token;
use veneer_protocol::{Reply, write_message};

/// What connections come through.
static LISTENERS: Mutex<Vec<Arc<Listener>>> = Mutex::new(Vec::new());

fn listeners() -> MutexGuard<'static, Vec<Arc<Listener>>> {
    LISTENERS.lock().unwrap_or_else(|e| e.into_inner())
}

/// Lets nobody in any more, and removes the socket. Who is connected stays so until [`clients::shut_all`].
pub fn close() {
    listeners().drain(..).for_each(|listener| listener.close());
    let _ = std::fs::remove_file(path());
}

/// Opens the socket, and the port where one was asked for, and serves them.
pub fn serve(agent: &'static Agent) {
    let socket = endpoint::open_socket().and_then(|s| listen(agent, Listener::Unix(s), None));
    if let Err(e) = socket {
        agent.problem(
            "",
            &format!("no control socket, so `veneer exec` will not reach this JVM: {e}"),
        );
    }
    if let Some(address) = &agent.config.listen {
        match open_port(agent, address) {
            Ok(bound) => eprintln!("veneer: control on {bound}, with the token"),
            Err(e) => agent.problem("", &format!("no control port: {e}")),
        }
    }
}

fn open_port(agent: &'static Agent, address: &str) -> Result<std::net::SocketAddr, String> {
    let file = agent.config.token_file.as_deref();
    let token = Token::read(file.ok_or("it needs a token file")?)?;
    let (listener, bound) = endpoint::open_port(address)?;
    listen(agent, Listener::Tcp(listener), Some(token))?;
    Ok(bound)
}

/// Starts the thread that takes connections.
fn listen(agent: &'static Agent, listener: Listener, token: Option<Token>) -> Result<(), String> {
    let token: Option<&'static Token> = token.map(|token| &*Box::leak(Box::new(token)));
    let listener = Arc::new(listener);
    listeners().push(listener.clone());
    let accept = move || {
        loop {
            match listener.accept() {
                Ok(stream) => take_in(agent, stream, token),
                Err(_) if agent.left.load(Ordering::SeqCst) => return,
                // No files left, for instance: the application's own must come first.
                Err(_) => std::thread::sleep(Duration::from_millis(100)),
            }
        }
    };
    spawn("veneer-control", accept).map_err(|e| e.to_string())
}

fn turn_away(mut stream: Stream, why: &str) {
    let _ = stream.set_write_timeout(Some(Duration::from_millis(100)));
    let message = why.into();
    let _ = write_message(&mut stream, &Reply::Failed { message });
    stream.shutdown();
}

fn take_in(agent: &'static Agent, stream: Stream, token: Option<&'static Token>) {
    if let Stream::Unix(unix) = &stream
        && !endpoint::is_own(unix)
    {
        return turn_away(stream, "turned away: this JVM belongs to another user");
    }
    let waiting = match token {
        None => None,
        Some(token) => match STRANGERS.admit(&stream) {
            Some(place) => Some((token, place)),
            None => return stream.shutdown(),
        },
    };
    // In the order in which they came, so that none makes room for one that was there before.
    let place = match waiting {
        None => CLIENTS.admit(&stream),
        Some(_) => None,
    };
    // Where no thread can be made the connection closes, which says as much.
    let _ = spawn("veneer-client", move || {
        let mut stream = stream;
        let place = match waiting {
            None => place,
            Some((token, _)) if !token.is_shown(&mut stream) => return,
            Some((_, stranger)) => {
                drop(stranger);
                CLIENTS.admit(&stream)
            }
        };
        match place {
            Some(place) => session::serve(agent, stream, &place),
            None => turn_away(stream, "too many clients are being served; try again later"),
        }
    });
}
