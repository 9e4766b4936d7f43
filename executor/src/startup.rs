//! How the agent starts: with the JVM (`on_load`), in a running JVM (`on_attach`), and again after it has left.

use crate::agent::{Agent, Parts};
use crate::classes::arming_filter::{ArmingFilter, JdkLoaders};
use crate::control;
use crate::data::data_directory;
use crate::data::monotonic::monotonic;
use crate::events;
use crate::guard::guarded;
use crate::jvm::java_runtime::Library;
use crate::jvm::jni::{Env, JvmError, LongField};
use crate::jvm::jvm_name::{jvm_name, set_jvm_name};
use crate::jvm::jvmti::Tool;
use crate::jvm::{stack_traces, threads, version_frames};
use crate::plans::jobs::Job;
use crate::plans::plan_loop;
use crate::plans::unload::CLASS_EVENTS;
use ::jni::sys::{JNIEnv, JavaVM, jint};
use jvmti_sys::{jthread, jvmtiEnv, jvmtiEvent};
use std::ffi::{CStr, c_char, c_void};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;
use veneer_fragmenter::policy::Policy;
use veneer_instruments::MethodPattern;
use veneer_protocol::AgentConfig;

static WAITING: Mutex<Option<(Tool, AgentConfig)>> = Mutex::new(None);

/// Called by the JVM at its start (`-agentpath`). The application runs in any case.
///
/// # Safety
/// Called by the JVM only.
pub unsafe fn on_load(vm: *mut JavaVM, options: *const c_char) -> jint {
    guarded("Agent_OnLoad", (), || {
        // Safety: the JVM passes its own pointer, and options as text.
        let result = unsafe { open(vm, options) }.and_then(|(tool, config)| {
            tool.callbacks(&events::callbacks(vm_init))?;
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
pub unsafe fn on_attach(vm: *mut JavaVM, options: *const c_char) -> jint {
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
            tool.callbacks(&events::callbacks(vm_init))?;
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
        data_directory::remove_config(Path::new(&*path));
    }
    if code != 0 {
        eprintln!("veneer: no JNI environment (error {code}); the application runs on without it");
        return 1;
    }
    // Safety: the JVM has just given it for this thread.
    match come_back(agent, unsafe { Env::new(env.cast()) }) {
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
    let text = |e: JvmError| e.to_string();
    let data = |e: std::io::Error| {
        format!(
            "the data files in {} cannot be made: {e}",
            config.data_dir.display()
        )
    };
    set_jvm_name(
        tool.property("java.vm.name"),
        tool.property("java.vm.version"),
    );
    threads::set_panic_report(report_panic);
    let nano_began = monotonic();
    let own = data_directory::make(&config.data_dir).map_err(data)?;
    let files = data_directory::Files::create(&own, jvm_name(), nano_began).map_err(data);
    let data_directory::Files {
        shards,
        rings,
        tallies,
        catalogue,
    } = files.inspect_err(|_| data_directory::remove(&own))?;
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
    let loaders = JdkLoaders {
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
    let filter = ArmingFilter {
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
        stacks: version_frames::Stacks::find(env),
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
    plan_loop::start_all(agent, env)?;
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

/// The library is loaded again, into a JVM that the agent had left.
pub fn come_back(agent: &'static Agent, env: Env) -> Result<(), String> {
    agent.filter.only_plans.store(true, Ordering::SeqCst);
    agent.came_back.store(true, Ordering::SeqCst);
    plan_loop::start_all(agent, env)?;
    for event in CLASS_EVENTS {
        agent.tool.enable(event)?;
    }
    stack_traces::hook_again(env);
    agent.left.store(false, Ordering::SeqCst);
    control::serve(agent);
    Ok(())
}

/// Reports that a thread of the agent has ended by a panic.
fn report_panic(thread: &str) {
    if let Some(agent) = Agent::get() {
        agent.problem(
            "",
            &format!("internal agent error: the thread {thread} has ended; the application is not affected; please report this"),
        );
    }
}
