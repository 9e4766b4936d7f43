//! The server of the page: `veneer serve`. It speaks HTTP to browsers of this machine and the control
//! protocol to the agents.
//!
//! ```text
//!   browser ─▶ access ─▶ api ─┬─▶ assets                     the files of the page
//!                             ├─▶ machine                    JVMs, classes, methods
//!                             ├─▶ plans                      functions of plans, dry runs
//!                             ├─▶ sessions ─▶ attachment     what one tab has attached in one JVM
//!                             ├─▶ recordings                 commands that measure for some seconds
//!                             ├─▶ files                      recordings and traces on disk
//!                             ├─▶ timelines, queries,        what a trace shows, and
//!                             │   trace_difference           what two of them do
//!                             └─▶ sources, diagnoses         source texts; what works with a JVM
//! ```
//!
//! Each attachment has a connection of its own to the agent, which holds it on a lease. If the tab is
//! closed, its event stream ends, and after [`sessions::GRACE_TIME`] the server closes the
//! connections. If the server is killed, the connections close too. In both cases the agent detaches
//! everything that the page attached.
//!
//! **Invariants:**
//! * A request is answered only if its `Host` is this server and it has the token (`access.rs`).
//! * Without [`Options::allow_edits`], no request can change what a program does: the server writes
//!   the plans itself, from a few fields (`requested_instrument.rs`).

mod access;
mod api;
mod api_error;
mod assets;
mod attachment;
mod bundle;
mod diagnoses;
mod files;
mod machine;
mod opened_trace;
mod outlet;
mod plans;
mod queries;
mod recordings;
mod report;
mod requested_instrument;
mod sessions;
mod shell_word;
mod sources;
mod timelines;
mod trace_contexts;
mod trace_difference;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use thiserror::Error;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

pub use plans::PlanFunction;
pub use report::{ReportContent, ReportError, WrittenReport, report};

use access::Access;
use api_error::ApiError;
use files::{Files, UnreadableFolder};
use recordings::Recordings;
use sessions::Sessions;
use sources::UnreadableSource;

/// The options of the server.
#[derive(Clone, Debug)]
pub struct Options {
    /// The path of the command `veneer`.
    pub veneer: PathBuf,
    /// The version that the page shows.
    pub version: String,
    /// The port on the loopback; 0 for any free one.
    pub port: u16,
    /// The JVMs that the page shows; all of this machine if the list is empty.
    pub pids: Vec<u32>,
    /// Whether plans of the browser may run, which can edit methods, and whether attachments of
    /// others may be detached.
    pub allow_edits: bool,
    /// Folders with recordings and traces, which the page opens.
    pub data: Vec<PathBuf>,
    /// Traces, or folders with traces.
    pub traces: Vec<PathBuf>,
    /// Folders and jars with source texts.
    pub sources: Vec<PathBuf>,
    /// The functions that plans can call, for completion.
    pub plan_functions: Vec<PlanFunction>,
}

/// Why the page cannot be served. The text is the problem, `; ` and the remedy.
#[derive(Debug, Error)]
pub enum ServePageError {
    /// The port cannot be opened.
    #[error("port {port} cannot be opened: {source}; choose another one with --port")]
    Port {
        /// The port that was asked for.
        port: u16,
        /// The error of the system.
        source: io::Error,
    },
    /// A folder with recordings cannot be read.
    #[error(transparent)]
    Folder(#[from] UnreadableFolder),
    /// A folder or jar with sources cannot be read.
    #[error(transparent)]
    Source(#[from] UnreadableSource),
    /// The system refused something else that every server needs.
    #[error("the page cannot be served: {0}")]
    System(#[from] io::Error),
}

/// The state that all requests share.
#[derive(Debug)]
struct Server {
    options: Options,
    access: Access,
    sessions: Sessions,
    recordings: Recordings,
    files: Files,
}

impl Server {
    /// The directory of a trace: one of the server's own recordings, or one on disk.
    fn trace(&self, recording: &str) -> Result<PathBuf, ApiError> {
        match Files::is_id(recording) {
            true => self.files.trace(recording),
            false => self.recordings.trace(recording),
        }
    }
}

/// Serves the page until the process gets SIGINT or SIGTERM. Calls `started` with the address that a
/// browser has to open first, which contains the token.
///
/// # Errors
/// The port is not free, a folder with recordings cannot be read, or the system has no thread or no
/// random bits.
pub fn serve(options: Options, started: impl FnOnce(&str)) -> Result<(), ServePageError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let served = runtime.block_on(run(options, started));
    // Threads that read from agents end with their connections, which `run` has closed.
    runtime.shutdown_background();
    served
}

async fn run(options: Options, started: impl FnOnce(&str)) -> Result<(), ServePageError> {
    let port = options.port;
    let files = Files::new(&options.data, &options.traces)?;
    sources::check(&options.sources)?;
    let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let listener = TcpListener::bind(wanted).await;
    let listener = listener.map_err(|source| ServePageError::Port { port, source })?;
    let server = Arc::new(Server {
        access: Access::new(listener.local_addr()?.port())?,
        sessions: Sessions::default(),
        recordings: Recordings::new()?,
        files,
        options,
    });
    let (mut interrupt, mut terminate) = (
        signal(SignalKind::interrupt())?,
        signal(SignalKind::terminate())?,
    );
    started(&server.access.first_address());
    // Event streams never end by themselves, so the server does not wait for open requests.
    let ended = tokio::select! {
        ended = axum::serve(listener, api::router(server.clone())) => ended,
        () = server.sessions.close_abandoned() => Ok(()),
        _ = interrupt.recv() => Ok(()),
        _ = terminate.recv() => Ok(()),
    };
    server.sessions.close_all();
    server.recordings.end_all();
    Ok(ended?)
}
