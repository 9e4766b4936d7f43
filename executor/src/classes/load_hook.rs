//! The class hook: arms classes when they are loaded, and when they are redefined or retransformed.
//!
//! ```text
//!   class file ─▶ wanted? ─▶ in the cache? ─▶ arm ─▶ define the anchor in the class's own loader ─▶ fill its cells ─▶ record ─▶ armed file
//!                   no         yes: not armed    refused: recorded, and the class stays byte for byte as it was
//! ```
//!
//! An *anchor* is a small class that holds the cells (mutable call sites) of one armed class.
//!
//! The JVM calls the hook on the thread that loads the class, so several threads run it at once. No
//! lock is held while Java code runs: the anchor is defined and filled between two short accesses
//! to the registry.

use crate::agent::Agent;
use crate::classes::arming_filter::{ArmingCandidate, ArmingDecision, on_cell_path};
use crate::classes::cached_arming::{CacheHit, CacheLookup, CachedArmingRefusal, FreshArming};
use crate::classes::lazy_class_file::LazyClassFile;
use crate::classes::method_table::MethodTable;
use crate::classes::plan_pattern::concerning;
use crate::classes::registry::{Class, CodeInJvm};
use crate::classes::selection::{self, HookedClass};
use crate::jvm::jni::{Env, jclass, jobject};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use veneer_class_cache::StoredFile;
use veneer_fragmenter::arming::Armed;
use veneer_fragmenter::arming::{CodeDigest, DigestScope};
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::inference::UpgradedClass;
use veneer_fragmenter::{Refusal, anchor, arming, check, inference, outline, verify};
use veneer_names::{ClassName, java_form};

/// A class in the class hook.
pub struct ClassLoadEvent<'a, 'c> {
    /// The internal name of the class, with slashes.
    pub name: &'a str,
    /// The class loader; null for the boot loader.
    pub loader: jobject,
    /// The protection domain of the class; null if it has none.
    pub domain: jobject,
    /// The loaded class that is redefined or retransformed; null at the first load.
    pub class: jclass,
    /// The class file, as earlier agents have transformed it.
    pub file: &'a LazyClassFile<'c>,
}

/// The class file that the hook returns to the JVM.
pub struct HookedFile {
    pub bytes: Vec<u8>,
    /// The record of a class that is redefined or retransformed. `None` at the first load, and while
    /// the agent leaves the JVM.
    pub class: Option<Arc<Class>>,
    /// Whether the class has other code than before, and therefore a new record. The caller must weave
    /// it before the JVM continues: no `ClassPrepare` event will follow, and instruments must act from
    /// the first call of the new code on.
    pub is_redefined: bool,
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
            bytes: event.file.bytes().to_vec(),
            class: None,
            is_redefined: false,
        });
    }
    let dotted = java_form(event.name);
    let all_plans = agent.plan_patterns();
    let plans = concerning(&all_plans, &dotted, || {
        let parsed = event.file.parsed().ok()?;
        Some(outline::named_members(&parsed.pool))
    });
    let filter = &agent.filter;
    let patterns = plans.iter().copied().chain(&filter.arm).chain(&filter.skip);
    let hooked = HookedClass {
        class: event.class,
        file: event.file,
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

/// Whether the options select a class, without regard to plans.
pub fn is_selected(agent: &Agent, env: Env, event: &ClassLoadEvent) -> bool {
    let dotted = java_form(event.name);
    let hooked = HookedClass {
        class: event.class,
        file: event.file,
        dotted: &dotted,
    };
    let filter = &agent.filter;
    let facts = selection::metadata_at_hook(agent.tool, env, hooked, filter.arm.iter());
    filter.wants_class(&ArmingCandidate {
        dotted: &dotted,
        is_jdk: agent.loaders.is_jdk_class(env, event.name, event.loader),
        plans: &[],
        facts: facts.as_ref(),
    })
}

/// Records that a class is never armed, because each check of a cell may execute its methods.
pub fn refuse_on_cell_path(agent: &Agent, dotted: &str) {
    agent.refuse(
        dotted,
        "",
        "OnCellPath",
        "Veneer executes its methods in each call of an instrumented method, so it is never armed",
    );
}

/// The internal name in a class file. If the file has none, this is recorded, and the class stays
/// as it is.
pub fn class_name_in(agent: &Agent, file: &LazyClassFile) -> Option<String> {
    let parsed = file.parsed();
    let name = parsed.and_then(|file| file.name().map(|n| n.into_owned()));
    name.map_err(|e| agent.refuse("(unnamed)", "", "BrokenClass", &e.to_string()))
        .ok()
}

/// A class file in the form that all later steps read: an old class file is raised to the version of
/// Java 7, any other is unchanged.
struct ModernClassFile<'a> {
    bytes: &'a [u8],
    file: Cow<'a, ClassFile<'a>>,
    was_raised: bool,
}

impl<'a> ModernClassFile<'a> {
    /// The modern form of a class file. `raised` is the result of [`inference::upgrade_parsed`].
    fn new(
        file: &'a LazyClassFile,
        raised: Option<&'a UpgradedClass>,
    ) -> Result<ModernClassFile<'a>, Refusal> {
        Ok(match raised {
            Some(raised) => ModernClassFile {
                bytes: raised.bytes(),
                file: Cow::Owned(raised.checked_class_file()?),
                was_raised: true,
            },
            None => ModernClassFile {
                bytes: file.bytes(),
                file: Cow::Borrowed(file.parsed()?),
                was_raised: false,
            },
        })
    }

    /// Makes the armed class file. The result of a raised class file is verified. The result of any
    /// class file is checked if `check` is set.
    fn arm(&self, request: &arming::Request, check: bool) -> Result<Armed, Refusal> {
        if check {
            check::guard::arm(&self.file, request)
        } else if self.was_raised {
            verify::guard::arm(&self.file, request)
        } else {
            arming::arm_class_file(&self.file, request)
        }
    }
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
    methods: Arc<MethodTable>,
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
        original: &ModernClassFile,
    ) -> Result<Target, Refusal> {
        let generation = known.as_ref().map_or(0, |c| c.state().generation + 1);
        let is_redefined = known.is_some();
        let same = known.filter(|class| {
            let kept = class.state().original.clone();
            kept.is_empty() || kept.is_copy_of(original.bytes)
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
        let new = Target::reserve(agent, env, event, original.file.methods.len())?;
        Ok(Target {
            is_redefined,
            generation,
            ..new
        })
    }

    /// Reserves a record for a class that was never armed.
    fn reserve(
        agent: &Agent,
        env: Env,
        event: &ClassLoadEvent,
        methods: usize,
    ) -> Result<Target, Refusal> {
        let name = ClassName::parse(event.name)
            .map_err(|e| Refusal::BrokenClass(format!("{} is no class name: {e}", event.name)))?;
        let reserved = agent.registry.reserve(env, name, event.loader, methods);
        Ok(Target {
            class: reserved.ok_or(Refusal::PoolFull)?,
            is_known: false,
            is_redefined: false,
            generation: 0,
            methods: Arc::default(),
            anchor: Arc::default(),
        })
    }

    fn has_method(&self, name: &str, descriptor: &str) -> bool {
        self.methods.named(name, descriptor).is_some()
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
    // The cache has the results of first armings only.
    let lookup = match known {
        None => CacheLookup::new(agent, event.file.bytes()),
        Some(_) => None,
    };
    if let Some(hit) = lookup.as_ref().and_then(|lookup| lookup.find(candidate)) {
        return install_hit(agent, env, event, candidate, hit);
    }
    let raised = inference::upgrade_parsed(event.file.parsed()?)?;
    let original = ModernClassFile::new(event.file, raised.as_ref())?;
    let target = Target::new(agent, env, event, known, &original)?;
    let armed =
        emit(agent, &original, candidate, &target).inspect_err(|_| target.release(agent))?;
    for (method, reason) in &armed.refusals {
        agent.refuse(candidate.dotted, method, reason.name(), &reason.to_string());
    }
    let first_id = target.class.first_id;
    let fresh = FreshArming {
        file: &original.file,
        original: original.bytes,
        armed: &armed,
        first_id,
    };
    let stored = lookup.and_then(|lookup| lookup.store(candidate, &fresh));
    let keep = || stored.unwrap_or_else(|| agent.class_files.keep(original.bytes));
    install(agent, env, event, &target, armed, keep)
}

/// Gives the JVM a class that an earlier run has armed.
fn install_hit(
    agent: &Agent,
    env: Env,
    event: &ClassLoadEvent,
    candidate: &ArmingCandidate,
    hit: CacheHit,
) -> Result<Option<HookedFile>, Refusal> {
    let target = Target::reserve(agent, env, event, hit.method_count)?;
    for refusal in &hit.refusals {
        let CachedArmingRefusal {
            method,
            code,
            detail,
        } = refusal;
        agent.refuse(candidate.dotted, method, code, detail);
    }
    let armed = hit.armed(target.class.first_id);
    let armed = armed.inspect_err(|_| target.release(agent))?;
    install(agent, env, event, &target, armed, || hit.original)
}

/// Defines the anchor of an armed class, and records the class. The caller returns its class file to the
/// JVM. `keep` returns its original class
/// file as it is kept.
fn install(
    agent: &Agent,
    env: Env,
    event: &ClassLoadEvent,
    target: &Target,
    armed: Armed,
    keep: impl FnOnce() -> StoredFile,
) -> Result<Option<HookedFile>, Refusal> {
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
    let Armed {
        methods,
        anchor,
        anchor_bytes,
        bytes,
        code,
        ..
    } = armed;
    let Some(methods) = MethodTable::new(target.class.first_id, methods) else {
        target.release(agent);
        return Err(Refusal::Internal(
            "the methods do not fit their table".into(),
        ));
    };
    let new_anchor = !anchor_bytes.is_empty();
    if new_anchor {
        let declared = methods.iter().filter(|m| **m.anchor == *anchor);
        let ids: Vec<i32> = declared.map(|m| m.id.as_java()).collect();
        define_anchor(agent, env, event, (&anchor, &anchor_bytes), &ids)?;
    }
    let digest = match is_first_load {
        true => Ok((code, DigestScope::AllBytes)),
        false => CodeDigest::without_constants(&bytes, methods.iter().map(|m| m.index))
            .map(|code| (code, DigestScope::NoConstants)),
    };
    let original = keep();
    {
        let mut state = target.class.state();
        state.original = original;
        state.restored = false;
        state.anchor = anchor;
        if new_anchor {
            state.generation = target.generation;
        }
        state.methods = Arc::new(methods);
        // A digest that cannot be made is a fault of Veneer. The code is then not compared.
        state.code_in_jvm = match digest {
            Ok(_) => CodeInJvm::NotChecked,
            Err(_) => CodeInJvm::Armed,
        };
        state.code = digest.unwrap_or_default();
        state.unarmed = None;
        state.facts = None;
    }
    if !event.class.is_null() {
        target.class.mark_prepared(agent.tool, env, event.class);
    }
    if !target.is_known {
        agent.registry.add(target.class.clone());
    }
    Ok(Some(HookedFile {
        bytes,
        class: (!is_first_load).then(|| target.class.clone()),
        is_redefined: target.is_redefined,
    }))
}

/// Makes the armed class file, by the configuration of the agent.
fn emit(
    agent: &Agent,
    original: &ModernClassFile,
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
    let earlier = target.methods.to_armed_methods();
    let request = arming::Request {
        policy: &agent.policy,
        first_id: target.class.first_id,
        generation: target.generation,
        wanted: &is_wanted,
        forced: &is_forced,
        points: agent.config.check,
        only_loops: agent.arms_only_loops(),
        earlier: (!target.methods.is_empty()).then_some(arming::Earlier {
            anchor: &target.anchor,
            methods: &earlier,
        }),
    };
    original.arm(&request, agent.config.check)
}

/// Defines the new anchor in the loader of the class, and fills its cells, which have these ids. If
/// this fails, the ids of the class stay reserved, because cells may refer to them.
fn define_anchor(
    agent: &Agent,
    env: Env,
    event: &ClassLoadEvent,
    file: (&str, &[u8]),
    ids: &[i32],
) -> Result<(), Refusal> {
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
    let filled = agent.library.anchor(env, anchor, ids);
    // SAFETY: `define_anchor` has made the local reference, which is not used again.
    unsafe { env.delete(anchor) };
    filled.map_err(|e| Refusal::AnchorFailed(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_fragmenter::policy::Policy;
    use veneer_names::MethodId;

    const POINTS: &[u8] = include_bytes!("fixtures/Points.classfile");

    /// The number of class files that a class file's way through the hook parses: its name and its
    /// facts are read, and its methods are armed.
    fn parses_on_the_way(bytes: &[u8], check: bool) -> usize {
        let before = ClassFile::parse_count();
        let file = LazyClassFile::new(bytes);
        let parsed = file.parsed().expect("a class file");
        assert_eq!(parsed.name().as_deref(), Ok("shop/Points"));
        assert!(selection::facts_in_file(parsed, None).is_some());
        let raised = inference::upgrade_parsed(parsed).expect("the class can be raised");
        let modern = ModernClassFile::new(&file, raised.as_ref()).expect("a modern form");
        let request = arming::Request {
            policy: &Policy::Loop,
            first_id: MethodId(0),
            generation: 0,
            wanted: &|_, _| true,
            forced: &|_, _| false,
            points: check,
            only_loops: false,
            earlier: None,
        };
        let armed = modern.arm(&request, check).expect("armed");
        assert!(!armed.methods.is_empty());
        ClassFile::parse_count() - before
    }

    #[test]
    fn a_class_file_is_parsed_once_on_its_way_through_the_hook() {
        assert_eq!(parses_on_the_way(POINTS, false), 1);
        // The armed class file is parsed too, because the checker reads the bytes for the JVM.
        assert_eq!(parses_on_the_way(POINTS, true), 2);
    }

    #[test]
    fn an_old_class_file_and_its_raised_form_are_parsed_once_each() {
        let mut old = POINTS.to_vec();
        // The major version of Java 6.
        old[7] = 50;
        // The third one is the armed class file, which the verifier reads.
        assert_eq!(parses_on_the_way(&old, false), 3);
    }

    #[test]
    fn a_class_file_that_no_step_needs_is_not_parsed() {
        let before = ClassFile::parse_count();
        let file = LazyClassFile::new(&POINTS[..20]);
        assert_eq!(ClassFile::parse_count(), before);
        let error = file.parsed().expect_err("a truncated class file");
        assert_eq!(file.parsed().expect_err("the same result"), error);
        assert_eq!(ClassFile::parse_count(), before + 1);
    }
}
