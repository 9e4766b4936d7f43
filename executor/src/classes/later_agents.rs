//! Classes that an agent changes after Veneer has armed them.
//!
//! A version of a method is made from the class file that the class hook got. If the hook of another
//! agent runs later and changes the method, its change is in the class but not in the version. So
//! before the first version of a class is made, the agent compares the code that the JVM has with
//! the code that arming returned. If it differs, the agent moves its hook to the end and sends the
//! class through all hooks again:
//!
//! ```text
//!   NotChecked ─▶ same code? ─ yes ─▶ Armed
//!                    │ no
//!                    └▶ move the hook ─▶ retransform ─▶ same code? ─ yes ─▶ Armed
//!                                                          └ no ─▶ Changed: no version is made
//! ```
//!
//! To read the code, the JVM makes ids of the methods, about 1 KiB for each class loader, which it does
//! not free when it unloads the loader. So the code is compared only if another agent is loaded.
//!
//! Another agent can also retransform a class that has versions. The JVM installs its code some time
//! after the hook has seen the class, so
//! [`HookedAgain`](crate::classes::hooked_again::HookedAgain) keeps such classes for a while, and the
//! plan thread checks them once a second.
//!
//! Only the plan thread retransforms classes, because the hooks of other agents can take locks that
//! a thread of the application must not wait for.

use crate::agent::Agent;
use crate::classes::method_table::MethodTable;
use crate::classes::registry::{Class, CodeInJvm};
use crate::jvm::jni::{Env, jclass};
use crate::jvm::jvmti::{JvmtiError, Tool};
use crate::jvm::loaded_agents::another_agent_is_loaded;
use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;
use veneer_fragmenter::Refusal;
use veneer_fragmenter::arming::{CodeDigest, DigestScope};

/// The most classes that one pause of the application retransforms. With a full code cache a pause
/// takes 50 ms for eight classes and 80 ms for 256, most of it for walks over all compiled code and
/// all classes. So few pauses are better than short ones.
pub const MAX_CLASSES_PER_PAUSE: usize = 256;

/// Who retransforms a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Retransformer {
    /// Another agent, on any thread.
    #[default]
    Other,
    /// This agent, for a reason of its own.
    Agent,
    /// This agent, in order to be called after another one. It weaves the class afterwards.
    Repair,
}

thread_local! {
    /// The reason for the retransformation that this thread is making.
    static RETRANSFORMER: Cell<Retransformer> = Cell::default();
}

/// The reason for the retransformation that this thread is making.
pub fn retransformer() -> Retransformer {
    RETRANSFORMER.get()
}

/// Sends loaded classes through the hooks of all agents again, in one pause of the application.
///
/// # Errors
/// A class cannot be retransformed. Then none is.
pub fn retransform(agent: &Agent, classes: &[jclass]) -> Result<(), JvmtiError> {
    retransform_as(Retransformer::Agent, agent, classes)
}

fn retransform_as(who: Retransformer, agent: &Agent, classes: &[jclass]) -> Result<(), JvmtiError> {
    RETRANSFORMER.set(who);
    let result = agent.tool.retransform(classes);
    RETRANSFORMER.set(Retransformer::Other);
    result
}

/// Whether the methods of a class have the code in the JVM that arming gave them. True as well if
/// no other agent is loaded, if the class is not prepared, and if the JVM does not return its code.
pub fn has_own_code(agent: &Agent, env: Env, class: &Class) -> bool {
    let (expected, methods) = {
        let state = class.state();
        match state.code_in_jvm {
            CodeInJvm::Armed => return true,
            CodeInJvm::Changed => return false,
            CodeInJvm::NotChecked if !another_agent_is_loaded() => return true,
            CodeInJvm::NotChecked => (state.code, state.methods.clone()),
        }
    };
    let Some(local) = class.local(env) else {
        return true;
    };
    let (digest, scope) = expected;
    let found = digest_in_jvm(agent.tool, local, &methods, scope);
    // SAFETY: `Class::local` has made the local reference, which is not used again.
    unsafe { env.delete(local) };
    let is_own = found.is_none_or(|found| found == digest);
    // While another agent retransforms the class, its next code is not known yet.
    if is_own && !agent.hooked_again.contains(class) {
        let mut state = class.state();
        if state.code == expected && state.code_in_jvm == CodeInJvm::NotChecked {
            state.code_in_jvm = CodeInJvm::Armed;
        }
    }
    is_own
}

/// The digest of the code that the JVM has for these methods of a class. `None` if the JVM does not
/// return it.
fn digest_in_jvm(
    tool: Tool,
    class: jclass,
    methods: &MethodTable,
    scope: DigestScope,
) -> Option<CodeDigest> {
    let armed: HashSet<(&str, &str)> = methods.iter().map(|m| (m.name, m.descriptor)).collect();
    let mut digest = CodeDigest::default();
    for method in tool.bytecodes(class)? {
        if armed.contains(&(method.name.as_str(), method.descriptor.as_str())) {
            digest.add_in_scope(&method.code, scope).ok()?;
        }
    }
    Some(digest)
}

/// Moves the agent's hook behind those of all other agents, and sends classes through the hooks
/// again, whose code other agents have changed. Returns their records, which are new ones as far as
/// the hook saw other code. The caller weaves them. Called by the plan thread only.
pub fn repair(agent: &Agent, env: Env, changed: &[Arc<Class>]) -> Vec<Arc<Class>> {
    if let Err(e) = agent.class_hook.move_to_end() {
        agent.report_problem("", &e.to_string());
    }
    let loaded = changed.iter();
    let loaded: Vec<(jclass, &Arc<Class>)> = loaded
        .filter_map(|class| Some((class.local(env)?, class)))
        .collect();
    let mut repaired = Vec::new();
    for part in loaded.chunks(MAX_CLASSES_PER_PAUSE) {
        let classes: Vec<jclass> = part.iter().map(|(class, _)| *class).collect();
        let together = retransform_as(Retransformer::Repair, agent, &classes);
        for (local, class) in part {
            if together.is_err() {
                // If one class cannot be transformed, the others are transformed one by one. The
                // check below finds out whether this one was.
                let _ = retransform_as(Retransformer::Repair, agent, &[*local]);
            }
            let loader = agent.tool.loader(*local);
            let record = agent.registry.find(env, class.name.as_str(), loader);
            // SAFETY: `Tool::loader` has made the local reference, which is not used again.
            unsafe { env.delete(loader) };
            let record = record.unwrap_or_else(|| (*class).clone());
            if !has_own_code(agent, env, &record) {
                give_up(agent, &record);
            }
            repaired.push(record);
        }
    }
    for (local, _) in loaded {
        // SAFETY: `Class::local` has made the local reference, which is not used again.
        unsafe { env.delete(local) };
    }
    repaired
}

/// Records that no version of a class can be made.
fn give_up(agent: &Agent, class: &Class) {
    class.state().code_in_jvm = CodeInJvm::Changed;
    let reason = Refusal::ChangedByLaterAgent;
    let dotted = class.dotted.as_str();
    agent.refuse(dotted, "", reason.name(), &reason.to_string());
}
