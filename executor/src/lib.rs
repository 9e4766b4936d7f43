//! The agent: a library that the JVM loads, and that lets plans look into and change the running program.
//!
//! ```text
//!   JVM events ─▶ hook (arming)  prepared (weaving)  thread end  death      application threads, no lock held over Java
//!   plan thread ─▶ scripts ─▶ runtime ─▶ methods ─▶ version class ─▶ cell
//!   request thread ─▶ resume bodies for activations that ask
//!   client threads ─▶ control socket
//! ```
//!
//! **Invariant:** no panic leaves an exported function. **Invariant:** the application's threads wait for no thread of the agent
//! (the wait for the first plans, before the application starts, and for the last figures, after it ended, aside).

#![allow(non_snake_case)] // names that the JVM looks for

mod agent;
mod appendix;
mod armed;
mod attachment;
mod awaited;
mod budget;
mod call_stacks;
mod catalogue;
mod clock;
mod control;
mod directory;
mod elders;
mod facts;
mod feed;
mod filter;
mod hook;
mod jni;
mod leaving;
mod library;
mod loaded;
mod loads;
mod memory;
mod methods;
mod names;
mod operations;
mod prompts;
mod registry;
mod report;
mod rings;
mod row;
mod runtime;
mod runtime_access;
mod shards;
mod sight;
mod spill;
mod stacks;
mod status;
mod table;
mod tallies;
mod tool;
mod traces;
mod turns;
mod unloaded;
mod weave;
mod worker;

use crate::agent::{Agent, Parts};
use crate::filter::{Filter, Loaders};
use crate::jni::{Env, LongField, jclass, jobject};
use crate::library::Library;
use crate::tool::Tool;
use crate::worker::Job;
use ::jni::sys::{JNIEnv, JavaVM, jboolean, jint, jlong};
use jvmti_sys::{jthread, jvmtiEnv, jvmtiEvent, jvmtiEventCallbacks};
use std::ffi::{CStr, c_char, c_uchar, c_uint, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;
use veneer_fragmenter::policy::Policy;
use veneer_instruments::MethodPattern;
use veneer_protocol::AgentConfig;

static WAITING: Mutex<Option<(Tool, AgentConfig)>> = Mutex::new(None);
static JVM: OnceLock<(String, String)> = OnceLock::new();

/// Name and version of the JVM.
fn jvm_name() -> (String, String) {
    JVM.get().cloned().unwrap_or_default()
}

fn guarded<T>(what: &str, otherwise: T, f: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|_| {
        match Agent::get() {
            Some(agent) => agent.problem("", &format!("an error of the agent's own in {what}; the application is not touched; please report this")),
            None => eprintln!("veneer: an error of the agent's own in {what}; the application runs without it"),
        }
        otherwise
    })
}

/// Called by the JVM at its start (`-agentpath`). The application runs in any case.
///
/// # Safety
/// Called by the JVM only.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnLoad(
    vm: *mut JavaVM,
    options: *const c_char,
    _: *mut c_void,
) -> jint {
    guarded("Agent_OnLoad", (), || {
        // Safety: the JVM passes its own pointer, and options as text.
        let result = unsafe { open(vm, options) }.and_then(|(tool, config)| {
            tool.callbacks(&callbacks())?;
            tool.enable(jvmtiEvent::JVMTI_EVENT_VM_INIT)?;
            *WAITING.lock().unwrap_or_else(|e| e.into_inner()) = Some((tool, config));
            Ok(())
        });
        if let Err(e) = result {
            eprintln!("veneer: {e}; the application runs without it");
        }
    });
    0
}

/// Called by the JVM when the library is loaded into it while it runs.
///
/// # Safety
/// Called by the JVM only.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnAttach(
    vm: *mut JavaVM,
    options: *const c_char,
    _: *mut c_void,
) -> jint {
    guarded("Agent_OnAttach", 1, || {
        if let Some(agent) = Agent::get() {
            return match agent.left.load(Ordering::SeqCst) {
                // Safety: the JVM passes its own pointer, and options as text.
                true => unsafe { again(vm, options, agent) },
                false => 0,
            };
        }
        // Safety: the JVM passes its own pointer, and options as text; this thread has a JNI environment.
        let result = unsafe { open(vm, options) }.and_then(|(tool, config)| {
            let mut env: *mut c_void = std::ptr::null_mut();
            // Safety: as above.
            let code = unsafe { ((**vm).v1_2.GetEnv)(vm, &mut env, ::jni::sys::JNI_VERSION_1_8) };
            if code != 0 {
                return Err(format!("no JNI environment (error {code})"));
            }
            tool.callbacks(&callbacks())?;
            // Safety: the JVM has just given it for this thread.
            begin(unsafe { Env::new(env.cast()) }, tool, config, true)
        });
        match result {
            Ok(()) => 0,
            Err(e) => {
                eprintln!("veneer: {e}; the application runs on without it");
                1
            }
        }
    })
}

/// The agent had left this JVM.
unsafe fn again(vm: *mut JavaVM, options: *const c_char, agent: &'static Agent) -> jint {
    let mut env: *mut c_void = std::ptr::null_mut();
    // Safety: given by the caller.
    let code = unsafe { ((**vm).v1_2.GetEnv)(vm, &mut env, ::jni::sys::JNI_VERSION_1_8) };
    if !options.is_null() {
        // Safety: not null, and NUL-terminated by the JVM.
        let path = unsafe { CStr::from_ptr(options) }.to_string_lossy();
        // The settings that count are those of the first time.
        directory::remove_config(Path::new(&*path));
    }
    if code != 0 {
        eprintln!("veneer: no JNI environment (error {code}); the application runs on without it");
        return 1;
    }
    // Safety: the JVM has just given it for this thread.
    match leaving::come_back(agent, unsafe { Env::new(env.cast()) }) {
        Ok(()) => 0,
        Err(e) => {
            eprintln!("veneer: {e}; the application runs on without it");
            1
        }
    }
}

unsafe fn open(vm: *mut JavaVM, options: *const c_char) -> Result<(Tool, AgentConfig), String> {
    if options.is_null() {
        return Err("the agent needs the path of its configuration after `=`; start it through `veneer run` or `veneer exec`".into());
    }
    // Safety: not null, and NUL-terminated by the JVM.
    let path = unsafe { CStr::from_ptr(options) }
        .to_string_lossy()
        .into_owned();
    let config = AgentConfig::read(Path::new(&path)).map_err(|e| e.to_string())?;
    // Safety: given by the caller.
    let tool = unsafe { Tool::new(vm) }?;
    tool.check_jvm()?;
    tool.capabilities()?;
    Ok((tool, config))
}

fn callbacks() -> jvmtiEventCallbacks {
    // Safety: a table of optional functions, for which all zeros says none.
    let mut c: jvmtiEventCallbacks = unsafe { std::mem::zeroed() };
    c.v1_1.VMInit = Some(vm_init);
    c.v1_1.VMDeath = Some(vm_death);
    c.v1_1.ThreadEnd = Some(thread_end);
    c.v1_1.ClassFileLoadHook = Some(class_file_load);
    c.v1_1.ClassPrepare = Some(class_prepare);
    c
}

unsafe extern "system" fn vm_init(_: *mut jvmtiEnv, jni: *mut JNIEnv, _: jthread) {
    guarded("VMInit", (), || {
        let waiting = WAITING.lock().unwrap_or_else(|e| e.into_inner()).take();
        let Some((tool, config)) = waiting else {
            return;
        };
        // Safety: the JVM gave it for this thread.
        if let Err(e) = begin(unsafe { Env::new(jni) }, tool, config, false) {
            eprintln!("veneer: {e}; the application runs without it");
        }
    });
}

fn begin(env: Env, tool: Tool, mut config: AgentConfig, attached: bool) -> Result<(), String> {
    let text = |e: jni::JvmError| e.to_string();
    let data = |e: std::io::Error| {
        format!(
            "the data files in {} cannot be made: {e}",
            config.data_dir.display()
        )
    };
    let _ = JVM.set((
        tool.property("java.vm.name"),
        tool.property("java.vm.version"),
    ));
    let nano_began = agent::monotonic();
    let own = directory::make(&config.data_dir).map_err(data)?;
    let files = directory::Files::create(&own, jvm_name(), nano_began).map_err(data);
    let directory::Files {
        shards,
        rings,
        tallies,
        catalogue,
    } = files.inspect_err(|_| directory::remove(&own))?;
    let library = Library::load(env, shards.table()).map_err(text)?;
    let class_loader = env.global(env.find(c"java/lang/ClassLoader").map_err(text)?);
    let loader = |name: &CStr| {
        let method = env
            .static_method(&class_loader, name, c"()Ljava/lang/ClassLoader;")
            .ok()?;
        let loader = env
            .object(method, &[], || "asking for a class loader".into())
            .ok()?;
        (!loader.is_null()).then(|| env.global(loader))
    };
    let loaders = Loaders {
        platform: loader(c"getPlatformClassLoader"),
        system: loader(c"getSystemClassLoader"),
    };
    let thread = env.find(c"java/lang/Thread").map_err(text)?;
    let tid: LongField = env.long_field(thread, c"tid").map_err(text)?;
    let mut complaints = Vec::new();
    let mut patterns = |list: &[String], option: &str| -> Vec<MethodPattern> {
        let parsed = list.iter().map(|text| {
            let pattern = MethodPattern::parse(text).map_err(|e| e.to_string());
            // What a class is armed with is decided before the JVM knows what is above it; and of a call only names are known.
            let pattern = pattern.and_then(|p| match option {
                "--skip" if p.has_subtypes() => Err(
                    "`+` is not known yet when a class is to be left alone: name the classes"
                        .into(),
                ),
                "--calls" if p.asks_more() => Err(
                    "of a call only names and types are known: write no `+`, flag or annotation"
                        .into(),
                ),
                _ => Ok(p),
            });
            pattern.map_err(|e: String| format!("{option} {text}: {e}"))
        });
        let (good, bad): (Vec<_>, Vec<_>) = parsed.partition(Result::is_ok);
        complaints.extend(bad.into_iter().filter_map(Result::err));
        good.into_iter().filter_map(Result::ok).collect()
    };
    let filter = Filter {
        arm: patterns(&config.arm, "--arm"),
        skip: patterns(&config.skip, "--skip"),
        only_plans: AtomicBool::new(attached),
    };
    let calls = patterns(&config.calls, "--calls");
    let policy = match config.policy {
        veneer_protocol::Policy::Method => Policy::Method,
        veneer_protocol::Policy::Loop => Policy::Loop,
        veneer_protocol::Policy::Call => {
            Policy::Call(std::sync::Arc::new(move |class, name, descriptor| {
                calls.iter().any(|p| p.matches(class, name, descriptor))
            }))
        }
        veneer_protocol::Policy::Block => Policy::Block,
    };
    config.data_dir = own;
    let agent = Agent::start(Parts {
        config,
        tool,
        library,
        stacks: stacks::Stacks::find(env),
        loaders,
        filter,
        policy,
        shards,
        rings,
        tallies,
        catalogue,
        nano_began,
        tid,
        running: attached,
    })?;
    for complaint in complaints {
        agent.problem("", &complaint);
    }
    for event in [
        jvmtiEvent::JVMTI_EVENT_CLASS_FILE_LOAD_HOOK,
        jvmtiEvent::JVMTI_EVENT_CLASS_PREPARE,
        jvmtiEvent::JVMTI_EVENT_THREAD_END,
        jvmtiEvent::JVMTI_EVENT_VM_DEATH,
    ] {
        tool.enable(event)?;
    }
    worker::start_all(agent, env)?;
    control::serve(agent);
    if agent.config.plans.is_empty() {
        agent.application_starts();
    } else {
        let (answer, answered) = channel();
        let sent = agent.ask(Job::Begin(answer));
        // Plans stand before the application's first class is loaded; a plan that takes too long does not hold it up.
        let good = sent
            && answered
                .recv_timeout(Duration::from_secs(10))
                .unwrap_or(true);
        if !good && agent.config.strict {
            // Safety: a plain system call. Nothing of the application has run.
            unsafe { libc::_exit(2) };
        }
    }
    Ok(())
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
        runtime::warn_of_nothing(agent, unsafe { Env::new(jni) });
        agent.rings.drain();
        agent.rings.alive(agent.began.elapsed().as_millis() as u64);
        report::write(agent, jvm_name());
        let _ = std::fs::remove_file(control::path());
        if agent.config.keep_data {
            agent.note(&[veneer_protocol::data::Record::Ended {}]);
        } else {
            directory::remove(&agent.config.data_dir);
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
            hook::name_in(agent, bytes)
        } else {
            // Safety: not null, so NUL-terminated text.
            unsafe { CStr::from_ptr(name) }
                .to_str()
                .ok()
                .map(str::to_owned)
        };
        let Some(name) = name else { return };
        let coming = hook::Coming {
            name: &name,
            loader,
            class,
            bytes,
        };
        let Some(armed) = hook::arm(agent, env, &coming) else {
            if class.is_null() {
                agent.unarmed.add(&name);
            }
            return;
        };
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
        attachment::weave_awaiting(agent, env, &name);
        if !agent.registry.knows(&name) {
            agent.unarmed.add(&name);
            return;
        }
        let loader = agent.tool.loader(class);
        if let Some(record) = agent.registry.find(env, &name, loader) {
            attachment::mark_prepared(agent, env, &record, class);
            attachment::weave_loaded(agent, env, &record);
            let mut state = record.state();
            state.cold = state.methods.iter().any(|m| !agent.methods.is_idle(m.id));
        } else {
            agent.unarmed.add(&name);
        }
        env.delete(loader);
    });
}

/// `VeneerWalk.hook`.
///
/// # Safety
/// Called by the JVM only.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerWalk_hook(
    jni: *mut JNIEnv,
    _: jclass,
    throwable: jclass,
    walk: jclass,
) -> jboolean {
    guarded("hooking stack traces", false, || {
        // Safety: the JVM gave it for this thread.
        traces::hook(unsafe { Env::new(jni) }, throwable, walk)
    })
}

/// `VeneerRuntime.request`.
///
/// # Safety
/// Called by the JVM only.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerRuntime_request(
    _: *mut JNIEnv,
    _: jclass,
    id: jint,
) {
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
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerRuntime_shard(
    _: *mut JNIEnv,
    _: jclass,
    tid: jlong,
    is_virtual: jboolean,
) -> jlong {
    guarded("a thread's first count", 0, || {
        let Some(agent) = Agent::get() else { return 0 };
        if is_virtual && !VIRTUAL.swap(true, Ordering::Relaxed) {
            // Where nobody takes jobs any more, nobody reads figures.
            agent.ask(Job::Virtual);
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
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerRuntime_ring(
    _: *mut JNIEnv,
    _: jclass,
    tid: jlong,
) -> jlong {
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

/// `VeneerProbe.stack`: see [`call_stacks`].
///
/// # Safety
/// Called by the JVM only.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerProbe_stack(
    jni: *mut JNIEnv,
    _: jclass,
    depth: jlong,
) -> jlong {
    guarded("a call stack", 0, || {
        let Some(agent) = Agent::get() else { return 0 };
        // Safety: the JVM gave it for this thread.
        let env = unsafe { Env::new(jni) };
        agent.tallies.stacks.here(agent, env, depth)
    })
}

/// `VeneerRuntime.dropped`.
///
/// # Safety
/// Called by the JVM only.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerRuntime_dropped(
    _: *mut JNIEnv,
    _: jclass,
    point: jint,
) {
    if let Some(agent) = Agent::get() {
        agent.rings.drop_one(point as u32);
    }
}

/// `VeneerRuntime.linked`.
///
/// # Safety
/// Called by the JVM only.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_java_lang_invoke_VeneerRuntime_linked(
    _: *mut JNIEnv,
    _: jclass,
) {
}
