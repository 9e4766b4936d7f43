//! Plans in a running JVM: loading them, and calling their callbacks when these are due.
//!
//! ```text
//!   plan thread:  loop { wait until next_deadline() or a request; load(plan) | run_due(now) }   then finish()
//! ```
//!
//! All calls of plans are meant to come from one thread. The session's own lock is only held to take callbacks
//! out and to put them back, never while a plan runs or the runtime is asked.

use crate::context::{Callback, Context, Schedule, Slot, lock};
use crate::engine;
use crate::error::{PlanError, Stage};
use crate::ledger::{Ledger, Thing};
use crate::limits;
use crate::plan::Plan;
use rhai::{AST, Dynamic, Engine, EvalAltResult, FnPtr, INT, Position, Scope};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use veneer_instruments::{AttachError, InstrumentId, Runtime};

/// The plans of one JVM and their callbacks.
pub struct Session {
    runtime: Arc<dyn Runtime>,
    ledger: Arc<Ledger>,
    slots: Arc<AtomicUsize>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// In order of registration.
    timers: Vec<Timer>,
    /// In order of registration.
    at_exit: Vec<Call>,
    /// Counts loads and timers; gives equals an order.
    next: u64,
    finished: bool,
}

/// What is left of a load of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Attached and not taken off, oldest first.
    pub things: Vec<Thing>,
    /// Callbacks that wait for their time, or for the end.
    pub callbacks: usize,
}

/// A plan with the engine that runs it. Lives as long as one of its callbacks does.
struct Loaded {
    engine: Engine,
    plan: Plan,
    context: Arc<Context>,
}

/// A callback and the plan that it belongs to.
struct Call {
    loaded: Arc<Loaded>,
    function: FnPtr,
    condition: Option<FnPtr>,
    position: Position,
    cancelled: Arc<AtomicBool>,
    _slot: Slot,
}

struct Timer {
    call: Call,
    due: Instant,
    /// Equal deadlines run in order of registration.
    order: u64,
    /// None: runs once.
    period: Option<Duration>,
    errors: u32,
    /// The error that was reported last, so that the same one is not reported again.
    reported: Option<PlanError>,
}

impl Session {
    /// A session without plans.
    pub fn new(runtime: Arc<dyn Runtime>) -> Self {
        Session {
            runtime,
            ledger: Arc::default(),
            slots: Arc::default(),
            state: Mutex::default(),
        }
    }

    /// Runs a plan's top level and keeps its callbacks. Gives the printed value of its last expression, empty
    /// for `()`.
    ///
    /// # Errors
    /// What stopped it. Nothing is left of the plan then: what it had attached is taken off again.
    pub fn load(&self, plan: Plan) -> Result<String, PlanError> {
        self.load_at(plan, Instant::now())
    }

    /// Gives out the number of a load that is to come. With it the load can be told from others before it begins.
    pub fn reserve(&self) -> u64 {
        let mut state = lock(&self.state);
        state.next += 1;
        state.next
    }

    /// Takes a load back: cancels its callbacks, those of `at_exit` too, and takes off what it attached and has not taken off
    /// itself.
    pub fn unload(&self, load: u64) {
        {
            let mut state = lock(&self.state);
            let other = |call: &Call| call.loaded.context.load != load;
            state.timers.retain(|timer| other(&timer.call));
            state.at_exit.retain(other);
        }
        self.take_off(load);
    }

    /// [`Session::load`], with `now` as the time from which delays count.
    ///
    /// # Errors
    /// As for `load`.
    pub fn load_at(&self, plan: Plan, now: Instant) -> Result<String, PlanError> {
        self.load_as(self.reserve(), plan, now)
    }

    /// [`Session::load_at`] under a number of [`Session::reserve`], which must not have been used before.
    ///
    /// # Errors
    /// As for `load`.
    pub fn load_as(&self, load: u64, plan: Plan, now: Instant) -> Result<String, PlanError> {
        self.run(load, plan, &mut Scope::new(), None, now)
    }

    /// Runs a plan's top level with these variables, and keeps its callbacks. With `rows`, a value that has a table is shown as
    /// one.
    pub(crate) fn run(
        &self,
        load: u64,
        plan: Plan,
        variables: &mut Scope,
        rows: Option<u32>,
        now: Instant,
    ) -> Result<String, PlanError> {
        {
            let state = lock(&self.state);
            if state.finished {
                let message = "the JVM is shutting down: no plan can begin".to_owned();
                return Err(PlanError::new(
                    Stage::Run,
                    plan.transcript(),
                    Position::NONE,
                    message,
                ));
            }
        }
        let context = Arc::new(Context::new(
            load,
            self.runtime.clone(),
            self.ledger.clone(),
            self.slots.clone(),
            &plan,
        ));
        let loaded = Arc::new(Loaded {
            engine: engine::for_plan(&context),
            plan,
            context,
        });
        let result = loaded.guard(Position::NONE, |loaded| {
            let tree = loaded.plan.tree();
            let value = loaded
                .engine
                .eval_ast_with_scope::<Dynamic>(variables, tree)?;
            match loaded.context.settings.unasked() {
                Some(message) => Err(message.into()),
                None => loaded.show(value, rows),
            }
        });
        match result {
            Ok(value) => {
                self.keep(&loaded, now);
                Ok(value)
            }
            Err(error) => {
                drop(loaded.context.registered());
                self.take_off(load);
                Err(error)
            }
        }
    }

    /// Takes off what a load attached; the patches and instruments of other plans stay.
    fn take_off(&self, load: u64) {
        for (plan, thing) in self.ledger.of_load(load) {
            if let Err(error) = thing.take_off(self.runtime.as_ref()) {
                self.runtime
                    .print(&format!("{plan}: while taking the plan back: {error}"));
            }
            self.ledger.detached(thing);
        }
    }

    /// Moves what a plan has registered into the session; delays count from `now`.
    fn keep(&self, loaded: &Arc<Loaded>, now: Instant) {
        let registered = loaded.context.registered();
        let mut state = lock(&self.state);
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
            let call = Call {
                loaded: loaded.clone(),
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
                errors: 0,
                reported: None,
            });
        }
    }

    /// When [`Session::run_due`] has something to do next.
    pub fn next_deadline(&self) -> Option<Instant> {
        let state = lock(&self.state);
        let live = state
            .timers
            .iter()
            .filter(|timer| !timer.call.is_cancelled());
        live.map(|timer| timer.due).min()
    }

    /// Runs the callbacks of `every` and `after` that are due at `now`, in order of their deadlines. One of
    /// `every` that missed ticks runs once. Errors are printed; after [`limits::ERRORS_IN_A_ROW`] of them a
    /// callback is cancelled.
    pub fn run_due(&self, now: Instant) {
        let mut due = {
            let mut state = lock(&self.state);
            state.timers.retain(|timer| !timer.call.is_cancelled());
            let all = std::mem::take(&mut state.timers);
            let (due, later) = all
                .into_iter()
                .partition::<Vec<_>, _>(|timer| timer.due <= now);
            state.timers = later;
            due
        };
        due.sort_by_key(|timer| (timer.due, timer.order));
        for mut timer in due {
            if timer.call.is_cancelled() || lock(&self.state).finished {
                continue;
            }
            let result = timer.call.run();
            self.keep(&timer.call.loaded, now);
            let goes_on = match result {
                Ok(()) => {
                    timer.errors = 0;
                    timer.reported = None;
                    true
                }
                Err(error) => self.failed(&mut timer, error),
            };
            let Some(period) = timer.period else {
                continue;
            };
            timer.due = next_tick(timer.due, period, now);
            let mut state = lock(&self.state);
            if goes_on && !state.finished && !timer.call.is_cancelled() {
                state.timers.push(timer);
            }
        }
    }

    /// Reports a callback's error, and says whether it may go on.
    fn failed(&self, timer: &mut Timer, error: PlanError) -> bool {
        timer.errors += 1;
        if timer.reported.as_ref() != Some(&error) {
            self.runtime.print(&error.to_string());
            timer.reported = Some(error);
        }
        let goes_on = timer.errors < limits::ERRORS_IN_A_ROW;
        if !goes_on && timer.period.is_some() {
            let place = timer.call.loaded.context.place(timer.call.position);
            self.runtime.print(&format!(
                "{place}: every: cancelled after {} errors in a row",
                timer.errors
            ));
        }
        goes_on
    }

    /// The JVM ends: runs the callbacks of `at_exit` in order of registration and drops all timers. What these
    /// callbacks register is dropped too. A second call does nothing.
    pub fn finish(&self) {
        let at_exit = {
            let mut state = lock(&self.state);
            state.finished = true;
            state.timers.clear();
            std::mem::take(&mut state.at_exit)
        };
        for call in at_exit {
            if call.is_cancelled() {
                continue;
            }
            if let Err(error) = call.run() {
                self.runtime.print(&error.to_string());
            }
            drop(call.loaded.context.registered());
        }
    }

    /// What is left of each load: what it attached and has not taken off, oldest first, and how many callbacks wait.
    pub fn left(&self) -> BTreeMap<u64, Left> {
        let mut all = BTreeMap::<u64, Left>::new();
        for (load, things) in self.ledger.by_load() {
            all.entry(load).or_default().things = things;
        }
        let state = lock(&self.state);
        let timers = state.timers.iter().map(|timer| &timer.call);
        for call in timers.chain(&state.at_exit) {
            if !call.is_cancelled() {
                all.entry(call.loaded.context.load).or_default().callbacks += 1;
            }
        }
        all
    }

    /// Takes one thing off, whoever attached it. False where nothing of that name is attached.
    ///
    /// # Errors
    /// What the runtime says; it counts as taken off all the same.
    pub fn take_off_one(&self, name: &str) -> Result<bool, AttachError> {
        let thing = self
            .ledger
            .all()
            .into_iter()
            .find(|t| t.to_string() == name);
        let Some(thing) = thing else {
            return Ok(false);
        };
        self.ledger.detached(thing);
        thing.take_off(self.runtime.as_ref()).map(|()| true)
    }

    /// These are not attached any more: the runtime has taken them off by itself.
    pub fn forget(&self, taken: &[InstrumentId]) {
        for id in taken {
            self.ledger.detached(Thing::Instrument(*id));
        }
    }

    /// The instruments that plans of this name have attached and not taken off, oldest first.
    pub fn instruments_of(&self, plan: &str) -> Vec<InstrumentId> {
        self.ledger.instruments_of(plan)
    }
}

impl Loaded {
    /// Runs script code: within the time limit, with errors made presentable (shown at `place` where they have
    /// none of their own), and with a panic of the engine caught, since it must not take the JVM down.
    fn guard<R>(
        &self,
        place: Position,
        code: impl FnOnce(&Self) -> Result<R, Box<EvalAltResult>>,
    ) -> Result<R, PlanError> {
        self.context.runtime.speaks(self.context.load);
        self.context.begin_call();
        let within = self.plan.transcript();
        match catch_unwind(AssertUnwindSafe(|| code(self))) {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(PlanError::run(within, place, *error)),
            Err(_) => {
                let message =
                    "the script engine failed inside; this is a fault of veneer, not of the plan";
                let message = message.to_owned();
                Err(PlanError::new(Stage::Run, within, Position::NONE, message))
            }
        }
    }

    /// A value as `print` would show it; `()` as nothing.
    fn show(&self, value: Dynamic, rows: Option<u32>) -> Result<String, Box<EvalAltResult>> {
        if value.is_unit() {
            return Ok(String::new());
        }
        if let Some(rows) = rows {
            let arguments = (value.clone(), INT::from(rows));
            match FnPtr::new("table")?.call::<Dynamic>(&self.engine, &AST::empty(), arguments) {
                Ok(table) => return Ok(table.to_string()),
                Err(error) if matches!(*error, EvalAltResult::ErrorFunctionNotFound(..)) => {}
                Err(error) => return Err(error),
            }
        }
        let shown =
            FnPtr::new("to_string")?.call::<Dynamic>(&self.engine, &AST::empty(), (value,))?;
        Ok(shown.to_string())
    }
}

impl Call {
    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    fn run(&self) -> Result<(), PlanError> {
        self.loaded.guard(self.position, |loaded| {
            let tree = loaded.plan.tree();
            if let Some(condition) = &self.condition {
                if !condition.call::<bool>(&loaded.engine, tree, ())? {
                    return Ok(());
                }
                self.cancelled.store(true, Ordering::Relaxed);
            }
            match self.function.call::<Dynamic>(&loaded.engine, tree, ()) {
                Ok(_) => Ok(()),
                // `exit()` ends this call and nothing else.
                Err(error) if matches!(error.unwrap_inner(), EvalAltResult::Exit(..)) => Ok(()),
                Err(error) => Err(error),
            }
        })
    }
}

/// The first tick after `now` on the grid that `due` and `period` make: missed ticks are skipped.
fn next_tick(due: Instant, period: Duration, now: Instant) -> Instant {
    let late = now.saturating_duration_since(due).as_nanos();
    let ticks = late / period.as_nanos().max(1) + 1;
    match u32::try_from(ticks) {
        Ok(ticks) => due + period * ticks,
        Err(_) => now + period,
    }
}
