//! The tree of contexts of a thread, with the recording to which it belongs.

use crate::data::context_file::{ContextFile, NodeBudget};
use crate::data::processor_clock::{ProcessorTime, Reading, Watch, clock_of_thread};
use crate::data::trace_clock::TraceClock;
use std::sync::Arc;
use std::time::Duration;

/// The tree of a thread.
pub(super) struct ContextTrack {
    /// The number of the thread in the recording.
    pub(super) thread: u32,
    pub(super) file: ContextFile,
    /// The room for nodes of the recording.
    pub(super) budget: Arc<NodeBudget>,
    /// The number of the recording.
    pub(super) recording: u32,
    clock: TraceClock,
    /// The number of the thread in the operating system.
    os_id: libc::pid_t,
    /// How the thread learns that it was switched out.
    watch: Watch,
    /// The latest reading of the thread's clock.
    latest: Reading,
}

impl ContextTrack {
    /// The tree of the current thread.
    pub(super) fn new(
        (thread, file): (u32, ContextFile),
        (recording, budget): (u32, Arc<NodeBudget>),
        clock: TraceClock,
        source: ProcessorTime,
    ) -> ContextTrack {
        let watch = Watch::current(source);
        let latest = match watch {
            Watch::Never => Reading { time: 0, cpu_ns: 0 },
            _ => watch.read(|| clock.now()),
        };
        ContextTrack {
            thread,
            file,
            budget,
            recording,
            clock,
            // SAFETY: a system call without arguments, which cannot fail.
            os_id: unsafe { libc::gettid() },
            watch,
            latest,
        }
    }

    /// The address of the word by which the thread learns that it was switched out.
    pub(super) fn switch_word(&self) -> i64 {
        self.watch.address() as i64
    }

    /// The current thread, which owns the tree, was switched out during its innermost open call. `node` is
    /// the address of the node of this call. Returns the moment of the new reading.
    pub(super) fn switched(&mut self, node: i64) -> Option<u64> {
        if self.watch == Watch::Never {
            return None;
        }
        let reading = self.watch.read(|| self.clock.now());
        self.note(reading, node);
        Some(reading.time)
    }

    /// Notes that the recording of the thread has ended, in the call of the node at an address.
    pub(super) fn complete(&mut self, node: i64) {
        let now = self.clock.now();
        let clock = clock_of_thread(self.os_id).filter(|_| self.watch != Watch::Never);
        if let Some(cpu_ns) = clock {
            self.note(Reading { time: now, cpu_ns }, node);
        }
        self.file.complete(now);
    }

    /// Adds the time since the latest reading during which the thread did not run.
    fn note(&mut self, reading: Reading, node: i64) {
        let used = reading.cpu_ns.saturating_sub(self.latest.cpu_ns);
        let used = self.clock.ticks_of(Duration::from_nanos(used));
        let passed = reading.time.saturating_sub(self.latest.time);
        self.latest = reading;
        self.file.add_off_cpu(node, passed.saturating_sub(used));
    }
}
