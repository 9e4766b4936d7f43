//! Replaces the native method `Throwable.fillInStackTrace(int)`, so that `VeneerWalk` can correct
//! the lines of nest hosts in the trace of each new exception.
//!
//! `VeneerWalk` binds the method when the first version is defined, through the native method
//! `VeneerWalk.hook`. No class file is changed for it. The plan thread unbinds the method when the
//! agent unloads, and the thread that loads the agent again lets `VeneerWalk` bind it again.
//!
//! **Invariant:** only `VeneerWalk.hook` binds the method. HotSpot prints a warning if code binds a
//! native method of the JDK and the calling Java method is not one of the JDK's own loaders
//! (`jni_RegisterNatives`).

use crate::jvm::jni::{Env, Global, JvmError, Static, jclass};
use ::jni::sys::{self, JNIEnv, jint, jvalue};
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::{Arc, OnceLock};

/// `JVM_FillInStackTrace` of HotSpot's `jvm.h`.
type Fill = unsafe extern "system" fn(*mut JNIEnv, sys::jobject);

/// The functions and classes that the replacement uses.
struct Hook {
    /// The JVM's own function.
    fill: Fill,
    /// The Java method `VeneerWalk.filled`.
    filled: Static,
    /// The Java method `VeneerWalk.bindAgain`.
    bind_again: Static,
    /// The class that `Thread.stop` throws into a thread, if the JVM has it.
    stopped: Option<Global>,
}

static HOOK: OnceLock<Hook> = OnceLock::new();

thread_local! {
    /// Whether this thread is in `VeneerWalk.filled`. The traces of exceptions that are made there
    /// stay as the JVM makes them.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Binds the method. Returns false if this JVM does not have the function that the method calls.
pub fn hook(env: Env, throwable: jclass, walk: jclass) -> bool {
    if HOOK.get().is_some() {
        return bind(env, throwable);
    }
    // SAFETY: the name is NUL-terminated.
    let fill = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"JVM_FillInStackTrace".as_ptr()) };
    if fill.is_null() {
        return false;
    }
    let walk = Arc::new(env.global(walk));
    let Ok(filled) = env.static_method(&walk, c"filled", c"(Ljava/lang/Throwable;)V") else {
        return false;
    };
    let Ok(bind_again) = env.static_method(&walk, c"bindAgain", c"()V") else {
        return false;
    };
    let hook = Hook {
        // SAFETY: the symbol is that function, with an environment and an object as parameters.
        fill: unsafe { std::mem::transmute::<*mut c_void, Fill>(fill) },
        filled,
        bind_again,
        stopped: env
            .find(c"java/lang/ThreadDeath")
            .ok()
            .map(|class| env.global(class)),
    };
    HOOK.set(hook).is_ok() && bind(env, throwable)
}

fn bind(env: Env, throwable: jclass) -> bool {
    let name = c"fillInStackTrace";
    let descriptor = c"(I)Ljava/lang/Throwable;";
    // SAFETY: `fill_in` takes an environment, an object and an int, and returns an object. The
    // agent's library is never unloaded.
    unsafe { env.bind(throwable, name, descriptor, fill_in as *mut c_void) }.is_ok()
}

/// Unbinds the method: at the next call, the JVM finds its own function by name.
pub fn unhook(env: Env) {
    if HOOK.get().is_some()
        && let Ok(throwable) = env.find(c"java/lang/Throwable")
    {
        env.unbind(throwable);
        // SAFETY: `find` has made the local reference, which is not used again.
        unsafe { env.delete(throwable) };
    }
}

/// Lets `VeneerWalk` bind the method again after [`unhook`].
///
/// # Errors
/// The JVM could not call the Java method, for example because the stack has no room. The traces of
/// new exceptions then stay as the JVM makes them.
pub fn hook_again(env: Env) -> Result<(), JvmError> {
    match HOOK.get() {
        // SAFETY: `bindAgain` is a static method without parameters and without a result.
        Some(hook) => unsafe {
            env.void(&hook.bind_again, &[], || {
                "correcting stack traces again".to_string()
            })
        },
        None => Ok(()),
    }
}

/// The function that the JVM calls for `Throwable.fillInStackTrace(int)`. Nothing in it panics.
///
/// # Safety
/// Only the JVM calls this function, with the environment of the current thread and a `Throwable`.
unsafe extern "system" fn fill_in(env: *mut JNIEnv, thrown: sys::jobject, _: jint) -> sys::jobject {
    let Some(hook) = HOOK.get() else {
        return thrown;
    };
    // SAFETY: the JVM's own function gets the arguments of this call.
    unsafe { (hook.fill)(env, thrown) };
    // SAFETY: `env` is the environment of the current thread.
    if INSIDE.get() || unsafe { ((**env).v1_2.ExceptionCheck)(env) } {
        return thrown;
    }
    INSIDE.set(true);
    let arguments = [jvalue { l: thrown }];
    let (class, filled) = (hook.filled.class().raw(), hook.filled.id());
    // SAFETY: `filled` is a static method of the class, and takes one `Throwable`.
    unsafe { ((**env).v1_2.CallStaticVoidMethodA)(env, class, filled, arguments.as_ptr()) };
    // SAFETY: `env` is the environment of the current thread.
    let met = unsafe { ((**env).v1_2.ExceptionOccurred)(env) };
    if !met.is_null() {
        // If the stack or the heap has no room, the trace stays as the JVM made it. An exception
        // that another thread has just thrown into this one with `Thread.stop` is thrown again.
        // SAFETY: `met` is a local reference to an exception, and `stopped` is a class.
        unsafe {
            ((**env).v1_2.ExceptionClear)(env);
            if let Some(stopped) = &hook.stopped
                && ((**env).v1_2.IsInstanceOf)(env, met, stopped.raw().raw())
            {
                ((**env).v1_2.Throw)(env, met);
            }
            ((**env).v1_2.DeleteLocalRef)(env, met);
        }
    }
    INSIDE.set(false);
    thrown
}
