//! The native methods of the runtime classes. `executor/agent` exports them under their JNI names.

use crate::agent::Agent;
use crate::data::call_stacks::Jvm;
use crate::guard::guarded;
use crate::jvm::jni::{Env, jclass};
use crate::jvm::stack_traces;
use crate::plans::jobs::Job;
use ::jni::sys::{JNIEnv, jboolean, jint, jlong};
use std::sync::atomic::{AtomicBool, Ordering};

/// `VeneerWalk.hook`.
///
/// # Safety
/// Called by the JVM only.
pub unsafe fn hook(jni: *mut JNIEnv, throwable: jclass, walk: jclass) -> jboolean {
    guarded("hooking stack traces", false, || {
        // Safety: the JVM gave it for this thread.
        stack_traces::hook(unsafe { Env::new(jni) }, throwable, walk)
    })
}

/// `VeneerRuntime.request`.
///
/// # Safety
/// Called by the JVM only.
pub unsafe fn request(id: jint) {
    guarded("a request", (), || {
        if let Some(agent) = Agent::get() {
            let _ = agent
                .requests
                .lock()
                .unwrap_or_else(|e| e.into_inner())
                .send(id as u32);
        }
    });
}

/// `VeneerRuntime.shard`.
///
/// # Safety
/// Called by the JVM only.
pub unsafe fn shard(tid: jlong, is_virtual: jboolean) -> jlong {
    guarded("a thread's first count", 0, || {
        let Some(agent) = Agent::get() else { return 0 };
        if is_virtual && !VIRTUAL.swap(true, Ordering::Relaxed) {
            // Where nobody takes jobs any more, nobody reads figures.
            agent.ask(Job::VirtualThreads);
        }
        agent.shards.assign(tid, is_virtual)
    })
}

/// A virtual thread has counted.
static VIRTUAL: AtomicBool = AtomicBool::new(false);

/// `VeneerRuntime.ring`: the ring of a carrier thread that has a row of its own.
///
/// # Safety
/// Called by the JVM only.
pub unsafe fn ring(tid: jlong) -> jlong {
    guarded("a thread's first event", 0, || {
        let Some(agent) = Agent::get() else { return 0 };
        if agent.shards.assign(tid, false) < 0 {
            return 0;
        }
        let ring = agent.rings.assign();
        if ring > 0 && !agent.shards.set_ring(tid, ring) {
            agent.rings.release(ring);
            return 0;
        }
        ring
    })
}

/// `VeneerProbe.stack`: see [`crate::data::call_stacks`].
///
/// # Safety
/// Called by the JVM only.
pub unsafe fn stack(jni: *mut JNIEnv, depth: jlong) -> jlong {
    guarded("a call stack", 0, || {
        let Some(agent) = Agent::get() else { return 0 };
        // Safety: the JVM gave it for this thread.
        let env = unsafe { Env::new(jni) };
        let jvm = Jvm {
            tool: agent.tool,
            library: &agent.library,
        };
        agent.tallies.stacks.here(jvm, env, depth)
    })
}

/// `VeneerRuntime.dropped`.
///
/// # Safety
/// Called by the JVM only.
pub unsafe fn dropped(point: jint) {
    guarded("a dropped event", (), || {
        if let Some(agent) = Agent::get() {
            agent.rings.drop_one(point as u32);
        }
    });
}
