//! A place behind `Throwable.fillInStackTrace(int)`, where `VeneerWalk` puts the lines of hosts right.
//!
//! The method is native, so it is bound anew, once, when the first version is defined. A class file is not touched for it.

use crate::jvm::jni::{Env, Global, jclass, jobject};
use jni::sys::{JNIEnv, jint, jvalue};
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::OnceLock;

type Fill = unsafe extern "system" fn(*mut JNIEnv, jobject);

struct Hook {
    /// The JVM's own function.
    fill: Fill,
    walk: Global,
    filled: jni::sys::jmethodID,
    /// What `Thread.stop` throws into a thread, where the JVM has that.
    stopped: Option<Global>,
}

// Safety: a function, a global reference and a method id are valid in every thread.
unsafe impl Send for Hook {}
unsafe impl Sync for Hook {}

static HOOK: OnceLock<Hook> = OnceLock::new();

thread_local! {
    /// In `filled`: what is thrown there has to do without.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Binds the method. False where this JVM has no such function.
pub fn hook(env: Env, throwable: jclass, walk: jclass) -> bool {
    // Safety: a plain look-up of a symbol.
    let fill = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"JVM_FillInStackTrace".as_ptr()) };
    if fill.is_null() {
        return false;
    }
    let walk = env.global(walk);
    let Ok(filled) = env.static_method(&walk, c"filled", c"(Ljava/lang/Throwable;)V") else {
        return false;
    };
    let hook = Hook {
        // Safety: `JVM_FillInStackTrace` of `jvm.h`: an environment and an object.
        fill: unsafe { std::mem::transmute::<*mut c_void, Fill>(fill) },
        filled: filled.id(),
        stopped: env
            .find(c"java/lang/ThreadDeath")
            .ok()
            .map(|class| env.global(class)),
        walk,
    };
    HOOK.set(hook).is_ok() && bind(env, throwable)
}

fn bind(env: Env, throwable: jclass) -> bool {
    let name = c"fillInStackTrace";
    let descriptor = c"(I)Ljava/lang/Throwable;";
    env.bind(throwable, name, descriptor, fill_in as *mut c_void)
        .is_ok()
}

/// Gives the JVM its own function back: it looks for it by name at the next call.
pub fn unhook(env: Env) {
    if HOOK.get().is_some()
        && let Ok(throwable) = env.find(c"java/lang/Throwable")
    {
        env.unbind(throwable);
        env.delete(throwable);
    }
}

/// Binds the method again that [`unhook`] has given back.
pub fn hook_again(env: Env) {
    if HOOK.get().is_some()
        && let Ok(throwable) = env.find(c"java/lang/Throwable")
    {
        bind(env, throwable);
        env.delete(throwable);
    }
}

/// What the JVM calls instead of its own.
unsafe extern "system" fn fill_in(env: *mut JNIEnv, thrown: jobject, _: jint) -> jobject {
    let Some(hook) = HOOK.get() else {
        return thrown;
    };
    // Safety: the environment and the object that the JVM gave to this call; the method takes one object. Nothing in here
    // panics.
    unsafe {
        (hook.fill)(env, thrown);
        if !INSIDE.get() && !((**env).v1_2.ExceptionCheck)(env) {
            INSIDE.set(true);
            let arguments = [jvalue { l: thrown }];
            ((**env).v1_2.CallStaticVoidMethodA)(
                env,
                hook.walk.raw(),
                hook.filled,
                arguments.as_ptr(),
            );
            // No stack left, or no memory: the trace stays as the JVM made it. What another thread has thrown at this one just
            // now goes on its way.
            let met = ((**env).v1_2.ExceptionOccurred)(env);
            if !met.is_null() {
                ((**env).v1_2.ExceptionClear)(env);
                if let Some(stopped) = &hook.stopped
                    && ((**env).v1_2.IsInstanceOf)(env, met, stopped.raw())
                {
                    ((**env).v1_2.Throw)(env, met);
                }
                ((**env).v1_2.DeleteLocalRef)(env, met);
            }
            INSIDE.set(false);
        }
    }
    thrown
}
