//! Ctrl-C as a request to end what is measured, and to keep its result.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::exit_code::EXIT_INTERRUPTED;

/// Interval between two looks at whether the command was interrupted.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// Whether the command was interrupted.
#[derive(Clone, Debug)]
pub struct Interruption {
    is_requested: Arc<AtomicBool>,
}

impl Interruption {
    /// From now on, the first Ctrl-C (or SIGTERM) is recorded, and the second one ends the command.
    ///
    /// # Errors
    /// The signals cannot be caught.
    pub fn catch() -> io::Result<Interruption> {
        let is_requested = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            flag::register_conditional_shutdown(signal, EXIT_INTERRUPTED, is_requested.clone())?;
            flag::register(signal, is_requested.clone())?;
        }
        Ok(Interruption { is_requested })
    }

    /// An interruption by a flag that the caller sets at Ctrl-C.
    pub fn from_flag(is_requested: Arc<AtomicBool>) -> Interruption {
        Interruption { is_requested }
    }

    /// Whether there was a Ctrl-C.
    pub fn is_requested(&self) -> bool {
        self.is_requested.load(Ordering::Relaxed)
    }

    /// The flag that Ctrl-C sets.
    pub fn flag(&self) -> &Arc<AtomicBool> {
        &self.is_requested
    }

    /// Sleeps for this time, or until Ctrl-C.
    pub fn sleep(&self, time: Duration) {
        let end = Instant::now() + time;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || self.is_requested() {
                return;
            }
            thread::sleep(left.min(LOOK_INTERVAL));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_ends_at_an_interruption() {
        let interruption = Interruption {
            is_requested: Arc::default(),
        };
        let begin = Instant::now();
        interruption.sleep(Duration::from_millis(5));
        assert!(begin.elapsed() >= Duration::from_millis(5));
        interruption.is_requested.store(true, Ordering::Relaxed);
        interruption.sleep(Duration::from_secs(3600));
    }
}
