//! The loop of the plan thread: it waits for jobs, timers of plans, and checks of limits, and
//! handles one at a time.
//!
//! All code of plans runs on this thread, and only this thread attaches and detaches. A panic while
//! an event is handled is reported, and the loop continues with the next event.

use crate::agent::Agent;
use crate::jvm::jni::Env;
use crate::plans::budget::{self, COST_CHECK_INTERVAL, TIMES_CHECK_INTERVAL};
use crate::plans::class_code::class_code;
use crate::plans::class_code_error::ClassCodeError;
use crate::plans::class_unloading;
use crate::plans::detach;
use crate::plans::jobs::PlanJob;
use crate::plans::outbox::Outbox;
use crate::plans::plan_instances::{self, PlanInstance};
use crate::plans::repl::ReplSessions;
use crate::plans::runtime::RuntimeHandle;
use crate::plans::unload;
use crate::weaving::{changed_classes, prepared_classes};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use veneer_instruments::{MethodPattern, Runtime};
use veneer_protocol::{ClassCode, DetachReport, PlanSource, Reply};
use veneer_scripts::{Plan, PlanError, PlanSession};

/// The time between two checks of whether the runtime classes are linked.
const LINK_POLL_INTERVAL: Duration = Duration::from_millis(1);
/// The number of these checks. Then the loop starts in any case.
const MAX_LINK_POLLS: usize = 5_000;

/// The state of the plan thread.
pub struct PlanLoop {
    agent: &'static Agent,
    env: Env,
    session: Arc<PlanSession>,
    repl: ReplSessions,
    handle: RuntimeHandle,
    /// The last check of the costs of instruments.
    costs_checked: Instant,
    /// The last check of how often instruments have acted.
    times_checked: Instant,
}

impl PlanLoop {
    /// Runs plans until the JVM ends or the agent leaves it. `env` is the environment of the
    /// calling thread.
    pub fn run(agent: &'static Agent, env: Env, jobs: Receiver<PlanJob>) {
        wait_until_linked(agent, env);
        let mut plans = PlanLoop::new(agent, env);
        loop {
            let job = plans.next_job(&jobs);
            let handled = catch_unwind(AssertUnwindSafe(|| plans.handle(job)));
            match handled {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => return,
                Err(_) => agent.report_problem("", "the plan thread met an error of its own and goes on with the next task; please report this"),
            }
        }
    }

    fn new(agent: &'static Agent, env: Env) -> PlanLoop {
        let session = Arc::new(PlanSession::new(Arc::new(RuntimeHandle::new(agent, env))));
        agent.loads.open(session.clone());
        PlanLoop {
            agent,
            env,
            session,
            repl: ReplSessions::default(),
            handle: RuntimeHandle::new(agent, env),
            costs_checked: Instant::now(),
            times_checked: Instant::now(),
        }
    }

    /// Waits for a job, at most until a timer or a check is due.
    ///
    /// # Errors
    /// A timer or a check is due, or all senders are gone.
    fn next_job(&self, jobs: &Receiver<PlanJob>) -> Result<PlanJob, RecvTimeoutError> {
        let last_check = self.costs_checked.max(self.times_checked);
        let check = budget::next_check(self.agent, last_check);
        let due = self.session.next_deadline().into_iter().chain(check).min();
        match due {
            Some(due) => jobs.recv_timeout(due.saturating_duration_since(Instant::now())),
            None => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    /// Handles a job, if there is one, and what is due by time.
    fn handle(&mut self, job: Result<PlanJob, RecvTimeoutError>) -> ControlFlow<()> {
        match job {
            Ok(job) => self.handle_job(job)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return ControlFlow::Break(()),
        }
        self.handle_due();
        ControlFlow::Continue(())
    }

    /// Handles a job. If a receiver of the answer is gone, its client does not wait any more.
    fn handle_job(&mut self, job: PlanJob) -> ControlFlow<()> {
        let (agent, env) = (self.agent, self.env);
        match job {
            PlanJob::Begin(answer) => {
                // A plan may attach its first instrument later, when the application has filled its
                // heap. If this fails, the first token tries again.
                let _ = agent.library.prepare_versions(env);
                let all_loaded = self.load_configured_plans();
                // Before the application runs code of these classes.
                prepared_classes::weave_waiting(agent, env);
                agent.application_starts();
                let _ = answer.send(all_loaded);
            }
            PlanJob::Exec {
                plan,
                hold,
                owner,
                outbox,
            } => self.execute(&plan, self.instance(&plan, &owner, hold), &outbox),
            PlanJob::Input(input, outbox) => self.repl.run(agent, &self.session, &input, &outbox),
            PlanJob::Keep(outbox) => self.repl.keep_attachments(&outbox),
            PlanJob::End(outbox) => {
                if let Some(instance) = outbox.instance() {
                    self.session.end(instance);
                    agent.output.disconnect(instance);
                }
                let value = String::new();
                outbox.send(Reply::Done { value });
            }
            PlanJob::ClientGone(outbox) => {
                self.repl.close(agent, &self.session, &outbox);
                if let Some(instance) = outbox.instance() {
                    self.session.unload(instance);
                    agent.output.disconnect(instance);
                }
            }
            PlanJob::Detach(which, answer) => {
                let result = detach::detach(agent, &self.session, &which);
                let _ = answer.send(DetachReport {
                    taken: result.detached,
                    unknown: result.unknown,
                    ..DetachReport::default()
                });
            }
            PlanJob::Analyse(component, answer) => {
                let _ = answer.send(plan_instances::analyse(&self.session, &component));
            }
            PlanJob::ClassCode(patterns, answer) => {
                let _ = answer.send(self.class_code(&patterns));
            }
            PlanJob::Leave(answer) => {
                let _ = answer.send(unload::unload_agent(agent, env, &self.session));
                return ControlFlow::Break(());
            }
            PlanJob::ForgetUnloadedClasses => class_unloading::forget_unloaded_classes(agent, env),
            PlanJob::WeavePreparedClasses => prepared_classes::weave_waiting(agent, env),
            PlanJob::CheckHookedClasses => changed_classes::check_hooked_classes(agent, env),
            PlanJob::ReleaseOsrEntries => agent.methods.release_osr_entries(agent, env),
            PlanJob::VirtualThreads => self.handle.count_each_point(),
            PlanJob::VmEvents => self.session.handle_vm_events(&agent.events.queue.take()),
            PlanJob::Finish(answer) => {
                self.session.finish();
                let _ = answer.send(());
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    /// Arms the loaded classes that the patterns select, and returns their class files.
    fn class_code(&self, patterns: &[String]) -> Result<Vec<ClassCode>, ClassCodeError> {
        let patterns = patterns.iter().map(|text| MethodPattern::parse(text));
        let patterns = patterns.collect::<Result<Vec<_>, _>>()?;
        self.handle.classes(&patterns);
        class_code(self.agent, self.env, &patterns)
    }

    /// Loads the plans of the command line and reports those that fail. Returns whether all of them
    /// were loaded.
    fn load_configured_plans(&mut self) -> bool {
        let agent = self.agent;
        let consequence = match agent.config.strict {
            true => "with --strict the application does not start",
            false => "the application runs without it",
        };
        let mut all_loaded = true;
        for plan in &agent.config.plans {
            let id = self.session.reserve();
            agent.loads.begin(id, self.instance(plan, "start", false));
            let loaded =
                compile(plan).and_then(|plan| self.session.load_as(id, plan, Instant::now()));
            if let Err(e) = loaded {
                all_loaded = false;
                agent.report_problem(
                    &plan.name,
                    &format!("a plan was not loaded; {consequence}\n{e}"),
                );
            }
        }
        all_loaded
    }

    /// Runs a client's program and sends the result.
    fn execute(&mut self, plan: &PlanSource, instance: PlanInstance, outbox: &Arc<Outbox>) {
        let agent = self.agent;
        let id = self.session.reserve();
        let is_held = instance.held;
        agent.loads.begin(id, instance);
        outbox.set_instance(id);
        agent.output.connect(id, outbox.clone());
        let result = compile(plan).and_then(|plan| self.session.load_as(id, plan, Instant::now()));
        if !is_held || result.is_err() {
            agent.output.disconnect(id);
        }
        outbox.send(match result {
            Ok(value) => Reply::Done { value },
            Err(e) => Reply::Failed {
                message: e.to_string(),
            },
        });
    }

    /// Runs the callbacks of plans and the checks of limits that are due.
    fn handle_due(&mut self) {
        self.session.run_due(Instant::now());
        if self.times_checked.elapsed() >= TIMES_CHECK_INTERVAL {
            self.times_checked = Instant::now();
            let detached = budget::detach_exhausted(self.agent, &self.handle);
            self.session.record_detached(&detached);
        }
        if self.costs_checked.elapsed() >= COST_CHECK_INTERVAL {
            self.costs_checked = Instant::now();
            let detached = budget::detach_over_budget(self.agent, &self.handle);
            self.session.record_detached(&detached);
        }
    }

    /// A plan instance that begins now.
    fn instance(&self, plan: &PlanSource, owner: &str, held: bool) -> PlanInstance {
        PlanInstance {
            plan: plan.name.clone(),
            owner: owner.into(),
            held,
            since: self.agent.began.elapsed().as_millis() as u64,
        }
    }
}

/// Waits until the JVM has linked the runtime classes, because application threads call their
/// natives as soon as a plan has attached something.
fn wait_until_linked(agent: &Agent, env: Env) {
    for _ in 0..MAX_LINK_POLLS {
        if agent.library.is_linked(env) {
            break;
        }
        std::thread::sleep(LINK_POLL_INTERVAL);
    }
}

/// Compiles a plan with its modules and its settings.
fn compile(plan: &PlanSource) -> Result<Plan, PlanError> {
    let compiled = Plan::compile_with(&plan.name, &plan.source, &plan.modules)?;
    Ok(compiled.with_params(plan.settings.clone()))
}
