//! The numbers under which measurements are stored: counters of shards, and log points.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The number of a counter, from 0. Each thread has a shard with one word for each counter.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct CounterSlot(pub u32);

impl CounterSlot {
    /// The counter that is `counters` places after this one.
    #[must_use]
    pub const fn plus(self, counters: u32) -> CounterSlot {
        CounterSlot(self.0 + counters)
    }

    /// This counter and the counters after it, `count` counters in all.
    pub fn block(self, count: u32) -> impl Iterator<Item = CounterSlot> {
        (self.0..self.0 + count).map(CounterSlot)
    }

    /// The offset of the counter's word in a shard, in bytes.
    pub const fn byte_offset(self) -> u64 {
        self.0 as u64 * 8
    }
}

impl fmt::Display for CounterSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number of a log point, from 1. It names the point in each event of a ring buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LogPoint(pub u32);

impl fmt::Display for LogPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The place where the measurements of one point are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PointSlot {
    /// The first counter of the point.
    Counter(CounterSlot),
    /// The log point, for a point of a log.
    Log(LogPoint),
}

impl PointSlot {
    /// The first counter; `None` for a log point.
    pub const fn counter(self) -> Option<CounterSlot> {
        match self {
            PointSlot::Counter(slot) => Some(slot),
            PointSlot::Log(_) => None,
        }
    }

    /// The log point; `None` for a point with counters.
    pub const fn log_point(self) -> Option<LogPoint> {
        match self {
            PointSlot::Counter(_) => None,
            PointSlot::Log(point) => Some(point),
        }
    }

    /// The number of the counter or of the log point, without its kind.
    pub const fn number(self) -> u32 {
        match self {
            PointSlot::Counter(slot) => slot.0,
            PointSlot::Log(point) => point.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_consecutive_counters() {
        let first = CounterSlot(4);
        assert_eq!(first.plus(2), CounterSlot(6));
        let block: Vec<CounterSlot> = first.block(3).collect();
        assert_eq!(block, [4, 5, 6].map(CounterSlot));
        assert_eq!(first.byte_offset(), 32);
        assert_eq!(CounterSlot(u32::MAX).byte_offset(), 8 * u64::from(u32::MAX));
    }

    #[test]
    fn counters_and_log_points_are_plain_numbers_in_json_and_text() {
        assert_eq!(serde_json::to_string(&CounterSlot(7)).unwrap(), "7");
        assert_eq!(serde_json::from_str::<LogPoint>("7").unwrap(), LogPoint(7));
        assert_eq!(CounterSlot(7).to_string(), LogPoint(7).to_string());
    }

    #[test]
    fn a_point_has_a_counter_or_a_log_point() {
        let (counted, logged) = (
            PointSlot::Counter(CounterSlot(7)),
            PointSlot::Log(LogPoint(7)),
        );
        assert_ne!(counted, logged);
        assert_eq!((counted.number(), logged.number()), (7, 7));
        assert_eq!(
            (counted.counter(), counted.log_point()),
            (Some(CounterSlot(7)), None)
        );
        assert_eq!(
            (logged.counter(), logged.log_point()),
            (None, Some(LogPoint(7)))
        );
    }
}
