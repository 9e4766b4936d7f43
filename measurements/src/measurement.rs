//! The numbers that an instrument has measured.

use serde::{Deserialize, Serialize};

/// The measurement at one point, by kind of instrument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Measurement {
    /// The measurement of a counter, or of probe code.
    Count {
        /// Number of passes of the point.
        hits: u64,
    },
    /// The measurement of a timer. If `count` is 0, the other fields are 0.
    Time {
        /// Number of intervals that were measured to their end.
        count: u64,
        /// Sum of the intervals, in nanoseconds.
        total_ns: u64,
        /// The shortest interval, in nanoseconds.
        min_ns: u64,
        /// The longest interval, in nanoseconds.
        max_ns: u64,
    },
    /// The measurement of a log.
    Log {
        /// Number of recorded events.
        events: u64,
        /// Number of events that were dropped because the thread's ring buffer was full.
        dropped: u64,
    },
}

impl Measurement {
    /// Returns how often the point was passed: hits, finished intervals or events.
    pub fn hits(&self) -> u64 {
        match *self {
            Measurement::Count { hits } => hits,
            Measurement::Time { count, .. } => count,
            Measurement::Log { events, .. } => events,
        }
    }

    /// Returns the sum of both if they are of one kind, otherwise a copy of `self`.
    #[must_use]
    pub fn merged_with(&self, other: &Measurement) -> Measurement {
        match (*self, *other) {
            (Measurement::Count { hits: a }, Measurement::Count { hits: b }) => {
                Measurement::Count { hits: a + b }
            }
            (
                Measurement::Log { events, dropped },
                Measurement::Log {
                    events: e,
                    dropped: d,
                },
            ) => Measurement::Log {
                events: events + e,
                dropped: dropped + d,
            },
            (one @ Measurement::Time { .. }, Measurement::Time { count: 0, .. })
            | (Measurement::Time { count: 0, .. }, one @ Measurement::Time { .. }) => one,
            (
                Measurement::Time {
                    count,
                    total_ns,
                    min_ns,
                    max_ns,
                },
                Measurement::Time {
                    count: c,
                    total_ns: t,
                    min_ns: n,
                    max_ns: x,
                },
            ) => Measurement::Time {
                count: count + c,
                total_ns: total_ns + t,
                min_ns: min_ns.min(n),
                max_ns: max_ns.max(x),
            },
            (one, _) => one,
        }
    }

    /// Returns the value by which tables are sorted: the total time of a timer, otherwise the hits.
    pub fn weight(&self) -> u64 {
        match *self {
            Measurement::Time { total_ns, .. } => total_ns,
            _ => self.hits(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(count: u64, total_ns: u64, min_ns: u64, max_ns: u64) -> Measurement {
        Measurement::Time {
            count,
            total_ns,
            min_ns,
            max_ns,
        }
    }

    #[test]
    fn measurements_of_one_kind_are_added() {
        let (a, b) = (
            Measurement::Count { hits: 2 },
            Measurement::Count { hits: 3 },
        );
        assert_eq!(a.merged_with(&b), Measurement::Count { hits: 5 });
        let merged = time(2, 30, 10, 20).merged_with(&time(1, 5, 5, 5));
        assert_eq!(merged, time(3, 35, 5, 20));
        // The minimum of no interval is not a measurement.
        assert_eq!(
            time(0, 0, 0, 0).merged_with(&time(1, 5, 5, 5)),
            time(1, 5, 5, 5)
        );
        assert_eq!(a.merged_with(&time(1, 5, 5, 5)), a);
        assert_eq!((merged.hits(), merged.weight(), a.weight()), (3, 35, 2));
    }

    #[test]
    fn json_selects_the_kind_by_its_fields() {
        let log = Measurement::Log {
            events: 2,
            dropped: 1,
        };
        for (measurement, text) in [
            (Measurement::Count { hits: 7 }, r#"{"hits":7}"#),
            (
                time(1, 2, 3, 4),
                r#"{"count":1,"total_ns":2,"min_ns":3,"max_ns":4}"#,
            ),
            (log, r#"{"events":2,"dropped":1}"#),
        ] {
            assert_eq!(serde_json::to_string(&measurement).unwrap(), text);
            assert_eq!(
                serde_json::from_str::<Measurement>(text).unwrap(),
                measurement
            );
        }
    }
}
