//! A clock that costs its readers one load: a word in memory, into which a thread of the agent writes
//! the time at short intervals. Recordings of contexts read it at both ends of each call, and those of
//! lifetimes at each use of an object.
//!
//! The difference of two readings is the duration in the mean: a call that is shorter than an interval
//! usually gets 0, and sometimes the whole interval. After *n* calls with a sum of *t*, the standard
//! error is at most the square root of *t* times the interval.
//!
//! The thread knows no Java. It takes no lock, and ends with the recording.

use crate::data::trace_clock::TraceClock;
use parking_lot::Mutex;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// The interval at which the thread writes the time for contexts.
pub const INTERVAL: Duration = Duration::from_micros(200);

/// The clock with its thread.
#[derive(Default)]
pub struct CoarseClock {
    /// The time of the last reading.
    word: Arc<AtomicI64>,
    thread: Mutex<Option<ClockThread>>,
}

struct ClockThread {
    is_over: Arc<AtomicBool>,
    handle: JoinHandle<()>,
}

impl CoarseClock {
    /// Starts the thread, and returns the address of the word. The clock is in units of `clock`, and the
    /// thread writes it at this interval.
    ///
    /// # Errors
    /// The system starts no thread.
    pub fn start(&self, clock: TraceClock, interval: Duration) -> io::Result<i64> {
        let mut thread = self.thread.lock();
        if thread.is_none() {
            let is_over = Arc::new(AtomicBool::new(false));
            let (word, ends) = (self.word.clone(), is_over.clone());
            word.store(clock.now() as i64, Ordering::Relaxed);
            let run = move || {
                while !ends.load(Ordering::Relaxed) {
                    std::thread::sleep(interval);
                    word.store(clock.now() as i64, Ordering::Relaxed);
                }
            };
            let builder = std::thread::Builder::new().name("veneer-ticks".into());
            let handle = builder.spawn(run)?;
            *thread = Some(ClockThread { is_over, handle });
        }
        Ok(self.word.as_ptr() as i64)
    }

    /// The latest time in the word.
    pub fn latest(&self) -> i64 {
        self.word.load(Ordering::Relaxed)
    }

    /// Ends the thread, if it runs.
    pub fn stop(&self) {
        let thread = self.thread.lock().take();
        if let Some(ClockThread { is_over, handle }) = thread {
            is_over.store(true, Ordering::Relaxed);
            let _ = handle.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn the_word_follows_the_clock_until_the_thread_ends() {
        let coarse = CoarseClock::default();
        let clock = TraceClock::Nanoseconds;
        let begun = clock.now() as i64;
        let address = coarse.start(clock, INTERVAL).expect("a thread");
        assert_eq!(
            coarse.start(clock, INTERVAL).expect("the same thread"),
            address
        );
        let deadline = Instant::now() + Duration::from_secs(20);
        let wanted = begun + 5_000_000;
        while coarse.word.load(Ordering::Relaxed) < wanted && Instant::now() < deadline {
            std::thread::yield_now();
        }
        let read = coarse.word.load(Ordering::Relaxed);
        assert!(read >= wanted && read <= clock.now() as i64, "{read}");
        coarse.stop();
        coarse.stop();
        let last = coarse.word.load(Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(coarse.word.load(Ordering::Relaxed), last);
    }
}
