//! The agent: one in a process, made when the JVM is ready, never dropped.

use crate::classes::arming_filter::{ArmingFilter, JdkLoaders};
use crate::classes::obsolete_frames::ObsoleteFrames;
use crate::classes::pending_classes::PendingClasses;
use crate::classes::registry::{Class, Registry};
use crate::classes::runtime_access::RuntimeAccess;
use crate::classes::unarmed_classes::UnarmedClasses;
use crate::control::outbox::Outbox;
use crate::data::aggregations::Tallies;
use crate::data::clock::Clock;
use crate::data::metadata_journal::Catalogue;
use crate::data::rings::Rings;
use crate::data::shards::Shards;
use crate::jvm::java_runtime::Library;
use crate::jvm::jni::{Env, LongField, jobject};
use crate::jvm::jvmti::Tool;
use crate::jvm::version_frames::Stacks;
use crate::plans::instrument_registry::Table;
use crate::plans::jobs::Job;
use crate::plans::plan_instances::Loads;
use crate::weaving::woven_methods::WovenMethods;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, RwLock};
use std::time::Instant;
use veneer_fragmenter::Refusal;
use veneer_fragmenter::policy::Policy;
use veneer_fragmenter::version::ProtectedMembers;
use veneer_instruments::{MethodPattern, RefusalRow};
use veneer_protocol::data::Record;
use veneer_protocol::{AgentConfig, Problem};

/// See the module documentation.
pub struct Agent {
    /// What the command asked for.
    pub config: AgentConfig,
    /// JVMTI.
    pub tool: Tool,
    /// The runtime classes.
    pub library: Library,
    /// Names on stacks.
    pub stacks: Option<Stacks>,
    /// The JDK's loaders.
    pub loaders: JdkLoaders,
    /// What is armed.
    pub filter: ArmingFilter,
    /// Where methods can be left.
    pub policy: Policy,
    /// Armed classes.
    pub registry: Registry,
    /// Which class loaders find the runtime classes.
    pub runtime_access: RuntimeAccess,
    /// Loaded classes that are not armed.
    pub unarmed: UnarmedClasses,
    /// What is woven into methods.
    pub methods: WovenMethods,
    /// Classes for which code at points waits.
    pub pending_classes: PendingClasses,
    /// Instruments and patches.
    pub table: Table,
    /// Counters.
    pub shards: Shards,
    /// Events.
    pub rings: Rings,
    /// Tables that compiled probes fill.
    pub tallies: Tallies,
    /// What stands where, for whoever reads the data directory.
    pub catalogue: Catalogue,
    /// `Thread.tid`.
    pub tid: LongField,
    /// When the agent began.
    pub began: Instant,
    /// What timers read.
    pub clock: Clock,
    /// To the thread that makes versions for running activations.
    pub requests: Mutex<Sender<u32>>,
    /// To the thread that runs plans.
    pub jobs: Mutex<Sender<Job>>,
    patterns: RwLock<Arc<Vec<MethodPattern>>>,
    refusals: Mutex<BTreeMap<(String, String, String), String>>,
    /// Errors of plans and of the agent, for the report.
    pub problems: Mutex<Vec<(String, String)>>,
    /// Where loads of plans print to that belong to a client.
    clients: Mutex<HashMap<u64, Arc<Outbox>>>,
    /// The load whose plan is running.
    pub speaker: AtomicU64,
    /// Which plans were loaded, and for whom.
    pub loads: Loads,
    /// Activations that nothing reaches.
    pub obsolete_frames: ObsoleteFrames,
    /// It has left, and every class has its own code.
    pub left: AtomicBool,
    /// It had left, and was loaded again.
    pub came_back: AtomicBool,
    said: Mutex<HashSet<String>>,
    /// Whether the application may have classes yet.
    running: AtomicBool,
    /// `System.nanoTime()` when the agent began.
    pub nano_began: u64,
}

static AGENT: OnceLock<Agent> = OnceLock::new();

/// What [`Agent::new`] is made from.
pub struct Parts {
    #[allow(missing_docs)]
    pub config: AgentConfig,
    #[allow(missing_docs)]
    pub tool: Tool,
    #[allow(missing_docs)]
    pub library: Library,
    #[allow(missing_docs)]
    pub stacks: Option<Stacks>,
    #[allow(missing_docs)]
    pub loaders: JdkLoaders,
    #[allow(missing_docs)]
    pub filter: ArmingFilter,
    #[allow(missing_docs)]
    pub policy: Policy,
    #[allow(missing_docs)]
    pub shards: Shards,
    #[allow(missing_docs)]
    pub rings: Rings,
    #[allow(missing_docs)]
    pub tallies: Tallies,
    #[allow(missing_docs)]
    pub catalogue: Catalogue,
    #[allow(missing_docs)]
    pub nano_began: u64,
    #[allow(missing_docs)]
    pub tid: LongField,
    /// Whether the application is running already.
    pub running: bool,
}

impl Agent {
    /// The agent, where it is ready.
    pub fn get() -> Option<&'static Agent> {
        AGENT.get()
    }

    /// Makes the agent. Fails where there is one already.
    pub fn start(parts: Parts) -> Result<&'static Agent, String> {
        let agent = Agent {
            config: parts.config,
            tool: parts.tool,
            library: parts.library,
            stacks: parts.stacks,
            loaders: parts.loaders,
            filter: parts.filter,
            policy: parts.policy,
            registry: Registry::default(),
            runtime_access: RuntimeAccess::default(),
            unarmed: UnarmedClasses::default(),
            methods: WovenMethods::default(),
            pending_classes: PendingClasses::default(),
            table: Table::default(),
            shards: parts.shards,
            rings: parts.rings,
            tallies: parts.tallies,
            catalogue: parts.catalogue,
            tid: parts.tid,
            began: Instant::now(),
            // Until `plan_loop::start_all` there is nobody who would listen.
            requests: Mutex::new(channel().0),
            jobs: Mutex::new(channel().0),
            patterns: RwLock::default(),
            refusals: Mutex::default(),
            problems: Mutex::default(),
            clients: Mutex::default(),
            speaker: AtomicU64::new(0),
            loads: Loads::default(),
            obsolete_frames: ObsoleteFrames::default(),
            left: AtomicBool::new(false),
            came_back: AtomicBool::new(false),
            said: Mutex::default(),
            running: AtomicBool::new(parts.running),
            nano_began: parts.nano_began,
            clock: Clock::new(),
        };
        AGENT
            .set(agent)
            .map_err(|_| "there is an agent in this JVM already".to_string())?;
        AGENT.get().ok_or_else(|| "the agent was lost".into())
    }

    /// From now on a pattern that matches nothing is worth a warning at once.
    pub fn application_starts(&self) {
        self.running.store(true, Ordering::Relaxed);
    }

    /// Whether the application may have classes yet.
    pub fn is_running(&self) -> bool {
        self.running.load(Ordering::Relaxed)
    }

    /// Sends a job to the plan thread. False where it takes none any more.
    pub fn ask(&self, job: Job) -> bool {
        let jobs = self.jobs.lock().unwrap_or_else(|e| e.into_inner()).clone();
        jobs.send(job).is_ok()
    }

    /// Ends the threads of the agent, which wait for what nobody sends any more.
    pub fn stop_threads(&self) {
        let (nowhere, _) = channel();
        *self.requests.lock().unwrap_or_else(|e| e.into_inner()) = nowhere;
        let (nowhere, _) = channel();
        *self.jobs.lock().unwrap_or_else(|e| e.into_inner()) = nowhere;
    }

    /// Patterns of all attached instruments and patches.
    pub fn plan_patterns(&self) -> Arc<Vec<MethodPattern>> {
        self.patterns
            .read()
            .map_or_else(|e| e.into_inner().clone(), |p| p.clone())
    }

    /// Takes new patterns in; from now on classes that they match are armed at load.
    pub fn set_plan_patterns(&self, patterns: Vec<MethodPattern>) {
        *self.patterns.write().unwrap_or_else(|e| e.into_inner()) = Arc::new(patterns);
    }

    fn refusal_map(&self) -> MutexGuard<'_, BTreeMap<(String, String, String), String>> {
        self.refusals.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Records that something was left as it was. `method` empty: the whole class.
    pub fn refuse(&self, class: &str, method: &str, reason: &str, detail: &str) {
        self.refusal_map()
            .insert((class.into(), method.into(), reason.into()), detail.into());
    }

    /// Takes back what [`Agent::refuse`] recorded.
    pub fn accept(&self, class: &str, method: &str, reason: &str) {
        self.refusal_map()
            .remove(&(class.into(), method.into(), reason.into()));
    }

    /// The same of a method by its id.
    pub fn refuse_method(&self, class: &Class, id: u32, reason: &Refusal) {
        let method = class
            .state()
            .methods
            .iter()
            .find(|m| m.id == id)
            .map(|m| format!("{}{}", m.name, m.descriptor));
        self.refuse(
            &class.dotted,
            &method.unwrap_or_default(),
            &reason.name(),
            &reason.to_string(),
        );
    }

    /// All refusals, sorted.
    pub fn refusals(&self) -> Vec<RefusalRow> {
        let row =
            |((class, method, reason), detail): (&(String, String, String), &String)| RefusalRow {
                class: class.clone(),
                method: method.clone(),
                reason: reason.clone(),
                detail: detail.clone(),
            };
        self.refusal_map().iter().map(row).collect()
    }

    /// Protected members of other packages that a class inherits, asked for once.
    pub fn protected(&self, env: Env, class: &Class, host: jobject) -> Arc<ProtectedMembers> {
        if let Some(known) = class.state().protected.clone() {
            return known;
        }
        let package = |name: &str| {
            name.rsplit_once('/')
                .map_or(String::new(), |p| p.0.to_string())
        };
        let own = package(&class.name);
        let loader = self.tool.loader(host);
        let mut members = ProtectedMembers::new();
        let mut above = env.superclass(host);
        while !above.is_null() {
            let its = self.tool.loader(above);
            let near = self
                .tool
                .class_name(above)
                .is_some_and(|n| package(&n) == own)
                && env.same(loader, its);
            env.delete(its);
            if !near {
                members.extend(self.tool.protected_members(above));
            }
            let next = env.superclass(above);
            env.delete(above);
            above = next;
        }
        env.delete(loader);
        let members = Arc::new(members);
        class.state().protected = Some(members.clone());
        members
    }

    /// Prints a line of a plan: to the client that it belongs to, or to standard error.
    pub fn print(&self, text: &str) {
        let speaker = self.speaker.load(Ordering::Relaxed);
        let client = self.clients().get(&speaker).cloned();
        match client {
            Some(client) => client.print(text),
            None => eprintln!("{text}"),
        }
    }

    /// The clients of loads.
    pub fn clients(&self) -> MutexGuard<'_, HashMap<u64, Arc<Outbox>>> {
        self.clients.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Appends to the catalogue. Where that fails, the figures are as good as ever as long as the JVM runs.
    pub fn note(&self, records: &[Record]) {
        if self.came_back.load(Ordering::Relaxed) {
            // The data directory went when the agent left.
            return;
        }
        if let Err(e) = self.catalogue.append(records) {
            let place = self.config.data_dir.display();
            self.say(
                "",
                &format!("the catalogue in {place} cannot be written ({e}): if the JVM is killed now, figures of what is attached from here on are lost; make room"),
            );
        }
    }

    /// Says something to the user once, and keeps it for the report, also for that of a killed JVM.
    pub fn problem(&self, plan: &str, message: &str) {
        if self.say(plan, message) {
            self.note(&[Record::Problem(Problem {
                plan: plan.into(),
                message: message.into(),
            })]);
        }
    }

    /// The same without the catalogue; whether it is new.
    fn say(&self, plan: &str, message: &str) -> bool {
        self.problems
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .push((plan.into(), message.into()));
        let new = self
            .said
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .insert(message.into());
        if new {
            eprintln!("veneer: {message}");
        }
        new
    }
}
