//! The time for which dumps and collections stop a JVM, from HotSpot's performance counters.

use std::time::{Duration, Instant};

use veneer_client::Target;
use veneer_client::perfdata::{PauseTimes, pause_times};

/// The pauses since the last look at the counters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PauseShares {
    /// The time for which the last request stopped the program, at most.
    pub cost: Duration,
    /// The share of the time in which collections stopped the program, from 0 to 1.
    pub collections: f64,
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
                cost: exchange,
                collections: 0.0,
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
    let elapsed = after.saturating_duration_since(before).as_secs_f64();
    PauseShares {
        // Safepoints of the JVM's own may be counted too, so the cost is an upper bound.
        cost: safepoints.saturating_sub(collections).min(exchange),
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
        let times = |safepoints, collections| PauseTimes {
            safepoints: Duration::from_millis(safepoints),
            collections: Duration::from_millis(collections),
        };
        let after = begin + Duration::from_millis(200);
        let exchange = Duration::from_millis(5);
        let cost = |safepoints| {
            shares(
                (times(10, 10), begin),
                (times(safepoints, 60), after),
                exchange,
            )
            .cost
        };
        assert_eq!(cost(62), Duration::from_millis(2));
        assert_eq!(cost(90), exchange);
        let found = shares((times(10, 10), begin), (times(62, 60), after), exchange);
        assert!((found.collections - 0.25).abs() < 1e-9, "{found:?}");
    }
}
