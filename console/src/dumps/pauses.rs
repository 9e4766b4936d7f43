//! The time for which dumps and collections stop a JVM, from HotSpot's performance counters.

use std::time::{Duration, Instant};

use veneer_client::Target;
use veneer_client::perfdata::{PauseTimes, pause_times};

/// The pauses since the last look at the counters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PauseShares {
    /// The time for which the last request stopped all threads, at most.
    pub stopped: Duration,
    /// The time for which the last request stopped all threads but one, at most.
    pub stopping: Duration,
    /// The share of the time in which collections stopped the program, from 0 to 1.
    pub collections: f64,
}

impl PauseShares {
    /// Returns the time that the request took from `active` threads together, in nanoseconds, at
    /// most. The last thread that stops runs until then.
    pub fn cost_nanos(&self, active: u64) -> u64 {
        let all = nanos(self.stopped).saturating_mul(active);
        all.saturating_add(nanos(self.stopping).saturating_mul(active.saturating_sub(1)))
    }
}

/// Returns a duration in nanoseconds, at most the largest number.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// The counters at the beginning and at the last look.
#[derive(Clone, Copy, Debug)]
pub struct Pauses {
    first: Option<(PauseTimes, Instant)>,
    last: Option<(PauseTimes, Instant)>,
}

impl Pauses {
    /// Reads the counters for the first time.
    pub fn begin(target: &Target) -> Pauses {
        let now = pause_times(target).map(|times| (times, Instant::now()));
        Pauses {
            first: now,
            last: now,
        }
    }

    /// Whether the JVM keeps these counters.
    pub fn are_known(&self) -> bool {
        self.last.is_some()
    }

    /// Reads the counters after a request that was `asked` at this moment.
    pub fn next(&mut self, target: &Target, asked: Instant) -> PauseShares {
        // The request did not stop the program before it was asked.
        let exchange = asked.elapsed();
        let now = pause_times(target).map(|times| (times, Instant::now()));
        let shares = match (self.last, now) {
            (Some(last), Some(now)) => shares(last, now, exchange),
            _ => PauseShares {
                stopped: exchange,
                ..PauseShares::default()
            },
        };
        self.last = now;
        shares
    }

    /// Returns the share of the time since the beginning in which collections stopped the program.
    pub fn collections(&self) -> f64 {
        match (self.first, self.last) {
            (Some(first), Some(last)) => shares(first, last, Duration::ZERO).collections,
            _ => 0.0,
        }
    }
}

fn shares(
    (last, before): (PauseTimes, Instant),
    (now, after): (PauseTimes, Instant),
    exchange: Duration,
) -> PauseShares {
    let collections = now.collections.saturating_sub(last.collections);
    let safepoints = now.safepoints.saturating_sub(last.safepoints);
    let synchronisation = now.synchronisation.saturating_sub(last.synchronisation);
    // Safepoints of the JVM's own may be counted too, so the times are upper bounds.
    let stopped = safepoints.saturating_sub(collections).min(exchange);
    let elapsed = after.saturating_duration_since(before).as_secs_f64();
    PauseShares {
        stopped,
        stopping: synchronisation.min(exchange.saturating_sub(stopped)),
        collections: if elapsed > 0.0 {
            (collections.as_secs_f64() / elapsed).min(1.0)
        } else {
            0.0
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collections_are_no_cost_and_the_exchange_is_the_largest_cost() {
        let begin = Instant::now();
        let times = |safepoints, synchronisation, collections| PauseTimes {
            safepoints: Duration::from_millis(safepoints),
            synchronisation: Duration::from_millis(synchronisation),
            collections: Duration::from_millis(collections),
        };
        let after = begin + Duration::from_millis(200);
        let of = |now| {
            let exchange = Duration::from_millis(5);
            shares((times(10, 0, 10), begin), (now, after), exchange)
        };
        let found = of(times(62, 1, 60));
        // Three threads are stopped for 2 ms, and two of them 1 ms earlier.
        assert_eq!(found.cost_nanos(3), 8_000_000);
        assert!((found.collections - 0.25).abs() < 1e-9, "{found:?}");
        assert_eq!(of(times(90, 9, 60)).cost_nanos(2), 10_000_000);
        assert_eq!(of(times(62, 9, 60)).cost_nanos(2), 7_000_000);
    }
}
