//! What is woven into each method now, and bringing the JVM to it.
//!
//! Every method with advice or edits has an entry here. [`Methods::prepare`] takes a snapshot of it and emits a version (or
//! none); [`Methods::carry_out`] installs that, for all methods that change together. No lock is held meanwhile, so two threads may
//! do this at once: a sequence number says afterwards whether what was installed is still what is wanted; where not, it is done
//! again.

use crate::agent::Agent;
use crate::jni::{Env, Global, jobject};
use crate::registry::Class;
use crate::row::Row;
use crate::turns::{self, Entry, Turn, Turns};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use veneer_fragmenter::advice::{Action, Probe, Site};
use veneer_fragmenter::arming::{self, ArmedCode, ArmedMethod};
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::flowgraph::FragmentId;
use veneer_fragmenter::method::Method;
use veneer_fragmenter::patch::{self, Edit};
use veneer_fragmenter::version::{self, Bodies, Plan, VersionClass};
use veneer_fragmenter::{Refusal, check, runtime};
use veneer_instruments::{InstrumentId, PatchId};

/// Up to this many methods that change together get a way in for running activations at once; of more, each when it is
/// asked for.
pub const EAGER: usize = 64;

/// The most counters that an armed body counts at its entry by itself; `VeneerToken` has as many fields.
const MAX_ENTRY_COUNTERS: usize = 4;

/// An instrument in a method.
struct Stands {
    instrument: InstrumentId,
    probes: Probes,
    /// It was in a version that took effect.
    proven: bool,
}

#[derive(Default)]
struct Woven {
    /// Rises with every change.
    sequence: u64,
    probes: Vec<Stands>,
    edits: Vec<(PatchId, Vec<Edit>)>,
    /// Fragments at which a version has or had an edit point: an activation may still come from there.
    kept: BTreeSet<FragmentId>,
    /// The token of the version that is installed; `None` for IDLE. Weak: a token leads to its version, and so to the loader.
    token: Option<Arc<Global>>,
    /// New activations run the armed body, which counts them.
    counts: bool,
    /// The classes that new activations and running ones are in, as far as they are up to date. Weak.
    enter: Option<Global>,
    resume: Option<Global>,
}

/// The owner of the frame that a frame has called. Frames of the JVM between a call site and its target are skipped.
#[derive(PartialEq, Eq)]
enum Above {
    /// A body of a version.
    Version,
    /// The executor loop.
    Loop,
    Other,
}

/// Whether frames of a class are the JVM's own between a call site and what it is linked to.
fn is_link(class: &str) -> bool {
    ["LambdaForm", "DirectMethodHandle", "Invokers"]
        .iter()
        .any(|one| {
            let rest = class.strip_prefix("java/lang/invoke/");
            rest.and_then(|rest| rest.strip_prefix(one))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['$', '.', '/']))
        })
}

/// The probes of one instrument in one method.
#[derive(Clone, Default)]
pub struct Probes {
    /// With a counter for each point.
    pub each: Vec<Probe>,
    /// With a row of counters from which the points follow, until the graph is edited.
    pub by_flow: Option<(Vec<Probe>, Arc<Row>)>,
}

#[derive(Clone, Default)]
struct Snapshot {
    sequence: u64,
    probes: Vec<Probe>,
    /// Rows that the probes write to.
    rows: Vec<Arc<Row>>,
    edits: Vec<Edit>,
}

impl Snapshot {
    fn is_idle(&self) -> bool {
        self.probes.is_empty() && self.edits.is_empty()
    }

    /// The offsets of the counters, if nothing but the method's entry is counted: the armed body does that by itself.
    fn entry_counters(&self) -> Option<Vec<i32>> {
        let offset = |p: &Probe| match (&p.site, &p.action) {
            (Site::Entry, Action::Count { slot }) => i32::try_from(u64::from(*slot) * 8).ok(),
            _ => None,
        };
        let few = (1..=MAX_ENTRY_COUNTERS).contains(&self.probes.len()) && self.edits.is_empty();
        let offsets: Option<Vec<i32>> = self.probes.iter().map(offset).collect();
        offsets.filter(|_| few)
    }
}

/// See the module documentation.
#[derive(Default)]
pub struct Methods {
    woven: Mutex<HashMap<u32, Woven>>,
    /// Each point has its own counter from now on.
    each: AtomicBool,
    /// Version classes defined so far.
    pub versions: AtomicU64,
}

/// A refusal of one method.
pub type Refused = Vec<(u32, Refusal)>;

impl Methods {
    fn woven(&self) -> MutexGuard<'_, HashMap<u32, Woven>> {
        self.woven.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Adds an instrument's probes to a method. Takes effect with [`Methods::prepare`] and [`Methods::carry_out`].
    pub fn add_probes(&self, id: u32, instrument: InstrumentId, probes: Probes) {
        let mut woven = self.woven();
        let entry = woven.entry(id).or_default();
        entry.sequence += 1;
        // In the order in which they were attached, whenever they came here: code may have waited for a class.
        let at = entry.probes.partition_point(|p| p.instrument <= instrument);
        let stands = Stands {
            instrument,
            probes,
            proven: false,
        };
        entry.probes.insert(at, stands);
    }

    /// Takes an instrument off a method.
    pub fn remove_probes(&self, id: u32, instrument: InstrumentId) {
        if let Some(entry) = self.woven().get_mut(&id) {
            entry.sequence += 1;
            entry.probes.retain(|p| p.instrument != instrument);
        }
    }

    /// Takes off a method what has never been in a version of it that took effect.
    pub fn remove_unproven(&self, id: u32) -> Vec<InstrumentId> {
        let mut woven = self.woven();
        let Some(entry) = woven.get_mut(&id) else {
            return Vec::new();
        };
        entry.sequence += 1;
        let gone = entry.probes.extract_if(.., |p| !p.proven);
        gone.map(|p| p.instrument).collect()
    }

    /// Whether nothing is counted by flow.
    pub fn counts_each(&self) -> bool {
        self.each.load(Ordering::Acquire)
    }

    /// Has every point count for itself, once its method is updated. Gives the methods where that is a change.
    pub fn count_each(&self) -> Vec<u32> {
        let mut woven = self.woven();
        if self.each.swap(true, Ordering::AcqRel) {
            return Vec::new();
        }
        let mut changed = Vec::new();
        for (id, entry) in woven.iter_mut() {
            if entry.probes.iter().any(|p| p.probes.by_flow.is_some()) {
                entry.sequence += 1;
                changed.push(*id);
            }
        }
        changed
    }

    /// Adds edits to a method.
    pub fn add_edits(&self, id: u32, patch: PatchId, edits: Vec<Edit>) {
        let mut woven = self.woven();
        let entry = woven.entry(id).or_default();
        entry.sequence += 1;
        entry.edits.push((patch, edits));
    }

    /// Takes edits back.
    pub fn remove_edits(&self, id: u32, patch: PatchId) {
        if let Some(entry) = self.woven().get_mut(&id) {
            entry.sequence += 1;
            entry.edits.retain(|p| p.0 != patch);
        }
    }

    /// Drops all that is woven into methods that are gone.
    pub fn forget(&self, is_gone: &dyn Fn(u32) -> bool) {
        let mut woven = self.woven();
        // Their references are given back to the JVM when the lock is free again.
        let _gone: Vec<_> = woven.extract_if(|id, _| is_gone(*id)).collect();
        woven.shrink_to_fit();
        drop(woven);
    }

    /// Whether a method runs its armed body, with nothing woven in.
    pub fn is_idle(&self, id: u32) -> bool {
        let woven = self.woven();
        woven
            .get(&id)
            .is_none_or(|w| w.token.is_none() && w.probes.is_empty() && w.edits.is_empty())
    }

    /// The edits of a method, in order.
    pub fn edits(&self, id: u32) -> Vec<Edit> {
        self.woven().get(&id).map_or_else(Vec::new, |w| {
            w.edits.iter().flat_map(|e| e.1.iter().copied()).collect()
        })
    }

    /// The fragments at which versions of a method have or had an edit point.
    pub fn kept(&self, id: u32) -> Vec<FragmentId> {
        let woven = self.woven();
        woven
            .get(&id)
            .map_or_else(Vec::new, |w| w.kept.iter().copied().collect())
    }

    /// Notes the edit points that a version with these edits gets, before there is one: from then on, every way in for running
    /// activations takes those that come from there.
    fn keep(&self, id: u32, method: &Method, armed: &ArmedCode, edits: &[Edit]) {
        let kept = self.kept(id);
        // Edits that do not fit together are refused by name when the version is emitted.
        let Ok(patched) = patch::apply_keeping(method, edits, &armed.points, &kept) else {
            return;
        };
        if let Some(w) = self.woven().get_mut(&id) {
            w.kept
                .extend(patched.edit_points.iter().map(|p| p.fragment));
        }
    }

    fn snapshot(&self, id: u32) -> Snapshot {
        let woven = self.woven();
        let Some(entry) = woven.get(&id) else {
            return Snapshot::default();
        };
        let (mut probes, mut rows) = (Vec::new(), Vec::new());
        for Stands { probes: of, .. } in &entry.probes {
            match &of.by_flow {
                // At an edit point activations come and go that a row does not know.
                Some((some, row))
                    if entry.edits.is_empty() && entry.kept.is_empty() && !self.counts_each() =>
                {
                    probes.extend(some.iter().cloned());
                    rows.push(row.clone());
                }
                _ => probes.extend(of.each.iter().cloned()),
            }
        }
        Snapshot {
            sequence: entry.sequence,
            probes,
            rows,
            edits: entry
                .edits
                .iter()
                .flat_map(|e| e.1.iter().copied())
                .collect(),
        }
    }

    /// Makes versions of these methods of a class, with what is woven into them; with [`Methods::carry_out`] they take effect.
    /// `eager`: running activations get their way in at once.
    pub fn prepare(
        &self,
        agent: &Agent,
        env: Env,
        class: &Arc<Class>,
        ids: &[u32],
        eager: bool,
        turns: &mut Turns,
    ) -> Refused {
        let snapshots = ids.iter().map(|id| (*id, self.snapshot(*id)));
        let (idle, active): (Vec<_>, Vec<_>) = snapshots.partition(|s| s.1.is_idle());
        let counts = |s: &(u32, Snapshot)| s.1.entry_counters().is_some();
        let (counted, active): (Vec<_>, Vec<_>) = active.into_iter().partition(counts);
        let mut refused = Vec::new();
        for part in active.chunks(100) {
            refused.extend(self.install(agent, env, class, part, eager, turns));
        }
        refused.extend(self.count_entries(agent, env, class, &counted, eager, turns));
        self.idle(agent, env, class, &idle, eager, turns);
        refused
    }

    /// Has what was prepared take effect, and what changed meanwhile after it. Returns the methods where that failed.
    pub fn carry_out(
        &self,
        agent: &Agent,
        env: Env,
        turns: &mut Turns,
    ) -> Vec<(Arc<Class>, u32, Refusal)> {
        let mut refused: Vec<(Arc<Class>, u32, Refusal)> = Vec::new();
        for _ in 0..16 {
            let mut again: BTreeMap<u32, (Arc<Class>, Vec<u32>)> = BTreeMap::new();
            turns.carry_out(agent, env, |turn, result| {
                let version = turn.to.as_ref().and_then(|to| to.version.as_ref());
                let counts = turn.to.as_ref().is_some_and(|to| to.version.is_none());
                let enter = version.map(|v| env.weak(v.raw()));
                let token = turn.to.as_ref().map(|to| env.weak(to.token.raw()));
                let mut woven = self.woven();
                let entry = woven.get_mut(&turn.id);
                let newest = entry.as_ref().is_none_or(|w| w.sequence == turn.sequence);
                if let (Ok(()), Some(w)) = (&result, entry) {
                    w.token = token.map(Arc::new);
                    w.counts = counts;
                    if !counts {
                        w.enter = enter.or(w.enter.take());
                    }
                    w.probes.iter_mut().for_each(|p| p.proven |= newest);
                }
                drop(woven);
                if !newest {
                    let class = || (turn.class.clone(), Vec::new());
                    let of = again.entry(turn.class.first_id);
                    of.or_insert_with(class).1.push(turn.id);
                }
                if let Err(e) = result {
                    let reason = match turn.to {
                        Some(_) => Refusal::VersionRejected(e.to_string()),
                        None => Refusal::Internal(e.to_string()),
                    };
                    refused.push((turn.class, turn.id, reason));
                }
            });
            for (class, ids) in again.into_values() {
                refused.retain(|(_, id, _)| !ids.contains(id));
                for (id, reason) in self.prepare(agent, env, &class, &ids, false, turns) {
                    refused.push((class.clone(), id, reason));
                }
            }
            if turns.is_empty() {
                break;
            }
        }
        refused
    }

    /// Emits and defines one version class for these methods; one by one where that fails as a whole.
    fn install(
        &self,
        agent: &Agent,
        env: Env,
        class: &Arc<Class>,
        methods: &[(u32, Snapshot)],
        eager: bool,
        turns: &mut Turns,
    ) -> Refused {
        match env.frame(|env| Ok(self.install_whole(agent, env, class, methods, eager, turns))) {
            Ok(Ok(refused)) => refused,
            Ok(Err(_)) | Err(_) if methods.len() > 1 => methods
                .iter()
                .flat_map(|m| {
                    self.install(agent, env, class, std::slice::from_ref(m), eager, turns)
                })
                .collect(),
            Ok(Err(reason)) => methods.iter().map(|m| (m.0, reason.clone())).collect(),
            Err(e) => methods
                .iter()
                .map(|m| (m.0, Refusal::VersionRejected(e.to_string())))
                .collect(),
        }
    }

    fn install_whole(
        &self,
        agent: &Agent,
        env: Env,
        class: &Arc<Class>,
        methods: &[(u32, Snapshot)],
        eager: bool,
        turns: &mut Turns,
    ) -> Result<Refused, Refusal> {
        let host = class
            .local(env)
            .ok_or_else(|| Refusal::NotArmed("its class is not prepared yet, or gone".into()))?;
        let original = class.state().original.clone();
        let file = ClassFile::parse(&original)?;
        let (mut analysed, mut refused) = (Vec::with_capacity(methods.len()), Vec::new());
        for (id, snapshot) in methods {
            match analyse(agent, &file, class, *id) {
                Ok((method, armed)) => {
                    self.keep(*id, &method, &armed, &snapshot.edits);
                    analysed.push(Analysed {
                        id: *id,
                        method,
                        armed,
                        snapshot,
                    });
                }
                Err(reason) => refused.push((*id, reason)),
            }
        }
        let of = (&**class, host, &file);
        let mut emitted = self.emit(agent, env, of, &analysed, Bodies::Enter, false)?;
        refused.append(&mut emitted.class.refused);
        if emitted.class.methods.is_empty() {
            return Ok(refused);
        }
        let mut tokens: Vec<Global> = Vec::new();
        for _ in &emitted.class.methods {
            let token = agent
                .library
                .token(env, &[])
                .map_err(|e| Refusal::Internal(e.to_string()))?;
            tokens.push(env.global(token));
            env.delete(token);
        }
        let raw: Vec<jobject> = tokens.iter().map(Global::raw).collect();
        let version = agent
            .library
            .define(env, host, &emitted.class, &raw)
            .map_err(|e| Refusal::VersionRejected(e.to_string()))?;
        self.versions.fetch_add(1, Ordering::Relaxed);
        counts_in(env, version, &emitted, &analysed);
        let held = Arc::new(env.global(version));
        for (id, token) in emitted.class.methods.iter().zip(tokens) {
            let token = Arc::new(token);
            if eager && let Some(one) = analysed.iter().find(|a| a.id == *id) {
                // A version that running activations cannot enter still serves new ones.
                if let Err(reason) = self.resume_at(agent, env, of, one, token.raw()) {
                    agent.refuse_method(class, *id, &reason);
                }
            }
            let sequence = |m: &&(u32, Snapshot)| m.0 == *id;
            turns.push(Turn {
                class: class.clone(),
                id: *id,
                sequence: methods.iter().find(sequence).map_or(0, |m| m.1.sequence),
                to: Some(Entry {
                    version: Some(held.clone()),
                    token,
                }),
            });
        }
        Ok(refused)
    }

    /// Methods of which nothing but entries are counted: their armed bodies do that. Activations in a version go on in one without
    /// probes.
    fn count_entries(
        &self,
        agent: &Agent,
        env: Env,
        class: &Arc<Class>,
        methods: &[(u32, Snapshot)],
        eager: bool,
        turns: &mut Turns,
    ) -> Refused {
        let mut refused = Vec::new();
        for (id, snapshot) in methods {
            let offsets = snapshot.entry_counters().unwrap_or_default();
            let token = match agent.library.token(env, &offsets) {
                Ok(token) => token,
                Err(e) => {
                    refused.push((*id, Refusal::Internal(e.to_string())));
                    continue;
                }
            };
            let in_version = self.woven().get(id).is_some_and(|w| w.enter.is_some());
            if eager && in_version {
                let made =
                    env.frame(|env| Ok(self.resume(agent, env, class, *id, snapshot, token)));
                let made = made.unwrap_or_else(|e| Err(Refusal::Internal(e.to_string())));
                if let Err(reason) = made {
                    agent.refuse_method(class, *id, &reason);
                }
            }
            turns.push(Turn {
                class: class.clone(),
                id: *id,
                sequence: snapshot.sequence,
                to: Some(Entry {
                    version: None,
                    token: Arc::new(env.global(token)),
                }),
            });
            env.delete(token);
        }
        refused
    }

    /// Cells that are to be IDLE; first makes the clean version that running activations go on in.
    fn idle(
        &self,
        agent: &Agent,
        env: Env,
        class: &Arc<Class>,
        methods: &[(u32, Snapshot)],
        eager: bool,
        turns: &mut Turns,
    ) {
        for (id, snapshot) in methods {
            if self.woven().get(id).is_none_or(|w| w.token.is_none()) {
                continue;
            }
            // A clean way in that was made before an edit does not know the edit's points, and would be taken for the current one.
            let edited = !self.kept(*id).is_empty();
            if eager || edited {
                let idle = agent.library.idle();
                let made = env.frame(|env| Ok(self.resume(agent, env, class, *id, snapshot, idle)));
                let made = made.unwrap_or_else(|e| Err(Refusal::Internal(e.to_string())));
                if let Err(reason) = made {
                    agent.refuse_method(class, *id, &reason);
                    if edited {
                        continue;
                    }
                }
            }
            turns.push(Turn {
                class: class.clone(),
                id: *id,
                sequence: snapshot.sequence,
                to: None,
            });
        }
    }

    /// A running activation asks for a way into the current version.
    pub fn requested(&self, agent: &Agent, env: Env, id: u32) {
        let Some(class) = agent.registry.of_method(id) else {
            return;
        };
        let token = self.woven().get(&id).and_then(|w| w.token.clone());
        let snapshot = self.snapshot(id);
        let result = env.frame(|env| {
            let token = token.as_ref().map_or(agent.library.idle(), |t| t.raw());
            Ok(self.resume(agent, env, &class, id, &snapshot, token))
        });
        match result {
            Ok(Ok(())) => {}
            Ok(Err(reason)) => agent.refuse_method(&class, id, &reason),
            Err(e) => agent.refuse_method(&class, id, &Refusal::Internal(e.to_string())),
        }
    }

    /// Makes the way in for running activations into the version with this token (IDLE: into the clean one).
    fn resume(
        &self,
        agent: &Agent,
        env: Env,
        class: &Arc<Class>,
        id: u32,
        snapshot: &Snapshot,
        token: jobject,
    ) -> Result<(), Refusal> {
        let host = class
            .local(env)
            .ok_or_else(|| Refusal::NotArmed("its class is gone".into()))?;
        let original = class.state().original.clone();
        let file = ClassFile::parse(&original)?;
        let (method, armed) = analyse(agent, &file, class, id)?;
        self.keep(id, &method, &armed, &snapshot.edits);
        let one = Analysed {
            id,
            method,
            armed,
            snapshot,
        };
        self.resume_at(agent, env, (&**class, host, &file), &one, token)
    }

    fn resume_at(
        &self,
        agent: &Agent,
        env: Env,
        of: (&Class, jobject, &ClassFile),
        one: &Analysed,
        token: jobject,
    ) -> Result<(), Refusal> {
        // Other threads may note edit points meanwhile. A frame from such a point waits in the executor loop until the way in that
        // knows the point is there.
        for _ in 0..16 {
            let kept = self.kept(one.id);
            self.resume_with(agent, env, of, one, token)?;
            if self.kept(one.id) == kept {
                return Ok(());
            }
        }
        Err(Refusal::Internal("the edits of a method never rest".into()))
    }

    fn resume_with(
        &self,
        agent: &Agent,
        env: Env,
        of: (&Class, jobject, &ClassFile),
        one: &Analysed,
        token: jobject,
    ) -> Result<(), Refusal> {
        let (_, host, _) = of;
        if one.armed.points.len() < 2 && self.kept(one.id).is_empty() {
            // Nothing to resume at.
            return Ok(());
        }
        let (id, one) = (one.id, std::slice::from_ref(one));
        let clean = env.same(token, agent.library.idle());
        let mut emitted = self.emit(agent, env, of, one, Bodies::Resume, clean)?;
        if let Some((_, reason)) = emitted.class.refused.pop() {
            return Err(reason);
        }
        let Some(body) = emitted.class.bodies.first() else {
            return Ok(());
        };
        let version = agent
            .library
            .define(env, host, &emitted.class, &[token])
            .map_err(|e| Refusal::VersionRejected(e.to_string()))?;
        self.versions.fetch_add(1, Ordering::Relaxed);
        if !clean {
            counts_in(env, version, &emitted, one);
        }
        turns::wait_for_room(agent, env, turns::deadline());
        agent
            .library
            .install_resume(env, id, version, token, body)
            .map_err(|e| Refusal::VersionRejected(e.to_string()))?;
        if let Some(w) = self.woven().get_mut(&id) {
            w.resume = Some(env.weak(version));
        }
        Ok(())
    }

    /// Activations that still run code older than the current version: in a superseded version, or in the armed body of a
    /// method that has a version.
    pub fn stale(&self, agent: &Agent, env: Env) -> u64 {
        // The walk makes references to threads and classes; the frame frees them all.
        env.frame(|env| Ok(self.count_stale(agent, env)))
            .unwrap_or(0)
    }

    fn count_stale(&self, agent: &Agent, env: Env) -> u64 {
        let mut count = 0;
        for stack in agent.tool.stacks(env) {
            let mut above = Above::Other;
            for (class, name, descriptor, pc) in stack {
                let hidden = agent.tool.is_version(class);
                let class_name = agent.tool.class_name(class).unwrap_or_default();
                if hidden && let Some(id) = version::method_of(&name) {
                    let woven = self.woven();
                    let is =
                        |c: &Option<Global>| c.as_ref().is_some_and(|c| env.same(c.raw(), class));
                    let current = woven.get(&id).is_some_and(|w| {
                        (is(&w.enter) && w.token.is_some() && !w.counts) || is(&w.resume)
                    });
                    count += !(current || above == Above::Loop) as u64;
                    above = Above::Version;
                } else if class_name == runtime::RUNTIME {
                    // Whatever called the executor loop has handed its activation over.
                    above = if name.starts_with("go") || name.starts_with("exit") {
                        Above::Loop
                    } else {
                        Above::Other
                    };
                } else if !hidden && !is_link(&class_name) {
                    if above == Above::Other {
                        let of = (class, &*name, &*descriptor, pc);
                        count += u64::from(self.is_left_behind(agent, env, of));
                    }
                    above = Above::Other;
                }
            }
        }
        count
    }

    /// Whether an activation runs the armed body's own code although the method has a version. In a stub the activation hands itself
    /// over, or the version has just returned.
    fn is_left_behind(
        &self,
        agent: &Agent,
        env: Env,
        (class, name, descriptor, pc): (jobject, &str, &str, i64),
    ) -> bool {
        let Some(class_name) = agent
            .tool
            .class_name(class)
            .filter(|n| agent.registry.knows(n))
        else {
            return false;
        };
        let loader = agent.tool.loader(class);
        let record = agent.registry.find(env, &class_name, loader);
        env.delete(loader);
        let Some(record) = record else {
            return false;
        };
        let (id, original) = {
            let state = record.state();
            let is = |m: &&ArmedMethod| m.name == name && m.descriptor == descriptor;
            let id = state.methods.iter().find(is).map(|m| m.id);
            (id, state.original.clone())
        };
        let leaves = |w: &Woven| w.token.is_some() && !w.counts;
        let Some(id) = id.filter(|id| self.woven().get(id).is_some_and(leaves)) else {
            return false;
        };
        let first_stub = ClassFile::parse(&original)
            .ok()
            .and_then(|file| Some(analyse(agent, &file, &record, id).ok()?.1.stubs));
        first_stub.is_none_or(|stubs| pc < i64::from(stubs))
    }

    fn emit(
        &self,
        agent: &Agent,
        env: Env,
        (class, host, file): (&Class, jobject, &ClassFile),
        methods: &[Analysed],
        bodies: Bodies,
        clean: bool,
    ) -> Result<Emitted, Refusal> {
        let (anchor, armed) = {
            let state = class.state();
            let armed = agent.config.check.then(|| state.methods.clone());
            (state.anchor.clone(), armed)
        };
        let protected = agent.protected(env, class, host);
        let nothing = Snapshot::default();
        let kept: Vec<_> = methods.iter().map(|one| self.kept(one.id)).collect();
        let plans: Vec<Plan> = methods
            .iter()
            .zip(&kept)
            .map(|(one, kept)| {
                let woven = if clean { &nothing } else { one.snapshot };
                Plan {
                    method: &one.method,
                    id: one.id,
                    armed: &one.armed,
                    edits: &woven.edits,
                    kept,
                    probes: &woven.probes,
                    clean,
                }
            })
            .collect();
        let version = version::emit(file, &anchor, &plans, bodies, &protected)?;
        if let Some(armed) = &armed {
            check::guard::version(file, &anchor, armed, &plans, &version)?;
        }
        Ok(Emitted { class: version })
    }
}

/// A method to emit: for all bodies that are made of it in a row, it is analysed once.
struct Analysed<'f> {
    id: u32,
    method: Method<'f>,
    armed: ArmedCode,
    snapshot: &'f Snapshot,
}

/// Tells the rows of counters which class writes to them from now on, before anything of it runs.
fn counts_in(env: Env, version: jobject, emitted: &Emitted, analysed: &[Analysed]) {
    let mut weak = None;
    let name = Agent::get().and_then(|a| a.tool.version_name(version));
    let name: Arc<str> = name.unwrap_or_default().into();
    for (id, spans) in emitted.class.methods.iter().zip(&emitted.class.spans) {
        let Some(one) = analysed.iter().find(|a| a.id == *id) else {
            continue;
        };
        for row in &one.snapshot.rows {
            let weak = weak.get_or_insert_with(|| Arc::new(env.weak(version)));
            row.serves(env, weak, &name, spans);
        }
    }
}

struct Emitted {
    class: VersionClass,
}

/// Whether activations at these edit points could go on in the method's own graph: the body that takes them back can be emitted.
pub fn takes_back(
    (agent, env, class, file): (&Agent, Env, &Class, &ClassFile),
    method: &Method,
    armed: &ArmedCode,
    id: u32,
    points: &[FragmentId],
) -> Result<(), Refusal> {
    if points.is_empty() {
        return Ok(());
    }
    let host = class
        .local(env)
        .ok_or_else(|| Refusal::NotArmed("its class is gone".into()))?;
    let protected = agent.protected(env, class, host);
    env.delete(host);
    let anchor = class.state().anchor.clone();
    let plan = Plan {
        method,
        id,
        armed,
        edits: &[],
        kept: points,
        probes: &[],
        clean: true,
    };
    let mut emitted = version::emit(file, &anchor, &[plan], Bodies::Resume, &protected)?;
    match emitted.refused.pop() {
        Some((_, reason)) => Err(reason),
        None => Ok(()),
    }
}

/// Analyses an armed method again, and its armed layout.
pub fn analyse<'f>(
    agent: &Agent,
    file: &'f ClassFile<'f>,
    class: &Class,
    id: u32,
) -> Result<(Method<'f>, ArmedCode), Refusal> {
    let index = (id - class.first_id) as usize;
    let method = Method::analyse(file, index, &|i, p| agent.policy.cuts(i, p))?;
    let armed = arming::layout(&method, &agent.policy, true)?;
    Ok((method, armed))
}
