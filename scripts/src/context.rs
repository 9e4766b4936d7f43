//! What the functions of one loaded plan share: the way to the runtime, and what they leave for the session.
//!
//! No lock is held while the runtime is asked: [`Context::ask`] is the only way there, and what a plan
//! registers is put into an inbox that the session empties after the call.

use crate::component::{Components, Declared};
use crate::ledger::Ledger;
use crate::limits;
use crate::link::Modules;
use crate::plan::Plan;
use crate::settings::Settings;
use crate::transcript::Transcript;
use rhai::{AST, FnPtr, Position};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use veneer_instruments::Runtime;

/// Locks; a panic while it was held leaves plain data that is still good.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// When a callback is to run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Schedule {
    Every(Duration),
    After(Duration),
    AtExit,
}

/// A callback that a plan has registered.
pub(crate) struct Callback {
    pub(crate) schedule: Schedule,
    pub(crate) function: FnPtr,
    /// It runs once, as soon as this is found to hold.
    pub(crate) condition: Option<FnPtr>,
    pub(crate) position: Position,
    pub(crate) cancelled: Arc<AtomicBool>,
    /// Gives the place among [`limits::CALLBACKS`] back when the callback is gone.
    pub(crate) slot: Slot,
}

/// One of the places for callbacks of a session.
pub(crate) struct Slot(Arc<AtomicUsize>);

impl Slot {
    /// None where all are taken.
    pub(crate) fn take(taken: &Arc<AtomicUsize>) -> Option<Self> {
        taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| {
                (n < limits::CALLBACKS).then_some(n + 1)
            })
            .ok()
            .map(|_| Slot(taken.clone()))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

pub(crate) struct Context {
    /// The plan's name: its file name.
    pub(crate) name: String,
    /// Tells plans of the same name apart.
    pub(crate) load: u64,
    pub(crate) runtime: Arc<dyn Runtime>,
    pub(crate) ledger: Arc<Ledger>,
    /// How many callbacks of the session wait, at most [`limits::CALLBACKS`].
    pub(crate) slots: Arc<AtomicUsize>,
    /// All components of the session. It has them, and they have this.
    pub(crate) components: Weak<Components>,
    /// The plan itself: closures that become code at points are looked up in it.
    pub(crate) tree: AST,
    /// The plan's modules, which have run.
    pub(crate) modules: Modules,
    transcript: Transcript,
    /// Values from the command line.
    pub(crate) settings: Settings,
    /// Whether code at points may call methods of the application.
    pub(crate) calls: Arc<AtomicBool>,
    /// When the plan began.
    pub(crate) began: Instant,
    inbox: Mutex<Vec<Callback>>,
    /// What the plan says that it deploys.
    declared: Mutex<Option<Declared>>,
    analyser: Mutex<Option<Analyser>>,
    /// The analyser is at work.
    pub(crate) analysing: AtomicBool,
    /// The top level has ended.
    loaded: AtomicBool,
    /// The plan has been taken off as a whole.
    off: AtomicBool,
    /// Calls that are running, one inside the other: an analyser may be asked from a callback of its own plan.
    running: AtomicUsize,
    /// Nanoseconds since `began` after which the call that is running has used up its time.
    deadline: AtomicU64,
}

impl Context {
    pub(crate) fn new(
        load: u64,
        runtime: Arc<dyn Runtime>,
        ledger: Arc<Ledger>,
        slots: Arc<AtomicUsize>,
        components: &Arc<Components>,
        plan: &Plan,
    ) -> Self {
        Context {
            name: plan.name().to_owned(),
            load,
            runtime,
            ledger,
            slots,
            components: Arc::downgrade(components),
            tree: plan.tree().clone(),
            modules: Modules::default(),
            transcript: plan.transcript().clone(),
            settings: Settings::new(plan.settings().clone()),
            calls: plan.calls(),
            began: Instant::now(),
            inbox: Mutex::new(Vec::new()),
            declared: Mutex::new(None),
            analyser: Mutex::new(None),
            analysing: AtomicBool::new(false),
            loaded: AtomicBool::new(false),
            off: AtomicBool::new(false),
            running: AtomicUsize::new(0),
            deadline: AtomicU64::new(0),
        }
    }

    fn elapsed(&self) -> u64 {
        nanoseconds(self.began.elapsed())
    }

    /// Begins a call: it gets [`limits::WALL_CLOCK`], unless it is inside another one of this plan.
    pub(crate) fn begin_call(&self) -> Running<'_> {
        if self.running.fetch_add(1, Ordering::Relaxed) == 0 {
            let deadline = self
                .elapsed()
                .saturating_add(nanoseconds(limits::WALL_CLOCK));
            self.deadline.store(deadline, Ordering::Relaxed);
        }
        Running(self)
    }

    pub(crate) fn out_of_time(&self) -> bool {
        self.elapsed() > self.deadline.load(Ordering::Relaxed)
    }

    /// Asks the runtime. The time that it takes is not the plan's.
    pub(crate) fn ask<R>(&self, question: impl FnOnce(&dyn Runtime) -> R) -> R {
        let begin = self.elapsed();
        let answer = question(self.runtime.as_ref());
        let took = self.elapsed().saturating_sub(begin);
        self.deadline.fetch_add(took, Ordering::Relaxed);
        answer
    }

    /// The texts of the plan and its modules.
    pub(crate) fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// `file:line:column`.
    pub(crate) fn place(&self, position: Position) -> String {
        match (self.transcript.find(position), position.position()) {
            ((name, 0, _), _) => name.to_owned(),
            ((name, line, _), Some(column)) => format!("{name}:{line}:{column}"),
            ((name, line, _), None) => format!("{name}:{line}"),
        }
    }

    /// What the plan says that it deploys, where it says something.
    pub(crate) fn declared(&self) -> Option<Declared> {
        lock(&self.declared).clone()
    }

    /// Says what the plan deploys; what it said before is the error.
    pub(crate) fn declare(&self, declared: Declared) -> Result<(), Declared> {
        let mut known = lock(&self.declared);
        match &*known {
            Some(first) => Err(first.clone()),
            None => {
                *known = Some(declared);
                Ok(())
            }
        }
    }

    /// False where there is one already.
    pub(crate) fn set_analyser(&self, function: FnPtr, position: Position, slot: Slot) -> bool {
        let mut known = lock(&self.analyser);
        let is_first = known.is_none();
        if is_first {
            *known = Some((function, position, slot));
        }
        is_first
    }

    /// What was registered as the plan's analyser.
    pub(crate) fn take_analyser(&self) -> Option<Analyser> {
        lock(&self.analyser).take()
    }

    /// The top level runs still.
    pub(crate) fn is_loading(&self) -> bool {
        !self.loaded.load(Ordering::Relaxed)
    }

    /// The top level has ended.
    pub(crate) fn set_loaded(&self) {
        self.loaded.store(true, Ordering::Relaxed);
    }

    /// The plan has been taken off as a whole.
    pub(crate) fn is_off(&self) -> bool {
        self.off.load(Ordering::Relaxed)
    }

    /// The plan is taken off as a whole: no callback of it runs any more.
    pub(crate) fn set_off(&self) {
        self.off.store(true, Ordering::Relaxed);
    }

    pub(crate) fn register(&self, callback: Callback) {
        lock(&self.inbox).push(callback);
    }

    /// What was registered since the last time.
    pub(crate) fn registered(&self) -> Vec<Callback> {
        std::mem::take(&mut *lock(&self.inbox))
    }
}

/// An analyser that has been registered, and where.
pub(crate) type Analyser = (FnPtr, Position, Slot);

/// A call that is running; ends when dropped.
pub(crate) struct Running<'a>(&'a Context);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
