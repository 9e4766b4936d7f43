//! The start of the agent. There are three cases:
//!
//! * [`on_load`]: the JVM starts with `-agentpath`. The agent starts at `VMInit`, in the
//!   application's main thread, before any class of the application is loaded.
//! * [`on_attach`]: a client loads the library into a running JVM. The agent starts at once, in the
//!   JVM's attach thread.
//! * [`on_attach`] after the agent has unloaded itself: the agent of the first time runs again.
//!
//! **Invariant:** if the agent cannot start, it reports the reason on standard error, and the
//! application runs without it.

use crate::agent::{Agent, AgentParts, AgentStateError};
use crate::classes::arming_filter::{ArmingFilter, JdkLoaders};
use crate::classes::call_counting::{self, CallCountingError};
use crate::control;
use crate::data::class_facts_file::ClassFactsFile;
use crate::data::data_directory;
use crate::data::monotonic::monotonic;
use crate::events;
use crate::guard::guarded;
use crate::jvm::class_hook::{ClassHook, ClassHookError};
use crate::jvm::java_runtime::Library;
use crate::jvm::jni::{Env, Global, JvmError};
use crate::jvm::jvm_name::{jvm_name, set_jvm_name};
use crate::jvm::jvmti::{JvmtiError, Tool, UnsuitableJvm};
use crate::jvm::threads::StartThreadError;
use crate::jvm::{stack_traces, threads, version_frames};
use crate::plans::agent_threads;
use crate::plans::jobs::PlanJob;
use ::jni::sys::{self, JNIEnv, JavaVM, jint};
use jvmti_sys::{jthread, jvmtiEnv, jvmtiEvent};
use parking_lot::Mutex;
use std::ffi::{CStr, c_char, c_void};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;
use thiserror::Error;
use veneer_fragmenter::policy::Policy;
use veneer_instruments::{MethodPattern, PatternError};
use veneer_protocol::{AgentConfig, ConfigError};

/// How long the start of the application waits for the top levels of the plans.
const MAX_PLAN_WAIT: Duration = Duration::from_secs(10);

/// The exit code of the process if a plan fails and the option `strict` is set.
const STRICT_EXIT_CODE: i32 = 2;

/// The events that the agent enables when it starts.
const EVENTS: [jvmtiEvent; 3] = [
    jvmtiEvent::JVMTI_EVENT_CLASS_PREPARE,
    jvmtiEvent::JVMTI_EVENT_THREAD_END,
    jvmtiEvent::JVMTI_EVENT_VM_DEATH,
];

/// Why the agent could not start. The text is what the agent prints.
#[derive(Debug, Error)]
pub enum StartError {
    /// The agent's options are missing.
    #[error("the agent needs the path of its configuration after `=`; {remedy}")]
    NoConfiguration {
        /// The action for the user.
        remedy: &'static str,
    },
    /// The configuration cannot be read. Its text has the remedy.
    #[error(transparent)]
    Configuration(#[from] ConfigError),
    /// The agent does not support this JVM.
    #[error(transparent)]
    Jvm(#[from] UnsuitableJvm),
    /// A JVMTI function has failed.
    #[error(transparent)]
    Jvmti(#[from] JvmtiError),
    /// The class hook could not be started.
    #[error(transparent)]
    ClassHook(#[from] ClassHookError),
    /// The current thread has no JNI environment.
    #[error("no JNI environment (error {code})")]
    NoJni {
        /// The error code of `GetEnv`.
        code: jint,
    },
    /// The files of the data directory cannot be created.
    #[error("the data files in {directory} cannot be made: {source}", directory = .directory.display())]
    DataFiles {
        /// The data directory of the configuration.
        directory: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// A Java call of the agent has failed.
    #[error(transparent)]
    Java(#[from] JvmError),
    /// A thread of the agent could not be started.
    #[error(transparent)]
    Thread(#[from] StartThreadError),
    /// The calls of all classes cannot be counted.
    #[error(transparent)]
    CallCounting(#[from] CallCountingError),
    /// The shared state could not be set up.
    #[error(transparent)]
    State(#[from] AgentStateError),
}

/// The JVMTI environment and the configuration between `Agent_OnLoad` and `VMInit`.
static WAITING: Mutex<Option<(Tool, AgentConfig)>> = Mutex::new(None);

/// Prepares the start of the agent at `VMInit`. Returns 0 in any case, so that the JVM starts.
///
/// # Safety
/// `vm` must be the pointer of the JVM that calls this function, and `options` null or
/// NUL-terminated text.
pub unsafe fn on_load(vm: *mut JavaVM, options: *const c_char) -> jint {
    guarded("Agent_OnLoad", (), || {
        // SAFETY: given by the caller.
        let result = unsafe { open(vm, options) }.and_then(|(tool, config)| {
            set_callbacks(tool)?;
            tool.enable(jvmtiEvent::JVMTI_EVENT_VM_INIT)?;
            *WAITING.lock() = Some((tool, config));
            Ok(())
        });
        if let Err(e) = result {
            eprintln!("veneer: {e}; the application runs without it");
        }
    });
    0
}

/// Starts the agent in a running JVM. Returns 0 if the agent is running afterwards, else 1.
///
/// # Safety
/// `vm` must be the pointer of the JVM that calls this function on one of its threads, and
/// `options` null or NUL-terminated text.
pub unsafe fn on_attach(vm: *mut JavaVM, options: *const c_char) -> jint {
    guarded("Agent_OnAttach", 1, || {
        let result = match Agent::get() {
            Some(agent) if agent.left.load(Ordering::SeqCst) => {
                // SAFETY: given by the caller.
                unsafe { start_again(vm, options, agent) }
            }
            Some(_) => Ok(()),
            // SAFETY: given by the caller.
            None => unsafe { start_in_running_jvm(vm, options) },
        };
        match result {
            Ok(()) => 0,
            Err(e) => {
                eprintln!("veneer: {e}; the application runs on without it");
                1
            }
        }
    })
}

/// Starts the agent for the first time in a running JVM.
///
/// # Safety
/// As for [`on_attach`].
unsafe fn start_in_running_jvm(vm: *mut JavaVM, options: *const c_char) -> Result<(), StartError> {
    // SAFETY: given by the caller.
    let (tool, config) = unsafe { open(vm, options) }?;
    // SAFETY: given by the caller.
    let env = unsafe { environment(vm) }?;
    set_callbacks(tool)?;
    begin(env, tool, config, true)
}

/// Starts the agent that had unloaded itself. The configuration of the first time applies.
///
/// # Safety
/// As for [`on_attach`].
unsafe fn start_again(
    vm: *mut JavaVM,
    options: *const c_char,
    agent: &'static Agent,
) -> Result<(), StartError> {
    // SAFETY: given by the caller.
    let env = unsafe { environment(vm) };
    // SAFETY: given by the caller.
    if let Some(path) = unsafe { option_text(options) } {
        data_directory::remove_config(Path::new(&path));
    }
    come_back(agent, env?)
}

/// The JNI environment of the current thread.
///
/// # Safety
/// `vm` must be the pointer of the JVM. The caller must not use the result after this thread's
/// call from the JVM.
unsafe fn environment(vm: *mut JavaVM) -> Result<Env, StartError> {
    let mut env: *mut c_void = std::ptr::null_mut();
    // SAFETY: given by the caller; the JVM writes the environment to the place.
    let code = unsafe { ((**vm).v1_2.GetEnv)(vm, &mut env, sys::JNI_VERSION_1_8) };
    match code {
        // SAFETY: the JVM has just returned the environment of this thread.
        sys::JNI_OK => Ok(unsafe { Env::new(env.cast()) }),
        code => Err(StartError::NoJni { code }),
    }
}

/// The agent's option text; `None` for null.
///
/// # Safety
/// `options` must be null or NUL-terminated text.
unsafe fn option_text(options: *const c_char) -> Option<String> {
    if options.is_null() {
        return None;
    }
    // SAFETY: given by the caller; the text is not null.
    let text = unsafe { CStr::from_ptr(options) };
    Some(text.to_string_lossy().into_owned())
}

/// Reads the configuration, and asks the JVM for a JVMTI environment.
///
/// # Safety
/// As for [`on_load`].
unsafe fn open(vm: *mut JavaVM, options: *const c_char) -> Result<(Tool, AgentConfig), StartError> {
    // SAFETY: given by the caller.
    let path = unsafe { option_text(options) }.ok_or(StartError::NoConfiguration {
        remedy: "start it through `veneer run` or `veneer exec`",
    })?;
    let config = AgentConfig::read(Path::new(&path))?;
    // SAFETY: given by the caller.
    let tool = unsafe { Tool::new(vm) }?;
    tool.check_jvm()?;
    tool.capabilities()?;
    Ok((tool, config))
}

fn set_callbacks(tool: Tool) -> Result<(), JvmtiError> {
    // SAFETY: the functions are part of the agent's library, which is never unloaded.
    unsafe { tool.callbacks(&events::callbacks(vm_init)) }
}

/// The JVM is ready to run Java code: starts the agent.
///
/// # Safety
/// `jni` must be the environment of the current thread.
unsafe extern "system" fn vm_init(_: *mut jvmtiEnv, jni: *mut JNIEnv, _: jthread) {
    guarded("VMInit", (), || {
        let waiting = WAITING.lock().take();
        let Some((tool, config)) = waiting else {
            return;
        };
        // SAFETY: given by the caller. Nothing is used after this function.
        if let Err(e) = begin(unsafe { Env::new(jni) }, tool, config, false) {
            eprintln!("veneer: {e}; the application runs without it");
        }
    });
}

/// Starts the agent: makes its state, enables the events, starts the threads, and runs the plans of
/// the configuration. `attached` means that the application is running already.
fn begin(env: Env, tool: Tool, mut config: AgentConfig, attached: bool) -> Result<(), StartError> {
    set_jvm_name(
        tool.property("java.vm.name"),
        tool.property("java.vm.version"),
    );
    threads::set_panic_report(report_panic);
    let nano_began = monotonic();
    let (directory, files) = create_data_files(&config, nano_began)?;
    // SAFETY: this is the address of the thread table, which is never freed.
    let library = unsafe { Library::load(env, files.shards.table()) }?;
    let loaders = jdk_loaders(env)?;
    let thread = env.find(c"java/lang/Thread")?;
    let tid = env.long_field(thread, c"tid")?;
    let virtual_threads = env.find(c"java/lang/BaseVirtualThread").ok();
    let patterns = Patterns::parse(&config);
    let complaints = patterns.complaints;
    config.data_dir = directory;
    let class_facts = create_class_facts(&config)?;
    // SAFETY: `jvm` returns the pointer of this JVM, and the agent's library is never unloaded.
    let class_hook = unsafe { ClassHook::new(env.jvm()?, events::class_hook_callbacks()) };
    let agent = Agent::start(AgentParts {
        tool,
        class_hook,
        library,
        stacks: version_frames::Stacks::find(env),
        loaders,
        filter: ArmingFilter {
            arm: patterns.arm,
            skip: patterns.skip,
            only_plans: AtomicBool::new(attached),
        },
        policy: capture_policy(config.policy, patterns.calls),
        config,
        shards: files.shards,
        rings: files.rings,
        tallies: files.tallies,
        catalogue: files.catalogue,
        class_facts,
        nano_began,
        tid,
        virtual_threads: virtual_threads.map(|class| env.global(class)),
        running: attached,
    })?;
    for complaint in complaints {
        agent.report_problem("", &complaint.to_string());
    }
    for event in EVENTS {
        tool.enable(event)?;
    }
    agent.class_hook.move_to_end()?;
    if agent.config.counted_calls.is_some() {
        call_counting::start(agent, env)?;
    }
    agent_threads::start_all(agent, env)?;
    control::serve(agent);
    run_first_plans(agent);
    Ok(())
}

/// Makes this JVM's own directory in the data directory, with its files.
fn create_data_files(
    config: &AgentConfig,
    nano_began: u64,
) -> Result<(PathBuf, data_directory::Files), StartError> {
    let error = |source| StartError::DataFiles {
        directory: config.data_dir.clone(),
        source,
    };
    let directory = data_directory::make(&config.data_dir).map_err(error)?;
    match data_directory::Files::create(&directory, jvm_name(), nano_began) {
        Ok(files) => Ok((directory, files)),
        Err(source) => {
            data_directory::remove(&directory);
            Err(error(source))
        }
    }
}

/// Creates the file with class facts, if the command wants one.
fn create_class_facts(config: &AgentConfig) -> Result<Option<ClassFactsFile>, StartError> {
    if !config.class_facts {
        return Ok(None);
    }
    let created = ClassFactsFile::create(&config.data_dir).map_err(|source| {
        data_directory::remove(&config.data_dir);
        StartError::DataFiles {
            directory: config.data_dir.clone(),
            source,
        }
    });
    created.map(Some)
}

/// The JDK's own class loaders. A loader is missing if the JDK returns none.
fn jdk_loaders(env: Env) -> Result<JdkLoaders, JvmError> {
    let class_loader = Arc::new(env.global(env.find(c"java/lang/ClassLoader")?));
    let loader = |name: &CStr| -> Option<Global> {
        let descriptor = c"()Ljava/lang/ClassLoader;";
        let method = env.static_method(&class_loader, name, descriptor).ok()?;
        let what = || "asking for a class loader".into();
        // SAFETY: the method has no parameters, and returns an object.
        let loader = unsafe { env.object(&method, &[], what) }.ok()?;
        (!loader.is_null()).then(|| env.global(loader))
    };
    Ok(JdkLoaders {
        platform: loader(c"getPlatformClassLoader"),
        system: loader(c"getSystemClassLoader"),
    })
}

/// Why a pattern of an option is ignored.
#[derive(Debug, Error)]
#[error("{option} {text}: {reason}")]
struct OptionPatternError {
    /// The option of `veneer run`, such as `--skip`.
    option: &'static str,
    text: String,
    reason: OptionPatternFault,
}

/// The fault of a pattern of an option. The text contains the remedy.
#[derive(Debug, Error)]
enum OptionPatternFault {
    #[error(transparent)]
    Malformed(#[from] PatternError),
    /// `--skip` with `+`. The JVM does not know the supertypes of a class before it is loaded.
    #[error("`+` is not known yet when a class is to be left alone: {}", self.remedy())]
    SubtypesUnknown,
    /// `--calls` with a condition that names and types do not decide.
    #[error("of a call only names and types are known: {}", self.remedy())]
    OnlyNamesKnown,
}

impl OptionPatternFault {
    /// How to write the pattern. The parser's error has its own remedy.
    fn remedy(&self) -> &'static str {
        match self {
            OptionPatternFault::Malformed(_) => "",
            OptionPatternFault::SubtypesUnknown => "name the classes",
            OptionPatternFault::OnlyNamesKnown => "write no `+`, flag or annotation",
        }
    }
}

/// The patterns of the agent's options, and one error for each text that is no valid pattern.
#[derive(Default)]
struct Patterns {
    arm: Vec<MethodPattern>,
    skip: Vec<MethodPattern>,
    calls: Vec<MethodPattern>,
    complaints: Vec<OptionPatternError>,
}

impl Patterns {
    fn parse(config: &AgentConfig) -> Patterns {
        let mut complaints = Vec::new();
        let mut parse = |texts: &[String], option: &'static str| {
            let parsed = texts.iter().map(|text| parse_pattern(text, option));
            let (good, bad): (Vec<_>, Vec<_>) = parsed.partition(Result::is_ok);
            complaints.extend(bad.into_iter().filter_map(Result::err));
            good.into_iter().filter_map(Result::ok).collect()
        };
        let arm = parse(&config.arm, "--arm");
        let skip = parse(&config.skip, "--skip");
        let calls = parse(&config.calls, "--calls");
        Patterns {
            arm,
            skip,
            calls,
            complaints,
        }
    }
}

/// Parses a pattern of an option. `--skip` is decided before the JVM knows the supertypes of a class,
/// and of a call only names and types are known. So these options do not accept every pattern.
fn parse_pattern(text: &str, option: &'static str) -> Result<MethodPattern, OptionPatternError> {
    let error = |reason| OptionPatternError {
        option,
        text: text.into(),
        reason,
    };
    let pattern = MethodPattern::parse(text).map_err(|e| error(e.into()))?;
    match option {
        "--skip" if pattern.has_subtypes() => Err(error(OptionPatternFault::SubtypesUnknown)),
        "--calls" if pattern.needs_metadata() => Err(error(OptionPatternFault::OnlyNamesKnown)),
        _ => Ok(pattern),
    }
}

/// The fragmenter's form of the configured policy. `calls` are the patterns of the calls at which the
/// policy `call` cuts fragments.
fn capture_policy(policy: veneer_protocol::Policy, calls: Vec<MethodPattern>) -> Policy {
    match policy {
        veneer_protocol::Policy::Method => Policy::Method,
        veneer_protocol::Policy::Loop => Policy::Loop,
        veneer_protocol::Policy::Call => Policy::Call(Arc::new(move |class, name, descriptor| {
            calls.iter().any(|p| p.matches(class, name, descriptor))
        })),
        veneer_protocol::Policy::Block => Policy::Block,
    }
}

/// Runs the top levels of the configured plans, so that their instruments are attached before the
/// application's first class is loaded. Waits no longer than [`MAX_PLAN_WAIT`] for them. If a plan
/// fails and the option `strict` is set, ends the process.
fn run_first_plans(agent: &Agent) {
    if agent.config.plans.is_empty() {
        agent.application_starts();
        return;
    }
    let (answer, answered) = channel();
    let sent = agent.post_job(PlanJob::Begin(answer));
    let succeeded = sent && answered.recv_timeout(MAX_PLAN_WAIT).unwrap_or(true);
    if !succeeded && agent.config.strict {
        // SAFETY: `_exit` ends the process without running any handler. No code of the application
        // has run.
        unsafe { libc::_exit(STRICT_EXIT_CODE) };
    }
}

/// Makes the agent work again after it has unloaded itself.
fn come_back(agent: &'static Agent, env: Env) -> Result<(), StartError> {
    agent.filter.only_plans.store(true, Ordering::SeqCst);
    let age = agent.began.elapsed().as_millis() as u64;
    agent.loaded_again_at.store(age, Ordering::Relaxed);
    agent.end_journal();
    agent_threads::start_all(agent, env)?;
    agent.tool.enable(jvmtiEvent::JVMTI_EVENT_CLASS_PREPARE)?;
    agent.class_hook.move_to_end()?;
    if let Err(e) = stack_traces::hook_again(env) {
        agent.report_problem("", &e.to_string());
    }
    agent.left.store(false, Ordering::SeqCst);
    control::serve(agent);
    Ok(())
}

/// Reports that a panic has ended a thread of the agent.
fn report_panic(thread: &str) {
    if let Some(agent) = Agent::get() {
        agent.report_problem(
            "",
            &format!("internal agent error: the thread {thread} has ended; the application is not affected; please report this"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_options_are_reported_with_the_remedy() {
        // SAFETY: null options are allowed, and `open` does not use the JVM without options.
        let result = unsafe { open(std::ptr::null_mut(), std::ptr::null()) };
        let text = result.err().map(|e| e.to_string()).unwrap_or_default();
        assert_eq!(
            text,
            "the agent needs the path of its configuration after `=`; start it through `veneer run` or `veneer exec`"
        );
    }

    #[test]
    fn skip_rejects_subtypes_and_calls_reject_what_names_do_not_decide() {
        let text = |option| parse_pattern("a.B+", option).unwrap_err().to_string();
        assert_eq!(
            text("--skip"),
            "--skip a.B+: `+` is not known yet when a class is to be left alone: name the classes"
        );
        assert_eq!(
            text("--calls"),
            "--calls a.B+: of a call only names and types are known: write no `+`, flag or annotation"
        );
        assert!(parse_pattern("a.B+", "--arm").is_ok());
        assert!(parse_pattern("a.B", "--skip").is_ok());
    }

    #[test]
    fn a_malformed_pattern_is_reported_under_its_option() {
        let error = parse_pattern("a..B::(", "--arm").unwrap_err();
        assert!(matches!(error.reason, OptionPatternFault::Malformed(_)));
        let text = error.to_string();
        assert!(text.starts_with("--arm a..B::(: "), "{text}");
    }

    #[test]
    fn the_policy_for_calls_asks_the_patterns() {
        let pattern = MethodPattern::parse("a.B::m").unwrap();
        let policy = capture_policy(veneer_protocol::Policy::Call, vec![pattern]);
        let Policy::Call(cuts) = policy else {
            panic!("another policy");
        };
        assert!(cuts("a/B", "m", "()V") || cuts("a.B", "m", "()V"));
        assert!(!cuts("a/B", "n", "()V") && !cuts("a.B", "n", "()V"));
    }
}
