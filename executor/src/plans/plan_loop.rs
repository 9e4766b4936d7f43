//! The agent's threads: one runs plans, one makes versions for running activations that ask, one drains events.
//!
//! They are JVMTI agent threads, which do not show in the application's thread lists, and daemons.

use crate::agent::Agent;
use crate::jvm::jni::Env;
use crate::jvm::threads::{self, Run};
use crate::plans::class_unloading;
use crate::plans::detach;
use crate::plans::jobs::Job;
use crate::plans::plan_instances::{self, Load};
use crate::plans::repl::Prompts;
use crate::plans::runtime::Handle;
use crate::plans::{budget, unload};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use veneer_protocol::{Detached, PlanSource, Reply};
use veneer_scripts::{Plan, PlanError, Session};

/// Starts all of them.
pub fn start_all(agent: &'static Agent, env: Env) -> Result<(), String> {
    let (requests, request_queue) = channel();
    let (jobs, job_queue) = channel();
    *agent.requests.lock().unwrap_or_else(|e| e.into_inner()) = requests;
    *agent.jobs.lock().unwrap_or_else(|e| e.into_inner()) = jobs;
    let run: Run = Box::new(move |env| self::requests(agent, env, request_queue));
    threads::start(agent.tool, env, "veneer-requests", run)?;
    let run: Run = Box::new(move |env| plans(agent, env, job_queue));
    threads::start(agent.tool, env, "veneer-plans", run)?;
    let run: Run = Box::new(move |env| drain(agent, env));
    threads::start(agent.tool, env, "veneer-events", run)
}

/// Runs plans until the JVM ends.
pub fn plans(agent: &'static Agent, env: Env, jobs: Receiver<Job>) {
    // Application threads may call natives as soon as something is attached.
    for _ in 0..5_000 {
        if agent.library.is_linked(env) {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let session = Arc::new(Session::new(Arc::new(Handle::new(agent, env))));
    agent.loads.open(session.clone());
    let mut prompts = Prompts::default();
    let handle = Handle::new(agent, env);
    let mut looked = Instant::now();
    let mut shortly = Instant::now();
    loop {
        let look = budget::next(agent, looked.max(shortly));
        let wait = session
            .next_deadline()
            .into_iter()
            .chain(look)
            .min()
            .map(|d| d.saturating_duration_since(Instant::now()));
        let job = match wait {
            Some(wait) => jobs.recv_timeout(wait),
            None => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        let done = catch_unwind(AssertUnwindSafe(|| {
            match job {
                Ok(Job::Begin(answer)) => {
                    let mut good = true;
                    let outcome = match agent.config.strict {
                        true => "with --strict the application does not start",
                        false => "the application runs without it",
                    };
                    for plan in &agent.config.plans {
                        let load = session.reserve();
                        agent.loads.begin(load, of(agent, plan, "start", false));
                        let loaded =
                            read(plan).and_then(|plan| session.load_as(load, plan, Instant::now()));
                        if let Err(e) = loaded {
                            good = false;
                            agent.problem(
                                &plan.name,
                                &format!("a plan was not loaded; {outcome}\n{e}"),
                            );
                        }
                    }
                    agent.application_starts();
                    let _ = answer.send(good);
                }
                Ok(Job::Exec {
                    plan,
                    hold,
                    owner,
                    outbox,
                }) => {
                    let load = session.reserve();
                    agent.loads.begin(load, of(agent, &plan, &owner, hold));
                    outbox.set_load(load);
                    agent.clients().insert(load, outbox.clone());
                    let result =
                        read(&plan).and_then(|plan| session.load_as(load, plan, Instant::now()));
                    if !hold || result.is_err() {
                        agent.clients().remove(&load);
                    }
                    outbox.send(match result {
                        Ok(value) => Reply::Done { value },
                        Err(e) => Reply::Failed {
                            message: e.to_string(),
                        },
                    });
                }
                Ok(Job::Input(typed, outbox)) => prompts.run(agent, &session, &typed, &outbox),
                Ok(Job::Keep(outbox)) => prompts.keep(&outbox),
                Ok(Job::TakeOff(outbox)) => {
                    prompts.close(agent, &session, &outbox);
                    if let Some(load) = outbox.load() {
                        session.unload(load);
                        agent.clients().remove(&load);
                    }
                }
                Ok(Job::Detach(which, answer)) => {
                    let (taken, unknown) = detach::detach(agent, &session, &which);
                    let _ = answer.send(Detached {
                        taken,
                        unknown,
                        ..Detached::default()
                    });
                }
                Ok(Job::Analyse(name, answer)) => {
                    let _ = answer.send(plan_instances::analyse(&session, &name));
                }
                Ok(Job::Leave(answer)) => {
                    let _ = answer.send(unload::leave(agent, env, &session));
                    return false;
                }
                Ok(Job::Unloaded) => class_unloading::forget(agent, env),
                Ok(Job::Virtual) => Handle::new(agent, env).count_each(),
                Ok(Job::Finish(answer)) => {
                    session.finish();
                    let _ = answer.send(());
                    return false;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return false,
            }
            session.run_due(Instant::now());
            if shortly.elapsed() >= budget::SOON {
                shortly = Instant::now();
                session.forget(&budget::used_up(agent, &handle));
            }
            if looked.elapsed() >= budget::LOOK {
                looked = Instant::now();
                session.forget(&budget::look(agent, &handle));
            }
            true
        }));
        match done {
            Ok(true) => {}
            Ok(false) => return,
            Err(_) => agent.problem("", "the plan thread met an error of its own and goes on with the next task; please report this"),
        }
    }
}

/// Makes versions for running activations that ask for one.
pub fn requests(agent: &'static Agent, env: Env, ids: Receiver<u32>) {
    while let Ok(id) = ids.recv() {
        let done = catch_unwind(AssertUnwindSafe(|| {
            agent.methods.make_requested_osr_entry(agent, env, id)
        }));
        if done.is_err() {
            agent.problem(
                "",
                "making a version failed with an error of the agent's own; please report this",
            );
        }
    }
}

/// Takes events out of the rings, often enough that they seldom fill, and shows that the agent lives.
pub fn drain(agent: &'static Agent, env: Env) {
    for round in 0u64.. {
        std::thread::sleep(Duration::from_millis(20));
        if agent.left.load(Ordering::SeqCst) {
            return;
        }
        agent.rings.drain();
        agent.rings.alive(agent.began.elapsed().as_millis() as u64);
        if let Some(e) = agent.rings.trouble() {
            let place = agent.config.data_dir.display();
            agent.problem(
                "",
                &format!("events cannot be written to {place} ({e}): the newest ones are kept in memory, and lost if the JVM is killed; make room"),
            );
        }
        if round % 50 == 0 {
            // What found no room before may find some now.
            agent.note(&[]);
            if agent.registry.has_gone(env) {
                // Where nobody takes it, the agent is leaving.
                agent.ask(Job::Unloaded);
            }
        }
    }
}

/// A load that begins now.
fn of(agent: &Agent, plan: &PlanSource, owner: &str, held: bool) -> Load {
    Load {
        plan: plan.name.clone(),
        owner: owner.into(),
        held,
        since: agent.began.elapsed().as_millis() as u64,
    }
}

fn read(plan: &PlanSource) -> Result<Plan, PlanError> {
    let read = Plan::compile_with(&plan.name, &plan.source, &plan.modules)?;
    Ok(read.with(plan.settings.clone()))
}
