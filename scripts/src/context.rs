//! The state that the functions of one plan instance share: the access to the runtime, and the
//! callbacks that the plan registers.
//!
//! No lock is held during a call of the runtime. Plans call the runtime only through
//! [`PlanContext::with_runtime`]. Registered callbacks go to an inbox, which the session empties
//! after the call of the plan.

use crate::limits;
use crate::link::ModuleRegistry;
use crate::ownership::Ownership;
use crate::params::Params;
use crate::plan::Plan;
use crate::source_map::SourceMap;
use parking_lot::Mutex;
use rhai::{AST, FnPtr, Position};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use veneer_instruments::{PlanInstanceId, Runtime, VmEventKind};

/// The time at which a callback runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Schedule {
    Every(Duration),
    After(Duration),
    AtExit,
    /// At each event of this kind.
    On(VmEventKind),
}

/// A callback that a plan has registered.
pub(crate) struct Callback {
    pub(crate) schedule: Schedule,
    pub(crate) function: FnPtr,
    /// If set, the callback runs once, as soon as this condition is found to hold.
    pub(crate) condition: Option<FnPtr>,
    pub(crate) position: Position,
    pub(crate) cancelled: Arc<AtomicBool>,
    /// Frees the callback's share of [`limits::MAX_CALLBACKS`] when the callback is dropped.
    pub(crate) slot: CallbackSlot,
}

/// One of the callback slots of a session.
pub(crate) struct CallbackSlot(Arc<AtomicUsize>);

impl CallbackSlot {
    /// Takes a slot; `None` if all slots are in use.
    pub(crate) fn reserve(taken: &Arc<AtomicUsize>) -> Option<Self> {
        taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| {
                (n < limits::MAX_CALLBACKS).then_some(n + 1)
            })
            .ok()
            .map(|_| CallbackSlot(taken.clone()))
    }
}

impl Drop for CallbackSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The name and version that a plan has declared as a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ComponentDeclaration {
    pub(crate) name: String,
    pub(crate) version: String,
}

/// The state of one plan instance. See the module documentation.
pub(crate) struct PlanContext {
    /// The plan's name: its file name.
    pub(crate) name: String,
    /// The number of this plan instance, which distinguishes plans of the same name.
    pub(crate) instance: PlanInstanceId,
    pub(crate) runtime: Arc<dyn Runtime>,
    pub(crate) ownership: Arc<Ownership>,
    /// The number of waiting callbacks of the session, at most [`limits::MAX_CALLBACKS`].
    pub(crate) slots: Arc<AtomicUsize>,
    /// The syntax tree of the plan, in which closures that become probes are looked up.
    pub(crate) tree: AST,
    /// The evaluated modules of the plan.
    pub(crate) modules: ModuleRegistry,
    source_map: SourceMap,
    /// The parameters from the command line.
    pub(crate) params: Params,
    /// Whether probes may call methods of the application.
    pub(crate) calls: Arc<AtomicBool>,
    /// The time at which the plan began.
    pub(crate) began: Instant,
    inbox: Mutex<Vec<Callback>>,
    /// The warnings about selections that were printed.
    warned: Mutex<HashSet<String>>,
    /// The component name and version that the plan has declared.
    declared: Mutex<Option<ComponentDeclaration>>,
    analyser: Mutex<Option<Analyser>>,
    /// The transformations that the plan has declared, by their names.
    transformations: Mutex<BTreeMap<String, FnPtr>>,
    /// Whether the analyser is running.
    pub(crate) analysing: AtomicBool,
    /// Whether the top level has ended.
    has_loaded: AtomicBool,
    /// Whether the plan has been detached as a whole.
    detached: AtomicBool,
    /// The number of nested calls of this plan. A callback may call the analyser of its own plan.
    active_calls: AtomicUsize,
    /// The deadline of the current call, in nanoseconds since `began`.
    deadline: AtomicU64,
}

impl PlanContext {
    pub(crate) fn new(
        instance: PlanInstanceId,
        runtime: Arc<dyn Runtime>,
        ownership: Arc<Ownership>,
        slots: Arc<AtomicUsize>,
        plan: &Plan,
    ) -> Self {
        PlanContext {
            name: plan.name().to_owned(),
            instance,
            runtime,
            ownership,
            slots,
            tree: plan.tree().clone(),
            modules: ModuleRegistry::default(),
            source_map: plan.source_map().clone(),
            params: Params::new(plan.params().clone()),
            calls: plan.calls(),
            began: Instant::now(),
            inbox: Mutex::new(Vec::new()),
            warned: Mutex::default(),
            declared: Mutex::new(None),
            analyser: Mutex::new(None),
            transformations: Mutex::default(),
            analysing: AtomicBool::new(false),
            has_loaded: AtomicBool::new(false),
            detached: AtomicBool::new(false),
            active_calls: AtomicUsize::new(0),
            deadline: AtomicU64::new(0),
        }
    }

    /// Whether the plan has not printed this warning before. A plan often attaches several instruments
    /// to one selection.
    pub(crate) fn is_new_warning(&self, warning: &str) -> bool {
        self.warned.lock().insert(warning.to_owned())
    }

    fn elapsed(&self) -> u64 {
        nanoseconds(self.began.elapsed())
    }

    /// Begins a call. An outermost call gets the time [`limits::MAX_CALL_DURATION`]; a nested call
    /// of the same plan shares the time of the outermost one.
    pub(crate) fn begin_call(&self) -> ActiveCall<'_> {
        if self.active_calls.fetch_add(1, Ordering::Relaxed) == 0 {
            let deadline = self
                .elapsed()
                .saturating_add(nanoseconds(limits::MAX_CALL_DURATION));
            self.deadline.store(deadline, Ordering::Relaxed);
        }
        ActiveCall(self)
    }

    pub(crate) fn is_past_deadline(&self) -> bool {
        self.elapsed() > self.deadline.load(Ordering::Relaxed)
    }

    /// Calls the runtime. The duration of the call does not count towards the plan's time limit.
    pub(crate) fn with_runtime<R>(&self, question: impl FnOnce(&dyn Runtime) -> R) -> R {
        let begin = self.elapsed();
        let answer = question(self.runtime.as_ref());
        let took = self.elapsed().saturating_sub(begin);
        self.deadline.fetch_add(took, Ordering::Relaxed);
        answer
    }

    /// The source texts of the plan and its modules.
    pub(crate) fn source_map(&self) -> &SourceMap {
        &self.source_map
    }

    /// Formats a position as `file:line:column`.
    pub(crate) fn place(&self, position: Position) -> String {
        match (self.source_map.locate(position), position.position()) {
            ((name, 0, _), _) => name.to_owned(),
            ((name, line, _), Some(column)) => format!("{name}:{line}:{column}"),
            ((name, line, _), None) => format!("{name}:{line}"),
        }
    }

    /// Returns the component that the plan has declared.
    pub(crate) fn component_declaration(&self) -> Option<ComponentDeclaration> {
        self.declared.lock().clone()
    }

    /// Declares the plan as a component. A second declaration fails and returns the first one.
    pub(crate) fn declare_component(
        &self,
        declared: ComponentDeclaration,
    ) -> Result<(), ComponentDeclaration> {
        let mut known = self.declared.lock();
        match &*known {
            Some(first) => Err(first.clone()),
            None => {
                *known = Some(declared);
                Ok(())
            }
        }
    }

    /// Declares a transformation. Returns false if the plan has one of this name already.
    pub(crate) fn declare_transformation(&self, name: &str, function: FnPtr) -> bool {
        let mut known = self.transformations.lock();
        let is_new = !known.contains_key(name);
        if is_new {
            known.insert(name.to_owned(), function);
        }
        is_new
    }

    /// The function of a transformation that the plan has declared.
    pub(crate) fn transformation(&self, name: &str) -> Option<FnPtr> {
        self.transformations.lock().get(name).cloned()
    }

    /// The names of the transformations that the plan has declared.
    pub(crate) fn transformation_names(&self) -> Vec<String> {
        self.transformations.lock().keys().cloned().collect()
    }

    /// Sets the analyser. Returns false if the plan already has one.
    pub(crate) fn set_analyser(
        &self,
        function: FnPtr,
        position: Position,
        slot: CallbackSlot,
    ) -> bool {
        let mut known = self.analyser.lock();
        let is_first = known.is_none();
        if is_first {
            *known = Some((function, position, slot));
        }
        is_first
    }

    /// Removes and returns the registered analyser.
    pub(crate) fn take_analyser(&self) -> Option<Analyser> {
        self.analyser.lock().take()
    }

    /// Whether the top level is still running.
    pub(crate) fn is_loading(&self) -> bool {
        !self.has_loaded.load(Ordering::Relaxed)
    }

    /// Records that the top level has ended.
    pub(crate) fn set_loaded(&self) {
        self.has_loaded.store(true, Ordering::Relaxed);
    }

    /// Whether the plan has been detached as a whole.
    pub(crate) fn is_detached(&self) -> bool {
        self.detached.load(Ordering::Relaxed)
    }

    /// Records that the plan is detached as a whole. Its callbacks do not run any more.
    pub(crate) fn set_detached(&self) {
        self.detached.store(true, Ordering::Relaxed);
    }

    pub(crate) fn register(&self, callback: Callback) {
        self.inbox.lock().push(callback);
    }

    /// Removes and returns the callbacks that were registered since the last call.
    pub(crate) fn take_callbacks(&self) -> Vec<Callback> {
        std::mem::take(&mut *self.inbox.lock())
    }
}

/// A registered analyser, with the position and the callback slot.
pub(crate) type Analyser = (FnPtr, Position, CallbackSlot);

/// Guard of a running call. The call ends when the guard is dropped.
pub(crate) struct ActiveCall<'a>(&'a PlanContext);

impl Drop for ActiveCall<'_> {
    fn drop(&mut self) {
        self.0.active_calls.fetch_sub(1, Ordering::Relaxed);
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
