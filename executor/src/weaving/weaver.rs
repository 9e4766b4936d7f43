//! The weaver: attaches instruments to the methods of one class.
//!
//! ```text
//!   select_tasks ─▶ for each instrument and method:  analyse ─▶ plan ─▶ allocate counters ─▶ record ─▶ add the probes
//!                                                                                                          │
//!                   versions of the changed methods ◀─ WovenMethods::prepare ◀─────────────────────────────┘
//! ```
//!
//! | caller             | thread                              | when                                              |
//! |--------------------|-------------------------------------|---------------------------------------------------|
//! | [`weave_class`]    | plan thread                         | an instrument is attached, for each armed class   |
//! | [`weave_loaded`]   | see [`prepared_classes`]            | a class has been prepared                         |
//! | [`weave_redefined`] | thread that redefines the class    | the JVM is about to install new code of a class   |
//! | [`weave_awaiting`] | see [`prepared_classes`]            | code waited for another class                     |
//!
//! [`prepared_classes`]: crate::weaving::prepared_classes
//!
//! Two threads may weave the same class at once. `Instrument::tried` ensures that only one of them
//! does a method. No lock of the agent is held while a method is analysed, planned or emitted.
//!
//! The points of a method are recorded in the metadata journal before the first count can happen
//! there.

use crate::agent::Agent;
use crate::classes::later_agents;
use crate::classes::method_analysis::{AnalysedMethod, analyse};
use crate::classes::method_table::MethodTable;
use crate::classes::registry::{Class, CodeInJvm};
use crate::classes::selection;
use crate::data::recorder::RecordedMethod;
use crate::data::shards::{SLOTS, Shards};
use crate::jvm::jni::{Env, jclass};
use crate::observation::heap_sampler::AllocationSite;
use crate::plans::instrument_registry::{InstalledPoint, SlotKey};
use crate::plans::jobs::PlanJob;
use crate::plans::journal_records;
use crate::weaving::counter_allocation::allocate_block;
use crate::weaving::guard_points;
use crate::weaving::planned_probe::{
    CompiledProbe, HitLimit, PlannedAction, PlannedProbe, VisibleValues,
};
use crate::weaving::planner;
use crate::weaving::probe_scope::{SiteScope, UniqueClasses};
use crate::weaving::target_switch::SwitchBatch;
use crate::weaving::woven_methods::Probes;
use std::sync::Arc;
use veneer_fragmenter::Refusal;
use veneer_fragmenter::advice::Site;
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::counting::CounterPlan;
use veneer_fragmenter::method::Method;
use veneer_fragmenter::points::reachable;
use veneer_instruments::{AttachError, ClassMetadata, InstrumentId, InstrumentSpec, PointSelector};
use veneer_names::{LogPoint, MethodId, PointSlot, internal_form};
use veneer_probes::error::Reason;
use veneer_probes::{ProbeCode, ProbeError};

/// The refusal code of methods whose code waits for a class.
const AWAITS_CLASS: &str = "NotLoaded";

/// Weaves all attached instruments into a class that has just been prepared or redefined. None of
/// its code runs yet.
pub fn weave_loaded(agent: &Agent, env: Env, class: &Arc<Class>) {
    let mut batch = SwitchBatch::default();
    weave_and_report(agent, env, class, false, &mut batch);
    install_versions(agent, env, &mut batch);
}

/// Weaves all attached instruments into a class whose new code the JVM is about to install. None of
/// that code runs yet.
pub fn weave_redefined(agent: &Agent, env: Env, class: &Arc<Class>) {
    // The JVM still has the old code, so it cannot be compared yet.
    class.state().code_in_jvm = CodeInJvm::Armed;
    weave_loaded(agent, env, class);
    class.state().code_in_jvm = CodeInJvm::NotChecked;
}

/// Weaves the classes again whose code waits for a class that has just been prepared. The waiting
/// classes may be running. No object of the new class exists yet. `name` is the internal name of
/// the new class.
pub fn weave_awaiting(agent: &Agent, env: Env, name: &str) {
    let waiting = agent.pending_classes.remove_named(name);
    if waiting.is_empty() {
        return;
    }
    let mut batch = SwitchBatch::default();
    for class in waiting {
        weave_and_report(agent, env, &class, true, &mut batch);
    }
    install_versions(agent, env, &mut batch);
}

/// Installs the prepared versions. From a method for which this fails, removes the instruments that
/// the failed version would have added.
pub fn install_versions(agent: &Agent, env: Env, batch: &mut SwitchBatch) {
    for (class, id, reason) in agent.methods.install_versions(agent, env, batch) {
        remove_unproven(agent, &class, id, &reason);
    }
}

/// Weaves all attached instruments that select methods of this class into it. Each instrument is
/// tried once for each method. The result takes effect with [`install_versions`].
///
/// Returns the errors of instruments whose spec asks for something that a selected method does not
/// have, such as a line or a variable.
///
/// `eager`: see [`prepare`](crate::weaving::woven_methods::WovenMethods::prepare).
pub fn weave_class(
    agent: &Agent,
    env: Env,
    class: &Arc<Class>,
    eager: bool,
    batch: &mut SwitchBatch,
) -> Vec<(InstrumentId, AttachError)> {
    let placed = place_instruments(agent, env, class);
    let refused = agent
        .methods
        .prepare(agent, env, class, &placed.changed, eager, batch);
    for (id, reason) in refused {
        remove_unproven(agent, class, id, &reason);
    }
    placed.errors
}

/// The result of [`place_instruments`].
#[derive(Default)]
pub struct PlacedInstruments {
    /// The methods that need a new version.
    pub changed: Vec<MethodId>,
    /// The errors of single methods.
    pub errors: Vec<(InstrumentId, AttachError)>,
}

/// Adds the points of instruments that match the methods of a class, as [`weave_class`] does, but makes
/// no versions.
pub fn place_instruments(agent: &Agent, env: Env, class: &Arc<Class>) -> PlacedInstruments {
    let mut placed = PlacedInstruments::default();
    // Code that waits for a class is placed again if the class has been loaded meanwhile.
    while place_once(agent, env, class, &mut placed) {}
    placed.changed.sort_unstable();
    placed.changed.dedup();
    placed
}

/// Adds the points that are possible now. Returns whether there may be more.
fn place_once(agent: &Agent, env: Env, class: &Arc<Class>, placed: &mut PlacedInstruments) -> bool {
    let methods = {
        let state = class.state();
        if state.class.is_none() {
            // The class is not prepared yet. It is woven when it is.
            return false;
        }
        state.methods.clone()
    };
    // The facts are asked for before the table is locked, because only the JVM knows them.
    let patterns = agent.plan_patterns();
    let patterns = patterns.iter().map(|p| &p.methods);
    let facts = selection::metadata_if_needed(agent.tool, env, class, patterns);
    let tasks = select_tasks(agent, class, &methods, facts.as_deref());
    if tasks.is_empty() {
        return false;
    }
    if !later_agents::has_own_code(agent, env, class) {
        if class.state().code_in_jvm == CodeInJvm::NotChecked {
            agent.hooked_again.add(class, true);
            agent.post_job(PlanJob::CheckHookedClasses);
        }
        return false;
    }
    let original = match class.original_file() {
        Ok(original) => original,
        Err(lost) => {
            agent.refuse(class.dotted.as_str(), "", lost.name(), &lost.to_string());
            return false;
        }
    };
    let Ok(file) = ClassFile::parse(&original) else {
        return false;
    };
    let mut weaver = ClassWeaver {
        agent,
        env,
        class,
        file: &file,
        unique: UniqueClasses::default(),
        result: WeavingResult::default(),
    };
    for task in &tasks {
        weaver.weave(task);
    }
    let WeavingResult {
        errors,
        waiting,
        changed,
        records,
    } = weaver.result;
    // The points are recorded before the first count can happen.
    agent.append_records(&records);
    placed.errors.extend(errors);
    placed.changed.extend(changed);
    register_waiting(agent, class, &waiting)
}

/// Registers the class as waiting for other classes. Returns whether the class must be woven again
/// at once. It must if it did not wait before: the awaited class may have been prepared between the
/// compilation and the registration, and only a later preparation weaves the waiting class again.
fn register_waiting(agent: &Agent, class: &Arc<Class>, waiting: &[WaitingTask]) -> bool {
    let mut is_new = false;
    for task in waiting {
        is_new |= agent.pending_classes.add(&task.awaited, class);
        if let Some(i) = agent.table.lock().instrument(task.instrument) {
            i.tried.remove(&task.method);
        }
    }
    is_new
}

/// Weaves a class, and reports errors to the user. Unlike during `attach`, no caller waits for the
/// result.
fn weave_and_report(
    agent: &Agent,
    env: Env,
    class: &Arc<Class>,
    eager: bool,
    batch: &mut SwitchBatch,
) {
    for (instrument, error) in weave_class(agent, env, class, eager, batch) {
        let mut tables = agent.table.lock();
        let Some(i) = tables.instrument(instrument) else {
            continue;
        };
        match ErrorReporting::for_error(&error, &i.spec.place) {
            ErrorReporting::Never => {}
            ErrorReporting::IfNothingIsPlaced => {
                i.deferred_error.get_or_insert(error.to_string());
            }
            ErrorReporting::AtOnce => {
                let plan = i.spec.plan.clone();
                drop(tables);
                agent.report_problem(&plan, &error.to_string());
            }
        }
    }
}

/// The time at which the agent reports an error in a class that was loaded after the instrument was
/// attached.
#[derive(Debug, PartialEq, Eq)]
enum ErrorReporting {
    /// Classes without the requested point are normal.
    Never,
    /// Single instructions differ, and in many methods the code fits none of them. The error
    /// matters only if no point is ever placed.
    IfNothingIsPlaced,
    AtOnce,
}

impl ErrorReporting {
    fn for_error(error: &AttachError, place: &PointSelector) -> ErrorReporting {
        match error {
            AttachError::NotCompiled { .. }
                if matches!(
                    place,
                    PointSelector::Instructions(_) | PointSelector::CallGraph
                ) =>
            {
                ErrorReporting::IfNothingIsPlaced
            }
            AttachError::NotCompiled { .. } | AttachError::TooManyPoints { .. } => {
                ErrorReporting::AtOnce
            }
            _ => ErrorReporting::Never,
        }
    }
}

/// One instrument that is to be attached to one method.
struct Task {
    instrument: InstrumentId,
    /// The spec, restricted to the method.
    spec: InstrumentSpec,
    /// The id of the method.
    method: MethodId,
    /// Name and descriptor of the method.
    label: String,
}

/// A task whose code waits for a class.
struct WaitingTask {
    instrument: InstrumentId,
    method: MethodId,
    /// The internal name of the class.
    awaited: String,
}

/// The attached instruments that select methods of the class and have not been tried there. Marks
/// them as tried.
fn select_tasks(
    agent: &Agent,
    class: &Class,
    methods: &MethodTable,
    facts: Option<&ClassMetadata>,
) -> Vec<Task> {
    let mut tasks = Vec::new();
    let mut tables = agent.table.lock();
    for (n, i) in tables.instruments.iter_mut().enumerate() {
        let mut patterns = i.spec.patterns.iter();
        if !i.attached || !patterns.any(|p| p.matches_class(class.dotted.as_str())) {
            continue;
        }
        for m in methods.iter() {
            let named = (m.name, m.descriptor);
            if i.spec.selects(class.dotted.as_str(), facts, m.id, named) && i.tried.insert(m.id) {
                let id = InstrumentId(n as u32 + 1);
                if agent.recorder.excludes(id, class.dotted.as_str(), m.name) {
                    continue;
                }
                tasks.push(Task {
                    instrument: id,
                    spec: i.spec.for_method(m.id),
                    method: m.id,
                    label: format!("{}{}", m.name, m.descriptor),
                });
            }
        }
    }
    tasks
}

/// A public refusal code with its explanation, as reports list them.
#[derive(Debug, PartialEq, Eq)]
struct Refused {
    code: String,
    detail: String,
}

impl From<&Refusal> for Refused {
    fn from(reason: &Refusal) -> Refused {
        Refused {
            code: reason.name().to_string(),
            detail: reason.to_string(),
        }
    }
}

impl From<&AttachError> for Refused {
    fn from(error: &AttachError) -> Refused {
        Refused {
            code: attach_error_code(error).into(),
            detail: error.to_string(),
        }
    }
}

/// The public refusal code of an error: the name of its variant.
fn attach_error_code(error: &AttachError) -> &'static str {
    match error {
        AttachError::UnknownInstrument { .. } => "UnknownInstrument",
        AttachError::UnknownPatch { .. } => "UnknownPatch",
        AttachError::NothingMatches { .. } => "NothingMatches",
        AttachError::UnknownFragment { .. } => "UnknownFragment",
        AttachError::UnknownEdge { .. } => "UnknownEdge",
        AttachError::UnknownLine { .. } => "UnknownLine",
        AttachError::VariableNotLive { .. } => "VariableNotLive",
        AttachError::EditRefused { .. } => "EditRefused",
        AttachError::MethodRefused { .. } => "MethodRefused",
        AttachError::NotCompiled { .. } => "NotCompiled",
        AttachError::TooManyPoints { .. } => "TooManyPoints",
        AttachError::TallyTooLarge { .. } => "TallyTooLarge",
        AttachError::TablesFull { .. } => "TablesFull",
        AttachError::Unsupported { .. } => "Unsupported",
        AttachError::OutOfData { .. } => "OutOfData",
        AttachError::ShuttingDown => "ShuttingDown",
        AttachError::Vm { .. } => "Vm",
    }
}

/// The reason why an instrument is not placed in a method.
enum NotPlaced {
    /// The spec asks for something that the method does not have. `attach` returns this error to
    /// the plan.
    Error(AttachError),
    /// The method or the agent's memory does not allow it. Only reports list this reason.
    Refused(Refused),
    /// The code of the plan waits for the class with this internal name.
    Awaits { class: String, detail: String },
}

/// The points of an instrument in a method, with their counters.
#[derive(Default)]
struct Placement {
    points: Vec<InstalledPoint>,
    probes: Probes,
}

/// The results of weaving a class.
#[derive(Default)]
struct WeavingResult {
    errors: Vec<(InstrumentId, AttachError)>,
    waiting: Vec<WaitingTask>,
    /// The ids of the methods that need another version.
    changed: Vec<MethodId>,
    /// The records for the metadata journal.
    records: Vec<veneer_protocol::data::Record>,
}

/// The weaving of one class.
struct ClassWeaver<'a> {
    agent: &'a Agent,
    env: Env,
    class: &'a Arc<Class>,
    /// The original class file.
    file: &'a ClassFile<'a>,
    unique: UniqueClasses,
    result: WeavingResult,
}

impl ClassWeaver<'_> {
    /// Attaches an instrument to a method, and records the result.
    fn weave(&mut self, task: &Task) {
        let (agent, dotted) = (self.agent, self.class.dotted.as_str());
        let refused = match self.place(task) {
            Ok(placement) => {
                self.record(task, placement);
                return;
            }
            Err(NotPlaced::Awaits { class, detail }) => {
                agent.refuse(dotted, &task.label, AWAITS_CLASS, &detail);
                self.result.waiting.push(WaitingTask {
                    instrument: task.instrument,
                    method: task.method,
                    awaited: class,
                });
                return;
            }
            Err(NotPlaced::Error(error)) => {
                let refused = Refused::from(&error);
                self.result.errors.push((task.instrument, error));
                refused
            }
            Err(NotPlaced::Refused(refused)) => refused,
        };
        agent.refuse(dotted, &task.label, &refused.code, &refused.detail);
        if let Some(i) = agent.table.lock().instrument(task.instrument) {
            i.add_refusal(dotted, &task.label, &refused.detail);
        }
    }

    /// Plans the points of an instrument in a method, and allocates their counters.
    fn place(&self, task: &Task) -> Result<Placement, NotPlaced> {
        let agent = self.agent;
        let analysed = analyse(&agent.policy, self.file, self.class, task.method)
            .map_err(|reason| NotPlaced::Refused(Refused::from(&reason)))?;
        let (method, armed) = (&analysed.method, &analysed.armed);
        let (env, class) = (self.env, self.class);
        agent.methods.split_if_large(agent, env, class, &analysed);
        if matches!(
            task.spec.place,
            PointSelector::Blocks | PointSelector::Edges
        ) && method.is_constructor()
        {
            self.refuse_before_super(&analysed, &task.label);
        }
        let compile =
            |code: &ProbeCode, values| self.compile(&analysed, task.instrument, code, values);
        let access = agent.recorder.access_form();
        let planned = match task.spec.place {
            PointSelector::Guards => {
                guard_points::plan(&task.spec, method, &agent.methods.edits(task.method))
            }
            _ => planner::plan(&task.spec, method, armed, &compile, access),
        };
        let planned = planned.map_err(|error| match planner::awaited_class(&error) {
            Some(class) => NotPlaced::Awaits {
                class: internal_form(class),
                detail: error.to_string(),
            },
            None => NotPlaced::Error(error),
        })?;
        if task.spec.records_heap() {
            self.add_allocation_sites(task, &analysed, &planned);
        }
        let placed = {
            let mut tables = agent.table.lock();
            let instrument = tables.instrument(task.instrument);
            instrument.map_or(0, |i| i.points.len())
        };
        if placed + planned.len() > task.spec.limit as usize {
            let limit = task.spec.limit;
            return Err(NotPlaced::Error(AttachError::TooManyPoints { limit }));
        }
        let is_derived =
            task.spec.has_derived_counts() && planned.len() > 1 && !agent.methods.counts_each();
        let counting = match is_derived {
            true => counter_plan(&task.spec.place, &analysed, &planned),
            false => None,
        };
        self.allocate((task, method), &planned, counting)
            .map_err(NotPlaced::Refused)
    }

    /// Tells the recording of heap allocations the positions of planned allocations in the armed body.
    fn add_allocation_sites(
        &self,
        task: &Task,
        analysed: &AnalysedMethod,
        planned: &[PlannedProbe],
    ) {
        let (method, armed) = (&analysed.method, &analysed.armed);
        for one in planned {
            let Some((Site::At(pc), _)) = one.sites.first().copied() else {
                continue;
            };
            let all = &method.instructions;
            let index = all.binary_search_by_key(&pc, |(pc, _)| *pc).ok();
            let armed_pc = index.and_then(|index| armed.pcs.get(index).copied());
            let Some(armed_pc) = armed_pc else {
                continue;
            };
            let allocated = one.what.as_deref().and_then(|what| {
                let (text, _) = what.rsplit_once(" @")?;
                text.strip_prefix("new ")
            });
            self.agent.events.heap.add_site(&AllocationSite {
                method: task.method,
                class: self.class.dotted.as_str(),
                label: &task.label,
                pc,
                armed_pc,
                instance_of: allocated.filter(|name| !name.ends_with("[]")),
            });
        }
    }

    /// Adds the points to the instrument and the probes to the method.
    fn record(&mut self, task: &Task, placement: Placement) {
        if placement.probes.direct.is_empty() {
            return;
        }
        let (agent, dotted) = (self.agent, self.class.dotted.as_str());
        let Placement { points, probes } = placement;
        for point in &points {
            if let (PlannedAction::TraceEntry, Some(slot)) = (point.step, point.slot.counter()) {
                agent.recorder.name_frame(&RecordedMethod {
                    slot,
                    class: dotted,
                    label: &task.label,
                    line: point.line,
                });
            }
        }
        self.result.records.push(journal_records::installed(
            task.instrument,
            dotted,
            &task.label,
            &points,
        ));
        {
            let mut tables = agent.table.lock();
            if let Some(i) = tables.instrument(task.instrument) {
                i.points.extend(points);
                i.methods.insert(task.method);
            }
        }
        agent
            .methods
            .add_probes(task.method, task.instrument, probes);
        agent.withdraw_refusal(dotted, &task.label, AWAITS_CLASS);
        self.result.changed.push(task.method);
    }

    /// Compiles code of an instrument for a site of a method.
    fn compile(
        &self,
        analysed: &AnalysedMethod,
        instrument: InstrumentId,
        code: &ProbeCode,
        values: VisibleValues,
    ) -> Result<CompiledProbe, ProbeError> {
        let agent = self.agent;
        let compiled = self.env.frame(|env| {
            agent.library.prepare(env)?;
            let host = self.class.local(env).unwrap_or(jclass::NULL);
            let method = &analysed.method;
            let scope = SiteScope::new(agent, env, host, method, values, &self.unique, instrument);
            let compiled = veneer_probes::compile::compile(code, &scope);
            Ok(compiled.map(|probe| {
                let (reads, operands) = scope.sources(&probe);
                let placed = probe.with_table_addresses(&|table| agent.tallies.address(table));
                CompiledProbe {
                    method: Arc::new(placed),
                    reads,
                    operands,
                }
            }))
        });
        compiled.unwrap_or_else(|e| {
            let reason = Reason::TooLarge {
                what: e.to_string(),
            };
            let place = Default::default();
            Err(ProbeError { place, reason })
        })
    }

    /// Records the fragments of a constructor before `super(…)`, which a version cannot contain.
    fn refuse_before_super(&self, analysed: &AnalysedMethod, label: &str) {
        let (method, points) = (&analysed.method, &analysed.armed.points);
        let reachable = reachable(method, points);
        let first = points.first().map_or(0, |p| p.instruction);
        let refused = Refused::from(&Refusal::BeforeSuper);
        for fragment in method.flow.fragments() {
            if fragment.instructions.start < first && !reachable.contains(&fragment.id) {
                let place = format!("{label}@{}", fragment.start);
                self.agent.refuse(
                    self.class.dotted.as_str(),
                    &place,
                    &refused.code,
                    &refused.detail,
                );
            }
        }
    }

    /// Allocates the counters of planned probes, and makes points and probes of them. With
    /// `counting`, also allocates a counter block from which the counts of the points are derived.
    ///
    /// # Errors
    /// If the memory for counters, log points or limits is exhausted.
    fn allocate(
        &self,
        (task, method): (&Task, &Method),
        planned: &[PlannedProbe],
        counting: Option<CounterPlan>,
    ) -> Result<Placement, Refused> {
        let agent = self.agent;
        let mut placement = Placement::default();
        if let Some(counting) = &counting
            && let Some(block) = allocate_block(&agent.table, &agent.shards, task.method, counting)
        {
            placement.probes.derived = Some((counting.probes(block.first), block));
        }
        let has_nodes = task.spec.place == PointSelector::CallGraph;
        let nodes = counting.filter(|_| has_nodes && placement.probes.derived.is_some());
        let block = placement.probes.derived.as_ref();
        let block = block.map(|(_, block)| block.clone());
        let late_cell = {
            let mut tables = agent.table.lock();
            let instrument = tables.instrument(task.instrument);
            instrument
                .filter(|i| i.spec.late)
                .and_then(|i| i.cells.first().copied())
        };
        let class = self.class.dotted.shared();
        let label: Arc<str> = task.label.as_str().into();
        for one in planned {
            let Some((site, step)) = one.sites.first().copied() else {
                continue;
            };
            let key = SlotKey {
                method: task.method,
                site,
                step,
            };
            let slot = self.allocate_slot(&key, one.slots())?;
            let limit = self.hit_limit(task.instrument)?;
            let probes = one.probes(slot, limit, late_cell);
            placement.probes.direct.extend(probes);
            placement.points.push(InstalledPoint {
                class: class.clone(),
                method: label.clone(),
                fragment: one.fragment,
                to: one.to,
                node: nodes.as_ref().and_then(|nodes| nodes.node(method, site)),
                what: one.what.as_deref().map(Into::into),
                line: one.line,
                slot,
                step,
                values: one.values.iter().map(|v| v.name.clone()).collect(),
                base: reading_base(&agent.shards, step, slot),
                last: None,
                key,
                row: block.clone(),
                is_unloaded: false,
            });
        }
        Ok(placement)
    }

    /// Allocates the counters of a point. For a log, returns a new log point instead.
    /// Counters of a detached instrument are reused at the same place for the same step, and
    /// counters of unloaded classes anywhere.
    fn allocate_slot(&self, key: &SlotKey, width: u32) -> Result<PointSlot, Refused> {
        let agent = self.agent;
        if key.step == PlannedAction::Log {
            let point = {
                let mut tables = agent.table.lock();
                tables.log_points += 1;
                LogPoint(tables.log_points)
            };
            let limit = veneer_protocol::data::RingLayout::MAX_LOG_POINTS as usize;
            return match agent.rings.open_point(point) {
                true => Ok(PointSlot::Log(point)),
                false => Err(Refused::from(&Refusal::CountersExhausted(limit))),
            };
        }
        let reused = {
            let mut tables = agent.table.lock();
            let same_place = tables.free_by_key.get_mut(key).and_then(Vec::pop);
            let any =
                same_place.or_else(|| tables.free_by_width.get_mut(&width).and_then(Vec::pop));
            // In a trace that is being recorded, the id of an unloaded method stays its own.
            match any.filter(|slot| agent.recorder.is_named(*slot)) {
                Some(named) if key.step == PlannedAction::TraceEntry => {
                    tables.free_by_width.entry(width).or_default().push(named);
                    None
                }
                _ => any,
            }
        };
        reused
            .or_else(|| agent.shards.allocate(width))
            .map(PointSlot::Counter)
            .ok_or_else(|| Refused::from(&Refusal::CountersExhausted(SLOTS as usize)))
    }

    /// The limit for the next point of an instrument that may act a limited number of times. Points
    /// share one cell, unless the limit applies to each point separately.
    fn hit_limit(&self, instrument: InstrumentId) -> Result<Option<HitLimit>, Refused> {
        let agent = self.agent;
        let mut tables = agent.table.lock();
        let Some(i) = tables.instrument(instrument) else {
            return Ok(None);
        };
        let Some(times) = i.spec.times else {
            return Ok(None);
        };
        if times.each || i.cells.is_empty() {
            let cell = agent.tallies.allocate_cells();
            let error = AttachError::TallyTooLarge { entries: 1 };
            i.cells.push(cell.ok_or_else(|| Refused::from(&error))?);
        }
        let most = times.most;
        Ok(i.cells.last().map(|cell| HitLimit { cell: *cell, most }))
    }
}

/// The counters from which the counts of planned points are derived. `None` if a counter at each point
/// is expected to cost less.
fn counter_plan(
    place: &PointSelector,
    analysed: &AnalysedMethod,
    planned: &[PlannedProbe],
) -> Option<CounterPlan> {
    let (method, points) = (&analysed.method, &analysed.armed.points);
    if *place != PointSelector::CallGraph {
        return Some(CounterPlan::place_counters(method, points));
    }
    let index = |point: &PlannedProbe| match point.sites.first()?.0 {
        Site::At(pc) => {
            let found = method.instructions.binary_search_by_key(&pc, |one| one.0);
            found.ok()
        }
        _ => None,
    };
    let instructions: Vec<usize> = planned.iter().filter_map(index).collect();
    CounterPlan::place_at_instructions(method, points, &instructions)
}

/// The values of a point's counters when the point is made. Readings subtract them, because
/// counters may be reused. The shortest and the longest time of a timer cannot be subtracted, so
/// their counters are cleared.
fn reading_base(shards: &Shards, step: PlannedAction, slot: PointSlot) -> [u64; 2] {
    let PointSlot::Counter(slot) = slot else {
        return [0, 0];
    };
    match step {
        PlannedAction::Log
        | PlannedAction::LoopEnter
        | PlannedAction::LoopBackEdge
        | PlannedAction::LoopExit => [0, 0],
        PlannedAction::Count
        | PlannedAction::CodeOnly
        | PlannedAction::TraceEntry
        | PlannedAction::TraceExit
        | PlannedAction::TraceThrow
        | PlannedAction::TraceAllocation => [shards.sum(slot), 0],
        PlannedAction::CountAccess | PlannedAction::CountAccessInWindow => {
            shards.clear(slot.plus(1));
            [shards.sum(slot), 0]
        }
        PlannedAction::Start
        | PlannedAction::Stop
        | PlannedAction::Lap
        | PlannedAction::LateStart
        | PlannedAction::LateSkip
        | PlannedAction::LateStop => {
            shards.clear(slot.plus(2));
            shards.clear(slot.plus(3));
            [shards.sum(slot), shards.sum(slot.plus(1))]
        }
    }
}

/// A method cannot have the version that its instrumentation asks for. Removes the instruments that
/// only this version would have contained, and records the reason.
pub fn remove_unproven(agent: &Agent, class: &Class, id: MethodId, reason: &Refusal) {
    agent.refuse_method(class, id, reason);
    let label = {
        let state = class.state();
        let method = state.methods.with_id(id);
        method.map_or_else(String::new, |m| format!("{}{}", m.name, m.descriptor))
    };
    for instrument in agent.methods.remove_unproven(id) {
        agent.append_records(&[journal_records::not_installed(
            instrument,
            class.dotted.as_str(),
            &label,
        )]);
        let mut tables = agent.table.lock();
        if let Some(i) = tables.instrument(instrument) {
            i.add_refusal(class.dotted.as_str(), &label, &reason.to_string());
            i.methods.remove(&id);
            let is_removed =
                |point: &mut InstalledPoint| point.key.method == id && !point.is_unloaded;
            let removed = i.points.extract_if(.., is_removed);
            let mut blocks: Vec<_> = removed.filter_map(|point| point.row).collect();
            blocks.dedup_by(|a, b| Arc::ptr_eq(a, b));
            tables.quarantine.append(&mut blocks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_instruments::InstructionKind;

    fn not_compiled() -> AttachError {
        AttachError::NotCompiled {
            class: "shop.Desk".into(),
            method: "run()V".into(),
            place: "entry".into(),
            reason: Box::new(ProbeError {
                place: Default::default(),
                reason: Reason::Unknown { name: "q".into() },
            }),
        }
    }

    #[test]
    fn errors_of_code_are_reported_at_once_but_for_single_instructions_later() {
        let instructions = PointSelector::Instructions(InstructionKind::Throws);
        let too_many = AttachError::TooManyPoints { limit: 3 };
        let of = ErrorReporting::for_error;
        assert_eq!(
            of(&not_compiled(), &PointSelector::Method),
            ErrorReporting::AtOnce
        );
        assert_eq!(
            of(&not_compiled(), &instructions),
            ErrorReporting::IfNothingIsPlaced
        );
        assert_eq!(of(&too_many, &instructions), ErrorReporting::AtOnce);
        assert_eq!(
            of(&AttachError::ShuttingDown, &PointSelector::Method),
            ErrorReporting::Never
        );
    }

    #[test]
    fn the_code_of_an_error_is_the_name_of_its_variant() {
        let errors = [
            not_compiled(),
            AttachError::TooManyPoints { limit: 1 },
            AttachError::TallyTooLarge { entries: 1 },
            AttachError::ShuttingDown,
        ];
        for error in errors {
            let debug = format!("{error:?}");
            let variant = debug.split([' ', '{']).next();
            let refused = Refused::from(&error);
            assert_eq!(Some(refused.code.as_str()), variant);
            assert_eq!(refused.detail, error.to_string());
        }
    }

    #[test]
    fn a_refusal_keeps_its_code_and_text() {
        let refused = Refused::from(&Refusal::BeforeSuper);
        assert_eq!(refused.code, "BeforeSuper");
        assert_eq!(refused.detail, Refusal::BeforeSuper.to_string());
    }
}
