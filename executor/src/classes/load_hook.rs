//! The class hook: arms classes when they are loaded, and when they are redefined or retransformed.
//!
//! ```text
//!   class file ─▶ wanted? ─▶ arm ─▶ define the anchor in the class's own loader ─▶ fill its cells ─▶ record ─▶ armed file
//!                   no          refused: recorded, and the class stays byte for byte as it was
//! ```
//!
//! An *anchor* is a small class that holds the cells (mutable call sites) of one armed class.
//!
//! The JVM calls the hook on the thread that loads the class, so several threads run it at once. No
//! lock is held while Java code runs: the anchor is defined and filled between two short accesses
//! to the registry.

use crate::agent::Agent;
use crate::classes::arming_filter::{ArmingCandidate, ArmingDecision, on_cell_path};
use crate::classes::registry::Class;
use crate::classes::selection::{self, HookedClass};
use crate::jvm::jni::{Env, jclass, jobject};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use veneer_fragmenter::arming::{Armed, ArmedMethod};
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::{Refusal, anchor, arming, check, inference, verify};
use veneer_names::{ClassName, java_form};

/// A class in the class hook.
pub struct ClassLoadEvent<'c> {
    /// The internal name of the class, with slashes.
    pub name: &'c str,
    /// The class loader; null for the boot loader.
    pub loader: jobject,
    /// The protection domain of the class; null if it has none.
    pub domain: jobject,
    /// The loaded class that is redefined or retransformed; null at the first load.
    pub class: jclass,
    /// The class file, as earlier agents have transformed it.
    pub bytes: &'c [u8],
}

/// The class file that the hook returns to the JVM.
pub struct HookedFile {
    pub bytes: Vec<u8>,
    /// The new record of a class that has been redefined. The caller must weave it before the JVM
    /// continues: no `ClassPrepare` event will follow, and instruments must act from the first call
    /// of the new code on.
    pub redefined: Option<Arc<Class>>,
}

/// Arms a class. Returns `None` if the class file stays as it is.
pub fn arm_hooked_class(agent: &Agent, env: Env, event: &ClassLoadEvent) -> Option<HookedFile> {
    if anchor::is_anchor(event.name) {
        return None;
    }
    let known = agent.registry.find(env, event.name, event.loader);
    if agent.left.load(Ordering::SeqCst) {
        // The agent is being unloaded, and armed classes get their own class file back. It is
        // returned as if an agent had changed it, so that the JVM keeps the original class file.
        // JDK 25 would otherwise drop it, and reconstruct it from the class on request,
        // with everything that was ever in the constant pool.
        let is_restored = known.is_some() && !event.class.is_null();
        return is_restored.then(|| HookedFile {
            bytes: event.bytes.to_vec(),
            redefined: None,
        });
    }
    let dotted = java_form(event.name);
    let plans = agent.plan_patterns();
    let filter = &agent.filter;
    let patterns = plans.iter().chain(&filter.arm).chain(&filter.skip);
    let hooked = HookedClass {
        class: event.class,
        bytes: event.bytes,
        dotted: &dotted,
    };
    let facts = selection::metadata_at_hook(agent.tool, env, hooked, patterns);
    let candidate = ArmingCandidate {
        dotted: &dotted,
        is_jdk: agent.loaders.is_jdk_class(env, event.name, event.loader),
        plans: &plans,
        facts: facts.as_ref(),
    };
    // An armed class stays armed. A class that got its original code back is armed again only if it
    // is wanted.
    let stays_armed = known.as_ref().is_some_and(|c| !c.state().restored);
    if !stays_armed && !filter.wants_class(&candidate) {
        return None;
    }
    if on_cell_path(event.name) {
        refuse_on_cell_path(agent, &dotted);
        return None;
    }
    match try_arm(agent, env, event, known, &candidate) {
        Ok(file) => file,
        Err(reason) => {
            agent.refuse(&dotted, "", reason.name(), &reason.to_string());
            None
        }
    }
}

/// Records that a class is never armed, because the JVM needs it to run a cell.
pub fn refuse_on_cell_path(agent: &Agent, dotted: &str) {
    agent.refuse(
        dotted,
        "",
        "OnCellPath",
        "the JVM needs the class to run a cell; it is never armed",
    );
}

/// The internal name in a class file. If the file has none, this is recorded, and the class stays
/// as it is.
pub fn class_name_in(agent: &Agent, bytes: &[u8]) -> Option<String> {
    let name = ClassFile::parse(bytes).and_then(|file| file.name().map(|n| n.into_owned()));
    name.map_err(|e| agent.refuse("(unnamed)", "", "BrokenClass", &e.to_string()))
        .ok()
}

/// The record that an armed class gets, and its data from an earlier arming.
struct Target {
    class: Arc<Class>,
    /// Whether the class was armed before with the same class file. The record and its ids are then
    /// kept.
    is_known: bool,
    /// Whether the class was armed before with another class file.
    is_redefined: bool,
    /// The number of the next anchor.
    generation: u32,
    /// The methods of the earlier arming, which keep their anchors.
    methods: Vec<ArmedMethod>,
    /// The newest anchor of the earlier arming.
    anchor: Arc<str>,
}

impl Target {
    /// Finds or reserves the record for a class file. Another agent may have given a known class
    /// other code. Its methods then differ too, so it gets a new record.
    fn new(
        agent: &Agent,
        env: Env,
        event: &ClassLoadEvent,
        known: Option<Arc<Class>>,
        original: &[u8],
    ) -> Result<Target, Refusal> {
        let generation = known.as_ref().map_or(0, |c| c.state().generation + 1);
        let is_redefined = known.is_some();
        let same = known.filter(|class| {
            let state = class.state();
            *state.original == *original || state.original.is_empty()
        });
        if let Some(class) = same {
            let (methods, anchor) = {
                let state = class.state();
                (state.methods.clone(), state.anchor.clone())
            };
            return Ok(Target {
                class,
                is_known: true,
                is_redefined: false,
                generation,
                methods,
                anchor,
            });
        }
        let count = ClassFile::parse(original)?.methods.len();
        let name = ClassName::parse(event.name)
            .map_err(|e| Refusal::BrokenClass(format!("{} is no class name: {e}", event.name)))?;
        let reserved = agent.registry.reserve(env, name, event.loader, count);
        Ok(Target {
            class: reserved.ok_or(Refusal::PoolFull)?,
            is_known: false,
            is_redefined,
            generation,
            methods: Vec::new(),
            anchor: Arc::default(),
        })
    }

    fn has_method(&self, name: &str, descriptor: &str) -> bool {
        let is = |m: &ArmedMethod| m.name == name && m.descriptor == descriptor;
        self.methods.iter().any(is)
    }

    /// Releases the ids of a class that has not been armed. Must not be called once an anchor has
    /// been defined, because its cells refer to the ids.
    fn release(&self, agent: &Agent) {
        if !self.is_known {
            agent.registry.release_ids(&self.class);
        }
    }
}

fn try_arm(
    agent: &Agent,
    env: Env,
    event: &ClassLoadEvent,
    known: Option<Arc<Class>>,
    candidate: &ArmingCandidate,
) -> Result<Option<HookedFile>, Refusal> {
    // All later steps read this form: an old class file is raised to the version of Java 7, any
    // other is unchanged.
    let original = inference::upgrade_class_file(event.bytes)?;
    let was_raised = matches!(original, Cow::Owned(_));
    let target = Target::new(agent, env, event, known, &original)?;
    let armed = emit(agent, &original, was_raised, candidate, &target)
        .inspect_err(|_| target.release(agent))?;
    for (method, reason) in &armed.refusals {
        agent.refuse(candidate.dotted, method, reason.name(), &reason.to_string());
    }
    if armed.methods.is_empty() {
        target.release(agent);
        return Ok(None);
    }
    let is_first_load = event.class.is_null();
    let access = agent.runtime_access.check(env, event.loader, is_first_load);
    access.map_err(|why| {
        target.release(agent);
        Refusal::AnchorFailed(why.to_string())
    })?;
    if !armed.anchor_bytes.is_empty() {
        define_anchor(agent, env, event, &armed)?;
    }
    let bytes = record(agent, env, event, &target, &original, armed);
    Ok(Some(HookedFile {
        bytes,
        redefined: target.is_redefined.then(|| target.class.clone()),
    }))
}

/// Makes the armed class file. The result of a raised class file is verified, and the result of any
/// class file is checked if the configuration asks for it.
fn emit(
    agent: &Agent,
    original: &[u8],
    was_raised: bool,
    candidate: &ArmingCandidate,
    target: &Target,
) -> Result<Armed, Refusal> {
    let wanted =
        |name: &str, descriptor: &str| agent.filter.wants_method(candidate, name, descriptor);
    let is_wanted = |name: &str, descriptor: &str| {
        target.has_method(name, descriptor) || wanted(name, descriptor) != ArmingDecision::No
    };
    let is_forced = |name: &str, descriptor: &str| {
        target.has_method(name, descriptor) || wanted(name, descriptor) == ArmingDecision::ByName
    };
    let request = arming::Request {
        policy: &agent.policy,
        first_id: target.class.first_id,
        generation: target.generation,
        wanted: &is_wanted,
        forced: &is_forced,
        points: agent.config.check,
        earlier: (!target.methods.is_empty()).then_some(arming::Earlier {
            anchor: &target.anchor,
            methods: &target.methods,
        }),
    };
    if agent.config.check {
        check::guard::arm(original, &request)
    } else if was_raised {
        verify::guard::arm(original, &request)
    } else {
        arming::arm(original, &request)
    }
}

/// Defines the new anchor in the loader of the class, and fills its cells. If this fails, the ids
/// of the class stay reserved, because cells may refer to them.
fn define_anchor(
    agent: &Agent,
    env: Env,
    event: &ClassLoadEvent,
    armed: &Armed,
) -> Result<(), Refusal> {
    let file = (&*armed.anchor, &*armed.anchor_bytes);
    // SAFETY: the JVM passed the domain to the hook as the protection domain of the class.
    let anchor = unsafe {
        agent
            .library
            .define_anchor(env, event.loader, event.domain, file)
    };
    let anchor = anchor.map_err(|e| Refusal::AnchorFailed(e.to_string()))?;
    if event.class.is_null() {
        let admitted = agent
            .runtime_access
            .admit(env, event.loader, event.domain, anchor);
        admitted.map_err(|why| Refusal::AnchorFailed(why.to_string()))?;
    }
    let declared = armed.methods.iter().filter(|m| m.anchor == armed.anchor);
    let ids: Vec<i32> = declared.map(|m| m.id.as_java()).collect();
    let filled = agent.library.anchor(env, anchor, &ids);
    env.delete(anchor);
    filled.map_err(|e| Refusal::AnchorFailed(e.to_string()))
}

/// Records an armed class, and returns its class file.
fn record(
    agent: &Agent,
    env: Env,
    event: &ClassLoadEvent,
    target: &Target,
    original: &[u8],
    armed: Armed,
) -> Vec<u8> {
    {
        let mut state = target.class.state();
        state.original = original.into();
        state.restored = false;
        state.anchor = armed.anchor.clone();
        if !armed.anchor_bytes.is_empty() {
            state.generation = target.generation;
        }
        state.methods = armed.methods;
        state.unarmed = None;
        state.facts = None;
    }
    if !event.class.is_null() {
        target.class.mark_prepared(agent.tool, env, event.class);
    }
    if !target.is_known {
        agent.registry.add(target.class.clone());
    }
    armed.bytes
}
