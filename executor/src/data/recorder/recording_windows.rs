//! The windows of a sampled recording: a thread of the agent opens and closes them by a word in memory.
//!
//! ```text
//!   0 ────────────────────┬──────────────┬──────────────┐ 0
//!      closed             │ 2n + 1       │ 2n           │ closed
//!                         │ warms caches │ counts       │
//! ```
//!
//! Versions read the word when an activation begins and in loops. While no window is open, accesses
//! cost a comparison each. A window begins with caches as the last one left them, so accesses are first
//! simulated without being counted.
//!
//! The thread knows no Java, and ends with the recording.

use crate::data::memory::WordTable;
use parking_lot::Mutex;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// The time between two windows.
const CLOSED: Duration = Duration::from_millis(108);
/// The time in which the caches of a window fill.
const WARM_UP: Duration = Duration::from_millis(8);
/// The time in which accesses are counted.
const COUNTED: Duration = Duration::from_millis(4);

/// The windows, and the thread that opens them.
pub struct RecordingWindows {
    /// The word that Java code reads.
    word: Arc<WordTable>,
    /// The number of windows since the latest recording began.
    count: Arc<AtomicU64>,
    thread: Mutex<Option<WindowThread>>,
}

struct WindowThread {
    is_over: Arc<AtomicBool>,
    handle: JoinHandle<()>,
}

impl Default for RecordingWindows {
    fn default() -> RecordingWindows {
        RecordingWindows {
            word: Arc::new(WordTable::new(1)),
            count: Arc::new(AtomicU64::new(0)),
            thread: Mutex::new(None),
        }
    }
}

impl RecordingWindows {
    /// The address of the word.
    pub fn address(&self) -> i64 {
        self.word.address()
    }

    /// The number of windows since the latest recording began.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::SeqCst)
    }

    /// Starts the thread.
    ///
    /// # Errors
    /// The system starts no thread.
    pub fn start(&self) -> io::Result<()> {
        let mut thread = self.thread.lock();
        if thread.is_some() {
            return Ok(());
        }
        self.count.store(0, Ordering::SeqCst);
        let is_over = Arc::new(AtomicBool::new(false));
        let (word, count, ends) = (self.word.clone(), self.count.clone(), is_over.clone());
        let run = move || {
            let mut number = 0;
            while !ends.load(Ordering::SeqCst) {
                number += 1;
                word.set(0, number << 1 | 1);
                std::thread::sleep(WARM_UP);
                count.store(number as u64, Ordering::SeqCst);
                word.set(0, number << 1);
                std::thread::sleep(COUNTED);
                word.set(0, 0);
                std::thread::park_timeout(CLOSED);
            }
        };
        let builder = std::thread::Builder::new().name("veneer-windows".into());
        let handle = builder.spawn(run)?;
        *thread = Some(WindowThread { is_over, handle });
        Ok(())
    }

    /// Closes the window and ends the thread, if it runs.
    pub fn stop(&self) {
        let thread = self.thread.lock().take();
        if let Some(WindowThread { is_over, handle }) = thread {
            is_over.store(true, Ordering::SeqCst);
            handle.thread().unpark();
            let _ = handle.join();
        }
        self.word.set(0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn windows_open_and_close_until_the_recording_ends() {
        let windows = RecordingWindows::default();
        windows.start().expect("a thread");
        windows.start().expect("the same thread");
        let deadline = Instant::now() + Duration::from_secs(30);
        let mut seen = Vec::new();
        while seen.len() < 6 && Instant::now() < deadline {
            let value = windows.word.get(0);
            if seen.last() != Some(&value) {
                seen.push(value);
            }
            std::thread::yield_now();
        }
        windows.stop();
        windows.stop();
        let is_filling = seen.iter().any(|value| value & 1 == 1);
        let counts = seen.iter().any(|value| *value != 0 && value & 1 == 0);
        assert!(is_filling && counts && seen.contains(&0), "{seen:?}");
        let mut numbers: Vec<i64> = seen.iter().map(|value| value >> 1).collect();
        numbers.retain(|number| *number != 0);
        assert!(numbers.is_sorted(), "{seen:?}");
        let count = windows.count();
        assert!(count >= 1);
        std::thread::sleep(CLOSED + WARM_UP);
        assert_eq!((windows.word.get(0), windows.count()), (0, count));
    }
}
