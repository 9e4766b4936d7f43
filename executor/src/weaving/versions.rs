//! Versions of methods: made with what is woven into them, installed, and made again when that has changed meanwhile.

use crate::agent::Agent;
use crate::classes::inherited_members::inherited_protected_members;
use crate::classes::registry::Class;
use crate::jvm::jni::{Env, Global, jobject};
use crate::weaving::analysis::analyse;
use crate::weaving::target_switch::{self, Entry, Turn, Turns};
use crate::weaving::woven_methods::{Methods, Snapshot};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use veneer_fragmenter::arming::ArmedCode;
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::method::Method;
use veneer_fragmenter::patch::{self, Edit};
use veneer_fragmenter::version::{self, Bodies, Plan, VersionClass};
use veneer_fragmenter::{Refusal, check};

/// Up to this many methods that change together get a way in for running activations at once; of more, each when it is
/// asked for.
pub const EAGER: usize = 64;

/// A refusal of one method.
pub type Refused = Vec<(u32, Refusal)>;

impl Methods {
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
        target_switch::wait_for_room(agent, env, target_switch::deadline());
        agent
            .library
            .install_resume(env, id, version, token, body)
            .map_err(|e| Refusal::VersionRejected(e.to_string()))?;
        if let Some(w) = self.woven().get_mut(&id) {
            w.resume = Some(env.weak(version));
        }
        Ok(())
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
        let protected = inherited_protected_members(agent.tool, env, class, host);
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
