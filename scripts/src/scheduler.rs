//! Sessions: the plans in a running JVM, and the execution of their callbacks.
//!
//! ```text
//!   plan thread:  loop { wait until next_deadline() or a request; load(plan) | run_due(now) }
//!                 finish()
//! ```
//!
//! One thread makes all calls of plans. The session's lock is held only while callbacks are moved
//! in or out, never while a plan runs or the runtime is called.

mod vm_events;

use crate::api::component::registered_analyser;
use crate::callback_failures::CallbackFailures;
use crate::component::{self, Analysis, AnalysisError, Component, Components};
use crate::context::{Callback, PlanContext, Schedule};
use crate::engine;
use crate::error::{PlanError, PlanStage};
use crate::event_listeners::EventListeners;
use crate::link::EvaluatedModules;
use crate::ownership::{self, Attachment, Ownership};
use crate::plan::Plan;
use crate::running_plan::{CallbackCall, RunningPlan, guard};
use parking_lot::Mutex;
use rhai::{Dynamic, Position, Scope};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};
use veneer_instruments::{AttachError, InstrumentId, PlanInstanceId, Runtime, VmEventKinds};

/// The plans of one JVM and their callbacks.
pub struct PlanSession {
    runtime: Arc<dyn Runtime>,
    ownership: Arc<Ownership>,
    slots: Arc<AtomicUsize>,
    components: Arc<Components>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// In order of registration.
    timers: Vec<Timer>,
    /// The plan instances of the repeating timers that [`PlanSession::run_due`] has taken out to run.
    taken_timers: Vec<PlanInstanceId>,
    /// In order of registration.
    at_exit: Vec<CallbackCall>,
    /// The callbacks for events of the JVM.
    listeners: EventListeners,
    /// The kinds of events that the runtime was last asked for.
    watched: VmEventKinds,
    /// The last number given to a plan instance or a timer. For timers, the number defines the
    /// order of equal deadlines.
    next: u64,
    finished: bool,
}

/// The attached things and waiting callbacks of a plan instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemainingWork {
    /// The instruments and edits that are attached now, oldest first.
    pub attachments: Vec<Attachment>,
    /// The number of callbacks that wait for a time, for events or for the exit of the JVM. A callback
    /// of `every` counts while it runs, too.
    pub callbacks: usize,
}

struct Timer {
    call: CallbackCall,
    due: Instant,
    /// The registration number: callbacks with equal deadlines run in this order.
    order: u64,
    /// `None` if the callback runs once.
    period: Option<Duration>,
    failures: CallbackFailures,
}

impl Timer {
    fn instance(&self) -> PlanInstanceId {
        self.call.running_plan.context.instance
    }
}

impl PlanSession {
    /// Creates a session without plans.
    pub fn new(runtime: Arc<dyn Runtime>) -> Self {
        PlanSession {
            runtime,
            ownership: Arc::default(),
            slots: Arc::default(),
            components: Arc::default(),
            state: Mutex::default(),
        }
    }

    /// Runs a plan's top level and keeps its callbacks. Returns the printed value of its last
    /// expression; empty for `()`.
    ///
    /// # Errors
    /// The error that stopped the plan. Everything that the plan had attached is detached again.
    pub fn load(&self, plan: Plan) -> Result<String, PlanError> {
        self.load_at(plan, Instant::now())
    }

    /// Reserves the number of a future plan instance. The number identifies the plan instance
    /// before it begins.
    pub fn reserve(&self) -> PlanInstanceId {
        let mut state = self.state.lock();
        state.next += 1;
        PlanInstanceId(state.next)
    }

    /// Ends a plan instance before the JVM ends: runs its callbacks of `at_exit` in order of
    /// registration, and unloads it. Callbacks that are registered during these calls are dropped.
    pub fn end(&self, instance: PlanInstanceId) {
        let at_exit: Vec<CallbackCall> = {
            let mut state = self.state.lock();
            let calls = std::mem::take(&mut state.at_exit).into_iter();
            let (calls, left) = calls
                .partition(|call: &CallbackCall| call.running_plan.context.instance == instance);
            state.at_exit = left;
            calls
        };
        self.run_at_exit(at_exit);
        self.unload(instance);
    }

    /// Runs callbacks of `at_exit` and prints their errors.
    fn run_at_exit(&self, calls: Vec<CallbackCall>) {
        for call in calls {
            if call.is_cancelled() {
                continue;
            }
            if let Err(error) = call.run() {
                self.runtime.print(&error.to_string());
            }
            drop(call.running_plan.context.take_callbacks());
        }
    }

    /// Unloads a plan instance: cancels its callbacks, including those of `at_exit`, detaches
    /// everything that it has attached, and removes its analyser.
    pub fn unload(&self, instance: PlanInstanceId) {
        self.components.forget(instance);
        self.detach(instance);
    }

    /// Detaches a plan instance as [`PlanSession::unload`] does, but keeps its analyser callable.
    pub fn detach(&self, instance: PlanInstanceId) {
        if let Some(context) = self.components.by_instance(instance) {
            context.set_detached();
        }
        // The callbacks own values of plans, so they are dropped after the lock is released.
        let removed: (Vec<Timer>, Vec<CallbackCall>, EventListeners) = {
            let mut state = self.state.lock();
            let of_load = |call: &CallbackCall| call.running_plan.context.instance == instance;
            let timers = std::mem::take(&mut state.timers).into_iter();
            let (timers, left) = timers.partition(|timer| of_load(&timer.call));
            state.timers = left;
            let calls = std::mem::take(&mut state.at_exit).into_iter();
            let (calls, left) = calls.partition(of_load);
            state.at_exit = left;
            (timers, calls, state.listeners.extract(of_load))
        };
        drop(removed);
        self.watch_events();
        self.ownership
            .detach_instance(instance, self.runtime.as_ref());
    }

    /// Detaches all components of this name as a whole. Their analysers can still be called.
    /// Returns false if no such component is attached.
    pub fn detach_component(&self, name: &str) -> bool {
        let named = self.components.by_name(name);
        let attached: Vec<PlanInstanceId> = named
            .iter()
            .filter(|context| !context.is_detached())
            .map(|context| context.instance)
            .collect();
        for instance in &attached {
            self.detach(*instance);
        }
        !attached.is_empty()
    }

    /// Returns the report of the newest component of this name.
    ///
    /// # Errors
    /// No component has this name, the component has no analyser, or the analyser fails.
    pub fn analyse(&self, name: &str) -> Result<Analysis, AnalysisError> {
        let (context, report) = self.components.run_analyser(name, 0)?;
        Ok(Analysis::from_report(&context, report))
    }

    /// Returns the components in order of loading, including detached ones whose analysers can be
    /// called.
    pub fn components(&self) -> Vec<Component> {
        let left = self.remaining_work();
        let mut all = self.components.list(&self.ownership);
        for one in &mut all {
            one.callbacks = left.get(&one.instance).map_or(0, |left| left.callbacks);
        }
        all
    }

    /// Loads a plan as [`PlanSession::load`] does, with `now` as the time from which delays count.
    ///
    /// # Errors
    /// The errors of [`PlanSession::load`].
    pub fn load_at(&self, plan: Plan, now: Instant) -> Result<String, PlanError> {
        self.load_as(self.reserve(), plan, now)
    }

    /// Loads a plan as [`PlanSession::load_at`] does, under a number of [`PlanSession::reserve`]. A
    /// number must not be used twice.
    ///
    /// # Errors
    /// The errors of [`PlanSession::load`].
    pub fn load_as(
        &self,
        instance: PlanInstanceId,
        plan: Plan,
        now: Instant,
    ) -> Result<String, PlanError> {
        let (mut variables, mut ready) = (Scope::new(), EvaluatedModules::new());
        self.run(instance, plan, &mut variables, &mut ready, None, now)
    }

    /// Runs a plan's top level with these variables, and keeps its callbacks. Its modules run
    /// before it, except those in `ready`; the new ones are added to `ready`. With `rows`, a value
    /// that has a table is shown as a table.
    pub(crate) fn run(
        &self,
        instance: PlanInstanceId,
        plan: Plan,
        variables: &mut Scope,
        ready: &mut EvaluatedModules,
        rows: Option<u32>,
        now: Instant,
    ) -> Result<String, PlanError> {
        {
            let state = self.state.lock();
            if state.finished {
                let message = "the JVM is shutting down: no plan can begin".to_owned();
                return Err(PlanError::new(
                    PlanStage::Run,
                    plan.source_map(),
                    Position::NONE,
                    message,
                ));
            }
        }
        let context = Arc::new(PlanContext::new(
            instance,
            self.runtime.clone(),
            self.ownership.clone(),
            self.slots.clone(),
            &plan,
        ));
        let mut engine = engine::plan_engine(&context, &self.components);
        let modules = guard(&context, &plan, Position::NONE, || {
            context.modules.evaluate(&mut engine, plan.program(), ready)
        });
        let running_plan = Arc::new(RunningPlan {
            engine,
            plan,
            context,
        });
        let result = modules.and_then(|()| {
            running_plan.guard(Position::NONE, |running_plan| {
                let tree = running_plan.plan.tree();
                let value = running_plan
                    .engine
                    .eval_ast_with_scope::<Dynamic>(variables, tree)?;
                match running_plan.context.params.unused_message() {
                    Some(message) => Err(message.into()),
                    None => running_plan.show(value, rows),
                }
            })
        });
        running_plan.context.set_loaded();
        match result {
            Ok(value) => {
                *ready = running_plan.context.modules.evaluated();
                self.keep(&running_plan, now);
                self.watch_events();
                self.deploy(&running_plan);
                Ok(value)
            }
            Err(error) => {
                drop(running_plan.context.take_callbacks());
                drop(running_plan.context.take_analyser());
                self.ownership
                    .detach_instance(instance, self.runtime.as_ref());
                Err(error)
            }
        }
    }

    /// Adds a plan whose top level has run as a component. The plan replaces the component of the
    /// same name.
    fn deploy(&self, running_plan: &Arc<RunningPlan>) {
        let new = running_plan.context.component_declaration();
        for old in self
            .components
            .add(running_plan, registered_analyser(running_plan))
        {
            if let (Some(was), Some(new)) = (old.component_declaration(), &new) {
                let line = format!(
                    "{} {} is replaced by {}",
                    new.name, was.version, new.version
                );
                self.runtime.print(&line);
            }
            self.detach(old.instance);
            old.set_detached();
        }
        // `list` also forgets the components that are not listed any more.
        drop(self.components.list(&self.ownership));
    }

    /// Moves the callbacks that a plan has registered to the session. Delays count from `now`.
    fn keep(&self, running_plan: &Arc<RunningPlan>, now: Instant) {
        let registered = running_plan.context.take_callbacks();
        let mut state = self.state.lock();
        if state.finished {
            return;
        }
        for callback in registered {
            let Callback {
                schedule,
                function,
                condition,
                position,
                cancelled,
                slot,
            } = callback;
            let call = CallbackCall {
                running_plan: running_plan.clone(),
                function,
                condition,
                position,
                cancelled,
                _slot: slot,
            };
            let (delay, period) = match schedule {
                Schedule::AtExit => {
                    state.at_exit.push(call);
                    continue;
                }
                Schedule::On(kind) => {
                    state.listeners.add(kind, call);
                    continue;
                }
                Schedule::Every(period) => (period, Some(period)),
                Schedule::After(delay) => (delay, None),
            };
            state.next += 1;
            let order = state.next;
            state.timers.push(Timer {
                call,
                due: now + delay,
                order,
                period,
                failures: CallbackFailures::default(),
            });
        }
    }

    /// Returns the time of the next call of [`PlanSession::run_due`] that has a callback to run.
    pub fn next_deadline(&self) -> Option<Instant> {
        let state = self.state.lock();
        let live = state
            .timers
            .iter()
            .filter(|timer| !timer.call.is_cancelled());
        live.map(|timer| timer.due).min()
    }

    /// Runs the callbacks of `every` and `after` that are due at `now`, in order of their
    /// deadlines. A callback of `every` that has missed ticks runs once. Errors are printed. After
    /// [`limits::MAX_CONSECUTIVE_ERRORS`] consecutive errors, a callback is cancelled.
    pub fn run_due(&self, now: Instant) {
        let mut due = {
            let mut state = self.state.lock();
            state.timers.retain(|timer| !timer.call.is_cancelled());
            state.at_exit.retain(|call| !call.is_cancelled());
            let all = std::mem::take(&mut state.timers);
            let (due, later) = all
                .into_iter()
                .partition::<Vec<_>, _>(|timer| timer.due <= now);
            state.timers = later;
            let repeating = due.iter().filter(|timer| timer.period.is_some());
            state.taken_timers = repeating.map(Timer::instance).collect();
            due
        };
        due.sort_by_key(|timer| (timer.due, timer.order));
        for mut timer in due {
            if timer.call.is_cancelled() || self.state.lock().finished {
                continue;
            }
            let result = timer.call.run();
            self.keep(&timer.call.running_plan, now);
            let continues = match result {
                Ok(()) => {
                    timer.failures.succeeded();
                    true
                }
                Err(error) => {
                    let name = timer.period.map(|_| "every");
                    let runtime = self.runtime.as_ref();
                    timer.failures.failed(runtime, &timer.call, name, error)
                }
            };
            let Some(period) = timer.period else {
                continue;
            };
            timer.due = next_tick(timer.due, period, now);
            let mut state = self.state.lock();
            let taken = &mut state.taken_timers;
            if let Some(place) = taken.iter().position(|one| *one == timer.instance()) {
                taken.swap_remove(place);
            }
            if continues && !state.finished && !timer.call.is_cancelled() {
                state.timers.push(timer);
            }
        }
        self.state.lock().taken_timers.clear();
        self.watch_events();
    }

    /// Handles the exit of the JVM: runs the callbacks of `at_exit` in order of registration, then
    /// the analysers of the attached components, and drops all timers. Callbacks that are
    /// registered during these calls are dropped. A second call has no effect.
    pub fn finish(&self) {
        let at_exit = {
            let mut state = self.state.lock();
            if std::mem::replace(&mut state.finished, true) {
                return;
            }
            state.timers.clear();
            state.listeners = EventListeners::default();
            std::mem::take(&mut state.at_exit)
        };
        self.run_at_exit(at_exit);
        for (context, analyser) in self.components.last_reports() {
            if context.is_detached() {
                continue;
            }
            match component::analyse(&analyser, 0) {
                Ok(report) if report.text.is_empty() => {}
                Ok(report) => self.runtime.print(&report.text),
                Err(error) => self.runtime.print(&error.to_string()),
            }
        }
    }

    /// Returns, for each plan instance, its attached instruments and edits, oldest first, and the
    /// number of its waiting callbacks.
    pub fn remaining_work(&self) -> BTreeMap<PlanInstanceId, RemainingWork> {
        let mut all = BTreeMap::<PlanInstanceId, RemainingWork>::new();
        for (instance, things) in self.ownership.by_instance() {
            all.entry(instance).or_default().attachments = things;
        }
        let state = self.state.lock();
        let timers = state.timers.iter().map(|timer| &timer.call);
        for call in timers.chain(&state.at_exit).chain(state.listeners.calls()) {
            if !call.is_cancelled() {
                all.entry(call.running_plan.context.instance)
                    .or_default()
                    .callbacks += 1;
            }
        }
        for instance in &state.taken_timers {
            all.entry(*instance).or_default().callbacks += 1;
        }
        all
    }

    /// Detaches instruments and undoes edits by their ids, regardless of the plans that own them.
    /// Returns the names of which nothing attached is the id.
    ///
    /// # Errors
    /// The first error of the runtime. Everything that is named counts as detached nevertheless.
    pub fn detach_by_ids<'n>(&self, names: &[&'n str]) -> Result<Vec<&'n str>, AttachError> {
        let all = self.ownership.all();
        let (mut things, mut unknown) = (Vec::new(), Vec::new());
        for name in names {
            match all.iter().find(|thing| thing.to_string() == *name) {
                Some(thing) => things.push(*thing),
                None => unknown.push(*name),
            }
        }
        for thing in &things {
            self.ownership.record_detached(*thing);
        }
        ownership::detach_all(&things, self.runtime.as_ref()).map(|()| unknown)
    }

    /// Removes instruments from the ownership records, because the runtime has detached them by
    /// itself.
    pub fn record_detached(&self, taken: &[InstrumentId]) {
        for id in taken {
            self.ownership.record_detached(Attachment::Instrument(*id));
        }
    }

    /// Returns the attached instruments of the plans of this name, oldest first.
    pub fn instruments_of(&self, plan: &str) -> Vec<InstrumentId> {
        self.ownership.instruments_of(plan)
    }
}

/// Returns the first tick after `now` of the schedule with the given deadline and period. Missed
/// ticks are skipped.
fn next_tick(due: Instant, period: Duration, now: Instant) -> Instant {
    let late = now.saturating_duration_since(due).as_nanos();
    let ticks = late / period.as_nanos().max(1) + 1;
    match u32::try_from(ticks) {
        Ok(ticks) => due + period * ticks,
        Err(_) => now + period,
    }
}
