//! What the agent and the `veneer` command say to each other, and nothing else.
//!
//! Four things cross the border between the two programs, all of them JSON:
//!
//! ```text
//!   veneer run  ── agent.json (AgentConfig) ──▶  libveneer_agent.so   at load, by the path after `=`
//!   veneer exec ── Request, one a line ───────▶  control socket       while the JVM runs
//!               ◀─ Reply, one a line ──────────
//!   a file      ◀─ Report ────────────────────  at the JVM's exit, or on request
//!   veneer report ◀ data::Catalogue and figures  a directory, while the JVM runs and after
//! ```
//!
//! The crate is linked into the agent, so it depends on `serde`, `serde_json` and `thiserror` only.
//!
//! **Architecture invariant.** Nothing here knows a class file, a JVM or a script: names are text
//! in the form in which people read them (`a.b.C`, `m(I)I`).

mod codec;
mod config;
pub mod data;
mod message;
mod report;
mod socket;
mod status;
mod table;
mod update;

pub use codec::{
    MESSAGE_LIMIT, REQUEST_LIMIT, WireError, read_message, read_message_within, write_message,
};
pub use config::{AgentConfig, ConfigError, PlanSource, Policy, Prints, UnknownPolicy};
pub use message::{PROTOCOL, Reply, Request};
pub use report::{
    Edit, Instrument, Jvm, Kind, Patch, Point, Problem, Readings, Refusal, Report, SCHEMA, Totals,
};
pub use socket::{
    AddressError, TOKEN_LENGTH, data_directory, loopback_address, socket_directory, socket_path,
};
pub use status::{Analysis, Attached, Component, Detached, Edited, Left, Load, Status, Which};
pub use table::{Bucket, Figures, Second, Table, TableEntry, TableKind, bucket_bounds};
pub use update::{EVENTS_AT_ONCE, EVERY, Event, POINTS_AT_ONCE, Subscription, Update};
