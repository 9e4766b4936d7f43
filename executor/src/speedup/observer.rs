//! The observer of a virtual speed-up: a thread of the agent that looks at all threads, and stops those
//! that owe time.
//!
//! It uses JVMTI only, and takes no lock that a thread of the application could hold. So it always
//! comes to resume a thread that it has stopped, whatever locks that thread holds.

use crate::agent::Agent;
use crate::data::monotonic::monotonic;
use crate::jvm::event_sources::thread_id;
use crate::jvm::frames::Frame;
use crate::jvm::jni::{Env, Global, JvmError, jobject};
use crate::jvm::suspension::Suspender;
use crate::jvm::threads::{self, Run};
use crate::speedup::ledger::{Activity, Ledger, ObservedThread};
use crate::speedup::place::Place;
use crate::speedup::speedups::RunningSpeedup;
use jvmti_sys::{
    JVMTI_THREAD_STATE_IN_NATIVE, JVMTI_THREAD_STATE_RUNNABLE, JVMTI_THREAD_STATE_SLEEPING,
};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::Duration;
use veneer_instruments::{AttachError, SpeedupId, SpeedupSpec, SpeedupWindow};

/// The time between two observations, in nanoseconds. It is random, so that it does not follow a rhythm
/// of the program.
const INTERVAL: Range<u64> = 1_000_000..3_000_000;
/// The part of one processor that observing may take.
const MAX_COST: f64 = 0.1;
/// The longest time in nanoseconds that an observation may be late. The rest of a longer delay is a pause
/// of the whole JVM.
const MAX_LATENESS: u64 = 20_000_000;
/// The shortest time in nanoseconds for which a thread is stopped.
const MIN_STOP: f64 = 2e6;
/// The most frames of a stack that are looked at.
const MAX_FRAMES: usize = 1_024;
/// The thread groups of the JVM's own threads.
const JVM_GROUPS: [&str; 2] = ["system", "InnocuousThreadGroup"];

/// The beginning of the names of the agent's threads.
const AGENT_THREADS: &str = "veneer-";

/// Begins a virtual speed-up. Called by the plan thread.
///
/// # Errors
/// Another one is running, or the JVM refuses.
pub fn begin(agent: &'static Agent, env: Env, spec: SpeedupSpec) -> Result<SpeedupId, AttachError> {
    let refused = |error: &dyn std::error::Error| AttachError::Vm {
        action: "beginning a virtual speed-up".into(),
        detail: error.to_string(),
    };
    let Some(running) = agent.speedups.begin() else {
        return Err(AttachError::Unsupported {
            what: "a virtual speed-up while another one is running".into(),
            instead: "end the other one first, or wait for its end".into(),
        });
    };
    let id = running.id();
    let suspender = Suspender::new(env).map_err(|error| refused(&error))?;
    let run: Run = Box::new(move |env| {
        let observer = Observer::new(agent, env, suspender, &spec);
        observer.observe(running, Duration::from_secs_f64(spec.seconds));
    });
    threads::start(agent.tool, env, "veneer-speedup", run).map_err(|error| refused(&error))?;
    Ok(id)
}

/// The threads that the observer has stopped. Dropping them resumes all.
struct StoppedThreads {
    suspender: Suspender,
    threads: HashMap<i64, Global>,
}

impl StoppedThreads {
    fn contain(&self, thread: i64) -> bool {
        self.threads.contains_key(&thread)
    }

    /// Stops a thread. A thread that has just begun to wait, to sleep or to execute native code is not
    /// stopped, because its time goes on there.
    fn stop(&mut self, env: Env, thread: jobject, id: i64) {
        if !self.suspender.suspend(thread) {
            return;
        }
        if activity(self.suspender.state(thread)) == Activity::Running {
            self.threads.insert(id, env.global(thread));
        } else {
            self.suspender.resume(thread);
        }
    }

    fn resume(&mut self, id: i64) {
        if let Some(thread) = self.threads.remove(&id) {
            self.suspender.resume(thread.raw());
        }
    }
}

impl Drop for StoppedThreads {
    fn drop(&mut self) {
        for thread in self.threads.values() {
            self.suspender.resume(thread.raw());
        }
    }
}

/// A thread at an observation, with its local reference.
struct SeenThread {
    reference: jobject,
    observed: ObservedThread,
}

/// The time that an observation stands for, in nanoseconds. `passed` is the time since the last one, and
/// `planned` the part of it that the observer itself has chosen: the last observation and the wait after it. An
/// observation that is expensive is followed by a long wait, which is no pause of the JVM.
fn counted_time(passed: u64, planned: u64) -> u64 {
    passed.min(planned + MAX_LATENESS)
}

struct Observer {
    agent: &'static Agent,
    env: Env,
    place: Place,
    ledger: Ledger,
    stopped: StoppedThreads,
    /// Whether each thread that was met belongs to the application.
    applications: HashMap<i64, bool>,
    observations: u64,
}

impl Observer {
    fn new(agent: &'static Agent, env: Env, suspender: Suspender, spec: &SpeedupSpec) -> Observer {
        Observer {
            agent,
            env,
            place: Place::new(spec.patterns.clone()),
            ledger: Ledger::new(spec.share),
            stopped: StoppedThreads {
                suspender,
                threads: HashMap::new(),
            },
            applications: HashMap::new(),
            observations: 0,
        }
    }

    /// Observes until the speed-up ends.
    fn observe(mut self, running: RunningSpeedup<'_>, longest: Duration) {
        let begin = monotonic();
        let end = begin.saturating_add(longest.as_nanos() as u64);
        let (mut last, mut cost) = (begin, 0);
        loop {
            let pause = self.pause(cost);
            let is_over = running.wait(pause);
            let now = monotonic();
            let step = counted_time(now - last, cost + pause.as_nanos() as u64);
            last = now;
            if self.step(step as f64).is_err() {
                return;
            }
            cost = monotonic() - now;
            if is_over || now >= end || self.agent.left.load(Ordering::Relaxed) {
                let window = self.window(now - begin);
                // All threads continue before the plan does.
                drop(self);
                running.finish(window);
                return;
            }
        }
    }

    /// The time until the next observation. `cost` is the time in nanoseconds that the last one took.
    fn pause(&self, cost: u64) -> Duration {
        let shortest = (cost as f64 / MAX_COST) as u64;
        let random = fastrand::u64(INTERVAL).max(shortest);
        let debts = self.stopped.threads.keys().map(|id| self.ledger.debt(*id));
        let earliest = debts.fold(random as f64, f64::min);
        Duration::from_nanos(earliest.max(0.0) as u64)
    }

    /// One observation, which stands for the time since the last one.
    ///
    /// # Errors
    /// The JVM has no room for references.
    fn step(&mut self, nanos: f64) -> Result<(), JvmError> {
        self.observations += 1;
        self.env.frame(|env| {
            let seen = self.look(env);
            let observed: Vec<ObservedThread> = seen.iter().map(|seen| seen.observed).collect();
            self.ledger.advance(nanos, &observed);
            self.stop_and_resume(env, &seen);
            Ok(())
        })
    }

    /// The threads of the application.
    fn look(&mut self, env: Env) -> Vec<SeenThread> {
        let mut seen = Vec::new();
        let agent = self.agent;
        let mut frames_of: Vec<(jobject, u32, Vec<Frame>)> = Vec::new();
        let tool = agent.tool;
        tool.threads_with_frames(MAX_FRAMES, |thread, state, frames| {
            frames_of.push((thread, state, frames.to_vec()));
        });
        env.ensure(frames_of.len() + 32);
        for (reference, state, frames) in frames_of {
            // SAFETY: the JVM returned the thread, and `tid` is a field of `Thread`.
            let thread = unsafe { thread_id(env, reference.raw(), agent.tid) };
            if !self.is_of_application(env, reference, thread) {
                continue;
            }
            let place = &mut self.place;
            let is_inside = frames.iter().any(|frame| place.contains(tool, env, *frame));
            let activity = match self.stopped.contain(thread) {
                true => Activity::Stopped,
                false => activity(state),
            };
            seen.push(SeenThread {
                reference,
                observed: ObservedThread {
                    thread,
                    activity,
                    is_inside,
                },
            });
        }
        seen
    }

    fn is_of_application(&mut self, env: Env, reference: jobject, thread: i64) -> bool {
        if let Some(known) = self.applications.get(&thread) {
            return *known;
        }
        let described = self.agent.tool.describe_thread(env, reference);
        // A thread of the agent must not be stopped: this one resumes all others.
        let is_of_application = described.is_some_and(|one| {
            !JVM_GROUPS.contains(&one.group.as_str()) && !one.name.starts_with(AGENT_THREADS)
        });
        self.applications.insert(thread, is_of_application);
        is_of_application
    }

    /// Stops the running threads that owe time, and resumes those that owe none.
    fn stop_and_resume(&mut self, env: Env, seen: &[SeenThread]) {
        for one in seen {
            let thread = one.observed.thread;
            let debt = self.ledger.debt(thread);
            match one.observed.activity {
                Activity::Stopped if debt <= 0.0 => self.stopped.resume(thread),
                Activity::Running if debt >= MIN_STOP => {
                    self.stopped.stop(env, one.reference, thread);
                }
                _ => {}
            }
        }
    }

    fn window(&self, nanos: u64) -> SpeedupWindow {
        SpeedupWindow {
            seconds: nanos as f64 / 1e9,
            delayed: self.ledger.delayed() / 1e9,
            inside: self.ledger.inside() / 1e9,
            observations: self.observations,
            stopped: self.ledger.stopped() / 1e9,
        }
    }
}

/// The activity that the bits of a thread's state describe.
fn activity(state: u32) -> Activity {
    let has = |bit: u32| state & bit != 0;
    if has(JVMTI_THREAD_STATE_SLEEPING) {
        Activity::Away
    } else if has(JVMTI_THREAD_STATE_RUNNABLE) {
        match has(JVMTI_THREAD_STATE_IN_NATIVE) {
            true => Activity::Away,
            false => Activity::Running,
        }
    } else {
        // A thread that has ended can neither be inside nor be stopped, as one that waits.
        Activity::Waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jvmti_sys::{
        JVMTI_THREAD_STATE_ALIVE, JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER,
        JVMTI_THREAD_STATE_PARKED, JVMTI_THREAD_STATE_WAITING,
    };

    #[test]
    fn a_wait_after_an_expensive_observation_is_counted_and_a_pause_of_the_jvm_is_not() {
        let (expensive, wait) = (4_000_000, 40_000_000);
        let all = expensive + wait + 1_000_000;
        assert_eq!(counted_time(all, expensive + wait), all);
        assert_eq!(
            counted_time(900_000_000, 2_000_000),
            2_000_000 + MAX_LATENESS
        );
    }

    #[test]
    fn a_thread_that_sleeps_or_is_in_native_code_is_away() {
        let alive = JVMTI_THREAD_STATE_ALIVE;
        let of = |bits: u32| activity(alive | bits);
        assert_eq!(of(JVMTI_THREAD_STATE_RUNNABLE), Activity::Running);
        let native = JVMTI_THREAD_STATE_RUNNABLE | JVMTI_THREAD_STATE_IN_NATIVE;
        assert_eq!(of(native), Activity::Away);
        let sleeps = JVMTI_THREAD_STATE_WAITING | JVMTI_THREAD_STATE_SLEEPING;
        assert_eq!(of(sleeps), Activity::Away);
        let parked = JVMTI_THREAD_STATE_WAITING | JVMTI_THREAD_STATE_PARKED;
        assert_eq!(of(parked), Activity::Waiting);
        assert_eq!(
            of(JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER),
            Activity::Waiting
        );
        assert_eq!(activity(0), Activity::Waiting);
    }
}
