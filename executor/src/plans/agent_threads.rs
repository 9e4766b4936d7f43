//! The agent's threads: `veneer-plans` runs plans, `veneer-requests` creates versions on request of
//! running activations, and `veneer-events` drains events.
//!
//! All three are JVMTI agent threads. Such threads are daemons and are not listed among the threads
//! of the application. They end when the agent leaves the JVM, and when the JVM ends: HotSpot waits up to
//! 300 ms for daemon threads in native code (`VM_Exit::wait_for_threads_in_native_to_block`). A panic in one round of a thread is
//! reported as a problem, and the thread continues with the next round.

use crate::agent::Agent;
use crate::jvm::jni::{Env, take_leaked_globals};
use crate::jvm::threads::{self, Run, StartThreadError};
use crate::plans::jobs::PlanJob;
use crate::plans::lifetimes;
use crate::plans::plan_loop::PlanLoop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// The time between two drains of the ring buffers. A ring has room for 5,300 events of one number
/// (48 bytes each), so a thread that logs fewer than 260,000 of them per second drops none.
const DRAIN_INTERVAL: Duration = Duration::from_millis(20);

/// The number of drains after which waiting records are written and unloaded classes are looked
/// for: once a second.
const DRAINS_PER_CHECK: u64 = 50;

/// Starts the threads. Called when the agent starts, and when it is loaded again after it has left.
pub fn start_all(agent: &'static Agent, env: Env) -> Result<(), StartThreadError> {
    let (requests, request_queue) = channel();
    let (jobs, job_queue) = channel();
    *agent.requests.lock() = requests;
    *agent.jobs.lock() = jobs;
    let (drain_end, drains) = channel();
    *agent.drain_end.lock() = drain_end;
    let run: Run = Box::new(move |env| create_requested_versions(agent, env, request_queue));
    threads::start(agent.tool, env, "veneer-requests", run)?;
    let run: Run = Box::new(move |env| PlanLoop::run(agent, env, job_queue));
    threads::start(agent.tool, env, "veneer-plans", run)?;
    let run: Run = Box::new(move |env| drain_events(agent, env, drains));
    threads::start(agent.tool, env, "veneer-events", run)
}

/// Creates the versions that running activations request. Returns when the agent drops the sender.
fn create_requested_versions(
    agent: &'static Agent,
    env: Env,
    ids: Receiver<veneer_names::MethodId>,
) {
    while let Ok(id) = ids.recv() {
        let done = catch_unwind(AssertUnwindSafe(|| {
            agent.methods.make_requested_osr_entry(agent, env, id)
        }));
        if done.is_err() {
            agent.report_problem(
                "",
                "making a version failed with an error of the agent's own; please report this",
            );
        }
    }
}

/// Drains the ring buffers until the agent leaves the JVM. Only the first panic of a series is
/// reported, because a damaged ring would cause one in every round.
fn drain_events(agent: &'static Agent, env: Env, end: Receiver<()>) {
    let mut is_failing = false;
    for round in 0u64.. {
        let is_over = end.recv_timeout(DRAIN_INTERVAL) != Err(RecvTimeoutError::Timeout);
        if is_over || agent.left.load(Ordering::SeqCst) {
            return;
        }
        let done = catch_unwind(AssertUnwindSafe(|| drain_round(agent, env, round)));
        if done.is_err() && !is_failing {
            agent.report_problem(
                "",
                "draining events failed with an error of the agent's own; please report this",
            );
        }
        is_failing = done.is_err();
    }
}

/// Reports the global references that no thread of the JVM could delete.
fn report_leaked_globals(agent: &Agent) {
    let count = take_leaked_globals();
    if count > 0 {
        agent.report_problem(
            "",
            &format!("{count} references to Java objects were dropped by threads that the JVM does not know: the objects stay in memory until the JVM ends; please report this"),
        );
    }
}

/// One round: drains the rings, adds the followed objects that have died, shows that the agent is alive, and once a second retries the
/// metadata journal, publishes newly armed classes, and looks for unloaded classes, for leaked references and for OSR entries that
/// can be released.
fn drain_round(agent: &Agent, env: Env, round: u64) {
    agent.rings.drain();
    lifetimes::fold(agent, env);
    agent
        .rings
        .record_agent_age(agent.began.elapsed().as_millis() as u64);
    if let Some(e) = agent.rings.take_log_error() {
        let place = agent.config.data_dir.display();
        agent.report_problem(
            "",
            &format!("events cannot be written to {place} ({e}): the newest ones are kept in memory, and lost if the JVM is killed; make room"),
        );
    }
    if round.is_multiple_of(DRAINS_PER_CHECK) {
        report_leaked_globals(agent);
        agent.class_files.publish_if_due();
        // Records that wait for room on the disk may find some now.
        agent.append_records(&[]);
        if agent.registry.has_unloaded_classes(env) {
            // Fails only while the agent is leaving. Then the classes need not be forgotten.
            agent.post_job(PlanJob::ForgetUnloadedClasses);
        }
        if agent.methods.osr_entry_release_is_due() {
            agent.post_job(PlanJob::ReleaseOsrEntries);
        }
        if !agent.hooked_again.is_empty() {
            agent.post_job(PlanJob::CheckHookedClasses);
        }
    }
}
