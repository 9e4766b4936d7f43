//! The functions that the JVM calls for its events. Each one writes to the recorder and to the
//! queue of the plans, if they ask for the kind.
//!
//! A callback reads the clock first. It holds no lock while it calls the JVM. Events of the agent's
//! own threads are ignored.

use crate::agent::Agent;
use crate::data::recorder::recorded_thread::RecordedThread;
use crate::data::recorder::thread_events::{BlockedNode, MonitorObject, Owner};
use crate::data::trace_clock::Moment;
use crate::guard::guarded;
use crate::jvm::event_sources::thread_id;
use crate::jvm::jni::{Env, Reference};
use crate::jvm::threads::is_agent_thread;
use crate::observation::sampled_objects::SampledObject;
use ::jni::sys::{JNIEnv, jboolean, jclass, jint, jlong, jmethodID, jobject};
use jvmti_sys::{jthread, jvmtiAddrLocationMap, jvmtiEnv, jvmtiEventCallbacks};
use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use veneer_fragmenter::anchor;
use veneer_instruments::{VmEvent, VmEventKind};
use veneer_names::{java_form, java_form_of_type};

/// Adds the functions of this file to the agent's table.
pub fn add(table: &mut jvmtiEventCallbacks) {
    table.v1_1.MonitorContendedEnter = Some(contended_enter);
    table.v1_1.MonitorContendedEntered = Some(contended_entered);
    table.v1_1.MonitorWait = Some(wait);
    table.v1_1.MonitorWaited = Some(waited);
    table.v1_1.ThreadStart = Some(thread_start);
    table.v1_1.GarbageCollectionStart = Some(collection_start);
    table.v1_1.GarbageCollectionFinish = Some(collection_finish);
    table.v1_1.ClassLoad = Some(class_load);
    table.v1_1.CompiledMethodLoad = Some(compiled);
    table.v1_1.ObjectFree = Some(collected);
    table.v11.SampledObjectAlloc = Some(allocated);
}

thread_local! {
    /// The contention or the wait of this thread that has not ended, for the plans.
    static BLOCKED: RefCell<Option<VmEvent>> = const { RefCell::new(None) };
}

/// The beginning of the current collection, by `System.nanoTime()`; 0 if there is none.
static COLLECTION_BEGAN: AtomicU64 = AtomicU64::new(0);

/// An event on a thread of the application.
#[derive(Clone, Copy)]
struct ThreadEvent {
    agent: &'static Agent,
    env: Env,
    thread: Reference,
    kind: VmEventKind,
    now: Moment,
}

/// Handles an event on a thread of the application, unless nobody asks for the kind.
///
/// # Safety
/// `jni` must be the environment of the current thread, and `thread` its thread object or null.
unsafe fn on_thread(
    jni: *mut JNIEnv,
    thread: jthread,
    kind: VmEventKind,
    handle: impl FnOnce(ThreadEvent),
) {
    let now = Moment::now();
    guarded(kind.name(), (), || {
        let Some(agent) = Agent::get() else { return };
        let wanted = agent.events.wanted();
        if thread.is_null() || is_agent_thread() || !wanted.contains(kind) {
            return;
        }
        // SAFETY: given by the caller. Nothing is used after this function.
        let (env, thread) = unsafe { (Env::new(jni), Reference::new(thread)) };
        handle(ThreadEvent {
            agent,
            env,
            thread,
            kind,
            now,
        });
    });
}

impl ThreadEvent {
    /// The time of the event by the clock of recordings.
    fn time(self) -> u64 {
        self.agent.clock.of_traces().time(self.now)
    }

    fn is_recorded(self) -> bool {
        self.agent.events.recorded().contains(self.kind)
    }

    fn is_watched(self) -> bool {
        self.agent.events.watched().contains(self.kind)
    }

    /// The id of the event's thread.
    fn tid(self) -> i64 {
        // SAFETY: the reference is that of the event's thread, and `tid` a field of `Thread`.
        unsafe { thread_id(self.env, self.thread.raw(), self.agent.tid) }
    }

    /// A thread as the trace names it.
    fn describe(self, thread: Reference, tid: i64) -> RecordedThread {
        let known = self.agent.tool.describe_thread(self.env, thread);
        let known = known.unwrap_or_default();
        RecordedThread {
            java_id: tid.cast_unsigned(),
            name: known.name,
            group: known.group,
        }
    }

    /// The shard whose track has the events of this thread, which gets an open track. `None` if the
    /// thread is not recorded: it is virtual, or has no shard of its own.
    fn track(self) -> Option<usize> {
        let agent = self.agent;
        let tid = self.tid();
        let shard = match agent.shards.shard_of(tid) {
            Some(shard) => shard,
            None => {
                let is_virtual = agent.is_virtual(self.env, self.thread);
                agent
                    .shards
                    .shard_at(agent.shards.assign(tid, is_virtual))?
            }
        };
        let describe = || self.describe(self.thread, tid);
        agent
            .recorder
            .open_for_event(shard, describe)
            .then_some(shard)
    }

    /// The name of the event's thread.
    fn thread_name(self) -> Option<String> {
        let known = self.agent.tool.describe_thread(self.env, self.thread);
        known.map(|thread| thread.name)
    }

    /// The object of a monitor.
    fn monitor(self, object: Reference) -> MonitorObject {
        let class = self.agent.tool.class_of_object(self.env, object);
        MonitorObject {
            class: class.unwrap_or_default(),
            hash: self.agent.tool.identity_hash(object),
        }
    }

    /// The thread that owns a monitor now: its number in the trace if the event is recorded, and
    /// its name.
    fn owner(self, object: Reference) -> Option<Owner> {
        let (agent, env) = (self.agent, self.env);
        let owner = agent.tool.monitor_owner(env, object);
        if owner.is_null() {
            return None;
        }
        // SAFETY: the owner of a monitor is a thread.
        let tid = unsafe { thread_id(env, owner.raw(), agent.tid) };
        // A thread that gave up the monitor and blocks here now would name itself.
        let found = (tid != self.tid()).then(|| {
            let described = self.describe(owner, tid);
            let name = described.name.clone();
            let number = match self.is_recorded() {
                true => agent.recorder.number_thread(described),
                false => 0,
            };
            Owner { number, name }
        });
        // SAFETY: `monitor_owner` has made the local reference, which is not used again.
        unsafe { env.delete(owner) };
        found
    }

    /// The thread begins to be blocked at, or to wait for, a monitor.
    fn begin_blocked(self, object: Reference, timeout: Option<i64>) {
        let recorder = &self.agent.recorder;
        let shard = if self.is_recorded() {
            self.track()
        } else {
            None
        };
        // Finding the owner stops the thread, so the processor time is read before.
        let place = shard.map(|shard| (shard, recorder.event_time(shard, self.time())));
        let monitor = self.monitor(object);
        let owner = match self.kind {
            VmEventKind::Contended => self.owner(object),
            _ => None,
        };
        if self.is_watched() {
            let event = VmEvent {
                class: Some(monitor.class.clone()),
                object: Some(monitor.hash),
                owner: owner.as_ref().map(|owner| owner.name.clone()),
                ..VmEvent::new(self.kind, self.now.nanos)
            };
            BLOCKED.set(Some(event));
        }
        if let Some((shard, at)) = place {
            let node = BlockedNode {
                kind: self.kind,
                monitor,
                owner: owner.map(|owner| owner.number),
                timeout,
            };
            recorder.begin_blocked(shard, at, &node);
        }
    }

    /// The thread has the monitor, or has waited.
    fn end_blocked(self, timed_out: Option<bool>) {
        if self.is_recorded()
            && let Some(shard) = self.agent.shards.shard_of(self.tid())
        {
            self.agent
                .recorder
                .end_blocked(shard, self.time(), timed_out);
        }
        if let Some(event) = BLOCKED.take()
            && self.is_watched()
            && event.kind == self.kind
        {
            let event = VmEvent {
                took_ns: Some(self.now.nanos.saturating_sub(event.time_ns)),
                thread: self.thread_name(),
                timed_out,
                ..event
            };
            deliver(self.agent, event);
        }
    }
}

/// Gives an event to the plans.
fn deliver(agent: &Agent, event: VmEvent) {
    if agent.events.queue.push(event) {
        agent.tell_plans_of_events();
    }
}

/// A thread blocks at a monitor that another thread owns.
///
/// # Safety
/// As for [`on_thread`]; `object` must be a reference that is not null.
unsafe extern "system" fn contended_enter(
    _: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    thread: jthread,
    object: jobject,
) {
    // SAFETY: given by the caller.
    unsafe {
        on_thread(jni, thread, VmEventKind::Contended, |event| {
            event.begin_blocked(Reference::new(object), None);
        });
    }
}

/// A thread that was blocked has the monitor.
///
/// # Safety
/// As for [`on_thread`].
unsafe extern "system" fn contended_entered(
    _: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    thread: jthread,
    _: jobject,
) {
    // SAFETY: given by the caller.
    unsafe {
        on_thread(jni, thread, VmEventKind::Contended, |event| {
            event.end_blocked(None)
        })
    };
}

/// A thread begins to wait in `Object.wait`.
///
/// # Safety
/// As for [`contended_enter`].
unsafe extern "system" fn wait(
    _: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    thread: jthread,
    object: jobject,
    timeout: jlong,
) {
    // SAFETY: given by the caller.
    unsafe {
        on_thread(jni, thread, VmEventKind::Wait, |event| {
            event.begin_blocked(Reference::new(object), Some(timeout));
        });
    }
}

/// A thread ends its wait.
///
/// # Safety
/// As for [`on_thread`].
unsafe extern "system" fn waited(
    _: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    thread: jthread,
    _: jobject,
    timed_out: jboolean,
) {
    // SAFETY: given by the caller.
    unsafe {
        on_thread(jni, thread, VmEventKind::Wait, |event| {
            event.end_blocked(Some(timed_out));
        });
    }
}

/// A thread begins.
///
/// # Safety
/// As for [`on_thread`].
unsafe extern "system" fn thread_start(_: *mut jvmtiEnv, jni: *mut JNIEnv, thread: jthread) {
    // SAFETY: given by the caller.
    unsafe {
        on_thread(jni, thread, VmEventKind::ThreadStart, |event| {
            if event.is_recorded()
                && let Some(shard) = event.track()
            {
                event.agent.recorder.thread_started(shard, event.time());
            }
            if event.is_watched() {
                let began = VmEvent {
                    thread: event.thread_name(),
                    ..VmEvent::new(event.kind, event.now.nanos)
                };
                deliver(event.agent, began);
            }
        });
    }
}

/// A thread ends. The agent's own event function calls this one before it frees the thread's shard.
///
/// # Safety
/// As for [`on_thread`].
pub unsafe fn thread_end(jni: *mut JNIEnv, thread: jthread) {
    // SAFETY: given by the caller.
    unsafe {
        on_thread(jni, thread, VmEventKind::ThreadEnd, |event| {
            if event.is_recorded()
                && let Some(shard) = event.track()
            {
                event.agent.recorder.thread_ended(shard, event.time());
            }
            if event.is_watched() {
                let ended = VmEvent {
                    thread: event.thread_name(),
                    ..VmEvent::new(event.kind, event.now.nanos)
                };
                deliver(event.agent, ended);
            }
        });
    }
}

/// A class is loaded.
///
/// # Safety
/// As for [`on_thread`]; `class` must be a reference that is not null.
unsafe extern "system" fn class_load(
    _: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    thread: jthread,
    class: jclass,
) {
    // SAFETY: given by the caller.
    unsafe {
        on_thread(jni, thread, VmEventKind::ClassLoad, |event| {
            let tool = event.agent.tool;
            let name = tool.java_name(Reference::new(class));
            let Some(name) = name.filter(|name| !is_own_class(name)) else {
                return;
            };
            if event.is_recorded()
                && let Some(shard) = event.track()
            {
                event
                    .agent
                    .recorder
                    .class_loaded(shard, event.time(), &name);
            }
            if event.is_watched() {
                let loaded = VmEvent {
                    class: Some(name),
                    thread: event.thread_name(),
                    ..VmEvent::new(event.kind, event.now.nanos)
                };
                deliver(event.agent, loaded);
            }
        });
    }
}

/// Whether a class in Java form is part of the agent: a version, an anchor or a runtime class. The
/// JVM separates the suffix of a hidden class by `/` or `+`.
fn is_own_class(name: &str) -> bool {
    let is_version = name.contains("$V/") || name.contains("$V+");
    is_version || anchor::is_anchor(name) || name.starts_with("java.lang.invoke.Veneer")
}

/// The application is stopped for a collection. No function of the JVM is called.
unsafe extern "system" fn collection_start(_: *mut jvmtiEnv) {
    let now = Moment::now();
    guarded("gc", (), || {
        let Some(agent) = Agent::get() else { return };
        COLLECTION_BEGAN.store(now.nanos, Ordering::Relaxed);
        if agent.events.recorded().contains(VmEventKind::Collection) {
            agent
                .recorder
                .collection_begins(agent.clock.of_traces().time(now));
        }
    });
}

/// The application continues after a collection. No function of the JVM is called.
unsafe extern "system" fn collection_finish(_: *mut jvmtiEnv) {
    let now = Moment::now();
    guarded("gc", (), || {
        let Some(agent) = Agent::get() else { return };
        let kind = VmEventKind::Collection;
        if agent.events.recorded().contains(kind) {
            agent.recorder.empty_caches(&agent.shards);
            agent
                .recorder
                .collection_ends(agent.clock.of_traces().time(now));
        }
        agent.lifetimes.collected();
        let began = COLLECTION_BEGAN.swap(0, Ordering::Relaxed);
        if began != 0 && agent.events.watched().contains(kind) {
            let event = VmEvent {
                took_ns: Some(now.nanos.saturating_sub(began)),
                ..VmEvent::new(kind, began)
            };
            deliver(agent, event);
        }
    });
}

/// The JIT compiler has installed the code of a method. HotSpot calls this function on a service
/// thread of its own.
///
/// # Safety
/// `method` must be a method id that the JVM made.
unsafe extern "system" fn compiled(
    _: *mut jvmtiEnv,
    method: jmethodID,
    code_size: jint,
    _: *const c_void,
    _: jint,
    _: *const jvmtiAddrLocationMap,
    _: *const c_void,
) {
    let now = Moment::now();
    guarded("compile", (), || {
        let kind = VmEventKind::Compile;
        let (Some(agent), Some(env)) = (Agent::get(), Env::current()) else {
            return;
        };
        // SAFETY: given by the caller.
        let described = unsafe { agent.tool.describe_method(env, method) };
        let Some((class, name, descriptor)) = described.filter(|one| !is_own_class(&one.0)) else {
            return;
        };
        let bytes = u64::try_from(code_size).unwrap_or(0);
        if agent.events.recorded().contains(kind) {
            let method = (&*class, &*name, &*descriptor);
            agent
                .recorder
                .method_compiled(agent.clock.of_traces().time(now), method, bytes);
        }
        if agent.events.watched().contains(kind) {
            let event = VmEvent {
                class: Some(class),
                method: Some(format!("{name}{descriptor}")),
                bytes: Some(bytes),
                ..VmEvent::new(kind, now.nanos)
            };
            deliver(agent, event);
        }
    });
}

/// A class was unloaded. HotSpot calls this function on a service thread of its own.
///
/// # Safety
/// `name` must be null or NUL-terminated text: the class's internal name.
pub unsafe extern "C" fn class_unloaded(_: *mut jvmtiEnv, _: *mut JNIEnv, name: *const c_char) {
    let now = Moment::now();
    guarded("class_unload", (), || {
        let kind = VmEventKind::ClassUnload;
        let Some(agent) = Agent::get() else { return };
        if name.is_null() {
            return;
        }
        // SAFETY: given by the caller; `name` is not null.
        let name = unsafe { CStr::from_ptr(name) };
        let name = java_form(&name.to_string_lossy());
        if is_own_class(&name) {
            return;
        }
        let name = name.replace('+', "/");
        if agent.events.recorded().contains(kind) {
            agent
                .recorder
                .class_unloaded(agent.clock.of_traces().time(now), &name);
        }
        if agent.events.watched().contains(kind) {
            let event = VmEvent {
                class: Some(name),
                ..VmEvent::new(kind, now.nanos)
            };
            deliver(agent, event);
        }
    });
}

/// A thread has allocated an object that the JVM samples.
///
/// # Safety
/// As for [`on_thread`]; `object` and `class` must be references that are not null.
unsafe extern "system" fn allocated(
    _: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    thread: jthread,
    object: jobject,
    class: jclass,
    bytes: jlong,
) {
    // SAFETY: given by the caller.
    unsafe {
        on_thread(jni, thread, VmEventKind::Allocate, |event| {
            let (agent, tool) = (event.agent, event.agent.tool);
            let Some(class) = tool.java_name(Reference::new(class)) else {
                return;
            };
            let bytes = u64::try_from(bytes).unwrap_or(0);
            let is_of_heap = agent.events.heap.is_active();
            if is_of_heap {
                let type_id = agent.recorder.number_type(&type_name(&class));
                agent
                    .events
                    .heap
                    .add_sample(tool, event.env, type_id, bytes);
            }
            if agent.events.wanted().contains(VmEventKind::Free) {
                let sampled = SampledObject {
                    class: class.clone(),
                    bytes,
                    allocated_ns: event.now.nanos,
                };
                if let Some(tag) = agent.events.sampled.add(sampled) {
                    tool.tag(Reference::new(object), tag);
                }
            }
            if event.is_recorded()
                && !is_of_heap
                && let Some(shard) = event.track()
            {
                let recorder = &agent.recorder;
                recorder.object_allocated(shard, event.time(), &class, bytes);
            }
            if event.is_watched() {
                let allocated = VmEvent {
                    class: Some(class),
                    bytes: Some(bytes),
                    thread: event.thread_name(),
                    ..VmEvent::new(event.kind, event.now.nanos)
                };
                deliver(agent, allocated);
            }
        });
    }
}

/// The Java form of a class whose name `Class.getName` would return: `int[]` of `[I`.
fn type_name(class: &str) -> String {
    match class.starts_with('[') {
        true => java_form_of_type(&class.replace('.', "/")),
        false => class.to_owned(),
    }
}

/// A sampled object was collected. HotSpot calls this function some time after the collection. No
/// function of the JVM is called.
unsafe extern "system" fn collected(_: *mut jvmtiEnv, tag: jlong) {
    let now = Moment::now();
    guarded("free", (), || {
        let kind = VmEventKind::Free;
        let Some(agent) = Agent::get() else { return };
        let Some(object) = agent.events.sampled.take(tag) else {
            return;
        };
        let life = now.nanos.saturating_sub(object.allocated_ns);
        if agent.events.recorded().contains(kind) {
            let time = agent.clock.of_traces().time(now);
            agent
                .recorder
                .object_freed(time, &object.class, object.bytes, life);
        }
        if agent.events.watched().contains(kind) {
            let freed = VmEvent {
                class: Some(object.class),
                bytes: Some(object.bytes),
                took_ns: Some(life),
                ..VmEvent::new(kind, now.nanos)
            };
            deliver(agent, freed);
        }
    });
}
