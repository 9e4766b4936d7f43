//! The agent's Java threads.
//!
//! All of them are JVMTI agent threads: daemons that are not in the application's thread lists.
//! A panic that ends such a thread is reported through the function that [`set_panic_report`] has
//! set.

use crate::jvm::jni::{Env, JvmError};
use crate::jvm::jvmti::{JvmtiError, Tool};
use ::jni::sys::JNIEnv;
use jvmti_sys::jvmtiEnv;
use std::cell::Cell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use thiserror::Error;

/// The function that a thread of the agent runs.
pub type Run = Box<dyn FnOnce(Env) + Send>;

/// Why a thread of the agent could not be started.
#[derive(Debug, Error)]
pub enum StartThreadError {
    /// The JVM could not make the thread object.
    #[error(transparent)]
    Object(#[from] JvmError),
    /// The JVM could not start the thread.
    #[error(transparent)]
    Jvmti(#[from] JvmtiError),
}

/// A started thread's name and its function.
struct Task {
    name: String,
    run: Run,
}

thread_local! {
    /// Whether this is a thread of the agent.
    static IS_AGENT: Cell<bool> = const { Cell::new(false) };

    /// Whether counts of this thread of the agent matter.
    static IS_COUNTED: Cell<bool> = const { Cell::new(false) };
}

/// Whether the current thread is one of the agent's own.
pub fn is_agent_thread() -> bool {
    IS_AGENT.get()
}

/// Whether the current thread is one of the agent's own whose calls must not be counted. The agent
/// executes methods of the JDK too, and nobody asks how often.
pub fn is_uncounted_thread() -> bool {
    IS_AGENT.get() && !IS_COUNTED.get()
}

/// Makes what the current thread counts count, from its first count on.
pub fn count_this_thread() {
    IS_COUNTED.set(true);
}

static PANIC_REPORT: OnceLock<fn(&str)> = OnceLock::new();

/// Sets the function that gets the name of a thread which a panic has ended. Later calls have no
/// effect.
pub fn set_panic_report(report: fn(&str)) {
    let _ = PANIC_REPORT.set(report);
}

/// Starts a thread of the agent.
pub fn start(tool: Tool, env: Env, name: &str, run: Run) -> Result<(), StartThreadError> {
    let thread = env.new_thread(name)?;
    let task = Task {
        name: name.to_string(),
        run,
    };
    let task = Box::into_raw(Box::new(task));
    // SAFETY: `thread` is a thread object, and `entry` takes the box of a task, which is `Send`.
    let result = unsafe { tool.run_thread(thread, entry, task.cast_const().cast()) };
    if result.is_err() {
        // SAFETY: the JVM did not start the thread, so this function still owns the box.
        drop(unsafe { Box::from_raw(task) });
    }
    // SAFETY: `new_thread` has made the local reference, which is not used again.
    unsafe { env.delete(thread) };
    Ok(result?)
}

/// Runs the task of a new thread.
///
/// # Safety
/// `jni` must be the environment of the current thread, and `arg` the box of a [`Task`], which the
/// caller gives up.
unsafe extern "system" fn entry(_: *mut jvmtiEnv, jni: *mut JNIEnv, arg: *mut c_void) {
    // SAFETY: given by the caller. The thread ends, and with it the environment, after this function.
    let (task, env) = unsafe { (Box::from_raw(arg as *mut Task), Env::new(jni)) };
    let Task { name, run } = *task;
    IS_AGENT.set(true);
    if catch_unwind(AssertUnwindSafe(|| run(env))).is_err()
        && let Some(report) = PANIC_REPORT.get()
    {
        // The report itself must not unwind into the JVM.
        let _ = catch_unwind(|| report(&name));
    }
}
