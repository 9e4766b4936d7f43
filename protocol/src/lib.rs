//! The data that the agent and the `veneer` command exchange: messages, reports and data files.
//!
//! Four kinds of data cross the border between the two programs. The first three are JSON; the
//! data directory holds JSON records and binary files:
//!
//! ```text
//!   veneer run  ── agent.json (AgentConfig) ──▶  libveneer_agent.so   at load; path after `=`
//!   veneer exec ── Request, one per line ─────▶  control socket       while the JVM runs
//!               ◀─ Reply, one per line ────────
//!   a file      ◀─ Report ─────────────────────  at the JVM's exit, or on request
//!   veneer report ◀─ data::Catalogue, counters ─  data directory, while the JVM runs and after
//! ```
//!
//! The agent links this crate into the JVM's process, so the crate has few dependencies: `serde`,
//! `serde_json`, `thiserror`, `crc32fast`, and `veneer-frequency` for the flow graph from which
//! counts are derived.
//!
//! **Architecture invariant.** This crate knows no class file, no JVM and no script. Class and
//! method names are text in the form in which people read them (`a.b.C`, `m(I)I`).

mod class_code;
mod codec;
mod config;
pub mod data;
mod message;
mod report;
mod socket;
mod status;
mod table;
mod update;

pub use class_code::{ClassCode, MethodCode, VersionFile};
pub use codec::{
    MAX_MESSAGE_BYTES, MAX_REQUEST_BYTES, WireError, read_message, read_message_within,
    write_message,
};
pub use config::{
    AgentConfig, ConfigError, CountedClasses, PlanSource, Policy, PrintTarget, UnknownPolicy,
    path_of_process,
};
pub use message::{PROTOCOL_VERSION, Reply, Request};
pub use report::{
    Instrument, InstrumentKind, JvmInfo, Patch, Problem, Report, SCHEMA_VERSION, Totals,
};
pub use socket::{
    AddressError, TOKEN_CHARS, data_directory, loopback_address, socket_directory, socket_path,
};
pub use status::{
    Analysis, Component, DetachReport, DetachTarget, InstrumentStatus, PatchStatus,
    PlanInstanceStatus, Status, TableUse, UnrestoredClass,
};
pub use table::{Table, TableEntry, TableKind};
pub use update::{
    LogEvent, MAX_EVENTS_PER_UPDATE, MAX_POINTS_PER_UPDATE, Subscription, UPDATE_PERIOD_MILLIS,
    Update,
};
pub use veneer_measurements::{
    Bucket, EditKind, EntryMetrics, Measurement, PointRow, RefusalRow, SecondCount, bucket_bounds,
};
