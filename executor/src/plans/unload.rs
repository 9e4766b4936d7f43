//! Leaving a running JVM: everything is detached, and every class gets its original code back.
//!
//! ```text
//!   detach all ─▶ the hook arms nothing ─▶ retransform the armed classes: each gets its own class file back ─▶ how many are left?
//!        └▶ activations leave the versions ─▶ `fillInStackTrace` is the JVM's own again ─▶ report ─▶ remove data, threads, socket
//! ```
//!
//! Three things stay in the process, and nothing calls them any more:
//!
//! * the library, because the JVM never unloads one;
//! * the runtime classes in the boot loader;
//! * the anchors beside the armed classes.
//!
//! The memory of counters also stays mapped, because an activation that has not left its
//! version yet may still write to it. If the agent is loaded again, it finds all of these and
//! continues, with only those classes armed that plans name.
//!
//! **Invariant:** once `Agent::left` is set, the hook arms no class. A class that another thread had
//! in the hook at that time is found by the next search for armed classes, so no class stays armed
//! unnoticed.

use crate::agent::Agent;
use crate::classes::call_counting;
use crate::classes::later_agents::{self, MAX_CLASSES_PER_PAUSE};
use crate::classes::registry::Class;
use crate::control;
use crate::data::data_directory;
use crate::jvm::jni::{Env, jclass};
use crate::jvm::jvm_name::jvm_name;
use crate::jvm::stack_traces;
use crate::plans::detach::{DetachResult, detach};
use crate::plans::report;
use jvmti_sys::jvmtiEvent;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use veneer_fragmenter::anchor;
use veneer_protocol::{DetachReport, DetachTarget, UnrestoredClass};
use veneer_scripts::PlanSession;

/// The most searches for armed classes, and then for activations in versions.
const MAX_SEARCHES: usize = 50;
/// The time between two searches.
const SEARCH_INTERVAL: Duration = Duration::from_millis(20);

/// Detaches everything, gives every class its original code back, and removes the data directory.
/// Called by the plan thread, which ends afterwards.
pub fn unload_agent(agent: &Agent, env: Env, session: &PlanSession) -> DetachReport {
    let DetachResult { detached, unknown } = detach(agent, session, &DetachTarget::Unload);
    agent.left.store(true, Ordering::SeqCst);
    call_counting::end_any(agent, env);
    let mut restored = 0;
    let mut left = Vec::new();
    for search in 0..MAX_SEARCHES {
        let outcome = restore(agent, env);
        restored += outcome.restored;
        left = outcome.left;
        // The first search cannot find a class that another thread has in the hook.
        if search > 0 && left.is_empty() {
            break;
        }
        std::thread::sleep(SEARCH_INTERVAL);
    }
    let prepare = jvmtiEvent::JVMTI_EVENT_CLASS_PREPARE;
    for stopped in [agent.class_hook.stop(), agent.tool.disable(prepare)] {
        if let Err(e) = stopped {
            agent.report_problem("", &e.to_string());
        }
    }
    let mut running = 0;
    for _ in 0..MAX_SEARCHES {
        running = agent.methods.stale_count(agent, env);
        if running == 0 {
            break;
        }
        std::thread::sleep(SEARCH_INTERVAL);
    }
    // Stack traces must be corrected as long as an activation is in a version.
    if running == 0 {
        stack_traces::unhook(env);
    }
    agent.inline_caches.forget();
    if let Err(e) = agent.library.forget_all(env) {
        agent.report_problem("", &e.to_string());
    }
    agent.class_files.publish();
    agent.rings.drain();
    report::write(agent, jvm_name());
    control::close();
    call_counting::remove_files(agent);
    data_directory::remove(&agent.config.data_dir);
    agent.stop_threads();
    DetachReport {
        taken: detached,
        unknown,
        classes_restored: restored,
        running,
        left,
    }
}

/// The result of one search for armed classes.
struct Restored {
    /// The number of classes that have their own class file again.
    restored: u64,
    /// The classes that are still armed, with the reasons.
    left: Vec<UnrestoredClass>,
}

/// Retransforms all armed classes to their own class files.
fn restore(agent: &Agent, env: Env) -> Restored {
    let mut armed: Vec<(jclass, Arc<Class>)> = Vec::new();
    for class in agent.tool.loaded(env) {
        let name = agent.tool.class_name(class);
        let known = name.filter(|name| !anchor::is_anchor(name) && agent.registry.contains(name));
        let known = known.and_then(|name| {
            let loader = agent.tool.loader(class);
            let known = agent.registry.find(env, &name, loader);
            // SAFETY: `Tool::loader` has made the local reference, which is not used again.
            unsafe { env.delete(loader) };
            known
        });
        match known.filter(|known| !known.state().restored) {
            Some(known) => armed.push((class, known)),
            // SAFETY: `loaded` has made the local reference, which is not used again.
            None => unsafe { env.delete(class) },
        }
    }
    let mut restored = 0;
    let mut left = Vec::new();
    for part in armed.chunks(MAX_CLASSES_PER_PAUSE) {
        let classes: Vec<jclass> = part.iter().map(|one| one.0).collect();
        let together = later_agents::retransform(agent, &classes);
        for (class, known) in part {
            // If one class cannot be transformed, the others are transformed one by one.
            let result = match &together {
                Ok(()) => Ok(()),
                Err(_) => later_agents::retransform(agent, &[*class]),
            };
            match result {
                Ok(()) => {
                    known.state().restored = true;
                    restored += 1;
                }
                Err(reason) => left.push(UnrestoredClass {
                    class: known.dotted.to_string(),
                    reason: reason.to_string(),
                }),
            }
        }
    }
    for (class, _) in armed {
        // SAFETY: `loaded` has made the local reference, which is not used again.
        unsafe { env.delete(class) };
    }
    Restored { restored, left }
}
