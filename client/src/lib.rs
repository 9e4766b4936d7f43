//! A client of the agent in a running JVM, for any Rust program. The `veneer` command uses it too.
//!
//! ```text
//!   Target::inspect(pid) ─▶ is the process a JVM of this user?   reads /proc, sends nothing
//!        │
//!   Client::connect ─▶ does an agent answer? ─ yes ─▶ Client: requests and replies
//!        │ no                                           ▲
//!   load(target) ─▶ attach (perfdata) ─▶ the JVM loads the agent; the agent opens its socket
//! ```
//!
//! ```no_run
//! use veneer_protocol::{Reply, Request};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut client = veneer_client::connect(4711)?;
//! client.send(&Request::Hello {})?;
//! if let Reply::Hello { version, .. } = client.receive()? {
//!     println!("Veneer {version}");
//! }
//! # Ok(()) }
//! ```
//!
//! **Invariant:** this crate sends nothing to a process before it has verified that the process is
//! a JVM that handles the message. The reason is that the attach protocol begins with SIGQUIT,
//! which ends a process without a handler.

pub mod agent;
pub mod attach;
pub mod attach_command;
pub mod cache_folder;
pub mod classes;
pub mod compiled_methods;
pub mod connection;
pub mod diagnostics;
mod embedded_agent;
mod hang;
pub mod load;
mod loaded_library;
pub mod machine;
pub mod perfdata;
pub mod plan_text;
pub mod process_stat;
pub mod processor_time;
pub mod target;
pub mod thread_dump;
pub mod tls;
pub mod token;
pub mod version;

/// The text of an error: the problem, and `; ` and the remedy if there is one.
fn error_text(problem: String, remedy: Option<impl std::fmt::Display>) -> String {
    match remedy {
        Some(remedy) => format!("{problem}; {remedy}"),
        None => problem,
    }
}

pub use connection::{Client, ConnectionCloser, ControlError, RequestSender};
pub use load::{LoadError, LoadOptions, connect, load};
pub use target::{Target, TargetError};
