//! Going away from a running JVM, and coming back.
//!
//! ```text
//!   detach all ─▶ the hook passes everything ─▶ retransform what is armed: each class gets its own class file back ─▶ how many are left?
//!        └▶ activations leave the versions ─▶ `fillInStackTrace` is the JVM's own again ─▶ report ─▶ data, threads, socket: gone
//! ```
//!
//! The library stays in the process, since the JVM never unloads one, and so do the few runtime classes in the boot loader and the anchors beside the
//! armed classes; none is called any more. The memory of counters stays mapped: an activation that has not left its version yet may still
//! write there. A second `load` of the agent finds all of it and goes on from there, with nothing armed but what plans name.
//!
//! **Invariant:** once the hook passes everything no class is armed; one that was on its way through the hook is found by the next
//! look, so none that is armed is missed.

use crate::agent::Agent;
use crate::control;
use crate::data::data_directory;
use crate::jvm::jni::{Env, jclass};
use crate::jvm::jvm_name::jvm_name;
use crate::jvm::stack_traces;
use crate::plans::{detach, report};
use jvmti_sys::jvmtiEvent;
use std::sync::atomic::Ordering;
use std::time::Duration;
use veneer_fragmenter::anchor;
use veneer_protocol::{Detached, Left, Which};
use veneer_scripts::Session;

/// Events of classes.
pub const CLASS_EVENTS: [jvmtiEvent; 2] = [
    jvmtiEvent::JVMTI_EVENT_CLASS_FILE_LOAD_HOOK,
    jvmtiEvent::JVMTI_EVENT_CLASS_PREPARE,
];
/// Classes that get their code back in one pause of the application; see `runtime::AT_ONCE`.
const AT_ONCE: usize = 256;
/// How often is looked again for classes that are armed, or activations in versions.
const LOOKS: usize = 50;
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// Takes everything off and gives every class its original code back. Called by the plan thread, which ends after it.
pub fn leave(agent: &Agent, env: Env, session: &Session) -> Detached {
    let (taken, unknown) = detach::detach(agent, session, &Which::Unload);
    agent.left.store(true, Ordering::SeqCst);
    let mut restored = 0;
    let mut left = Vec::new();
    for look in 0..LOOKS {
        let (done, still) = restore(agent, env);
        restored += done;
        left = still;
        // The first look cannot see what another thread has in the hook just now.
        if look > 0 && left.is_empty() {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    for event in CLASS_EVENTS {
        if let Err(e) = agent.tool.disable(event) {
            agent.problem("", &e.to_string());
        }
    }
    let mut running = 0;
    for _ in 0..LOOKS {
        running = agent.methods.stale(agent, env);
        if running == 0 {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    // The lines of activations in versions are put right as long as there are any.
    if running == 0 {
        stack_traces::unhook(env);
    }
    if let Err(e) = agent.library.forget_all(env) {
        agent.problem("", &e.to_string());
    }
    agent.rings.drain();
    report::write(agent, jvm_name());
    control::close();
    data_directory::remove(&agent.config.data_dir);
    agent.stop_threads();
    Detached {
        taken,
        unknown,
        classes_restored: restored,
        running,
        left,
    }
}

/// Brings armed classes back to their own class files; says how many, and which are armed still.
fn restore(agent: &Agent, env: Env) -> (u64, Vec<Left>) {
    let mut armed: Vec<(jclass, std::sync::Arc<crate::classes::registry::Class>)> = Vec::new();
    for class in agent.tool.loaded(env) {
        let name = agent.tool.class_name(class);
        let known = name.filter(|name| !anchor::is_anchor(name) && agent.registry.knows(name));
        let known = known.and_then(|name| {
            let loader = agent.tool.loader(class);
            let known = agent.registry.find(env, &name, loader);
            env.delete(loader);
            known
        });
        match known.filter(|known| !known.state().restored) {
            Some(known) => armed.push((class, known)),
            None => env.delete(class),
        }
    }
    let mut restored = 0;
    let mut left = Vec::new();
    for part in armed.chunks(AT_ONCE) {
        let classes: Vec<jclass> = part.iter().map(|one| one.0).collect();
        let together = agent.tool.retransform(&classes);
        for (class, known) in part {
            // A class that cannot be transformed must not keep the others from it.
            let result = match &together {
                Ok(()) => Ok(()),
                Err(_) => agent.tool.retransform(&[*class]),
            };
            match result {
                Ok(()) => {
                    known.state().restored = true;
                    restored += 1;
                }
                Err(reason) => left.push(Left {
                    class: known.dotted.clone(),
                    reason: reason.to_string(),
                }),
            }
        }
    }
    armed.into_iter().for_each(|(class, _)| env.delete(class));
    (restored, left)
}
