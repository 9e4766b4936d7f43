//! The state of the agent that all its threads share.
//!
//! The JVM's start-up thread creates the one [`Agent`] of the process when the JVM is ready. The
//! agent is never dropped, so references to it are `'static`. An agent that was unloaded from a
//! JVM stays in memory and is used again when the library is attached once more.
//!
//! The struct composes the state of the subsystems, each with a mutex of its own. This file
//! contains no operation on them; operations take the agent or the parts that they use.

use crate::classes::arming_filter::{ArmingFilter, JdkLoaders};
use crate::classes::class_files::ClassFiles;
use crate::classes::hooked_again::HookedAgain;
use crate::classes::obsolete_frames::ObsoleteFrames;
use crate::classes::pending_classes::PendingClasses;
use crate::classes::plan_pattern::PlanPattern;
use crate::classes::prepared::PreparedClasses;
use crate::classes::registry::{Class, Registry};
use crate::classes::runtime_access::RuntimeAccess;
use crate::classes::unarmed_classes::UnarmedClasses;
use crate::data::aggregations::Tallies;
use crate::data::class_facts_file::ClassFactsFile;
use crate::data::clock::CounterClock;
use crate::data::coarse_clock::CoarseClock;
use crate::data::complete_calls::CompleteCallCounts;
use crate::data::lifetime_recorder::LifetimeRecorder;
use crate::data::metadata_journal::MetadataJournal;
use crate::data::recorder::Recorder;
use crate::data::rings::Rings;
use crate::data::shards::Shards;
use crate::diagnostics::Diagnostics;
use crate::jvm::class_hook::ClassHook;
use crate::jvm::java_runtime::Library;
use crate::jvm::jni::{Env, Global, LongField, Reference};
use crate::jvm::jvmti::Tool;
use crate::jvm::version_frames::Stacks;
use crate::observation::subscriptions::Subscriptions;
use crate::plans::instrument_registry::InstrumentRegistry;
use crate::plans::jobs::PlanJob;
use crate::plans::plan_instances::PlanInstances;
use crate::plans::plan_output::OutputRouter;
use crate::speedup::speedups::Speedups;
use crate::weaving::inline_caches::InlineCaches;
use crate::weaving::woven_methods::WovenMethods;
use parking_lot::{Mutex, RwLock};
use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use thiserror::Error;
use veneer_fragmenter::Refusal;
use veneer_fragmenter::policy::Policy;
use veneer_instruments::RefusalRow;
use veneer_names::MethodId;
use veneer_protocol::data::Record;
use veneer_protocol::{AgentConfig, Problem};

/// The state of the agent. See the module documentation.
pub struct Agent {
    /// The configuration that the command `veneer` passed.
    pub config: AgentConfig,
    pub tool: Tool,
    /// The class hook, and its place among the hooks of all agents.
    pub class_hook: ClassHook,
    /// The runtime classes of Veneer, which are defined in the boot loader.
    pub library: Library,
    /// Finds the versions whose code is on the stacks of threads; `None` if this JDK lacks the
    /// methods that return the stacks.
    pub stacks: Option<Stacks>,
    /// The platform class loader and the system class loader.
    pub loaders: JdkLoaders,
    /// Decides which classes are armed when they are loaded.
    pub filter: ArmingFilter,
    /// The policy that chooses the capture points of armed methods.
    pub policy: Policy,
    /// The armed classes.
    pub registry: Registry,
    /// The original class files of the armed classes, and the class cache.
    pub class_files: ClassFiles,
    /// The class loaders that find the runtime classes.
    pub runtime_access: RuntimeAccess,
    /// The loaded classes that are not armed.
    pub unarmed: UnarmedClasses,
    /// The instrumented methods and their versions.
    pub methods: WovenMethods,
    /// The classes whose code other agents may just be changing.
    pub hooked_again: HookedAgain,
    /// The probes that wait for a class to be prepared.
    pub pending_classes: PendingClasses,
    /// The classes that threads of the agent have loaded.
    pub prepared_classes: PreparedClasses,
    /// The instruments and patches.
    pub table: InstrumentRegistry,
    /// The counter memory.
    pub shards: Shards,
    /// The counters of a complete call graph, if the agent counts one.
    pub complete_calls: OnceLock<CompleteCallCounts>,
    /// The ring buffers of logged events.
    pub rings: Rings,
    /// The aggregation maps that probes fill.
    pub tallies: Tallies,
    /// The inline caches of instruments.
    pub inline_caches: InlineCaches,
    /// The methods whose new instruments take effect when the code of the plan has run.
    pub deferred_versions: Mutex<BTreeSet<MethodId>>,
    /// The file with the facts about armed classes, if a recording of calls needs it.
    pub class_facts: Option<ClassFactsFile>,
    /// The recorder of event traces.
    pub recorder: Recorder,
    /// The recording of lifetimes.
    pub lifetimes: LifetimeRecorder,
    /// The subscriptions of the recorder and of plans to events of the JVM.
    pub events: Subscriptions,
    /// The virtual speed-up.
    pub speedups: Speedups,
    /// The superclass of virtual threads; `None` before JDK 21.
    pub virtual_threads: Option<Global>,
    /// The field `Thread.tid`.
    pub tid: LongField,
    /// The time of the agent's start.
    pub began: Instant,
    /// When the agent was loaded again after it had unloaded itself, in milliseconds since `began`;
    /// else 0.
    pub loaded_again_at: AtomicU64,
    /// `System.nanoTime()` at the agent's start.
    pub nano_began: u64,
    /// The clock that timers read.
    pub clock: CounterClock,
    /// The clock of recordings of contexts.
    pub coarse_clock: CoarseClock,
    /// To the thread that emits resume bodies for running activations; the messages are method
    /// ids.
    pub requests: Mutex<Sender<MethodId>>,
    /// Carries nothing. The thread that drains events ends when this sender is dropped.
    pub drain_end: Mutex<Sender<()>>,
    /// To the thread that runs plans.
    pub jobs: Mutex<Sender<PlanJob>>,
    /// The destinations of the lines that plans print.
    pub output: OutputRouter,
    /// The plan instances with their owners.
    pub loads: PlanInstances,
    /// The activations of obsolete code, which no attachment reaches.
    pub obsolete_frames: ObsoleteFrames,
    /// Whether the agent was unloaded, so that every class has its own code again.
    pub left: AtomicBool,
    /// Whether the JVM ends.
    pub jvm_ends: AtomicBool,
    diagnostics: Diagnostics,
    /// The patterns of all attached instruments and patches.
    patterns: RwLock<Arc<Vec<PlanPattern>>>,
    /// Whether classes of the application may be loaded.
    running: AtomicBool,
}

static AGENT: OnceLock<Agent> = OnceLock::new();

/// The parts of the agent that the start-up has to make, because they need the JVM or files.
pub struct AgentParts {
    pub config: AgentConfig,
    pub tool: Tool,
    pub class_hook: ClassHook,
    pub library: Library,
    pub stacks: Option<Stacks>,
    pub loaders: JdkLoaders,
    pub filter: ArmingFilter,
    pub policy: Policy,
    pub shards: Shards,
    pub rings: Rings,
    pub tallies: Tallies,
    pub catalogue: MetadataJournal,
    pub class_facts: Option<ClassFactsFile>,
    pub nano_began: u64,
    pub tid: LongField,
    /// The superclass of virtual threads; `None` before JDK 21.
    pub virtual_threads: Option<Global>,
    /// Whether the application runs already.
    pub running: bool,
}

/// Why the state of the agent could not be set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum AgentStateError {
    #[error("there is an agent in this JVM already")]
    Exists,
    #[error("the agent was lost")]
    Lost,
}

impl Agent {
    /// Returns the agent, or `None` before [`Agent::start`].
    pub fn get() -> Option<&'static Agent> {
        AGENT.get()
    }

    /// Makes the agent of this process. Fails if the process has an agent already.
    pub fn start(parts: AgentParts) -> Result<&'static Agent, AgentStateError> {
        let diagnostics = Diagnostics::new(parts.catalogue, parts.config.data_dir.clone());
        let agent = Agent {
            class_files: ClassFiles::new(&parts.config),
            config: parts.config,
            tool: parts.tool,
            class_hook: parts.class_hook,
            library: parts.library,
            stacks: parts.stacks,
            loaders: parts.loaders,
            filter: parts.filter,
            policy: parts.policy,
            registry: Registry::default(),
            runtime_access: RuntimeAccess::default(),
            unarmed: UnarmedClasses::default(),
            methods: WovenMethods::default(),
            hooked_again: HookedAgain::default(),
            pending_classes: PendingClasses::default(),
            prepared_classes: PreparedClasses::default(),
            table: InstrumentRegistry::default(),
            shards: parts.shards,
            complete_calls: OnceLock::new(),
            rings: parts.rings,
            inline_caches: InlineCaches::default(),
            deferred_versions: Mutex::default(),
            tallies: parts.tallies,
            class_facts: parts.class_facts,
            recorder: Recorder::default(),
            lifetimes: LifetimeRecorder::default(),
            events: Subscriptions::default(),
            speedups: Speedups::default(),
            virtual_threads: parts.virtual_threads,
            tid: parts.tid,
            began: Instant::now(),
            loaded_again_at: AtomicU64::new(0),
            nano_began: parts.nano_began,
            clock: CounterClock::new(),
            coarse_clock: CoarseClock::default(),
            // These senders have no receiver until `agent_threads::start_all` replaces them.
            requests: Mutex::new(channel().0),
            drain_end: Mutex::new(channel().0),
            jobs: Mutex::new(channel().0),
            output: OutputRouter::default(),
            loads: PlanInstances::default(),
            obsolete_frames: ObsoleteFrames::default(),
            left: AtomicBool::new(false),
            jvm_ends: AtomicBool::new(false),
            diagnostics,
            patterns: RwLock::default(),
            running: AtomicBool::new(parts.running),
        };
        AGENT.set(agent).map_err(|_| AgentStateError::Exists)?;
        AGENT.get().ok_or(AgentStateError::Lost)
    }

    /// Records that classes of the application may be loaded from now on. A pattern that matches
    /// no class is worth a warning from then on.
    pub fn application_starts(&self) {
        self.running.store(true, Ordering::Relaxed);
    }

    /// Returns whether classes of the application may be loaded.
    pub fn is_running(&self) -> bool {
        self.running.load(Ordering::Relaxed)
    }

    /// Sends a job to the plan thread. Returns false if the plan thread accepts no more jobs.
    pub fn post_job(&self, job: PlanJob) -> bool {
        let jobs = self.jobs.lock().clone();
        jobs.send(job).is_ok()
    }

    /// Tells the plan thread that events of the JVM wait for it.
    pub fn tell_plans_of_events(&self) {
        self.post_job(PlanJob::VmEvents);
    }

    /// Whether a thread object is that of a virtual thread.
    pub fn is_virtual(&self, env: Env, thread: Reference) -> bool {
        let class = self.virtual_threads.as_ref();
        class.is_some_and(|class| env.is_instance(thread, class))
    }

    /// Ends the agent's threads, which all wait for messages, by dropping the senders of their channels.
    pub fn stop_threads(&self) {
        let (disconnected, _) = channel();
        *self.drain_end.lock() = disconnected;
        let (disconnected, _) = channel();
        *self.requests.lock() = disconnected;
        let (disconnected, _) = channel();
        *self.jobs.lock() = disconnected;
    }

    /// Whether classes without loops are armed when a plan names them, not when they are loaded.
    pub fn arms_only_loops(&self) -> bool {
        matches!(self.policy, Policy::Loop) && !self.config.arms_without_loops()
    }

    /// Returns the patterns of all attached instruments and patches.
    pub fn plan_patterns(&self) -> Arc<Vec<PlanPattern>> {
        self.patterns.read().clone()
    }

    /// Replaces the patterns of attached instruments and patches. Classes that match are armed
    /// when they are loaded.
    pub fn set_plan_patterns(&self, patterns: Vec<PlanPattern>) {
        *self.patterns.write() = Arc::new(patterns);
    }

    /// Prints a line of the current plan instance.
    pub fn print(&self, text: &str) {
        self.output.print(text);
    }

    /// Records a refusal; see [`Diagnostics::refuse`].
    pub fn refuse(&self, class: &str, method: &str, reason: &str, detail: &str) {
        self.diagnostics.refuse(class, method, reason, detail);
    }

    /// Removes a refusal; see [`Diagnostics::withdraw_refusal`].
    pub fn withdraw_refusal(&self, class: &str, method: &str, reason: &str) {
        self.diagnostics.withdraw_refusal(class, method, reason);
    }

    /// Removes refusals; see [`Diagnostics::withdraw_details`].
    pub fn withdraw_refusals_with(&self, details: &HashSet<String>) {
        self.diagnostics.withdraw_details(details);
    }

    /// Records the refusal of a method that has the given id. The refusal concerns the whole class
    /// if the id is unknown.
    pub fn refuse_method(&self, class: &Class, id: MethodId, reason: &Refusal) {
        let method = class
            .state()
            .methods
            .iter()
            .find(|m| m.id == id)
            .map(|m| format!("{}{}", m.name, m.descriptor));
        self.refuse(
            class.dotted.as_str(),
            &method.unwrap_or_default(),
            reason.name(),
            &reason.to_string(),
        );
    }

    /// Returns all refusals; see [`Diagnostics::refusals`].
    pub fn refusals(&self) -> Vec<RefusalRow> {
        self.diagnostics.refusals()
    }

    /// Reports a problem; see [`Diagnostics::report_problem`].
    pub fn report_problem(&self, plan: &str, message: &str) {
        self.diagnostics.report_problem(plan, message);
    }

    /// Returns all problems; see [`Diagnostics::problems`].
    pub fn problems(&self) -> Vec<Problem> {
        self.diagnostics.problems()
    }

    /// Returns the messages of the agent's own problems; see [`Diagnostics::agent_problems`].
    pub fn agent_problems(&self) -> Vec<String> {
        self.diagnostics.agent_problems()
    }

    /// Appends to the metadata journal; see [`Diagnostics::append_records`].
    pub fn append_records(&self, records: &[Record]) {
        self.diagnostics.append_records(records);
    }

    /// Ends the metadata journal; see [`Diagnostics::end_journal`].
    pub fn end_journal(&self) {
        self.diagnostics.end_journal();
    }
}
