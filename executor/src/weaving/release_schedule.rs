//! When the agent tries to release OSR entries: see
//! [`osr_entry_release`](crate::weaving::osr_entry_release).

use std::time::{Duration, Instant};

/// The time between a switch to IDLE and the first attempt.
const FIRST_DELAY: Duration = Duration::from_secs(1);

/// The longest time between two attempts.
const MAX_DELAY: Duration = Duration::from_secs(64);

/// When the next attempt is made.
#[derive(Debug, Default)]
pub struct ReleaseSchedule {
    /// `None` while there is nothing to release, and during an attempt.
    next: Option<Instant>,
    /// The delay before the attempt after the next one.
    delay: Duration,
}

impl ReleaseSchedule {
    /// A method may have an OSR entry to release. If an attempt is due soon, it is not put off.
    pub fn restart(&mut self, now: Instant) {
        let first = now + FIRST_DELAY;
        self.next = Some(self.next.map_or(first, |next| next.min(first)));
        self.delay = FIRST_DELAY * 2;
    }

    /// Whether an attempt is due. If so, the attempt counts as begun.
    pub fn begin_if_due(&mut self, now: Instant) -> bool {
        self.next.take_if(|next| *next <= now).is_some()
    }

    /// Some methods still run after an attempt.
    pub fn retry(&mut self, now: Instant) {
        if self.next.is_none() {
            self.next = Some(now + self.delay);
            self.delay = (self.delay * 2).min(MAX_DELAY);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    #[test]
    fn an_attempt_is_made_a_second_after_the_switch_and_only_once() {
        let (mut schedule, start) = (ReleaseSchedule::default(), Instant::now());
        assert!(!schedule.begin_if_due(after(start, 1000)));
        schedule.restart(start);
        assert!(!schedule.begin_if_due(start));
        assert!(schedule.begin_if_due(after(start, 1)));
        assert!(!schedule.begin_if_due(after(start, 1000)));
    }

    #[test]
    fn further_switches_do_not_put_an_attempt_off() {
        let (mut schedule, start) = (ReleaseSchedule::default(), Instant::now());
        schedule.restart(start);
        schedule.restart(start + FIRST_DELAY / 2);
        assert!(schedule.begin_if_due(after(start, 1)));
    }

    #[test]
    fn attempts_become_rare_while_a_method_runs() {
        let (mut schedule, start) = (ReleaseSchedule::default(), Instant::now());
        schedule.restart(start);
        let mut attempts = Vec::new();
        for second in 0..300 {
            if schedule.begin_if_due(after(start, second)) {
                attempts.push(second);
                schedule.retry(after(start, second));
            }
        }
        assert_eq!(attempts, [1, 3, 7, 15, 31, 63, 127, 191, 255]);
        // A switch makes the next attempt early again.
        schedule.restart(after(start, 300));
        assert!(schedule.begin_if_due(after(start, 301)));
    }
}
