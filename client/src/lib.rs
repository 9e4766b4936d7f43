//! Reaching the agent in a running JVM, from any Rust program: the `veneer` command is one of them.
//!
//! ```text
//!   Target::inspect(pid) ─▶ is it a JVM, and ours?       /proc only; nothing is sent
//!        │
//!   Client::connect ─▶ an agent is there? ─ yes ─▶ Client: requests and replies
//!        │ no                                          ▲
//!   load(target) ─▶ attach (perfdata) ─▶ the JVM loads the agent and opens its socket
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
//! **Invariant:** nothing is sent to a process before it is known to be a JVM that can take it.

pub mod agent;
pub mod attach;
mod carried;
pub mod classes;
pub mod connection;
pub mod examination;
pub mod load;
pub mod machine;
mod perfdata;
pub mod release;
pub mod target;
pub mod tls;
pub mod token;
mod waiting;

pub use connection::{Client, Closer, ControlError, Sender};
pub use load::{LoadError, Loading, connect, load};
pub use target::{Target, TargetError};
