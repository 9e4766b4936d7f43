//! Making and installing versions of methods. A *version* is a specialised code version: a hidden
//! class that contains the method along its edited graph, with the instruments inlined.
//!
//! ```text
//!   prepare:           snapshot ─▶ emit ─▶ define the hidden class ─▶ SwitchBatch        (no activation enters yet)
//!   install_versions:  commit the batch ─▶ record_switch ─▶ prepare again what has changed since its snapshot
//!   make_osr_entry:    emit the resume body ─▶ define ─▶ install             (running activations enter the version)
//! ```
//!
//! Three threads call this module: the plan thread, threads that prepare a class, and the thread
//! `veneer-requests`, which makes OSR entries on request. No lock of the agent is held while a
//! class is defined or installed.
//!
//! A version is never changed. A change of the instrumentation makes another version.

mod current_files;

use crate::agent::Agent;
use crate::classes::inherited_members::inherited_protected_members;
use crate::classes::method_analysis::{AnalysedMethod, analyse};
use crate::classes::registry::Class;
use crate::jvm::jni::{Env, Global, WeakGlobal, jobject};
use crate::weaving::target_switch::{self, Switch, SwitchBatch, SwitchTarget};
use crate::weaving::woven_methods::{InstalledTarget, Snapshot, WovenMethods, split_edits};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::flowgraph::FragmentId;
use veneer_fragmenter::hotspot::MAX_COMPILED_BYTES;
use veneer_fragmenter::patch::{self, Edit};
use veneer_fragmenter::version::{self, Bodies, VersionClass, VersionPlan};
use veneer_fragmenter::{Refusal, check};
use veneer_names::MethodId;

/// If at most this number of methods change together, their OSR entries are made at once. Otherwise
/// each OSR entry is made when a running activation asks for it.
pub const MAX_EAGER_METHODS: usize = 64;

/// The maximum number of methods in one version class.
const MAX_METHODS_PER_CLASS: usize = 100;

/// The number of times that [`WovenMethods::install_versions`] prepares methods again that other
/// threads change at the same time. If a method changes even more often, the installed version is
/// not the newest one until its next change.
const MAX_INSTALL_ROUNDS: usize = 16;

/// The number of times that an OSR entry is made again because other threads add edit points at the
/// same time.
const MAX_OSR_ENTRY_ROUNDS: usize = 16;

/// Methods that could not get a version, with the reasons.
pub type RefusedMethods = Vec<(MethodId, Refusal)>;

/// Methods for which no version could be installed, with their classes and the reasons.
pub type RefusedSwitches = Vec<(Arc<Class>, MethodId, Refusal)>;

/// An application class, as the versions of its methods need it.
#[derive(Clone, Copy)]
struct Host<'a> {
    class: &'a Arc<Class>,
    /// A local reference to the class.
    object: jobject,
    /// The original class file.
    file: &'a ClassFile<'a>,
}

/// A method to emit. It is analysed once for all bodies that are made of it together.
struct MethodToEmit<'f> {
    analysed: AnalysedMethod<'f>,
    snapshot: &'f Snapshot,
}

/// The largest body of a split version in bytes, without instruments. The rest is room for them.
const MAX_PART_BYTES: usize = 7_000;

/// The smallest budget that is tried for a part.
const MIN_BUDGET: u16 = 400;

/// A budget that is too large is made smaller by one of this many parts.
const FIT_STEPS: u16 = 20;

/// Chooses the budget of a split: the largest one up to that of the edit with which all parts have room
/// for instruments. How much code an emitted part has depends on how often control moves between parts,
/// and on the `kept` edit points.
pub fn fit_split(
    agent: &Agent,
    env: Env,
    class: &Class,
    analysed: &AnalysedMethod,
    edits: &mut [Edit],
    kept: &[FragmentId],
) -> Result<(), Refusal> {
    let Some(at) = edits.iter().rposition(|e| matches!(e, Edit::Split { .. })) else {
        return Ok(());
    };
    let size = analysed.method.code.code.len();
    if matches!(edits.get(at), Some(Edit::Split { budget }) if usize::from(*budget) >= size) {
        // One body is wanted, for comparison.
        return emit_clean(agent, env, class, analysed, &split_edits(edits), kept).map(|_| ());
    }
    loop {
        let emitted = emit_clean(agent, env, class, analysed, &split_edits(edits), kept);
        let Some(Edit::Split { budget }) = edits.get_mut(at) else {
            return Ok(());
        };
        let smaller = *budget - *budget / FIT_STEPS;
        let fits = |one: &VersionClass| one.largest_body <= MAX_PART_BYTES;
        if emitted.as_ref().is_ok_and(fits) || smaller < MIN_BUDGET {
            return emitted.map(|_| ());
        }
        let before = std::mem::replace(budget, smaller);
        let points = &analysed.armed.points;
        if patch::apply_keeping(&analysed.method, edits, points, kept).is_err()
            && let Some(Edit::Split { budget }) = edits.get_mut(at)
        {
            // Too much code must stay together for smaller parts.
            *budget = before;
            return emitted.map(|_| ());
        }
    }
}

/// The budget with which the fitting of a split begins.
const FIRST_BUDGET: u16 = 5_000;

/// Checks that activations at these edit points could resume in the method's own graph: that the
/// OSR entry which takes them back can be emitted. `split` has the edits that split the method.
///
/// # Errors
/// The reason why the OSR entry cannot be emitted.
pub fn check_osr_entry(
    agent: &Agent,
    env: Env,
    class: &Class,
    analysed: &AnalysedMethod,
    edit_points: &[FragmentId],
    split: &[Edit],
) -> Result<(), Refusal> {
    if edit_points.is_empty() {
        return Ok(());
    }
    emit_clean(agent, env, class, analysed, split, edit_points).map(|_| ())
}

/// Emits the OSR entry of a method without probes, and without edits other than those that split it.
fn emit_clean(
    agent: &Agent,
    env: Env,
    class: &Class,
    analysed: &AnalysedMethod,
    split: &[Edit],
    kept: &[FragmentId],
) -> Result<VersionClass, Refusal> {
    let host = class
        .local(env)
        .ok_or_else(|| Refusal::NotArmed("its class is gone".into()))?;
    let protected = inherited_protected_members(agent.tool, env, class, host);
    // SAFETY: `Class::local` has made the local reference, which is not used again.
    unsafe { env.delete(host) };
    let anchor = class.state().anchor.clone();
    let plan = VersionPlan {
        method: &analysed.method,
        id: analysed.id,
        armed: &analysed.armed,
        edits: split,
        kept,
        probes: &[],
        clean: true,
    };
    let file = analysed.method.file;
    let mut emitted = version::emit(file, &anchor, &[plan], Bodies::Resume, &protected)?;
    match emitted.refused.pop() {
        Some((_, reason)) => Err(reason),
        None => Ok(emitted),
    }
}

impl WovenMethods {
    /// Makes all versions of a method split, if HotSpot compiles no method of its size. Otherwise they
    /// would be interpreted, and an OSR entry often exceeds the limits of a class file. Called before
    /// anything is attached to the method.
    pub fn split_if_large(
        &self,
        agent: &Agent,
        env: Env,
        class: &Class,
        analysed: &AnalysedMethod,
    ) {
        let is_large = analysed.method.code.code.len() > MAX_COMPILED_BYTES;
        if is_large && self.split(analysed.id).is_empty() {
            // A method that cannot be split gets versions of one part.
            self.split_method(agent, env, class, analysed, FIRST_BUDGET);
        }
    }

    /// Makes all versions of a method split into parts of at most `budget` bytes of its own code.
    /// Returns whether it can be split in this way.
    fn split_method(
        &self,
        agent: &Agent,
        env: Env,
        class: &Class,
        analysed: &AnalysedMethod,
        budget: u16,
    ) -> bool {
        let (method, points) = (&analysed.method, &analysed.armed.points);
        let mut split = vec![Edit::Split { budget }];
        if fit_split(agent, env, class, analysed, &mut split, &[]).is_ok()
            && let Ok(patched) = patch::apply(method, &split, points)
        {
            let points = patched.edit_points.iter().map(|p| p.fragment);
            self.set_split(analysed.id, split, points);
            return true;
        }
        false
    }

    /// Splits a method if its version is refused because its instruments make it larger than what
    /// HotSpot compiles. The parts have room for as much code of instruments as the refused version.
    /// Returns whether a version may be possible now.
    fn split_refused(
        &self,
        agent: &Agent,
        env: Env,
        class: &Class,
        id: MethodId,
        reason: &Refusal,
    ) -> bool {
        let Refusal::CompileLimit(before, after) = *reason else {
            return false;
        };
        if !self.split(id).is_empty() {
            return false;
        }
        let Ok(original) = class.original_file() else {
            return false;
        };
        let Ok(file) = ClassFile::parse(&original) else {
            return false;
        };
        let Ok(analysed) = analyse(&agent.policy, &file, class, id) else {
            return false;
        };
        let budget = MAX_PART_BYTES * before / after.max(1);
        let budget = u16::try_from(budget).unwrap_or(FIRST_BUDGET);
        self.split_method(agent, env, class, &analysed, budget.min(FIRST_BUDGET))
    }

    /// Makes versions of these methods of a class with their current instrumentation, and adds
    /// their switches to the batch. The versions take effect with
    /// [`WovenMethods::install_versions`].
    ///
    /// If `eager` is true, the OSR entries for running activations are made at once.
    pub fn prepare(
        &self,
        agent: &Agent,
        env: Env,
        class: &Arc<Class>,
        ids: &[MethodId],
        eager: bool,
        batch: &mut SwitchBatch,
    ) -> RefusedMethods {
        let snapshots = ids.iter().map(|id| self.snapshot(*id));
        let (idle, active): (Vec<_>, Vec<_>) = snapshots.partition(Snapshot::is_idle);
        let counts_entries = |s: &Snapshot| s.entry_counters().is_some();
        let (counting, active): (Vec<_>, Vec<_>) = active.into_iter().partition(counts_entries);
        let mut refused = Vec::new();
        for part in active.chunks(MAX_METHODS_PER_CLASS) {
            for (id, reason) in self.define_versions(agent, env, class, part, eager, batch) {
                if !self.split_refused(agent, env, class, id, &reason) {
                    refused.push((id, reason));
                    continue;
                }
                let again = [self.snapshot(id)];
                refused.extend(self.define_versions(agent, env, class, &again, eager, batch));
            }
        }
        for snapshot in &counting {
            let counted = self.count_entries(agent, env, class, snapshot, eager, batch);
            refused.extend(counted.err().map(|reason| (snapshot.method, reason)));
        }
        for snapshot in &idle {
            self.make_idle(agent, env, class, snapshot, eager, batch);
        }
        refused
    }

    /// Installs the prepared versions. Then prepares and installs again the methods that have
    /// changed since their snapshots. Returns the methods for which this failed.
    pub fn install_versions(
        &self,
        agent: &Agent,
        env: Env,
        batch: &mut SwitchBatch,
    ) -> RefusedSwitches {
        let mut refused: RefusedSwitches = Vec::new();
        for _ in 0..MAX_INSTALL_ROUNDS {
            let mut changed: BTreeMap<MethodId, (Arc<Class>, Vec<MethodId>)> = BTreeMap::new();
            batch.commit(agent, env, |switch, result| {
                let installed = result.is_ok().then(|| installed_target(env, &switch));
                if !self.record_switch(switch.method, switch.sequence, installed) {
                    let (_, ids) = changed
                        .entry(switch.class.first_id)
                        .or_insert_with(|| (switch.class.clone(), Vec::new()));
                    ids.push(switch.method);
                }
                if let Err(e) = result {
                    let reason = match switch.target {
                        Some(_) => Refusal::VersionRejected(e.to_string()),
                        None => Refusal::Internal(e.to_string()),
                    };
                    refused.push((switch.class, switch.method, reason));
                }
            });
            for (class, ids) in changed.into_values() {
                refused.retain(|(_, id, _)| !ids.contains(id));
                for (id, reason) in self.prepare(agent, env, &class, &ids, false, batch) {
                    refused.push((class.clone(), id, reason));
                }
            }
            if batch.is_empty() {
                break;
            }
        }
        refused
    }

    /// Makes the OSR entry of a method's current version, because a running activation has asked
    /// for it. Called by the thread `veneer-requests`.
    pub fn make_requested_osr_entry(&self, agent: &Agent, env: Env, id: MethodId) {
        let Some(class) = agent.registry.class_of_method(id) else {
            return;
        };
        // The token comes from the cell. The plan thread records a switch after it has switched the
        // cell, so its record may still name the version before. The activation would then wait for
        // an entry of the new version, which nobody makes.
        let made = match agent.library.current_token(env, id) {
            Ok(token) => {
                // The snapshot is taken after the token, so it is not older than the version.
                let snapshot = self.snapshot(id);
                let made = self.make_osr_entry(agent, env, &class, &snapshot, token);
                // SAFETY: `current_token` has made the local reference, which is not used again.
                unsafe { env.delete(token) };
                made
            }
            Err(error) => Err(Refusal::Internal(error.to_string())),
        };
        if let Err(reason) = made {
            agent.refuse_method(&class, id, &reason);
        }
    }

    /// Emits and defines one version class for these methods. If that fails, makes one version
    /// class for each method.
    fn define_versions(
        &self,
        agent: &Agent,
        env: Env,
        class: &Arc<Class>,
        snapshots: &[Snapshot],
        eager: bool,
        batch: &mut SwitchBatch,
    ) -> RefusedMethods {
        let defined = env
            .frame(|env| Ok(self.define_together(agent, env, class, snapshots, eager, batch)))
            .unwrap_or_else(|e| Err(Refusal::VersionRejected(e.to_string())));
        match (defined, snapshots) {
            (Ok(refused), _) => refused,
            (Err(reason), [only]) => vec![(only.method, reason)],
            (Err(_), several) => several
                .chunks(1)
                .flat_map(|one| self.define_versions(agent, env, class, one, eager, batch))
                .collect(),
        }
    }

    fn define_together(
        &self,
        agent: &Agent,
        env: Env,
        class: &Arc<Class>,
        snapshots: &[Snapshot],
        eager: bool,
        batch: &mut SwitchBatch,
    ) -> Result<RefusedMethods, Refusal> {
        let object = class
            .local(env)
            .ok_or_else(|| Refusal::NotArmed("its class is not prepared yet, or gone".into()))?;
        let original = class.original_file()?;
        let file = &ClassFile::parse(&original)?;
        let host = Host {
            class,
            object,
            file,
        };
        let (mut methods, mut refused) = (Vec::with_capacity(snapshots.len()), Vec::new());
        for snapshot in snapshots {
            match self.analyse_for(agent, class, file, snapshot) {
                Ok(method) => methods.push(method),
                Err(reason) => refused.push((snapshot.method, reason)),
            }
        }
        let mut emitted = self.emit(agent, env, host, &methods, Bodies::Enter, false)?;
        refused.append(&mut emitted.refused);
        if emitted.methods.is_empty() {
            return Ok(refused);
        }
        let tokens = make_tokens(agent, env, emitted.methods.len())?;
        let raw: Vec<jobject> = tokens.iter().map(Global::raw).collect();
        let version = self.define_class(agent, env, host, &emitted, &raw)?;
        add_to_counter_blocks(agent, env, version, &emitted, &methods);
        add_to_tables(agent, env, version, &methods)?;
        let version = Arc::new(env.global(version));
        for (id, token) in emitted.methods.iter().zip(tokens) {
            let token = Arc::new(token);
            let Some(method) = methods.iter().find(|m| m.analysed.id == *id) else {
                continue;
            };
            // An activation of a split version moves to its other parts through the OSR entry, and one whose
            // guard fails to the unguarded body.
            let is_needed = method.snapshot.needs_osr_entry();
            if (eager || is_needed)
                && let Err(reason) = self.osr_entry_at(agent, env, host, method, token.raw())
            {
                if is_needed {
                    refused.push((*id, reason));
                    continue;
                }
                // A version that running activations cannot enter still receives new activations.
                agent.refuse_method(class, *id, &reason);
            }
            batch.push(Switch {
                class: class.clone(),
                method: *id,
                sequence: method.snapshot.sequence,
                target: Some(SwitchTarget {
                    version: Some(version.clone()),
                    token,
                }),
            });
        }
        Ok(refused)
    }

    /// Prepares a method whose instruments only count entries. Its armed body counts by itself.
    /// Activations in a version continue in a version without probes.
    fn count_entries(
        &self,
        agent: &Agent,
        env: Env,
        class: &Arc<Class>,
        snapshot: &Snapshot,
        eager: bool,
        batch: &mut SwitchBatch,
    ) -> Result<(), Refusal> {
        let id = snapshot.method;
        let offsets = snapshot.entry_counters().unwrap_or_default();
        let token = agent
            .library
            .token(env, &offsets)
            .map_err(|e| Refusal::Internal(e.to_string()))?;
        let had_version = self
            .entries()
            .get(&id)
            .is_some_and(|e| e.enter_class.is_some());
        if eager
            && had_version
            && let Err(reason) = self.make_osr_entry(agent, env, class, snapshot, token)
        {
            agent.refuse_method(class, id, &reason);
        }
        batch.push(Switch {
            class: class.clone(),
            method: id,
            sequence: snapshot.sequence,
            target: Some(SwitchTarget {
                version: None,
                token: Arc::new(env.global(token)),
            }),
        });
        // SAFETY: `token` has made the local reference, which is not used again.
        unsafe { env.delete(token) };
        Ok(())
    }

    /// Prepares the switch of a method's cell to IDLE. Before that, makes the clean version in
    /// which running activations continue.
    fn make_idle(
        &self,
        agent: &Agent,
        env: Env,
        class: &Arc<Class>,
        snapshot: &Snapshot,
        eager: bool,
        batch: &mut SwitchBatch,
    ) {
        let id = snapshot.method;
        if self.entries().get(&id).is_none_or(|e| !e.holds_token) {
            return;
        }
        // A clean OSR entry that was made before an edit does not accept frames from the edit's
        // points, but the cell would take it for the current one. So an edited method needs a new
        // clean OSR entry in any case.
        let was_edited = !self.edit_points(id).is_empty();
        if (eager || was_edited)
            && let Err(reason) =
                self.make_osr_entry(agent, env, class, snapshot, agent.library.idle())
        {
            agent.refuse_method(class, id, &reason);
            if was_edited {
                return;
            }
        }
        batch.push(Switch {
            class: class.clone(),
            method: id,
            sequence: snapshot.sequence,
            target: None,
        });
    }

    /// Makes the OSR entry of the version with this token. The token IDLE is that of the clean
    /// version.
    fn make_osr_entry(
        &self,
        agent: &Agent,
        env: Env,
        class: &Arc<Class>,
        snapshot: &Snapshot,
        token: jobject,
    ) -> Result<(), Refusal> {
        let make = |env: Env| {
            let object = class
                .local(env)
                .ok_or_else(|| Refusal::NotArmed("its class is gone".into()))?;
            let original = class.original_file()?;
            let file = &ClassFile::parse(&original)?;
            let method = self.analyse_for(agent, class, file, snapshot)?;
            let host = Host {
                class,
                object,
                file,
            };
            self.osr_entry_at(agent, env, host, &method, token)
        };
        env.frame(|env| Ok(make(env)))
            .unwrap_or_else(|e| Err(Refusal::Internal(e.to_string())))
    }

    /// Makes an OSR entry that accepts frames from all edit points of the method. Other threads may
    /// record edit points at the same time. A frame from an unknown edit point waits in the
    /// trampoline until an OSR entry accepts it, so the OSR entry is made again until no edit point
    /// is missing.
    fn osr_entry_at(
        &self,
        agent: &Agent,
        env: Env,
        host: Host,
        method: &MethodToEmit,
        token: jobject,
    ) -> Result<(), Refusal> {
        let id = method.analysed.id;
        for _ in 0..MAX_OSR_ENTRY_ROUNDS {
            let known = self.edit_points(id);
            self.osr_entry_once(agent, env, host, method, token)?;
            if self.edit_points(id) == known {
                return Ok(());
            }
        }
        Err(Refusal::Internal("the edits of a method never rest".into()))
    }

    fn osr_entry_once(
        &self,
        agent: &Agent,
        env: Env,
        host: Host,
        method: &MethodToEmit,
        token: jobject,
    ) -> Result<(), Refusal> {
        let id = method.analysed.id;
        if method.analysed.armed.points.len() < 2 && self.edit_points(id).is_empty() {
            // The only capture point is the entry of the method, so no activation can leave its
            // code there.
            return Ok(());
        }
        let methods = std::slice::from_ref(method);
        let is_clean = env.same(token, agent.library.idle());
        let mut emitted = self.emit(agent, env, host, methods, Bodies::Resume, is_clean)?;
        if let Some((_, reason)) = emitted.refused.pop() {
            return Err(reason);
        }
        let Some(body) = emitted.bodies.first() else {
            return Ok(());
        };
        let version = self.define_class(agent, env, host, &emitted, &[token])?;
        if !is_clean {
            add_to_counter_blocks(agent, env, version, &emitted, methods);
        }
        add_to_tables(agent, env, version, methods)?;
        target_switch::wait_for_room(agent, env, target_switch::deadline());
        agent
            .library
            .install_resume(env, id, version, token, body)
            .map_err(|e| Refusal::VersionRejected(e.to_string()))?;
        if let Some(entry) = self.entries().get_mut(&id) {
            entry.resume_class = Some(env.weak(version));
        }
        if is_clean {
            self.release_schedule.lock().restart(Instant::now());
        }
        Ok(())
    }

    /// Analyses a method for emission, and records the edit points that its version gets. From then
    /// on, every OSR entry accepts activations from these points, even before the version exists.
    fn analyse_for<'f>(
        &self,
        agent: &Agent,
        class: &Class,
        file: &'f ClassFile<'f>,
        snapshot: &'f Snapshot,
    ) -> Result<MethodToEmit<'f>, Refusal> {
        let id = snapshot.method;
        let analysed = analyse(&agent.policy, file, class, id)?;
        let (method, points) = (&analysed.method, &analysed.armed.points);
        let known = self.edit_points(id);
        // If the edits contradict each other, the emission refuses them with the reason.
        if let Ok(edited) = patch::apply_keeping(method, &snapshot.edits, points, &known)
            && let Some(entry) = self.entries().get_mut(&id)
        {
            let added = edited.edit_points.iter().map(|p| p.fragment);
            entry.edit_points.extend(added);
        }
        // The version without edits has parts too.
        let split = self.split(id);
        if !split.is_empty()
            && let Ok(clean) = patch::apply_keeping(method, &split, points, &self.edit_points(id))
            && let Some(entry) = self.entries().get_mut(&id)
        {
            let added = clean.edit_points.iter().map(|p| p.fragment);
            entry.edit_points.extend(added);
        }
        Ok(MethodToEmit { analysed, snapshot })
    }

    /// Emits a version class. A clean version has neither probes nor edits. If the configuration
    /// asks for it, the emitted class is checked against the original methods.
    fn emit(
        &self,
        agent: &Agent,
        env: Env,
        host: Host,
        methods: &[MethodToEmit],
        bodies: Bodies,
        is_clean: bool,
    ) -> Result<VersionClass, Refusal> {
        let (anchor, armed) = {
            let state = host.class.state();
            let armed = agent.config.check.then(|| state.methods.to_armed_methods());
            (state.anchor.clone(), armed)
        };
        let protected = inherited_protected_members(agent.tool, env, host.class, host.object);
        let splits: Vec<_> = methods.iter().map(|m| self.split(m.analysed.id)).collect();
        let edit_points: Vec<_> = methods
            .iter()
            .map(|m| self.edit_points(m.analysed.id))
            .collect();
        let plans: Vec<VersionPlan> = methods
            .iter()
            .zip(edit_points.iter().zip(&splits))
            .map(|(one, (edit_points, split))| {
                let (edits, probes) = match is_clean {
                    true => (split, &[][..]),
                    false => (&one.snapshot.edits, &one.snapshot.probes[..]),
                };
                VersionPlan {
                    method: &one.analysed.method,
                    id: one.analysed.id,
                    armed: &one.analysed.armed,
                    edits,
                    kept: edit_points,
                    probes,
                    clean: is_clean,
                }
            })
            .collect();
        let version = version::emit(host.file, &anchor, &plans, bodies, &protected)?;
        if let Some(armed) = &armed {
            check::guard::version(host.file, &anchor, armed, &plans, &version)?;
        }
        Ok(version)
    }

    /// Defines an emitted version class as a hidden nestmate of its host, and returns a local
    /// reference to it.
    fn define_class(
        &self,
        agent: &Agent,
        env: Env,
        host: Host,
        emitted: &VersionClass,
        tokens: &[jobject],
    ) -> Result<jobject, Refusal> {
        let version = agent
            .library
            .define(env, host.object, emitted, tokens)
            .map_err(|e| Refusal::VersionRejected(e.to_string()))?;
        self.versions.fetch_add(1, Ordering::Relaxed);
        self.version_hosts.add(host.class);
        Ok(version)
    }
}

/// The target of a successful switch.
fn installed_target(env: Env, switch: &Switch) -> InstalledTarget {
    let Some(target) = &switch.target else {
        return InstalledTarget::default();
    };
    let version = target.version.as_ref();
    InstalledTarget {
        holds_token: true,
        enter_class: version.map(|v| env.weak(v.raw())),
        counts_entries: version.is_none(),
    }
}

/// Makes one token for each method of a version class.
fn make_tokens(agent: &Agent, env: Env, count: usize) -> Result<Vec<Global>, Refusal> {
    let mut tokens = Vec::with_capacity(count);
    for _ in 0..count {
        let token = agent
            .library
            .token(env, &[])
            .map_err(|e| Refusal::Internal(e.to_string()))?;
        tokens.push(env.global(token));
        // SAFETY: `token` has made the local reference, which is not used again.
        unsafe { env.delete(token) };
    }
    Ok(tokens)
}

/// Adds a version class to the counter blocks to which it writes. Must be called before any code of
/// the class runs.
fn add_to_counter_blocks(
    agent: &Agent,
    env: Env,
    version: jobject,
    emitted: &VersionClass,
    methods: &[MethodToEmit],
) {
    let mut weak = None;
    let name = agent.tool.version_name(version).unwrap_or_default();
    let name: Arc<str> = name.into();
    for (id, spans) in emitted.methods.iter().zip(&emitted.spans) {
        let Some(method) = methods.iter().find(|m| m.analysed.id == *id) else {
            continue;
        };
        for block in &method.snapshot.blocks {
            let weak = weak.get_or_insert_with(|| Arc::new(env.weak(version)));
            block.add_version(env, weak, &name, spans);
        }
    }
}

/// Adds a version class to the tables that its code fills. Must be called before any code of the
/// class runs. Fails if the instrument with the code was detached in the meantime, and the room of
/// its table is used by another one.
fn add_to_tables(
    agent: &Agent,
    env: Env,
    version: jobject,
    methods: &[MethodToEmit],
) -> Result<(), Refusal> {
    let probes = methods.iter().flat_map(|method| &method.snapshot.probes);
    let tables: BTreeSet<u32> = probes.flat_map(|p| p.action.tables()).copied().collect();
    if tables.is_empty() {
        return Ok(());
    }
    let class = Arc::new(env.weak(version));
    for table in tables {
        let is_collected = |class: &WeakGlobal| env.is_cleared(class);
        if !agent.tallies.add_writer(table, &class, &is_collected) {
            let reason = "a table of an instrument that was detached is gone";
            return Err(Refusal::Internal(reason.into()));
        }
    }
    Ok(())
}
