//! The functions for the JVMTI events that the agent handles. The JVM calls them on application
//! threads, and `VMDeath` on the thread that ends the JVM.

use crate::agent::Agent;
use crate::classes::call_counting;
use crate::classes::class_facts_log;
use crate::classes::later_agents::{self, Retransformer};
use crate::classes::lazy_class_file::LazyClassFile;
use crate::classes::load_hook;
use crate::classes::prepared::PreparedClass;
use crate::classes::registry::Class;
use crate::control;
use crate::data::data_directory;
use crate::guard::guarded;
use crate::jvm::jni::{Env, Reference, jclass};
use crate::jvm::jvm_name::jvm_name;
use crate::observation::callbacks::{self as observation, thread_end as observe_thread_end};
use crate::plans::jobs::PlanJob;
use crate::plans::{heap_recording, report, warnings};
use crate::weaving::prepared_classes::{weave_prepared, weave_redefined};
use ::jni::sys::{self, JNIEnv, jint};
use jvmti_sys::{jthread, jvmtiEnv, jvmtiEventCallbacks};
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_uchar, c_uint};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

/// How long the end of the JVM waits for the plans' `at_exit` functions.
const MAX_EXIT_WAIT: Duration = Duration::from_secs(10);

/// The type of the function that the JVM calls when it is ready.
pub type VmInit = unsafe extern "system" fn(*mut jvmtiEnv, *mut JNIEnv, jthread);

/// The event functions of the agent. They are valid for ever, because the agent's library is never
/// unloaded.
pub fn callbacks(vm_init: VmInit) -> jvmtiEventCallbacks {
    // SAFETY: the type is a table of optional functions, for which all zeros means none.
    let mut c: jvmtiEventCallbacks = unsafe { std::mem::zeroed() };
    c.v1_1.VMInit = Some(vm_init);
    c.v1_1.VMDeath = Some(vm_death);
    c.v1_1.ThreadEnd = Some(thread_end);
    c.v1_1.ClassPrepare = Some(class_prepare);
    observation::add(&mut c);
    c
}

/// The event function of the class hook, which has an environment of its own. It is valid for ever
/// too.
pub fn class_hook_callbacks() -> jvmtiEventCallbacks {
    // SAFETY: as above.
    let mut c: jvmtiEventCallbacks = unsafe { std::mem::zeroed() };
    c.v1_1.ClassFileLoadHook = Some(class_file_load);
    c
}

/// The JVM ends: writes the report, and closes the socket and the data directory.
///
/// # Safety
/// `jni` must be the environment of the current thread.
unsafe extern "system" fn vm_death(_: *mut jvmtiEnv, jni: *mut JNIEnv) {
    guarded("VMDeath", (), || {
        let Some(agent) = Agent::get() else { return };
        if agent.left.load(Ordering::SeqCst) {
            return;
        }
        agent.jvm_ends.store(true, Ordering::SeqCst);
        let (answer, answered) = channel();
        if agent.post_job(PlanJob::Finish(answer)) {
            let _ = answered.recv_timeout(MAX_EXIT_WAIT);
        }
        // SAFETY: given by the caller.
        let env = unsafe { Env::new(jni) };
        warnings::warn_of_unmatched_patterns(agent, env);
        class_facts_log::write_rest(agent, env);
        agent.rings.drain();
        agent
            .rings
            .record_agent_age(agent.began.elapsed().as_millis() as u64);
        report::write(agent, jvm_name());
        agent.recorder.end_accesses();
        heap_recording::complete(agent, env);
        agent.class_files.publish();
        let _ = std::fs::remove_file(control::path());
        call_counting::remove_files(agent);
        if agent.config.keep_data {
            agent.append_records(&[veneer_protocol::data::Record::Ended {}]);
        } else {
            data_directory::remove(&agent.config.data_dir);
        }
        // The JVM would wait for them, because they are in native code.
        agent.stop_threads();
    });
}

/// A thread ends: frees its counter shard and its event ring for other threads.
///
/// # Safety
/// `jni` must be the environment of the current thread, and `thread` its thread object or null.
unsafe extern "system" fn thread_end(_: *mut jvmtiEnv, jni: *mut JNIEnv, thread: jthread) {
    // SAFETY: given by the caller.
    unsafe { observe_thread_end(jni, thread) };
    guarded("ThreadEnd", (), || {
        let Some(agent) = Agent::get() else { return };
        if thread.is_null() {
            return;
        }
        // SAFETY: given by the caller; `agent.tid` is a field of `java.lang.Thread`.
        let (env, tid) = unsafe {
            let env = Env::new(jni);
            (env, env.get_long(Reference::new(thread), agent.tid))
        };
        if agent.shards.owns(tid) {
            agent.library.thread_ends(env, tid);
            if let Some(shard) = agent.shards.shard_of(tid) {
                agent.recorder.thread_ends(shard);
            }
        }
        if let Some(counts) = agent.complete_calls.get()
            && let Some(own) = counts.own.get()
            && counts.shards.owns(tid)
        {
            agent.library.thread_ends_calls(env, own, tid);
            counts.shards.release(tid);
        }
        let ring = agent.shards.release(tid);
        if ring > 0 {
            agent.rings.release(ring);
        }
    });
}

/// The class that the JVM loads after the `premain` of all Java agents, and before the first class of
/// the application.
const LAUNCHER: &str = "sun/launcher/LauncherHelper";

/// A class file that the class hook has returned to the JVM.
#[derive(Clone, Copy)]
struct HookOutput {
    data: *const c_uchar,
    /// The environment through which the JVM has called the hook.
    environment: *mut jvmtiEnv,
}

impl Default for HookOutput {
    fn default() -> Self {
        HookOutput {
            data: std::ptr::null(),
            environment: std::ptr::null_mut(),
        }
    }
}

thread_local! {
    /// The output of this thread's last call of the class hook; empty if it did not change the class.
    static LAST_OUTPUT: Cell<HookOutput> = Cell::default();
}

/// Whether the class hook has been moved behind those of the Java agents of the command line.
static HAS_MOVED: AtomicBool = AtomicBool::new(false);

/// Moves the class hook behind those of the Java agents of the command line, once. Returns whether it
/// has moved: then the JVM calls it again for the same class.
fn move_behind_java_agents(agent: &Agent) -> bool {
    if HAS_MOVED.swap(true, Ordering::SeqCst) {
        return false;
    }
    let moved = agent.class_hook.move_to_end();
    if let Err(e) = &moved {
        agent.report_problem("", &e.to_string());
    }
    moved.is_ok()
}

/// A class file is about to be loaded or retransformed: returns the armed class file to the JVM.
///
/// # Safety
/// `jni` must be the environment of the current thread, `class`, `loader` and `domain` references of
/// it or null, `name` null or NUL-terminated text, and `data` null or `len` bytes. The JVM must accept a
/// length and an address at `new_len` and `new_data`.
#[allow(clippy::too_many_arguments)] // JVMTI specifies the parameters.
unsafe extern "system" fn class_file_load(
    environment: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    class: sys::jclass,
    loader: sys::jobject,
    name: *const c_char,
    domain: sys::jobject,
    len: jint,
    data: *const c_uchar,
    new_len: *mut jint,
    new_data: *mut *mut c_uint,
) {
    guarded("ClassFileLoadHook", (), || {
        let Some(agent) = Agent::get() else { return };
        if data.is_null() || len <= 0 || !agent.class_hook.is_current(environment) {
            return;
        }
        let previous = LAST_OUTPUT.take();
        if previous.data == data && previous.environment != environment {
            // The hook has armed this class already, before it was moved.
            return;
        }
        // SAFETY: given by the caller; `data` is not null. Nothing is used after this function.
        let (bytes, env, class, loader, domain) = unsafe {
            (
                std::slice::from_raw_parts(data, len as usize),
                Env::new(jni),
                Reference::new(class),
                Reference::new(loader),
                Reference::new(domain),
            )
        };
        let file = LazyClassFile::new(bytes);
        let name = if name.is_null() {
            // The class is defined without a name, so the class file has the only one.
            load_hook::class_name_in(agent, &file)
        } else {
            // SAFETY: given by the caller; `name` is not null.
            let name = unsafe { CStr::from_ptr(name) };
            name.to_str().ok().map(str::to_owned)
        };
        let Some(name) = name else { return };
        if name == LAUNCHER && move_behind_java_agents(agent) {
            return;
        }
        let event = load_hook::ClassLoadEvent {
            name: &name,
            loader,
            domain,
            class,
            file: &file,
        };
        let counts = agent.complete_calls.get();
        let hooked = match counts.filter(|counts| counts.is_active()) {
            Some(counts) if call_counting::is_counted(agent, env, &event) => {
                call_counting::count_hooked_class(agent, env, &event, counts)
            }
            _ => load_hook::arm_hooked_class(agent, env, &event),
        };
        let Some(hooked) = hooked else {
            if class.is_null() {
                agent.unarmed.add(&name);
            }
            return;
        };
        if let Some(class) = &hooked.class {
            let retransformer = later_agents::retransformer();
            if hooked.is_redefined && retransformer != Retransformer::Repair {
                weave_redefined(agent, env, class);
            }
            if retransformer == Retransformer::Other {
                agent.hooked_again.add(class, false);
            }
        }
        let armed = hooked.bytes;
        if let Some(memory) = agent.tool.allocate(&armed) {
            LAST_OUTPUT.set(HookOutput {
                data: memory,
                environment,
            });
            // SAFETY: given by the caller; JVMTI allocated the memory, which the JVM releases.
            unsafe {
                *new_len = armed.len() as jint;
                *new_data = memory.cast();
            }
        }
    });
}

/// A class is prepared: installs the first versions of its methods.
///
/// # Safety
/// `jni` must be the environment of the current thread, and `class` a reference of it.
unsafe extern "system" fn class_prepare(
    _: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    _: jthread,
    class: sys::jclass,
) {
    guarded("ClassPrepare", (), || {
        let Some(agent) = Agent::get() else { return };
        // SAFETY: given by the caller. Nothing is used after this function.
        let (env, class) = unsafe { (Env::new(jni), Reference::new(class)) };
        prepared(agent, env, class);
    });
}

fn prepared(agent: &Agent, env: Env, class: jclass) {
    let Some(name) = agent.tool.class_name(class) else {
        return;
    };
    let record = armed_record(agent, env, class, &name);
    match &record {
        Some(record) => record.mark_prepared(agent.tool, env, class),
        None => agent.unarmed.add(&name),
    }
    let known = record.clone();
    weave_prepared(agent, env, PreparedClass { name, record });
    if let Some(record) = known {
        class_facts_log::write_class(agent, env, &record);
    }
}

fn armed_record(agent: &Agent, env: Env, class: jclass, name: &str) -> Option<Arc<Class>> {
    if !agent.registry.contains(name) {
        return None;
    }
    let loader = agent.tool.loader(class);
    let record = agent.registry.find(env, name, loader);
    // SAFETY: `Tool::loader` has made the local reference, which is not used again.
    unsafe { env.delete(loader) };
    record
}
