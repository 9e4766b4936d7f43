//! Takes thread dumps of a JVM while the view runs, without the agent.
//!
//! ```text
//!   Sampler::begin ─▶ dump ─▶ active stacks ─▶ StackDump
//!        ▲              │
//!        └── wait ◀─────┘   at least 50 times as long as the dump stopped the JVM
//! ```

use std::time::{Duration, Instant};

use veneer_client::Target;
use veneer_client::attach_command::AttachCommandError;
use veneer_client::thread_dump::{DumpedFrame, DumpedThread, thread_dump};

use super::stack_times::{SampledFrame, StackDump};
use crate::dumps::library::{is_idle, is_jdk, waits_in_main};
use crate::dumps::pauses::Pauses;

/// Minimum interval between two dumps.
const MIN_INTERVAL: Duration = Duration::from_millis(100);
/// After a dump, the sampler waits this many times the time for which the dump stopped the JVM. The
/// dumps therefore take at most 2 % of the program's time.
const WAIT_FACTOR: u32 = 49;

/// Takes dumps of one JVM.
pub struct Sampler {
    target: Target,
    pauses: Pauses,
    next: Instant,
}

impl Sampler {
    /// Begins with a dump that may be taken at once.
    pub fn begin(target: Target) -> Sampler {
        Sampler {
            pauses: Pauses::begin(&target),
            target,
            next: Instant::now(),
        }
    }

    /// Returns how long to wait until the next dump may be taken.
    pub fn wait(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }

    /// Takes a dump.
    ///
    /// # Errors
    /// The JVM does not answer.
    pub fn dump(&mut self) -> Result<StackDump, AttachCommandError> {
        let asked = Instant::now();
        let threads = thread_dump(&self.target)?;
        let stopped = self.pauses.next(&self.target, asked).stopped;
        self.next = Instant::now() + MIN_INTERVAL.max(stopped.saturating_mul(WAIT_FACTOR));
        Ok(active_stacks(&threads))
    }
}

/// Returns the stacks of threads that do not wait for work or in `main`, without methods of the JDK and without
/// threads of the agent.
fn active_stacks(threads: &[DumpedThread]) -> StackDump {
    let is_active = |thread: &&DumpedThread| {
        !thread.name.starts_with("veneer") && !is_idle(thread) && !waits_in_main(thread)
    };
    let frame = |frame: &DumpedFrame| SampledFrame {
        class: frame.class.clone(),
        method: frame.method.clone(),
        line: frame.line,
    };
    let stacks = threads.iter().filter(is_active).map(|thread| {
        let own = thread.frames.iter().filter(|frame| !is_jdk(frame));
        own.map(frame).collect()
    });
    StackDump {
        stacks: stacks.filter(|stack: &Vec<_>| !stack.is_empty()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_client::thread_dump::parse;

    #[test]
    fn idle_threads_and_methods_of_the_jdk_are_left_out() {
        let dump = "\
\"main\" #1 prio=5
   java.lang.Thread.State: RUNNABLE
	at java.util.HashMap.get(java.base@17/HashMap.java:1)
	at shop.Desk.serve(Desk.java:20)
	at shop.Main.main(Main.java:5)

\"worker\" #2 prio=5
   java.lang.Thread.State: WAITING (parking)
	at jdk.internal.misc.Unsafe.park(java.base@17/Native Method)
	at java.util.concurrent.LinkedBlockingQueue.take(java.base@17/LinkedBlockingQueue.java:1)
	at shop.Worker.run(Worker.java:4)

\"Reference Handler\" #3 prio=10
   java.lang.Thread.State: RUNNABLE
	at java.lang.ref.Reference.waitForReferencePendingList(java.base@17/Native Method)
";
        let found = active_stacks(&parse(dump));
        let names: Vec<Vec<String>> = found
            .stacks
            .iter()
            .map(|stack| {
                stack
                    .iter()
                    .map(|f| format!("{}.{}", f.class, f.method))
                    .collect()
            })
            .collect();
        assert_eq!(names, [["shop.Desk.serve", "shop.Main.main"]]);
        assert_eq!(found.stacks[0][0].line, Some(20));
    }
}
