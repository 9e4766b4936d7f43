//! The native methods of the runtime classes, which application threads call. `executor/agent`
//! exports them under their JNI names.

use crate::agent::Agent;
use crate::classes::call_counting;
use crate::data::call_stacks::JvmAccess;
use crate::data::recorder::Recorder;
use crate::data::recorder::recorded_thread::RecordedThread;
use crate::data::recorder::thread_events::EventValue;
use crate::guard::guarded;
use crate::jvm::jni::{Env, Reference};
use crate::jvm::stack_traces;
use crate::jvm::threads::is_uncounted_thread;
use crate::plans::jobs::PlanJob;
use ::jni::sys::{JNIEnv, jboolean, jclass, jint, jlong, jobject};
use std::sync::atomic::{AtomicBool, Ordering};
use veneer_names::LogPoint;

/// `VeneerWalk.hook`: replaces `Throwable.fillInStackTrace`. Returns false if this is not possible.
///
/// # Safety
/// `jni` must be the environment of the current thread, and both classes must be references of it.
pub unsafe fn hook(jni: *mut JNIEnv, throwable: jclass, walk: jclass) -> jboolean {
    guarded("hooking stack traces", false, || {
        // SAFETY: given by the caller. Nothing is used after this function.
        let (env, throwable, walk) = unsafe {
            (
                Env::new(jni),
                Reference::new(throwable),
                Reference::new(walk),
            )
        };
        stack_traces::hook(env, throwable, walk)
    })
}

/// `VeneerCell.request`: asks the request thread for an OSR entry of the current version of the
/// method `id`.
pub fn request(id: jint) {
    guarded("a request", (), || {
        if let Some(agent) = Agent::get() {
            let _ = agent
                .requests
                .lock()
                .send(veneer_names::MethodId(id as u32));
        }
    });
}

/// `VeneerRuntime.shard`: returns the address of the current thread's counter shard, which it assigns
/// at the thread's first count. The negative address of the shared shard if the thread has none.
///
/// # Safety
/// `tid` must be the id of the current thread, because the owner of a shard writes to it without
/// synchronisation.
pub unsafe fn shard(tid: jlong, is_virtual: jboolean) -> jlong {
    guarded("a thread's first count", 0, || {
        let Some(agent) = Agent::get() else { return 0 };
        if is_uncounted_thread() {
            return agent.shards.assign_unread(tid);
        }
        if is_virtual && !VIRTUAL_THREAD_HAS_COUNTED.swap(true, Ordering::Relaxed) {
            // The plan thread does not take the job while the agent is unloading. Then no plan reads
            // counts either.
            agent.post_job(PlanJob::VirtualThreads);
        }
        agent.shards.assign(tid, is_virtual)
    })
}

/// `VeneerCalls.shard`: as [`shard`], for the counters of complete call graphs.
///
/// # Safety
/// As for [`shard`].
pub unsafe fn call_shard(tid: jlong) -> jlong {
    guarded("a thread's first call", 0, || {
        let Some(counts) = Agent::get().and_then(|agent| agent.complete_calls.get()) else {
            return 0;
        };
        match is_uncounted_thread() {
            true => counts.unread(),
            false => counts.shards.assign(tid, false),
        }
    })
}

/// `VeneerCalls.counter`: returns the counter of a call on objects of a class. The complement of an
/// offset: the counter itself counts the calls on the class.
pub fn receiver_counter(offset: jint, number: jint) -> jint {
    guarded("the receiver of a call", 0, || {
        let counts = Agent::get().and_then(|agent| agent.complete_calls.get());
        counts.map_or(0, |counts| counts.receiver_counter(offset, number))
    })
}

/// `VeneerCalls.named`: writes the name of a class of receivers.
///
/// # Safety
/// `jni` must be the environment of the current thread, and `class` a class or null.
pub unsafe fn name_receiver(jni: *mut JNIEnv, number: jint, class: jclass) {
    guarded("the class of a receiver", (), || {
        let Some(agent) = Agent::get() else { return };
        let Some(counts) = agent.complete_calls.get() else {
            return;
        };
        // SAFETY: given by the caller. Nothing is used after this function.
        let (env, class) = unsafe { (Env::new(jni), Reference::new(class)) };
        if !class.is_null() {
            counts.add_receiver(&call_counting::receiver_record(agent, env, number, class));
        }
    })
}

static VIRTUAL_THREAD_HAS_COUNTED: AtomicBool = AtomicBool::new(false);

/// `VeneerEvents.ring`: returns the address of the current carrier thread's event ring, which it
/// assigns at the thread's first event. 0 if the thread can have no ring.
///
/// # Safety
/// `tid` must be the id of the current carrier thread, because a ring has one writer.
pub unsafe fn ring(tid: jlong) -> jlong {
    guarded("a thread's first event", 0, || {
        let Some(agent) = Agent::get() else { return 0 };
        if is_uncounted_thread() || agent.shards.assign(tid, false) < 0 {
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

/// `VeneerProbe.stack`: returns the number of the current thread's call stack. See
/// [`crate::data::call_stacks`].
///
/// # Safety
/// `jni` must be the environment of the current thread.
pub unsafe fn stack(jni: *mut JNIEnv, depth: jlong) -> jlong {
    guarded("a call stack", 0, || {
        let Some(agent) = Agent::get() else { return 0 };
        // SAFETY: given by the caller. Nothing is used after this function.
        let env = unsafe { Env::new(jni) };
        let jvm = JvmAccess {
            tool: agent.tool,
            library: &agent.library,
        };
        agent.tallies.stacks.record_current(jvm, env, depth)
    })
}

/// `VeneerTrace.open`: opens the events file of the current thread. Returns the address of its track,
/// or 0 if the thread cannot be recorded.
///
/// # Safety
/// `jni` must be the environment of the current thread, `shard` the address of the counter shard that
/// the thread owns, and the names strings or null.
pub unsafe fn open_trace(
    jni: *mut JNIEnv,
    shard: jlong,
    number: jint,
    tid: jlong,
    (name, group): (jobject, jobject),
) -> jlong {
    let open = |recorder: &Recorder, shard, thread| recorder.open(shard, number, thread);
    // SAFETY: given by the caller.
    unsafe { open_track(jni, shard, tid, (name, group), open) }
}

/// Opens a track of the current thread, and returns its address; 0 if there is none.
///
/// # Safety
/// As for [`open_trace`].
unsafe fn open_track(
    jni: *mut JNIEnv,
    shard: jlong,
    tid: jlong,
    names: (jobject, jobject),
    open: impl FnOnce(&Recorder, usize, RecordedThread) -> jlong,
) -> jlong {
    guarded("a thread's first recorded event", 0, || {
        let Some(agent) = Agent::get() else { return 0 };
        let Some(shard) = agent.shards.shard_at(shard) else {
            return 0;
        };
        // SAFETY: given by the caller.
        let thread = unsafe { recorded_thread(jni, tid, names) };
        open(&agent.recorder, shard, thread)
    })
}

/// `VeneerMemory.open`: opens the table of accesses of the current thread. Returns the address of its
/// track, or 0 if the thread cannot be recorded.
///
/// # Safety
/// As for [`open_trace`].
pub unsafe fn open_accesses(
    jni: *mut JNIEnv,
    shard: jlong,
    number: jint,
    tid: jlong,
    (name, group): (jobject, jobject),
) -> jlong {
    let open = |recorder: &Recorder, shard, thread| recorder.open_accesses(shard, number, thread);
    // SAFETY: given by the caller.
    unsafe { open_track(jni, shard, tid, (name, group), open) }
}

/// `VeneerMemory.type`: the number of the name of a type in the current recording; 0 if there is none.
///
/// # Safety
/// `jni` must be the environment of the current thread, and the name a string or null.
pub unsafe fn number_type(jni: *mut JNIEnv, name: jobject) -> jint {
    guarded("the type of a recorded access", 0, || {
        let Some(agent) = Agent::get() else { return 0 };
        // SAFETY: given by the caller. Nothing is used after this function.
        let name = unsafe { Env::new(jni).string(Reference::new(name)) };
        let number = agent.recorder.number_type(&name.unwrap_or_default());
        jint::try_from(number).unwrap_or(0)
    })
}

/// `VeneerMemory.origin`: the number of a site as the origin of objects; 0 if there are too many.
pub fn origin(site: jlong) -> jint {
    guarded("the origin of an object", 0, || {
        Agent::get().map_or(0, |agent| agent.recorder.origin(site))
    })
}

/// `VeneerCurve.take`: takes the lines in the buffer of the thread that owns a shard over.
pub fn take_curve(shard: jlong, moved: bool) {
    guarded("a sample of lines", (), || {
        if let Some(agent) = Agent::get()
            && let Some(shard) = agent.shards.shard_at(shard)
        {
            agent.recorder.take_curve(shard, moved);
        }
    });
}

/// `VeneerMemory.primary`: the primary class of a site.
pub fn primary_class(site: jlong, class: jint) -> jint {
    guarded("the class of a recorded access", 0, || {
        Agent::get().map_or(0, |agent| agent.recorder.primary_class(site, class))
    })
}

/// A thread with its names.
///
/// # Safety
/// `jni` must be the environment of the current thread, and the names strings or null.
unsafe fn recorded_thread(
    jni: *mut JNIEnv,
    tid: jlong,
    (name, group): (jobject, jobject),
) -> RecordedThread {
    // SAFETY: given by the caller. Nothing is used after this function.
    let (name, group) = unsafe {
        let env = Env::new(jni);
        let text = |string| env.string(Reference::new(string)).unwrap_or_default();
        (text(name), text(group))
    };
    RecordedThread {
        java_id: tid as u64,
        name,
        group,
    }
}

/// `VeneerTrace.write`: writes an event for which the thread's segment has no room.
///
/// # Safety
/// `shard` must be the address of the counter shard that the current thread owns, because an events
/// file has one writer.
pub unsafe fn write_trace(shard: jlong, kind: jint, id: jlong, now: jlong) {
    guarded("a recorded call", (), || {
        if let Some(agent) = Agent::get()
            && let Some(shard) = agent.shards.shard_at(shard)
            && let Ok(kind) = u8::try_from(kind)
        {
            agent.recorder.write(shard, kind, id as u64, now as u64);
        }
    });
}

/// `VeneerTrace.writeEvent`: writes an event of a plan.
///
/// # Safety
/// `jni` must be the environment of the current thread, `shard` the address of the counter shard that
/// the thread owns, and the label and the text strings or null.
pub unsafe fn write_trace_event(
    jni: *mut JNIEnv,
    shard: jlong,
    (label, text): (jobject, jobject),
    (kind, bits): (jlong, jlong),
    now: jlong,
) {
    guarded("an event of a plan", (), || {
        let Some(agent) = Agent::get() else { return };
        let Some(shard) = agent.shards.shard_at(shard) else {
            return;
        };
        // SAFETY: given by the caller. Nothing is used after this function.
        let (label, text) = unsafe {
            let env = Env::new(jni);
            let read = |string| env.string(Reference::new(string)).unwrap_or_default();
            (read(label), read(text))
        };
        let value = EventValue::of_java(kind, bits, text);
        agent
            .recorder
            .plan_event(shard, now as u64, &label, value.as_ref());
    });
}

/// `VeneerLives.size`, `VeneerMemory.size`: the size of an object on the heap; 0 if the JVM does not know it.
///
/// # Safety
/// `object` must be a reference of the current thread.
pub unsafe fn object_size(object: jobject) -> jlong {
    guarded("the size of an object", 0, || {
        // SAFETY: given by the caller. The reference is not used after this function.
        let object = unsafe { Reference::new(object) };
        Agent::get().map_or(0, |agent| agent.tool.object_size(object))
    })
}

/// `VeneerLives.row`: takes a row of lifetimes over. Strings and row belong to the caller.
///
/// # Safety
/// `jni` must be the environment of the current thread, and the strings must be references of it.
pub unsafe fn take_life_row(jni: *mut JNIEnv, site: jobject, type_name: jobject) {
    guarded("a row of lifetimes", (), || {
        let Some(agent) = Agent::get() else { return };
        // SAFETY: given by the caller. Nothing is used after this function.
        let (site, type_name) = unsafe {
            let env = Env::new(jni);
            let read = |string| env.string(Reference::new(string)).unwrap_or_default();
            (read(site), read(type_name))
        };
        agent.lifetimes.add_row(&site, &type_name);
    });
}

/// `VeneerContexts.grow`: makes room for contexts of the current thread. Returns false if there is
/// none.
///
/// # Safety
/// `shard` must be the address of the counter shard that the current thread owns, because only the
/// owner uses the index that this function replaces.
pub unsafe fn grow_contexts(shard: jlong) -> jboolean {
    guarded("a thread's calling contexts", false, || {
        let agent = Agent::get();
        agent.is_some_and(|agent| {
            let shard = agent.shards.shard_at(shard);
            shard.is_some_and(|shard| agent.recorder.grow(shard))
        })
    })
}

/// `VeneerContexts.submission`: the number of the submissions in a context; -1 if there are too many.
pub fn submission(context: jlong) -> jint {
    guarded("the submission of a task", -1, || {
        let number = Agent::get().and_then(|agent| agent.recorder.submission(context as u64));
        number
            .and_then(|number| jint::try_from(number).ok())
            .unwrap_or(-1)
    })
}

/// `VeneerContexts.switched`: the current thread was switched out since the latest reading of its clock.
/// Returns the moment of the new reading, by the clock of the recording; 0 if there is none.
///
/// # Safety
/// `shard` must be the address of the counter shard that the current thread owns, because the reading
/// is that of the current thread.
pub unsafe fn switched(shard: jlong) -> jlong {
    guarded("the processor time of contexts", 0, || {
        let reading = Agent::get().and_then(|agent| {
            let shard = agent.shards.shard_at(shard)?;
            agent.recorder.switched(shard)
        });
        reading.map_or(0, |time| time as jlong)
    })
}

/// `VeneerEvents.dropped`: counts an event of the point `point` that found no room.
pub fn dropped(point: jint) {
    guarded("a dropped event", (), || {
        if !is_uncounted_thread()
            && let Some(agent) = Agent::get()
        {
            agent.rings.drop_one(LogPoint(point as u32));
        }
    });
}
