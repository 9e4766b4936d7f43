//! What the agent and the `veneer` command say to each other, and nothing else.
//!
//! Three things cross the border between the two programs, all of them JSON:
//!
//! ```text
//!   veneer run  ── agent.json (AgentConfig) ──▶  libveneer_agent.so   at load, by the path after `=`
//!   veneer exec ── Request, one a line ───────▶  control socket       while the JVM runs
//!               ◀─ Reply, one a line ──────────
//!   a file      ◀─ Report ────────────────────  at the JVM's exit, or on request
//! ```
//!
//! The crate is linked into the agent, so it depends on `serde`, `serde_json` and `thiserror` only.
//!
//! **Architecture invariant.** Nothing here knows a class file, a JVM or a script: names are text
//! in the form in which people read them (`a.b.C`, `m(I)I`).

mod codec;
mod config;
mod message;
mod report;
mod socket;

pub use codec::{MESSAGE_LIMIT, WireError, read_message, write_message};
pub use config::{AgentConfig, ConfigError, PlanSource, Policy, Prints, UnknownPolicy};
pub use message::{PROTOCOL, Reply, Request};
pub use report::{
    Edit, Instrument, Jvm, Kind, Patch, Point, Problem, Readings, Refusal, Report, SCHEMA, Totals,
};
pub use socket::{data_directory, socket_directory, socket_path};
