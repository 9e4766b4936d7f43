//! The clock of event traces and of calling contexts: the processor's counter if compiled code can read
//! it, otherwise the monotonic clock. All recordings of a process have the same clock.

use crate::data::monotonic::monotonic;
use crate::data::time_stamp_counter::ticks;
use std::time::Duration;
use veneer_traces::format::names::{ClockRecord, ProbeRecord};

/// The binary digits after the point of a rate. A rate is then exact to some 10⁻⁸, and the times of two
/// minutes are converted in 64 bits.
const RATE_BITS: u32 = 27;

/// The clock of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TraceClock {
    /// A tick is a nanosecond of `System.nanoTime()`.
    #[default]
    Nanoseconds,
    /// A tick is one of the time-stamp counter. It takes this many nanoseconds, times 2⁶²; positive.
    Counter(i64),
}

/// A moment by all clocks.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The time of `System.nanoTime()`.
    pub nanos: u64,
    ticks: u64,
}

impl Moment {
    /// The current moment.
    pub fn now() -> Moment {
        Moment {
            nanos: monotonic(),
            ticks: ticks() as u64,
        }
    }
}

impl TraceClock {
    /// The current time in ticks.
    pub fn now(self) -> u64 {
        match self {
            TraceClock::Nanoseconds => monotonic(),
            TraceClock::Counter(_) => ticks() as u64,
        }
    }

    /// A moment in ticks.
    pub fn time(self, moment: Moment) -> u64 {
        match self {
            TraceClock::Nanoseconds => moment.nanos,
            TraceClock::Counter(_) => moment.ticks,
        }
    }

    /// A duration in ticks.
    pub fn ticks_of(self, duration: Duration) -> u64 {
        let nanos = duration.as_nanos();
        let ticks = match self {
            TraceClock::Nanoseconds => nanos,
            // The shift keeps the bits of 2⁶⁶ nanoseconds, which are 2,000 years.
            TraceClock::Counter(scale) => (nanos << 62) / u128::from(scale.unsigned_abs().max(1)),
        };
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }

    /// The record of a names file, for the time `ticks`, which is `unix_ns` nanoseconds since 1970.
    pub fn record(self, ticks: u64, unix_ns: u64) -> ClockRecord {
        let (numerator, denominator) = match self {
            TraceClock::Nanoseconds => (1, 1),
            TraceClock::Counter(scale) => {
                let rate = scale.unsigned_abs() >> (62 - RATE_BITS);
                (
                    u32::try_from(rate).unwrap_or(u32::MAX).max(1),
                    1 << RATE_BITS,
                )
            }
        };
        ClockRecord {
            ticks,
            unix_ns,
            numerator,
            denominator,
        }
    }

    /// Converts a cost that was calculated as if ticks were nanoseconds.
    pub fn cost(self, cost: ProbeRecord) -> ProbeRecord {
        let picoseconds = |of_ticks: u64| match self {
            TraceClock::Nanoseconds => of_ticks,
            TraceClock::Counter(scale) => {
                let product = u128::from(of_ticks) * u128::from(scale.unsigned_abs());
                u64::try_from(product >> 62).unwrap_or(u64::MAX)
            }
        };
        ProbeRecord {
            inside_ps: picoseconds(cost.inside_ps),
            outside_ps: picoseconds(cost.outside_ps),
            spread_ps: picoseconds(cost.spread_ps),
            ..cost
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A counter of 2.5 GHz.
    const COUNTER: TraceClock = TraceClock::Counter((1 << 62) / 5 * 2);

    #[test]
    fn durations_are_converted_both_ways() {
        let hour = Duration::from_secs(3_600);
        let ticks = COUNTER.ticks_of(hour);
        assert!(ticks.abs_diff(9_000_000_000_000) <= 1, "{ticks}");
        assert_eq!(TraceClock::Nanoseconds.ticks_of(hour), 3_600_000_000_000);
        let record = COUNTER.record(5, 7);
        assert_eq!((record.ticks, record.unix_ns), (5, 7));
        let back = record.nanoseconds(ticks);
        // 10⁻⁸ of an hour.
        assert!(back.abs_diff(3_600_000_000_000) < 36_000, "{back}");
        let plain = TraceClock::Nanoseconds.record(5, 7);
        assert_eq!(plain.nanoseconds(ticks), ticks);
        assert_eq!(COUNTER.ticks_of(Duration::MAX), u64::MAX);
    }

    #[test]
    fn a_cost_is_converted_to_picoseconds() {
        let cost = ProbeRecord {
            id: 1,
            name: "call".into(),
            inside_ps: 30_000,
            outside_ps: 45_000,
            spread_ps: 500,
        };
        assert_eq!(TraceClock::Nanoseconds.cost(cost.clone()), cost);
        let converted = COUNTER.cost(cost);
        let near = |value: u64, wanted: u64| value.abs_diff(wanted) <= 1;
        assert!(near(converted.inside_ps, 12_000) && near(converted.outside_ps, 18_000));
        assert!(near(converted.spread_ps, 200));
    }

    #[test]
    fn a_moment_has_the_times_of_both_clocks() {
        let before = (monotonic(), ticks() as u64);
        let moment = Moment::now();
        assert!(TraceClock::Nanoseconds.time(moment) >= before.0);
        assert!(COUNTER.time(moment) >= before.1);
        assert!(TraceClock::Nanoseconds.now() >= moment.nanos);
        assert!(COUNTER.now() >= COUNTER.time(moment));
    }
}
