//! What a subscription brings: figures that changed, and values that were logged.
//!
//! ```text
//!   {"subscribe":{"every":1000,"events":true}}  ─▶  {"update":{"number":1,…}}  {"update":{"number":2,…}}  …  until  {"unsubscribe":{}}
//! ```
//!
//! An update is made when it is due, from what has changed since the last one that this client got. A client that reads slowly gets
//! fewer of them, each with more in it; `number` says how many were due, so a gap shows how many it has missed. Figures lose nothing
//! by that: they are totals. Of many points so many are sent at once as the client wants, and the others with the updates that follow. Of logged values the newest [`EVENTS_AT_ONCE`] are sent, and `events_lost` says how many were not.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::report::Instrument;

/// Logged values in an update at most.
pub const EVENTS_AT_ONCE: usize = 4096;
/// Points in an update at most: with the longest names that there are, a message has room for so many.
pub const POINTS_AT_ONCE: usize = 10_000;
/// The shortest and the longest time between updates, in milliseconds.
pub const EVERY: std::ops::RangeInclusive<u64> = 50..=3_600_000;

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscription {
    /// Milliseconds between updates; see [`EVERY`].
    pub every: u64,
    /// Only of these instruments (`i7`); of all where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instruments: Vec<String>,
    /// Logged values too.
    #[serde(default)]
    pub events: bool,
    /// Points in an update at most; see [`POINTS_AT_ONCE`].
    #[serde(default = "all_points", skip_serializing_if = "is_all_points")]
    pub points: usize,
}

fn all_points() -> usize {
    POINTS_AT_ONCE
}

fn is_all_points(points: &usize) -> bool {
    *points == POINTS_AT_ONCE
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// What has changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Update {
    /// Which one this is, of those that were due. The first is 1, and everything has changed for it.
    pub number: u64,
    /// Milliseconds since the agent came in.
    pub millis: u64,
    /// Instruments whose figures or state have changed, with the points that did.
    pub instruments: Vec<Instrument>,
    /// Logged values, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
    /// Logged values that were not sent, or were dropped by the application's thread.
    #[serde(default)]
    pub events_lost: u64,
    /// Points that have changed and come with the next updates.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub points_left: u64,
}

/// Values that a log recorded at one pass of a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The instrument: `i7`.
    pub instrument: String,
    /// With dots.
    pub class: String,
    /// Name and descriptor.
    pub method: String,
    /// The source line, where the class file says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u16>,
    /// Nanoseconds since the agent came in.
    pub time_ns: u64,
    /// The Java thread's id.
    pub thread: u64,
    /// By the names of the variables: null, a number or a text.
    pub values: BTreeMap<String, serde_json::Value>,
}
