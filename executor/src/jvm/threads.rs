//! The agent's Java threads.
//!
//! They are JVMTI agent threads, which do not show in the application's thread lists, and daemons.
//! Each one reports a panic that ends it through the function that [`set_panic_report`] has set.

use crate::jvm::jni::Env;
use crate::jvm::jvmti::Tool;
use ::jni::sys::JNIEnv;
use jvmti_sys::jvmtiEnv;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

/// The function that a thread of the agent runs.
pub type Run = Box<dyn FnOnce(Env) + Send>;

/// A started thread's name and its function.
struct Task {
    name: String,
    run: Run,
}

static PANIC_REPORT: OnceLock<fn(&str)> = OnceLock::new();

/// Sets the function that gets the name of a thread which a panic has ended. Later calls have no
/// effect.
pub fn set_panic_report(report: fn(&str)) {
    let _ = PANIC_REPORT.set(report);
}

/// Starts a thread of the agent.
pub fn start(tool: Tool, env: Env, name: &str, run: Run) -> Result<(), String> {
    let thread = env.new_thread(name).map_err(|e| e.to_string())?;
    let task = Task {
        name: name.to_string(),
        run,
    };
    let arg = Box::into_raw(Box::new(task)) as usize;
    let result = tool.run_thread(thread, entry, arg);
    if result.is_err() {
        // SAFETY: the JVM did not start the thread, so this function still owns the box.
        drop(unsafe { Box::from_raw(arg as *mut Task) });
    }
    env.delete(thread);
    result
}

unsafe extern "system" fn entry(_: *mut jvmtiEnv, jni: *mut JNIEnv, arg: *mut c_void) {
    // SAFETY: `start` passed this box to this thread, and the JVM passed it this environment.
    let (task, env) = unsafe { (Box::from_raw(arg as *mut Task), Env::new(jni)) };
    let Task { name, run } = *task;
    if catch_unwind(AssertUnwindSafe(|| run(env))).is_err()
        && let Some(report) = PANIC_REPORT.get()
    {
        // The report itself must not unwind into the JVM.
        let _ = catch_unwind(|| report(&name));
    }
}
