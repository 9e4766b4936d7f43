//! Subscriptions: periodic updates with changed counts and logged values.
//!
//! ```text
//!   {"subscribe":{"every":1000,"events":true}}
//!       ─▶  {"update":{"number":1,…}}  {"update":{"number":2,…}}  …  until  {"unsubscribe":{}}
//! ```
//!
//! When an update is due, the agent builds it from the changes since the client's previous update.
//! A client that reads slowly receives fewer and larger updates. `number` counts the due updates,
//! so a gap in the numbers is the number of skipped updates. Skipped updates lose no counts,
//! because counts are totals.
//!
//! * **Points.** An update has at most `points` changed points; the other changed points follow in
//!   the next updates.
//! * **Logged values.** An update has the newest [`MAX_EVENTS_PER_UPDATE`] events at most;
//!   `events_lost` is
//!   the number of events that were not sent.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::report::Instrument;

/// The largest number of logged events in an update.
pub const MAX_EVENTS_PER_UPDATE: usize = 4096;
/// The largest number of points in an update. A message has room for this number of points even if
/// all names have the longest permitted length.
pub const MAX_POINTS_PER_UPDATE: usize = 10_000;
/// The permitted periods of updates, in milliseconds.
pub const UPDATE_PERIOD_MILLIS: std::ops::RangeInclusive<u64> = 50..=3_600_000;

/// A request for periodic updates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscription {
    /// Period of the updates in milliseconds, within [`UPDATE_PERIOD_MILLIS`].
    pub every: u64,
    /// Ids of the wanted instruments (`i7`). An empty list selects all instruments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instruments: Vec<String>,
    /// Whether the updates contain logged values.
    #[serde(default)]
    pub events: bool,
    /// The largest number of points in an update; at most [`MAX_POINTS_PER_UPDATE`].
    #[serde(default = "all_points", skip_serializing_if = "is_all_points")]
    pub points: usize,
}

fn all_points() -> usize {
    MAX_POINTS_PER_UPDATE
}

fn is_all_points(points: &usize) -> bool {
    *points == MAX_POINTS_PER_UPDATE
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// The changes since the client's previous update.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Update {
    /// The number of this update among all due updates. Update 1 contains all instruments and
    /// points.
    pub number: u64,
    /// Time since the agent's start, in milliseconds.
    pub millis: u64,
    /// Instruments whose counts or state have changed, with their changed points only.
    pub instruments: Vec<Instrument>,
    /// Logged events, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<LogEvent>,
    /// Number of logged events that were not sent, or that the application thread dropped.
    #[serde(default)]
    pub events_lost: u64,
    /// Number of changed points that follow in the next updates.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub points_left: u64,
}

/// The values that a log recorded in one pass of a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogEvent {
    /// The instrument's id: `i7`.
    pub instrument: String,
    /// The class name with dots.
    pub class: String,
    /// The method's name and descriptor.
    pub method: String,
    /// The source line, if the class file has line numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u16>,
    /// Time since the agent's start, in nanoseconds.
    pub time_ns: u64,
    /// The Java thread's id.
    pub thread: u64,
    /// The logged values by variable name: null, a number or a string.
    pub values: BTreeMap<String, serde_json::Value>,
}
