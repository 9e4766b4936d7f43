//! The JVMTI events that the agent handles, on application threads.

use crate::agent::Agent;
use crate::classes::load_hook;
use crate::control;
use crate::data::data_directory;
use crate::guard::guarded;
use crate::jvm::jni::{Env, jclass, jobject};
use crate::jvm::jvm_name::jvm_name;
use crate::plans::jobs::Job;
use crate::plans::{report, warnings};
use crate::weaving::weaver;
use ::jni::sys::{JNIEnv, jint};
use jvmti_sys::{jthread, jvmtiEnv, jvmtiEventCallbacks};
use std::ffi::{CStr, c_char, c_uchar, c_uint};
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::time::Duration;

/// The type of the function that the JVM calls when it is ready.
pub type VmInit = unsafe extern "system" fn(*mut jvmtiEnv, *mut JNIEnv, jthread);

/// The event functions of the agent.
pub fn callbacks(vm_init: VmInit) -> jvmtiEventCallbacks {
    // Safety: a table of optional functions, for which all zeros says none.
    let mut c: jvmtiEventCallbacks = unsafe { std::mem::zeroed() };
    c.v1_1.VMInit = Some(vm_init);
    c.v1_1.VMDeath = Some(vm_death);
    c.v1_1.ThreadEnd = Some(thread_end);
    c.v1_1.ClassFileLoadHook = Some(class_file_load);
    c.v1_1.ClassPrepare = Some(class_prepare);
    c
}

unsafe extern "system" fn vm_death(_: *mut jvmtiEnv, jni: *mut JNIEnv) {
    guarded("VMDeath", (), || {
        let Some(agent) = Agent::get() else { return };
        if agent.left.load(Ordering::SeqCst) {
            return;
        }
        let (answer, answered) = channel();
        if agent.ask(Job::Finish(answer)) {
            let _ = answered.recv_timeout(Duration::from_secs(10));
        }
        // Safety: the JVM gave it for this thread.
        warnings::warn_of_nothing(agent, unsafe { Env::new(jni) });
        agent.rings.drain();
        agent.rings.alive(agent.began.elapsed().as_millis() as u64);
        report::write(agent, jvm_name());
        let _ = std::fs::remove_file(control::path());
        if agent.config.keep_data {
            agent.note(&[veneer_protocol::data::Record::Ended {}]);
        } else {
            data_directory::remove(&agent.config.data_dir);
        }
    });
}

unsafe extern "system" fn thread_end(_: *mut jvmtiEnv, jni: *mut JNIEnv, thread: jthread) {
    guarded("ThreadEnd", (), || {
        let Some(agent) = Agent::get() else { return };
        if thread.is_null() {
            return;
        }
        // Safety: the JVM gave it for this thread.
        let env = unsafe { Env::new(jni) };
        let tid = env.get_long(thread, agent.tid);
        if agent.shards.owns(tid) {
            agent.library.thread_ends(env, tid);
        }
        let ring = agent.shards.release(tid);
        if ring > 0 {
            agent.rings.release(ring);
        }
    });
}

#[allow(clippy::too_many_arguments)]
unsafe extern "system" fn class_file_load(
    _: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    class: jclass,
    loader: jobject,
    name: *const c_char,
    _: jobject,
    len: jint,
    data: *const c_uchar,
    new_len: *mut jint,
    new_data: *mut *mut c_uint,
) {
    guarded("ClassFileLoadHook", (), || {
        let Some(agent) = Agent::get() else { return };
        if data.is_null() || len <= 0 {
            return;
        }
        // Safety: the JVM passes that many bytes; the environment is this thread's.
        let (bytes, env) = unsafe {
            (
                std::slice::from_raw_parts(data, len as usize),
                Env::new(jni),
            )
        };
        let name = if name.is_null() {
            // Defined without saying a name: it stands in the class file.
            load_hook::name_in(agent, bytes)
        } else {
            // Safety: not null, so NUL-terminated text.
            unsafe { CStr::from_ptr(name) }
                .to_str()
                .ok()
                .map(str::to_owned)
        };
        let Some(name) = name else { return };
        let event = load_hook::ClassLoadEvent {
            name: &name,
            loader,
            class,
            bytes,
        };
        let Some(hooked) = load_hook::arm(agent, env, &event) else {
            if class.is_null() {
                agent.unarmed.add(&name);
            }
            return;
        };
        if let Some(class) = &hooked.redefined {
            weaver::weave_loaded(agent, env, class);
        }
        let armed = hooked.bytes;
        if let Some(memory) = agent.tool.allocate(&armed) {
            // Safety: the JVM asks for the new class file there, in memory that it allocated.
            unsafe {
                *new_len = armed.len() as jint;
                *new_data = memory.cast();
            }
        }
    });
}

unsafe extern "system" fn class_prepare(
    _: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    _: jthread,
    class: jclass,
) {
    guarded("ClassPrepare", (), || {
        let Some(agent) = Agent::get() else { return };
        let Some(name) = agent.tool.class_name(class) else {
            return;
        };
        // Safety: the JVM gave it for this thread.
        let env = unsafe { Env::new(jni) };
        weaver::weave_awaiting(agent, env, &name);
        if !agent.registry.knows(&name) {
            agent.unarmed.add(&name);
            return;
        }
        let loader = agent.tool.loader(class);
        if let Some(record) = agent.registry.find(env, &name, loader) {
            record.mark_prepared(agent.tool, env, class);
            weaver::weave_loaded(agent, env, &record);
            let mut state = record.state();
            state.has_skewed_profile = state.methods.iter().any(|m| !agent.methods.is_idle(m.id));
        } else {
            agent.unarmed.add(&name);
        }
        env.delete(loader);
    });
}
