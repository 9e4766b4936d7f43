//! The virtual speed-up of this JVM: at most one at a time. The plan thread begins and ends it, and an
//! observer thread carries it out.

use parking_lot::{Condvar, Mutex};
use std::time::{Duration, Instant};
use veneer_instruments::{SpeedupId, SpeedupWindow};

/// The longest time that the plan thread waits for the end of an observer, which takes milliseconds.
const MAX_END_WAIT: Duration = Duration::from_secs(2);

#[derive(Default)]
struct State {
    /// The number of the latest speed-up.
    latest: u64,
    /// Whether the latest speed-up is running.
    is_running: bool,
    /// Whether the latest speed-up is to end.
    is_ending: bool,
    /// The measurement of the latest speed-up, once it has ended without an error.
    window: Option<SpeedupWindow>,
}

/// See the module documentation.
#[derive(Default)]
pub struct Speedups {
    state: Mutex<State>,
    changed: Condvar,
}

/// A running speed-up. Dropping it ends the speed-up without a measurement.
pub struct RunningSpeedup<'a> {
    all: &'a Speedups,
    id: SpeedupId,
}

impl Speedups {
    /// Begins a speed-up. `None` if one is running.
    pub fn begin(&self) -> Option<RunningSpeedup<'_>> {
        let mut state = self.state.lock();
        if state.is_running {
            return None;
        }
        *state = State {
            latest: state.latest + 1,
            is_running: true,
            ..State::default()
        };
        Some(RunningSpeedup {
            all: self,
            id: SpeedupId(state.latest),
        })
    }

    /// Ends a speed-up, and returns its measurement. `None` if it failed, or is not the latest one.
    pub fn end(&self, id: SpeedupId) -> Option<SpeedupWindow> {
        let mut state = self.state.lock();
        if state.latest != id.0 {
            return None;
        }
        state.is_ending = true;
        self.changed.notify_all();
        let end = Instant::now() + MAX_END_WAIT;
        while state.is_running {
            if self.changed.wait_until(&mut state, end).timed_out() {
                return None;
            }
        }
        state.window
    }
}

impl RunningSpeedup<'_> {
    /// The number of the speed-up.
    pub fn id(&self) -> SpeedupId {
        self.id
    }

    /// Waits for a time, or until the speed-up is to end. Returns whether it is to end.
    pub fn wait(&self, time: Duration) -> bool {
        let mut state = self.all.state.lock();
        let end = Instant::now() + time;
        while !state.is_ending {
            if self.all.changed.wait_until(&mut state, end).timed_out() {
                break;
            }
        }
        state.is_ending
    }

    /// Ends the speed-up with its measurement.
    pub fn finish(self, window: SpeedupWindow) {
        self.all.state.lock().window = Some(window);
    }
}

impl Drop for RunningSpeedup<'_> {
    fn drop(&mut self) {
        self.all.state.lock().is_running = false;
        self.all.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    fn window(seconds: f64) -> SpeedupWindow {
        SpeedupWindow {
            seconds,
            ..SpeedupWindow::default()
        }
    }

    #[test]
    fn the_end_wakes_the_observer_and_returns_its_measurement() {
        let all = Speedups::default();
        let running = all.begin().expect("the first one");
        let id = running.id();
        assert!(all.begin().is_none(), "one at a time");
        thread::scope(|scope| {
            scope.spawn(|| {
                while !running.wait(Duration::from_secs(60)) {}
                running.finish(window(2.5));
            });
            assert_eq!(all.end(id), Some(window(2.5)));
        });
        assert_eq!(all.end(id), Some(window(2.5)), "it can be asked again");
    }

    #[test]
    fn a_speedup_that_fails_has_no_measurement_and_gives_way_to_the_next() {
        let all = Speedups::default();
        let first = all.begin().expect("the first one");
        let id = first.id();
        assert!(!first.wait(Duration::from_millis(1)));
        drop(first);
        assert_eq!(all.end(id), None);
        let second = all.begin().expect("the second one");
        assert_eq!(all.end(id), None, "it is not the latest one");
        assert!(
            !second.wait(Duration::ZERO),
            "the end was meant for the first one"
        );
    }
}
