//! The measurement of what a recorded call costs, when a recorder is attached.
//!
//! A thread of its own records empty calls, because a thread keeps its counter shard until it ends. The
//! plan thread waits for it.

use super::RuntimeHandle;
use crate::agent::Agent;
use crate::data::processor_clock::{ProcessorTime, thread_clock};
use crate::data::recorder::calibration::Calibration;
use crate::data::trace_clock::TraceClock;
use crate::jvm::jni::Env;
use crate::jvm::threads;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};
use veneer_instruments::InstrumentId;
use veneer_traces::format::names::ProbeRecord;

/// The calls of one call of Java code. The JIT compiler compiles a method with a loop after some
/// hundred calls.
const CALLS: i32 = 64;
/// The number of calls of Java code between two looks at the time.
const ROUND: u32 = 16;
/// The shortest processor time, in which the JIT compiler usually compiles the code.
const MIN_TIME: Duration = Duration::from_millis(60);
/// The longest processor time.
const MAX_TIME: Duration = Duration::from_millis(300);
/// The longest time if other threads need the processors.
const MAX_ELAPSED: Duration = Duration::from_secs(2);
/// The number of rounds of compiled code that are necessary. They fill half of the ring of segments.
const COMPILED_ROUNDS: u32 = 16;
/// The number of measurements, and the pause before each but the first one. The lowest cost counts,
/// because a thread on the other half of the processor's core can slow down calls for milliseconds.
const MEASUREMENTS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(5);
/// A call takes at most this many readings of the clock if its code is compiled. It needs two.
const MAX_READINGS: u32 = 6;
/// The time for which the plan thread waits for the result.
const MAX_WAIT: Duration = Duration::from_secs(3);

impl RuntimeHandle {
    /// Measures the cost of a recorded call, and writes it to the trace. Without a result the trace has
    /// no correction.
    pub(super) fn calibrate(&self, id: InstrumentId) {
        let agent = self.agent;
        let Some(calibration) = agent.recorder.begin_calibration(id) else {
            return;
        };
        let (send, receive) = channel();
        let run = move |env| {
            // The thread records into a counter shard.
            threads::count_this_thread();
            let _ = send.send(measure(agent, env, &calibration));
        };
        let started = threads::start(agent.tool, self.env(), "veneer-calibration", Box::new(run));
        let cost = match started {
            Ok(()) => receive.recv_timeout(MAX_WAIT).ok().flatten(),
            Err(_) => None,
        };
        if cost.is_none() {
            let problem = "the cost of observing could not be measured, so times are not corrected";
            agent.report_problem("", problem);
        }
        agent.recorder.end_calibration(id, cost);
    }
}

/// Records empty calls until enough of them ran compiled code, and then some more. Returns their lowest
/// cost.
fn measure(agent: &'static Agent, env: Env, calibration: &Calibration) -> Option<ProbeRecord> {
    let first = measure_compiled(agent, env, calibration)?;
    if is_slow_form(calibration) {
        return Some(first);
    }
    let more = (1..MEASUREMENTS).map_while(|_| {
        thread::sleep(PAUSE);
        (0..COMPILED_ROUNDS).try_for_each(|_| record_round(agent, env))?;
        calibration.read_cost()
    });
    let total = |cost: &ProbeRecord| cost.inside_ps.saturating_add(cost.outside_ps);
    std::iter::once(first).chain(more).min_by_key(total)
}

/// Whether a call takes microseconds, so that neither the compiler nor another thread matters much.
fn is_slow_form(calibration: &Calibration) -> bool {
    calibration.source() == ProcessorTime::Clock
}

/// Records a round of empty calls. `None` if they could not be recorded.
fn record_round(agent: &'static Agent, env: Env) -> Option<()> {
    let addresses = (agent.recorder.address(), agent.shards.address());
    let mark = agent.recorder.mark();
    for _ in 0..ROUND {
        // SAFETY: the agent, and with it the tracks and the shards, are never dropped. The recording of
        // this calibration has not begun, and there is no other one.
        let calls = unsafe { agent.library.calibrate_trace(env, addresses, mark, CALLS) };
        if calls.ok()? == 0 {
            return None;
        }
    }
    Some(())
}

/// Records empty calls until enough of them ran compiled code, and returns their cost.
fn measure_compiled(
    agent: &'static Agent,
    env: Env,
    calibration: &Calibration,
) -> Option<ProbeRecord> {
    let compiled = reading_time(calibration.clock()) * MAX_READINGS;
    let (begin, begin_cpu) = (Instant::now(), processor_time());
    let mut compiled_rounds = 0;
    loop {
        let round = Instant::now();
        record_round(agent, env)?;
        let call = round.elapsed() / (ROUND * CALLS.unsigned_abs());
        compiled_rounds += u32::from(is_slow_form(calibration) || call <= compiled);
        let used = processor_time().saturating_sub(begin_cpu);
        let has_enough = used >= MIN_TIME && compiled_rounds >= COMPILED_ROUNDS;
        if used >= MAX_TIME || begin.elapsed() >= MAX_ELAPSED {
            return calibration.read_cost();
        }
        if has_enough {
            // The JIT compiler of a busy machine can be late, so the fast calls are still too few.
            match calibration.read_cost() {
                None => compiled_rounds = 0,
                cost => return cost,
            }
        }
    }
}

/// The processor time of the current thread.
fn processor_time() -> Duration {
    Duration::from_nanos(thread_clock())
}

/// The time that a reading of the recording's clock takes. The processor's counter takes half as long as
/// the monotonic clock, and calls in code of C1 would pass for fast ones by the other clock.
fn reading_time(clock: TraceClock) -> Duration {
    const READINGS: u32 = 1000;
    let begin = Instant::now();
    for _ in 0..READINGS {
        std::hint::black_box(clock.now());
    }
    begin.elapsed() / READINGS
}
