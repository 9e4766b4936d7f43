//! The ledger of a virtual speed-up: how long each thread still has to be stopped.
//!
//! There is one clock of delays. While a thread is inside the place, the clock advances by a share of that
//! time, and so does the thread's own account. All other threads owe the difference between the clock and
//! their accounts. A thread that waits for another one owes nothing when it continues, because the thread
//! that wakes it has been stopped for the same time (Coz, section 3.4). A thread that sleeps, or is in
//! native code, still owes its time afterwards: a sleep does not become shorter because other code is faster.

use std::collections::HashMap;

/// The activity of a thread at an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// It executes Java code, and can be stopped.
    Running,
    /// It sleeps or is in native code.
    Away,
    /// It waits for a monitor, for a notification or for a permit.
    Waiting,
    /// The observer has stopped it.
    Stopped,
}

/// A thread at an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObservedThread {
    /// The id of the thread.
    pub thread: i64,
    /// Its activity at that time.
    pub activity: Activity,
    /// Whether it executes the place.
    pub is_inside: bool,
}

/// The accounts of all threads, in nanoseconds.
#[derive(Debug)]
pub struct Ledger {
    share: f64,
    /// The clock of delays.
    delayed: f64,
    /// The time that threads were inside the place.
    inside: f64,
    /// The time for which threads were stopped.
    stopped: f64,
    /// The part of the clock that each thread has accounted for.
    accounts: HashMap<i64, f64>,
}

impl Ledger {
    /// A ledger without threads. `share` is the part of its time that the place is to save.
    pub fn new(share: f64) -> Ledger {
        Ledger {
            share,
            delayed: 0.0,
            inside: 0.0,
            stopped: 0.0,
            accounts: HashMap::new(),
        }
    }

    /// Takes what all threads did for `nanos`.
    pub fn advance(&mut self, nanos: f64, threads: &[ObservedThread]) {
        let before = self.delayed;
        for seen in threads {
            // A new thread was started by one that has been stopped as long as it had to be.
            let account = self.accounts.entry(seen.thread).or_insert(before);
            match seen.activity {
                Activity::Stopped => {
                    *account += nanos;
                    self.stopped += nanos;
                }
                Activity::Running | Activity::Away if seen.is_inside => {
                    *account += self.share * nanos;
                    self.delayed += self.share * nanos;
                    self.inside += nanos;
                }
                Activity::Running | Activity::Away | Activity::Waiting => {}
            }
        }
        let delayed = self.delayed;
        for seen in threads.iter().filter(|t| t.activity == Activity::Waiting) {
            self.accounts.insert(seen.thread, delayed);
        }
    }

    /// The time in nanoseconds for which a thread still has to be stopped; negative if it was stopped for
    /// too long.
    pub fn debt(&self, thread: i64) -> f64 {
        let account = self.accounts.get(&thread);
        account.map_or(0.0, |account| self.delayed - account)
    }

    /// The clock of delays.
    pub fn delayed(&self) -> f64 {
        self.delayed
    }

    /// The time that threads were inside the place.
    pub fn inside(&self) -> f64 {
        self.inside
    }

    /// The time for which threads were stopped.
    pub fn stopped(&self) -> f64 {
        self.stopped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: f64 = 1e5;

    /// A simulated thread: what it does in each tick of its own time, again and again.
    struct Simulated {
        steps: Vec<(Activity, bool)>,
        at: usize,
        rounds: u64,
        is_stopped: bool,
    }

    impl Simulated {
        fn new(parts: &[(usize, Activity, bool)]) -> Simulated {
            let steps = parts
                .iter()
                .flat_map(|(ticks, activity, inside)| vec![(*activity, *inside); *ticks]);
            Simulated {
                steps: steps.collect(),
                at: 0,
                rounds: 0,
                is_stopped: false,
            }
        }

        /// Lives for one tick.
        fn live(&mut self, thread: i64) -> ObservedThread {
            let (mut activity, is_inside) = self.steps[self.at];
            if self.is_stopped {
                activity = Activity::Stopped;
            } else {
                self.at += 1;
                if self.at == self.steps.len() {
                    (self.at, self.rounds) = (0, self.rounds + 1);
                }
            }
            ObservedThread {
                thread,
                activity,
                is_inside,
            }
        }
    }

    /// Runs threads for `ticks` and returns the rounds of the first thread for each tick of virtual time.
    fn rate(share: f64, mut threads: Vec<Simulated>, ticks: u64) -> f64 {
        let mut ledger = Ledger::new(share);
        for _ in 0..ticks {
            let seen: Vec<_> = (0..).zip(&mut threads).map(|(n, t)| t.live(n)).collect();
            ledger.advance(TICK, &seen);
            for (thread, simulated) in (0..).zip(&mut threads) {
                let can_stop = simulated.steps[simulated.at].0 == Activity::Running;
                let owes = ledger.debt(thread) >= TICK;
                simulated.is_stopped = owes && (can_stop || simulated.is_stopped);
            }
        }
        threads[0].rounds as f64 / (ticks as f64 - ledger.delayed() / TICK)
    }

    /// The part of the time that is saved if the place takes half of its time.
    fn predicted(threads: impl Fn() -> Vec<Simulated>) -> f64 {
        1.0 - rate(0.0, threads(), 100_000) / rate(0.5, threads(), 100_000)
    }

    const IN: (Activity, bool) = (Activity::Running, true);
    const OUT: (Activity, bool) = (Activity::Running, false);

    fn part(ticks: usize, (activity, inside): (Activity, bool)) -> (usize, Activity, bool) {
        (ticks, activity, inside)
    }

    #[test]
    fn a_thread_alone_saves_the_share_of_its_own_time() {
        let one = || vec![Simulated::new(&[part(60, IN), part(40, OUT)])];
        assert!((predicted(one) - 0.3).abs() < 0.005, "{}", predicted(one));
    }

    #[test]
    fn threads_that_do_the_same_save_the_same() {
        let thread = || Simulated::new(&[part(60, IN), part(40, OUT)]);
        let four = || (0..4).map(|_| thread()).collect();
        assert!((predicted(four) - 0.3).abs() < 0.01, "{}", predicted(four));
    }

    #[test]
    fn sleeping_inside_is_sped_up_like_computing() {
        let asleep = (Activity::Away, true);
        let three = || {
            let thread = || Simulated::new(&[part(90, asleep), part(10, OUT)]);
            (0..3).map(|_| thread()).collect()
        };
        assert!(
            (predicted(three) - 0.45).abs() < 0.01,
            "{}",
            predicted(three)
        );
    }

    #[test]
    fn a_thread_that_never_enters_the_place_gains_nothing() {
        let computes = || {
            vec![
                Simulated::new(&[part(50, OUT)]),
                Simulated::new(&[part(80, IN), part(20, OUT)]),
            ]
        };
        assert!(predicted(computes).abs() < 0.01, "{}", predicted(computes));
        let sleeps = || {
            vec![
                Simulated::new(&[part(50, (Activity::Away, false)), part(10, OUT)]),
                Simulated::new(&[part(80, IN), part(20, OUT)]),
            ]
        };
        assert!(predicted(sleeps).abs() < 0.02, "{}", predicted(sleeps));
    }

    #[test]
    fn a_waiting_thread_owes_nothing() {
        let mut ledger = Ledger::new(0.5);
        let seen = |thread, activity, is_inside| ObservedThread {
            thread,
            activity,
            is_inside,
        };
        let both = [
            seen(1, Activity::Running, true),
            seen(2, Activity::Waiting, true),
            seen(3, Activity::Away, false),
        ];
        ledger.advance(10.0, &both);
        assert_eq!((ledger.delayed(), ledger.inside()), (5.0, 10.0));
        assert_eq!([1, 2, 3, 4].map(|t| ledger.debt(t)), [0.0, 0.0, 5.0, 0.0]);
        ledger.advance(3.0, &[seen(3, Activity::Stopped, false)]);
        assert_eq!((ledger.debt(3), ledger.stopped()), (2.0, 3.0));
    }
}
